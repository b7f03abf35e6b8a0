package keeper

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/fusetest"
)

// On a kernel that sends no requests again, what a gateway read and did not answer must end when the gateway does.
func TestRequestsReadFromACloneEndWithItsOwner(t *testing.T) {
	fusetest.RequireFuse(t)
	s := newTestServer(t, New("g"), filepath.Join(t.TempDir(), "k.sock"))
	target, first := mounted(t, s.client, "vol-1")
	if err := read(t, target); err != nil {
		t.Fatal(err)
	}
	first.Stop()
	_, fuse, memory, clone, lock, err := s.client.TakeOwn(t.Context(), "vol-1")
	if err != nil {
		t.Fatal(err)
	}
	_, _, _ = fuse.Close(), memory.Close(), lock.Close()
	opened := make(chan error, 1)
	go func() { // a name that the kernel does not know: one that it knows is looked up twice
		var stat unix.Stat_t
		opened <- unix.Stat(filepath.Join(target, "new"), &stat)
	}()
	const lookup = 1
	for request := make([]byte, 1<<18); binary.NativeEndian.Uint32(request[4:]) != lookup; { // a release may come before
		if _, err := unix.Read(int(clone.Fd()), request); err != nil {
			t.Fatal(err)
		}
	}
	_ = clone.Close()
	if err := await(t, opened); !errors.Is(err, unix.ECONNABORTED) {
		t.Fatal("the call ended with", err)
	}
	attach(t, s.client, "vol-1")
	if err := read(t, target); err != nil {
		t.Fatal("the next gateway is not heard:", err)
	}
}
