package keeperapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Conn carries JSON lines, some with file descriptors, over a Unix stream socket. It is for one goroutine at a time,
// except that Close and the deadlines of the socket may be used from any.
type Conn struct {
	*net.UnixConn
	// unread holds bytes received beyond the last line.
	unread []byte
	// files are descriptors received and not yet claimed; Conn owns them.
	files []*os.File
}

// NewConn wraps a connected socket, which it owns from then on.
func NewConn(socket *net.UnixConn) *Conn { return &Conn{UnixConn: socket} }

// Close closes the socket and the descriptors nobody claimed.
func (c *Conn) Close() error {
	CloseAll(c.files)
	c.files = nil
	return c.UnixConn.Close()
}

// Peer are the credentials of the other side, of a listener those when it began to listen. The process is 0 where it is not
// to be seen from here.
func (c *Conn) Peer() (*unix.Ucred, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var credentials *unix.Ucred
	var credentialsErr error
	err = raw.Control(func(fd uintptr) {
		credentials, credentialsErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	return credentials, errors.Join(err, credentialsErr)
}

// Send writes one line; the descriptors travel with its first byte and stay the caller's.
func (c *Conn) Send(message any, files ...*os.File) error {
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("keeper protocol: %w", err)
	}
	line = append(line, '\n')
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, file := range files {
			fds[i] = int(file.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	written, _, err := c.WriteMsgUnix(line, rights, nil)
	if err == nil && written < len(line) {
		_, err = c.Write(line[written:])
	}
	if err != nil {
		return fmt.Errorf("keeper protocol: send: %w", err)
	}
	return nil
}

// Receive reads one line into message. Descriptors that came with it wait for Claim. The error at a clean end is io.EOF.
func (c *Conn) Receive(message any) error {
	for {
		if line, rest, found := bytes.Cut(c.unread, []byte{'\n'}); found {
			c.unread = rest
			if err := json.Unmarshal(line, message); err != nil {
				return Errorf(Invalid, "the line is not valid (%v): send one JSON object per line", err)
			}
			return nil
		}
		if len(c.unread) > maxLineBytes {
			return Errorf(Invalid, "the line is longer than %d bytes", maxLineBytes)
		}
		if err := c.fill(); err != nil {
			return err
		}
	}
}

// fill appends what the socket has to unread and files.
func (c *Conn) fill() error {
	chunk, rights := make([]byte, 16<<10), make([]byte, unix.CmsgSpace(maxFiles*4))
	read, rightsRead, flags, _, err := c.ReadMsgUnix(chunk, rights)
	if err != nil {
		return err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:rightsRead])
	if err != nil {
		return fmt.Errorf("keeper protocol: %w", err)
	}
	for _, message := range messages {
		fds, err := unix.ParseUnixRights(&message)
		if err != nil {
			return fmt.Errorf("keeper protocol: %w", err)
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			c.files = append(c.files, os.NewFile(uintptr(fd), "from-keeper"))
		}
	}
	if flags&unix.MSG_CTRUNC != 0 { // those that came are closed with the connection
		return Errorf(Failed, "file descriptors were lost in transfer: raise the limit of open files (ulimit -n)")
	}
	if len(c.files) > maxFiles {
		return Errorf(Invalid, "received %d file descriptors before a message claimed one: a message may have at most %d", len(c.files), maxFiles)
	}
	c.unread = append(c.unread, chunk[:read]...)
	return nil
}

// Claim gives the oldest count descriptors received to the caller.
func (c *Conn) Claim(count int) ([]*os.File, error) {
	if len(c.files) < count {
		return nil, Errorf(Failed, "received %d file descriptors, but expected %d", len(c.files), count)
	}
	claimed := c.files[:count:count]
	c.files = c.files[count:]
	return claimed, nil
}

// CloseAll closes what is given, nil elements excepted.
func CloseAll(files []*os.File) {
	for _, file := range files {
		if file != nil {
			_ = file.Close() // a descriptor is gone after close, whatever it says
		}
	}
}
