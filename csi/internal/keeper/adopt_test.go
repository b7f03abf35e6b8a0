package keeper

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/fusetest"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/mountinfo"
	"posixgateway.io/csi/internal/orphans"
)

// gateway is what one has of a session.
type gateway struct {
	taken                     keeperapi.Taken
	fuse, memory, clone, lock *os.File
}

// lost makes a mount, has a gateway take it, and lets the keeper go without a word; the mount stays, as descriptors of it do.
func lost(t *testing.T, socket, id string) (target string, left *Keeper, g gateway) {
	t.Helper()
	first, err := start(t.Context(), Config{Socket: socket, TakeoverSocket: socket, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- first.Serve(ctx) }()
	client := &keeperapi.Client{Socket: socket}
	target = t.TempDir()
	if _, err := client.Mount(t.Context(), keeperapi.Request{ID: id, Target: target, AllowOther: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(target, unix.MNT_DETACH) })
	g.taken, g.fuse, g.memory, g.clone, g.lock, err = client.TakeOwn(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return target, first.keeper, g
}

func TestAGatewayGivesItsSessionToTheNextKeeper(t *testing.T) {
	fusetest.RequireFuse(t)
	socket := filepath.Join(t.TempDir(), "k.sock")
	target, left, g := lost(t, socket, "vol-1")
	left.forgetAll()
	next := takeover(t, socket)
	record := []byte("what the gateway needs")
	request := keeperapi.Request{ID: "vol-1", Target: target, Device: g.taken.Device, Takes: 1, Data: &record}
	for _, want := range []bool{false, true} {
		if existing, err := next.client.Adopt(t.Context(), request, g.fuse, g.memory); err != nil || existing != want {
			t.Fatal(existing, err)
		}
	}
	wrong := request
	wrong.Device = "0:1"
	_, err := next.client.Adopt(t.Context(), wrong, g.fuse, g.memory)
	wantCode(t, err, keeperapi.Exists)
	wrong.ID = "vol-2"
	_, err = next.client.Adopt(t.Context(), wrong, g.fuse, g.memory)
	wantCode(t, err, keeperapi.NotFound)
	keeperapi.CloseAll([]*os.File{g.fuse, g.memory, g.clone, g.lock}) // the gateway ends
	attach(t, next.client, "vol-1")
	if err := read(t, target); err != nil {
		t.Fatal(err)
	}
	list, err := next.client.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Takes != 2 || !list[0].HasRecord || !list[0].Mounted {
		t.Fatal(list, err)
	}
	if _, err := next.client.Unmount(t.Context(), "vol-1", false); err != nil {
		t.Fatal(err)
	}
	mustNotBeMounted(t, target)
}

// A task that is dying in the kernel holds a descriptor of the connection: here, the test does.
func TestTheNextKeeperAbortsWhatNobodyCanServe(t *testing.T) {
	fusetest.RequireFuse(t)
	socket := filepath.Join(t.TempDir(), "k.sock")
	target, left, g := lost(t, socket, "vol-1")
	defer left.forgetAll()
	hanging := make(chan error, 1)
	go func() {
		var stat unix.Stat_t
		hanging <- unix.Stat(filepath.Join(target, "new"), &stat)
	}()
	takeover(t, socket) // while the gateway lives
	next := takeover(t, socket)
	select {
	case err := <-hanging:
		t.Fatal("aborted, though a gateway has it:", err)
	default:
	}
	keeperapi.CloseAll([]*os.File{g.fuse, g.memory, g.clone, g.lock})
	if err := await(t, hanging); err == nil {
		t.Fatal("nobody served, and there was an answer")
	}
	next.stop()
	mustEnd(t, next)
}

func TestWhatCouldNotBeAbortedIsTriedAgain(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	lock, err := orphans.Lock(socket, "vol-1", 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = lock.Close() // its gateway ended
	system := &fakeSystem{
		table: mountinfo.Table{{ID: 1, Device: "0:vol-1", MountPoint: "/mnt/vol-1", FSType: keeperapi.FSType}},
		fail:  map[string]error{"abort": unix.EMFILE},
	}
	k := system.keeper()
	k.left = map[string]orphans.Record{"vol-1": {ID: "vol-1", Device: "0:vol-1", MountPoint: "/mnt/vol-1"}}
	config := Config{Socket: socket, Log: slog.New(slog.DiscardHandler)}
	if left := k.abortLeft(config); left != 1 {
		t.Fatal("nobody looks at it again:", left)
	}
	system.fail = nil
	if left := k.abortLeft(config); left != 0 || len(system.aborted) != 1 {
		t.Fatal(left, system.aborted)
	}
}

// A predecessor lives on where it lingers.
func TestAKeeperThatHasHandedOverAbortsNothing(t *testing.T) {
	fusetest.RequireFuse(t)
	socket := filepath.Join(t.TempDir(), "k.sock")
	target, left, g := lost(t, socket, "vol-1")
	left.forgetAll()
	middle := takeover(t, socket) // it finds what was left, and the gateway has not come yet
	last := takeover(t, socket)
	request := keeperapi.Request{ID: "vol-1", Target: target, Device: g.taken.Device, Takes: 1}
	if _, err := last.client.Adopt(t.Context(), request, g.fuse, g.memory); err != nil {
		t.Fatal(err)
	}
	keeperapi.CloseAll([]*os.File{g.fuse, g.memory, g.clone, g.lock}) // the session waits for its next gateway
	if to := middle.server.abortLeft(Config{Socket: socket, Log: slog.New(slog.DiscardHandler)}); to != 0 {
		t.Error("it still has to look at", to)
	}
	attach(t, last.client, "vol-1")
	if err := read(t, target); err != nil {
		t.Fatal("the connection was aborted:", err)
	}
}

// Clients would not find its sessions any more, and nobody would write down what the second one holds.
func TestNoKeeperStartsBesideAnother(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	newTestServer(t, New("first"), socket)
	_, err := start(t.Context(), Config{Socket: socket, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "--takeover "+socket) {
		t.Fatal("it started, or said something else:", err)
	}
}

func TestNothingStaysBesideTheSocketOfSessionsThatEnded(t *testing.T) {
	fusetest.RequireFuse(t)
	socket := filepath.Join(t.TempDir(), "k.sock")
	lock, err := orphans.Lock(socket, "of-an-earlier-boot", 0)
	if err != nil {
		t.Fatal(err)
	}
	unfinished := socket + ".sessions.4711"
	if err := errors.Join(lock.Close(), os.WriteFile(unfinished, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s := takeover(t, socket)
	mounted(t, s.client, "vol-1")
	_, fuse, memory, clone, lock, err := s.client.TakeOwn(t.Context(), "vol-1")
	if err != nil {
		t.Fatal(err)
	}
	keeperapi.CloseAll([]*os.File{fuse, memory, clone, lock})
	if left, _ := filepath.Glob(socket + ".*/*"); len(left) != 1 {
		t.Error("while it is held:", left)
	}
	if _, err := s.client.Unmount(t.Context(), "vol-1", false); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(socket + ".*/*"); len(left) != 0 {
		t.Error("left:", left)
	}
	if _, err := os.Stat(unfinished); err == nil {
		t.Error("what a keeper was killed over stays")
	}
}
