package main

import (
	"encoding/binary"
	"slices"
	"strconv"
	"unicode/utf8"
)

// appendQuoted is strconv.AppendQuote, fast for ASCII.
func appendQuoted(line, b []byte) []byte {
	if isPlain(b) {
		return append(append(append(line, '"'), b...), '"')
	}
	line = append(slices.Grow(line, 4*len(b)+3), '"') // room for every byte as \x00
	// No branch depends on what the bytes are: JSON is full of quotes.
	at, kinds, room := len(line), byte(0), line[:cap(line)]
	for _, c := range b {
		kind := quoting[c]
		kinds |= kind
		to := room[at : at+2 : at+2]
		to[0] = '\\'
		to[kind&1] = c
		at += 1 + int(kind&1)
	}
	if kinds&needsRule == 0 {
		room[at] = '"'
		return room[:at+1]
	}
	for len(b) > 0 {
		switch c := b[0]; quoting[c] {
		case needsRule:
			r, size := utf8.DecodeRune(b)
			line, b = appendEscaped(line, r, b[:size]), b[size:]
			continue
		case hasSlash:
			line = append(line, '\\', c)
		default:
			line = append(line, c)
		}
		b = b[1:]
	}
	return append(line, '"')
}

// quoting is what becomes of a byte between quotes.
var quoting = func() (kinds [256]byte) {
	for c := range kinds {
		switch {
		case c == '"' || c == '\\':
			kinds[c] = hasSlash
		case c < ' ' || c > '~':
			kinds[c] = needsRule
		}
	}
	return kinds
}()

const (
	hasSlash  = 1 // it is itself behind a backslash
	needsRule = 2 // it is not printable ASCII
)

// isPlain says whether nothing in b has to be escaped, looking at eight bytes at
// a time.
func isPlain(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		const each, high = 0x0101010101010101, 0x8080808080808080
		word := binary.LittleEndian.Uint64(b)
		quote, slash, del := word^'"'*each, word^'\\'*each, word^0x7f*each
		if (word|(word-' '*each)&^word|(quote-each)&^quote|(slash-each)&^slash|(del-each)&^del)&high != 0 {
			return false
		}
	}
	for _, c := range b {
		if quoting[c] != 0 {
			return false
		}
	}
	return true
}

// appendEscaped appends the first rune, of those bytes, of what is no printable
// ASCII.
func appendEscaped(line []byte, r rune, is []byte) []byte {
	const named = "abtnvfr" // from 7 on
	switch {
	case r == utf8.RuneError && len(is) == 1, r < ' ' && (r < 7 || r > 13), r == 0x7f:
		return append(line, '\\', 'x', hexDigits[is[0]>>4], hexDigits[is[0]&15])
	case r < ' ':
		return append(line, '\\', named[r-7])
	case strconv.IsPrint(r):
		return append(line, is...)
	case r < 0x10000:
		return append(line, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
	}
	return appendHex8(append(line, '\\', 'U'), uint32(r))
}
