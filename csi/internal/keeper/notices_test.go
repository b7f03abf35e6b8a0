package keeper

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/fusetest"
	"posixgateway.io/csi/internal/keeperapi"
)

// notice makes one of body; code as in linux/fuse.h.
func notice(code uint32, body []byte) []byte {
	message := make([]byte, noticeHeaderBytes, noticeHeaderBytes+len(body))
	binary.NativeEndian.PutUint32(message, uint32(noticeHeaderBytes+len(body)))
	binary.NativeEndian.PutUint32(message[4:], code)
	return append(message, body...)
}

// nameIsOld is FUSE_NOTIFY_INVAL_ENTRY for a name in the root.
func nameIsOld(name string) []byte {
	body := make([]byte, 16, 17+len(name))
	binary.NativeEndian.PutUint64(body, 1)
	binary.NativeEndian.PutUint32(body[8:], uint32(len(name)))
	return notice(3, append(append(body, name...), 0))
}

func TestOnlyNoticesAreWritten(t *testing.T) {
	k := (&fakeSystem{}).keeper()
	_, err := k.notify("a", "", nameIsOld("x"))
	wantCode(t, err, keeperapi.NotFound)
	if _, err := k.mount(request("a")); err != nil {
		t.Fatal(err)
	}
	answer := nameIsOld("x")
	answer[8] = 2 // the id of a request
	longer := append(nameIsOld("x"), 0)
	for what, message := range map[string][]byte{
		"an answer to a request": answer,
		"a wrong length":         longer,
		"too short a length":     {15, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"a second, wrong one":    append(nameIsOld("x"), answer...),
		"nothing":                {},
		"half a header":          answer[:8],
		"too much":               notice(3, make([]byte, keeperapi.MaxNoticeBytes)),
	} {
		_, err := k.notify("a", "", message)
		if err == nil {
			t.Error("taken:", what)
			continue
		}
		wantCode(t, err, keeperapi.Invalid)
	}
}

// awaitRequest waits until a program's request is there for a server to read.
func awaitRequest(t *testing.T, s *testServer, id string) {
	t.Helper()
	awaitTrue(t, "a request of a program", func() bool {
		ready := []unix.PollFd{{Fd: int32(s.server.keeper.find(id).fuse.Fd()), Events: unix.POLLIN}}
		_, _ = unix.Poll(ready, 0)
		return ready[0].Revents&unix.POLLIN != 0
	})
}

// awaitWaitingNotice waits until the kernel lets a notice wait for a lock, in the child that writes those of the session.
func awaitWaitingNotice(t *testing.T, s *testServer, id string) {
	t.Helper()
	awaitTrue(t, "a notice that waits", func() bool {
		n := &s.server.keeper.find(id).notifier
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.child == nil {
			return false
		}
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", n.child.command.Process.Pid))
		return slices.ContainsFunc(tasks, func(task string) bool {
			where, _ := os.ReadFile(task)
			return strings.Contains(string(where), "fuse") || strings.Contains(string(where), "rwsem")
		})
	})
}

// A program holds a folder's lock while it waits for an answer, and nobody serves; the notice waits for that lock.
func TestANoticeThatWaitsHindersNeitherTheNextServerNorTheNextKeeper(t *testing.T) {
	fusetest.RequireFuse(t)
	socket := filepath.Join(t.TempDir(), "k.sock")
	old := newTestServer(t, New("g"), socket)
	target, server := mounted(t, old.client, "vol-1")
	if err := read(t, target); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	made := make(chan error, 1)
	go func() {
		_, err := unix.Open(filepath.Join(target, "new"), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		made <- err
	}()
	awaitRequest(t, old, "vol-1")
	noticed := make(chan error, 1)
	go func() {
		errno, err := old.client.Notify(t.Context(), "vol-1", "", nameIsOld("new"))
		if err == nil && errno != unix.ENOENT && errno != 0 {
			err = errno
		}
		noticed <- err
	}()
	awaitWaitingNotice(t, old, "vol-1")
	select {
	case err := <-noticed:
		t.Fatal("the notice did not wait, so this test shows nothing:", err)
	case err := <-made:
		t.Fatal("a file was made though nobody serves:", err)
	default:
	}
	successor := takeover(t, socket)
	attach(t, successor.client, "vol-1")
	if err := await(t, made); err == nil {
		t.Fatal("this server makes no files")
	}
	if err := await(t, noticed); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, old)
}

// watchedConnection says when it is aborted.
type watchedConnection struct {
	connection
	aborted chan<- struct{}
}

func (c watchedConnection) Abort() error {
	err := c.connection.Abort()
	c.aborted <- struct{}{}
	return err
}

// It waits for an answer of a server that is gone, and so does the program.
func TestAnUnmountEndsNoticesThatWait(t *testing.T) {
	fusetest.RequireFuse(t)
	k := New("g")
	k.patience = 2 * time.Second // a helper has to start meanwhile
	aborted := make(chan struct{}, 8)
	find := k.system.connection
	k.system.connection = func(device string) (connection, error) {
		found, err := find(device)
		return watchedConnection{found, aborted}, err
	}
	s := newTestServer(t, k, filepath.Join(t.TempDir(), "k.sock"))
	target, server := mounted(t, s.client, "vol-1")
	if err := read(t, target); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	made, noticed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := unix.Open(filepath.Join(target, "new"), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		made <- err
	}()
	awaitRequest(t, s, "vol-1")
	go func() {
		_, err := s.client.Notify(t.Context(), "vol-1", "", nameIsOld("new"))
		noticed <- err
	}()
	awaitWaitingNotice(t, s, "vol-1")
	if _, err := s.client.Unmount(t.Context(), "vol-1", false); err != nil {
		t.Fatal(err)
	}
	if len(aborted) == 0 {
		t.Fatal("the connection was left to a notice that waits for nobody")
	}
	if err := await(t, made); err == nil {
		t.Fatal("a file was made though nobody served")
	}
	if err := await(t, noticed); err != nil {
		t.Fatal(err)
	}
}

func TestAKeeperDoesNotWaitForAChildThatDoesNotRead(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	all, n, large := newChildren(), &notifier{}, [][]byte{make([]byte, 64<<10)}
	if _, err := n.write(all, null, large); err != nil {
		t.Fatal(err)
	}
	if err := n.child.command.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		for range 16 { // more than a socket holds
			if _, err := n.order(all, null, large); err != nil {
				done <- err
				return
			}
		}
		_, err := n.write(all, null, large)
		n.close()
		done <- err
	}()
	if err := await(t, done); err != nil {
		t.Fatal(err)
	}
}

// A node may have hundreds of volumes, and the keeper's memory has a limit.
func TestFewChildrenStayWhenManySessionsHadNotices(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	all, notifiers := newChildren(), make([]*notifier, 3*maxResting)
	all.rest = time.Hour
	done := make(chan error, len(notifiers))
	for i := range notifiers {
		n := &notifier{}
		notifiers[i] = n
		t.Cleanup(n.close)
		go func() {
			_, err := n.write(all, null, [][]byte{nameIsOld("x")})
			done <- err
		}()
	}
	for range notifiers {
		if err := await(t, done); err != nil {
			t.Fatal(err)
		}
	}
	alive := func() (count int) {
		for _, n := range notifiers {
			n.mu.Lock()
			if n.child != nil {
				count++
			}
			n.mu.Unlock()
		}
		return count
	}
	awaitTrue(t, "no more children rest than may", func() bool { return alive() <= maxResting })
	if _, err := notifiers[0].write(all, null, [][]byte{nameIsOld("x")}); err != nil {
		t.Fatal("one that was ended does not come again:", err)
	}
}

func TestAnOrderThatWaitsInTheKernelTakesNoTurnFromOthers(t *testing.T) {
	all := newChildren()
	for range maxWorking {
		all.turn() // and does not end it
	}
	done := make(chan error, 1)
	go func() {
		all.turn()()
		done <- nil
	}()
	if err := await(t, done); err != nil {
		t.Fatal(err)
	}
}

func TestNoticesOfAnEarlierMountAreRefused(t *testing.T) {
	k := (&fakeSystem{}).keeper()
	if _, err := k.mount(request("a")); err != nil {
		t.Fatal(err)
	}
	_, err := k.notify("a", "0:earlier", nameIsOld("x"))
	wantCode(t, err, keeperapi.NotFound)
	if _, err := k.notify("a", "0:a", nameIsOld("x")); err != nil {
		t.Error(err)
	}
}

func TestTheKernelsWordComesBack(t *testing.T) {
	fusetest.RequireFuse(t)
	s := newTestServer(t, New("g"), filepath.Join(t.TempDir(), "k.sock"))
	target, _ := mounted(t, s.client, "vol-1")
	if err := read(t, target); err != nil {
		t.Fatal(err)
	}
	known, unknown := make([]byte, 24), make([]byte, 24) // FUSE_NOTIFY_INVAL_INODE: node, offset, length
	binary.NativeEndian.PutUint64(known, 1)
	binary.NativeEndian.PutUint64(unknown, 99)
	if errno, err := s.client.Notify(t.Context(), "vol-1", "", notice(2, known)); errno != 0 || err != nil {
		t.Error(errno, err)
	}
	both := append(notice(2, known), notice(2, unknown)...)
	if errno, err := s.client.Notify(t.Context(), "vol-1", "", both); errno != unix.ENOENT || err != nil {
		t.Error(errno, err)
	}
}
