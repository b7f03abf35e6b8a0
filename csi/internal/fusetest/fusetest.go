// Package fusetest answers FUSE requests in tests: a root folder with one readable file, just enough for stat, statfs,
// open and read. It needs root and /dev/fuse.
package fusetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// FileName is the only file; its text is Content.
const (
	FileName = "hello"
	Content  = "answered by a test\n"
)

// RequireFuse skips a test, with the reason, where FUSE mounts cannot be made.
func RequireFuse(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("skipped: mounting needs root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("skipped: no /dev/fuse here:", err)
	}
}

// Read reads the file of the mount at target and says what is wrong with it. It uses system calls of its own: an os.File
// would join Go's poller, whose lock the kernel holds while it asks the server, perhaps in this very process, about it.
func Read(target string) error {
	fd, err := unix.Open(filepath.Join(target, FileName), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	text := make([]byte, 2*len(Content))
	read, err := unix.Read(fd, text)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if string(text[:read]) != Content {
		return fmt.Errorf("read %q, want %q", text[:read], Content)
	}
	return nil
}

// As works as a user without privileges, as far as files are concerned. The thread does not end with it: it may be the one that
// started processes which die with that.
func As(uid, gid int, work func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, _ = unix.SetfsgidRetGid(gid)
	_, _ = unix.SetfsuidRetUid(uid)
	defer func() {
		_, _ = unix.SetfsuidRetUid(0)
		_, _ = unix.SetfsgidRetGid(0)
	}()
	return work()
}

// Main runs a package's tests in a mount namespace of their own, so that no mount outlives them, however they end.
func Main(m *testing.M) {
	const inside = "PGW_TEST_IN_NAMESPACE"
	if os.Getuid() != 0 || os.Getenv(inside) != "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread() // the child dies with this thread
	self := exec.CommandContext(context.Background(), "/proc/self/exe", os.Args[1:]...)
	self.Env = append(os.Environ(), inside+"=1")
	self.Stdin, self.Stdout, self.Stderr = os.Stdin, os.Stdout, os.Stderr
	self.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	err := self.Run()
	if self.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "tests cannot run in a mount namespace:", err)
		os.Exit(1)
	}
	os.Exit(max(self.ProcessState.ExitCode(), 0) | signalled(err))
}

// signalled is 1 for a process that did not end by itself.
func signalled(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && !exit.Exited() {
		return 1
	}
	return 0
}

// opcodes of the kernel's FUSE protocol
const (
	opLookup      = 1
	opForget      = 2
	opGetattr     = 3
	opOpen        = 14
	opRead        = 15
	opStatfs      = 17
	opRelease     = 18
	opFlush       = 25
	opInit        = 26
	opOpendir     = 27
	opReaddir     = 28
	opReleasedir  = 29
	opInterrupt   = 36
	opDestroy     = 38
	opBatchForget = 42
)

const (
	rootNode       = 1
	fileNode       = 2
	inHeaderBytes  = 40
	outHeaderBytes = 16
	maxWriteBytes  = 128 << 10
)

// Server answers one connection until Stop.
type Server struct {
	fuse *os.File
	done sync.WaitGroup
}

// Serve takes the connection, which it owns, and answers in the background.
func Serve(fuse *os.File) (*Server, error) {
	fd, err := unix.FcntlInt(fuse.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	_ = fuse.Close()
	if err := unix.SetNonblock(fd, true); err != nil { // so that Stop can interrupt a read
		_ = unix.Close(fd)
		return nil, err
	}
	s := &Server{fuse: os.NewFile(uintptr(fd), "/dev/fuse")}
	s.done.Go(s.loop)
	return s, nil
}

// Stop closes the connection and returns when no request is worked on any more.
func (s *Server) Stop() {
	_ = s.fuse.Close()
	s.done.Wait()
}

func (s *Server) loop() {
	buffer := make([]byte, maxWriteBytes+4096)
	for {
		read, err := s.fuse.Read(buffer)
		switch {
		case err == nil && read >= inHeaderBytes:
			s.answer(buffer[:read])
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.ENOENT): // the request was interrupted meanwhile
		default: // ENODEV: unmounted; ErrClosed: Stop
			return
		}
	}
}

func (s *Server) answer(request []byte) {
	opcode := binary.LittleEndian.Uint32(request[4:])
	node := binary.LittleEndian.Uint64(request[16:])
	switch opcode {
	case opForget, opBatchForget, opInterrupt:
		return // have no answer
	}
	body, errno := reply(opcode, node, request[inHeaderBytes:])
	out := make([]byte, outHeaderBytes, outHeaderBytes+len(body))
	out = append(out, body...)
	binary.LittleEndian.PutUint32(out, uint32(len(out)))
	binary.LittleEndian.PutUint32(out[4:], uint32(-int32(errno)))
	copy(out[8:16], request[8:16]) // unique
	_, _ = s.fuse.Write(out)       // ENOENT: the caller was interrupted
}

func reply(opcode uint32, node uint64, argument []byte) ([]byte, syscall.Errno) {
	switch opcode {
	case opInit:
		return initReply(argument), 0
	case opLookup:
		if node == rootNode && string(argument) == FileName+"\x00" {
			entry := make([]byte, 40) // node, generation, and how long the kernel may believe them: not at all
			binary.LittleEndian.PutUint64(entry, fileNode)
			return append(entry, attributes(fileNode)...), 0
		}
		return nil, syscall.ENOENT
	case opGetattr:
		out := make([]byte, 16)
		if node == rootNode { // never changes; without it the kernel asks before it takes the folder's lock
			binary.LittleEndian.PutUint64(out, 3600)
		}
		return append(out, attributes(node)...), 0
	case opStatfs:
		out := make([]byte, 80)
		binary.LittleEndian.PutUint64(out, 1000)    // blocks
		binary.LittleEndian.PutUint64(out[8:], 500) // free
		binary.LittleEndian.PutUint32(out[40:], 4096)
		binary.LittleEndian.PutUint32(out[44:], 255)
		binary.LittleEndian.PutUint32(out[48:], 4096)
		return out, 0
	case opOpen, opOpendir:
		return make([]byte, 16), 0
	case opRead:
		return readReply(argument), 0
	case opReaddir, opRelease, opReleasedir, opFlush, opDestroy:
		return nil, 0
	}
	return nil, syscall.ENOSYS
}

// initReply agrees to version 7.31 and to nothing optional.
func initReply(argument []byte) []byte {
	out := make([]byte, 64)
	binary.LittleEndian.PutUint32(out, 7)
	binary.LittleEndian.PutUint32(out[4:], 31)
	copy(out[8:12], argument[8:12])             // max_readahead, as offered
	binary.LittleEndian.PutUint16(out[16:], 16) // max_background
	binary.LittleEndian.PutUint16(out[18:], 12) // congestion_threshold
	binary.LittleEndian.PutUint32(out[20:], maxWriteBytes)
	binary.LittleEndian.PutUint32(out[24:], 1) // time granularity, ns
	return out
}

func attributes(node uint64) []byte {
	mode, links, size := uint32(syscall.S_IFDIR|0o755), uint32(2), uint64(0)
	if node == fileNode {
		mode, links, size = syscall.S_IFREG|0o644, 1, uint64(len(Content))
	}
	out := make([]byte, 88)
	binary.LittleEndian.PutUint64(out, node)
	binary.LittleEndian.PutUint64(out[8:], size)
	binary.LittleEndian.PutUint32(out[60:], mode)
	binary.LittleEndian.PutUint32(out[64:], links)
	binary.LittleEndian.PutUint32(out[80:], 4096)
	return out
}

func readReply(argument []byte) []byte {
	offset := binary.LittleEndian.Uint64(argument[8:])
	size := uint64(binary.LittleEndian.Uint32(argument[16:]))
	start := min(offset, uint64(len(Content)))
	return []byte(Content[start:min(start+size, uint64(len(Content)))])
}
