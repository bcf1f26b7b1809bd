package disk

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
)

// client speaks NBD as qemu does.
type client struct {
	t    *testing.T
	conn net.Conn
}

func (c client) send(values ...any) {
	c.t.Helper()
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.BigEndian, v); err != nil {
			c.t.Fatal(err)
		}
	}
	if _, err := c.conn.Write(b.Bytes()); err != nil {
		c.t.Fatal(err)
	}
}

func (c client) want(values ...any) {
	c.t.Helper()
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.BigEndian, v); err != nil {
			c.t.Fatal(err)
		}
	}
	got := make([]byte, b.Len())
	if _, err := io.ReadFull(c.conn, got); err != nil {
		c.t.Fatal(err)
	}
	if !bytes.Equal(got, b.Bytes()) {
		c.t.Fatalf("got %x\nwant %x", got, b.Bytes())
	}
}

func (c client) request(flags, kind uint16, cookie, at uint64, n uint32) {
	c.t.Helper()
	c.send(uint32(requestMagic), flags, kind, cookie, at, n)
}

func (c client) answered(code uint32, cookie uint64) {
	c.t.Helper()
	c.want(uint32(replyMagic), code, cookie)
}

// dial is a client that has been greeted, and the end of what serves it.
func dial(t *testing.T, d *Disk) (client, <-chan error) {
	there, here := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- d.Serve(there) }()
	c := client{t, here}
	c.want(uint64(nbdMagic), uint64(optionMagic), uint16(fixedNewstyle|noZeroes))
	c.send(uint32(fixedNewstyle | noZeroes))
	return c, served
}

func TestServe(t *testing.T) {
	d := open(t)
	c, served := dial(t, d)
	// Structured replies, which there are none of; then the disk.
	c.send(uint64(optionMagic), uint32(8), uint32(0))
	c.want(uint64(optReplyMagic), uint32(8), uint32(repUnsupported), uint32(0))
	c.send(uint64(optionMagic), uint32(optGo), uint32(6), make([]byte, 6))
	c.want(uint64(optReplyMagic), uint32(optGo), uint32(repInfo), uint32(12), uint16(infoExport), uint64(d.Size()), uint16(hasFlags|sendFlush|sendFUA))
	c.want(uint64(optReplyMagic), uint32(optGo), uint32(repAck), uint32(0))

	c.request(0, cmdWrite, 11, 2*SectorSize, SectorSize)
	c.send(sector(7))
	c.answered(0, 11)
	c.request(flagFUA, cmdWrite, 12, 3*SectorSize, SectorSize)
	c.send(sector(8))
	c.answered(0, 12)
	if n := d.Cached(); n != 1 {
		t.Errorf("%d sectors are cached after a write and one that goes through", n)
	}
	c.request(0, cmdRead, 13, 2*SectorSize, 2*SectorSize)
	c.answered(0, 13)
	c.want(sector(7), sector(8))
	c.request(0, cmdFlush, 14, 0, 0)
	c.answered(0, 14)
	if n := d.Cached(); n != 0 {
		t.Errorf("%d sectors are cached after a flush", n)
	}
	d.Break(0, SectorSize)
	c.request(0, cmdRead, 15, 0, SectorSize)
	c.answered(nbdIOError, 15)
	c.request(0, cmdRead, 16, uint64(d.Size()), SectorSize)
	c.answered(nbdInvalid, 16)
	c.request(0, 4, 17, 0, SectorSize) // trim, which was not offered
	c.answered(nbdInvalid, 17)
	c.request(0, cmdDisconnect, 18, 0, 0)
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestServeOldStyle is the option without an answer of its own.
func TestServeOldStyle(t *testing.T) {
	d := open(t)
	c, served := dial(t, d)
	c.send(uint64(optionMagic), uint32(optExportName), uint32(0))
	c.want(uint64(d.Size()), uint16(hasFlags|sendFlush|sendFUA))
	if err := c.conn.Close(); err != nil { // killed
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestServeNonsense(t *testing.T) {
	d := open(t)
	c, served := dial(t, d)
	c.send(uint64(1), uint32(optGo), uint32(0))
	if err := <-served; err == nil {
		t.Error("an option of another magic is served")
	}
	c, served = dial(t, d)
	c.send(uint64(optionMagic), uint32(optExportName), uint32(0))
	c.want(uint64(d.Size()), uint16(hasFlags|sendFlush|sendFUA))
	c.send(make([]byte, 28))
	if err := <-served; err == nil {
		t.Error("a request of another magic is served")
	}
}
