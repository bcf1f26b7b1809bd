//go:build unix

package limit

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seglog/seglog/internal/vfs"
)

// BenchmarkToSocket sends what is in the page cache to a reader on the loopback
// interface, so many bytes at once behind a header: from a mapping, by writev, and from
// the file, by a write and sendfile. The reader's time is in both.
func BenchmarkToSocket(b *testing.B) {
	const size = 64 << 20
	name := filepath.Join(b.TempDir(), "frames")
	if err := os.WriteFile(name, make([]byte, size), 0o644); err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	of, err := vfs.OS.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer of.Close()
	m, err := of.Map(size, false)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Unmap()
	mem, header := m.Bytes(), make([]byte, 60)
	for _, piece := range []int{1 << 10, 16 << 10, 256 << 10, 1 << 20} {
		for _, way := range []struct {
			how  string
			send func(c *net.TCPConn, at int) error
		}{
			{"mapped", func(c *net.TCPConn, at int) error {
				pieces := net.Buffers{header, mem[at : at+piece]}
				_, err := pieces.WriteTo(c)
				return err
			}},
			{"sendfile", func(c *net.TCPConn, at int) error {
				if _, err := c.Write(header); err != nil {
					return err
				}
				if _, err := f.Seek(int64(at), io.SeekStart); err != nil {
					return err
				}
				_, err := c.ReadFrom(&io.LimitedReader{R: f, N: int64(piece)})
				return err
			}},
		} {
			b.Run(fmt.Sprintf("%s/bytes=%d", way.how, piece), func(b *testing.B) {
				c, ended := drained(b)
				b.SetBytes(int64(piece))
				began, at := cpu(b), 0
				for b.Loop() {
					if err := way.send(c, at); err != nil {
						b.Fatal(err)
					}
					if at += piece; at == size {
						at = 0
					}
				}
				if err := c.Close(); err != nil {
					b.Fatal(err)
				}
				if got, want := <-ended, int64(b.N)*int64(piece+len(header)); got != want {
					b.Fatalf("%d bytes came, want %d", got, want)
				}
				b.ReportMetric((cpu(b)-began)/(float64(b.N)*float64(piece)/1e9), "cpu-s/GB")
			})
		}
	}
}

// drained is a connection whose other end is read to its end, which tells how much
// came.
func drained(b *testing.B) (*net.TCPConn, <-chan int64) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	other, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan int64, 1)
	go func() {
		defer other.Close()
		n, _ := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{other}, make([]byte, 256<<10))
		ended <- n
	}()
	return c.(*net.TCPConn), ended
}

// cpu is what this process has used, in seconds.
func cpu(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
