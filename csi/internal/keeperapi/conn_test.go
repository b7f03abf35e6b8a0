package keeperapi

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair is two ends of a Unix socket.
func pair(t testing.TB) (one, other *Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ends := make([]*Conn, 2)
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "pair")
		made, err := net.FileConn(file)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		ends[i] = NewConn(made.(*net.UnixConn))
		t.Cleanup(func() { _ = ends[i].Close() })
	}
	return ends[0], ends[1]
}

func TestNobodyFillsTheTableOfDescriptors(t *testing.T) {
	one, other := pair(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	before, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	rights := unix.UnixRights(int(null.Fd()), int(null.Fd()))
	for range 100 { // a line that never ends, with two descriptors at each byte
		if _, _, err := one.WriteMsgUnix([]byte("x"), rights, nil); err != nil {
			t.Fatal(err)
		}
	}
	_ = other.SetReadDeadline(time.Now().Add(time.Minute))
	var message Request
	err = other.Receive(&message)
	if refusal, ok := errors.AsType[*Error](err); !ok || refusal.Code != Invalid {
		t.Fatal(err)
	}
	_ = other.Close()
	if after, _ := filepath.Glob("/proc/self/fd/*"); len(after) > len(before) {
		t.Fatalf("%d descriptors before, %d after", len(before), len(after))
	}
}

// The kernel installs as many as the limit of open files lets it; one of them may be the last descriptor of a connection.
func TestDescriptorsThatCameWithLostOnesAreClosed(t *testing.T) {
	one, other := pair(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	if err := one.Send(Request{Op: OpAdopt}, write, write); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	leaveOneDescriptor(t)
	_ = other.SetReadDeadline(time.Now().Add(time.Minute))
	var message Request
	err = other.Receive(&message)
	if refusal, ok := errors.AsType[*Error](err); !ok || refusal.Code != Failed {
		t.Fatal(err)
	}
	_ = other.Close()
	_ = read.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := read.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatal("one that came is open for good:", err)
	}
}

// leaveOneDescriptor has every other one that the limit allows open, until the test ends.
func leaveOneDescriptor(t *testing.T) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	highest := 0
	for _, entry := range open {
		number, err := strconv.Atoi(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		highest = max(highest, number)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for filled := false; !filled; {
		last, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		filled = last > highest
		if !filled {
			t.Cleanup(func() { _ = unix.Close(last) })
		} else { // all below are open now
			_ = unix.Close(last)
			limited := unix.Rlimit{Cur: uint64(last) + 1, Max: limit.Max}
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limited); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) })
}

// FuzzRequest: whatever comes over the socket is a request that passes Check, which then means what it says, or an error.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		`{"op":"info"}`, `{"op":"mount","id":"v","target":"/mnt/v","flags":["noexec"]}`, `{"op":"mount","id":"../x","target":"/"}`,
		`{"op":"record","id":"v","data":"AAAA"}`, `{"op":"notify","id":"v","device":"0:9","data":""}`, "{", "null", "[]\n", `{"op":1}`, "\x00\n",
		`{"op":"mount","id":"v","target":"/a/../b"}`, `{"op":"mount","id":"v","target":"/a","source":"a,suid"}`, `{"memory_bytes":-1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		one, other := pair(t)
		go func() {
			_, _ = one.Write(append(line, '\n'))
			_ = one.CloseWrite()
		}()
		for {
			request := &Request{}
			if err := other.Receive(request); err != nil {
				return
			}
			if request.Check() != nil {
				continue
			}
			if CheckID(request.ID) != nil || !filepath.IsAbs(request.Target) || filepath.Clean(request.Target) != request.Target || request.FSType != FSType {
				t.Fatalf("%q passed as %+v", line, request)
			}
			if _, err := json.Marshal(request); err != nil {
				t.Fatal(err)
			}
		}
	})
}
