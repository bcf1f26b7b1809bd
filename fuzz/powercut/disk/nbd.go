package disk

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// The NBD protocol as far as a client needs it that asks for one disk: fixed
// newstyle negotiation, simple replies, reads, writes, flushes.
// https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md
const (
	nbdMagic       = 0x4e42444d41474943 // NBDMAGIC
	optionMagic    = 0x49484156454f5054 // IHAVEOPT
	optReplyMagic  = 0x3e889045565a9
	requestMagic   = 0x25609513
	replyMagic     = 0x67446698
	fixedNewstyle  = 1
	noZeroes       = 2
	optExportName  = 1
	optAbort       = 2
	optInfo        = 6
	optGo          = 7
	repAck         = 1
	repInfo        = 3
	repUnsupported = 1<<31 | 1
	infoExport     = 0
	hasFlags       = 1
	sendFlush      = 4
	sendFUA        = 8
	cmdRead        = 0
	cmdWrite       = 1
	cmdDisconnect  = 2
	cmdFlush       = 3
	flagFUA        = 1
	nbdIOError     = 5
	nbdInvalid     = 22
	maxRequest     = 64 << 20
)

// Serve answers the requests of one client until it disconnects or is gone.
func (d *Disk) Serve(conn net.Conn) error {
	s := session{d: d, r: bufio.NewReaderSize(conn, 1<<16), w: bufio.NewWriterSize(conn, 1<<16)}
	defer conn.Close()
	ready, err := s.negotiate()
	for err == nil && ready {
		ready, err = s.answer()
	}
	var connection *net.OpError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &connection) {
		return nil // the machine was stopped
	}
	return err
}

type session struct {
	d *Disk
	r *bufio.Reader
	w *bufio.Writer
}

// put sends integers, big-endian.
func (s *session) put(values ...any) {
	for _, v := range values {
		_ = binary.Write(s.w, binary.BigEndian, v) // an error stays in s.w
	}
}

func (s *session) get(into any) error { return binary.Read(s.r, binary.BigEndian, into) }

// negotiate answers options until the client takes the disk.
func (s *session) negotiate() (ready bool, err error) {
	s.put(uint64(nbdMagic), uint64(optionMagic), uint16(fixedNewstyle|noZeroes))
	if err := s.w.Flush(); err != nil {
		return false, err
	}
	var flags uint32
	if err := s.get(&flags); err != nil {
		return false, err
	}
	for {
		var option struct {
			Magic       uint64
			Option, Len uint32
		}
		if err := s.get(&option); err != nil {
			return false, err
		}
		if option.Magic != optionMagic || option.Len > 1<<16 {
			return false, fmt.Errorf("nbd: an option of magic %#x and %d bytes", option.Magic, option.Len)
		}
		if _, err := s.r.Discard(int(option.Len)); err != nil {
			return false, err
		}
		reply := func(kind uint32, data ...any) {
			n := uint32(0)
			for _, v := range data {
				n += uint32(binary.Size(v))
			}
			s.put(uint64(optReplyMagic), option.Option, kind, n)
			s.put(data...)
		}
		size, does := uint64(s.d.Size()), uint16(hasFlags|sendFlush|sendFUA)
		switch option.Option {
		case optExportName:
			s.put(size, does)
			if flags&noZeroes == 0 {
				s.put(make([]byte, 124))
			}
			return true, s.w.Flush()
		case optGo, optInfo:
			reply(repInfo, uint16(infoExport), size, does)
			reply(repAck)
			if ready = option.Option == optGo; ready {
				return true, s.w.Flush()
			}
		case optAbort:
			reply(repAck)
			return false, s.w.Flush()
		default:
			reply(repUnsupported)
		}
		if err := s.w.Flush(); err != nil {
			return false, err
		}
	}
}

// answer serves one request. One after the other: what was answered before a
// flush came is what the flush makes durable.
func (s *session) answer() (more bool, err error) {
	var q struct {
		Magic       uint32
		Flags, Type uint16
		Cookie      uint64
		At          uint64
		Len         uint32
	}
	if err := s.get(&q); err != nil {
		return false, err
	}
	if q.Magic != requestMagic || q.Len > maxRequest {
		return false, fmt.Errorf("nbd: a request of magic %#x and %d bytes", q.Magic, q.Len)
	}
	var data []byte
	switch q.Type {
	case cmdRead:
		data = make([]byte, q.Len)
		_, err = s.d.ReadAt(data, int64(q.At))
	case cmdWrite:
		body := make([]byte, q.Len)
		if _, err := io.ReadFull(s.r, body); err != nil {
			return false, err
		}
		err = s.d.Write(body, int64(q.At), q.Flags&flagFUA != 0)
	case cmdFlush:
		s.d.Flush()
	case cmdDisconnect:
		return false, nil
	default:
		err = fmt.Errorf("nbd: request %d", q.Type)
	}
	code := uint32(0)
	if err != nil {
		data, code = nil, nbdInvalid
		if errors.Is(err, ErrBad) {
			code = nbdIOError
		}
	}
	s.put(uint32(replyMagic), code, q.Cookie)
	if _, err := s.w.Write(data); err != nil {
		return false, err
	}
	return true, s.w.Flush()
}
