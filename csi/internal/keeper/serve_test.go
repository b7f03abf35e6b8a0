package keeper

import (
	"context"
	"encoding/binary"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/fusetest"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/mountinfo"
	"posixgateway.io/csi/internal/orphans"
)

// patience is far more than any step takes on a loaded machine.
const patience = 60 * time.Second

type testServer struct {
	server *Server
	client *keeperapi.Client
	ended  chan error
	stop   context.CancelFunc
}

// newTestServer serves keeper at socket until the test ends, and then unmounts what is left.
func newTestServer(t *testing.T, keeper *Keeper, socket string) *testServer {
	t.Helper()
	server, err := NewServer(keeper, socket, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, server)
}

func serve(t *testing.T, server *Server) *testServer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &testServer{server: server, client: &keeperapi.Client{Socket: server.socket}, ended: make(chan error, 1), stop: cancel}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.ended <- server.Serve(ctx)
	}()
	t.Cleanup(func() {
		for _, left := range server.keeper.sorted() {
			if _, err := server.keeper.unmount(left.id, true); err != nil {
				t.Error(err)
			}
		}
		cancel()
		<-served // it removes its files from the folder that the test's end removes
	})
	return s
}

func mustEnd(t *testing.T, s *testServer) {
	t.Helper()
	select {
	case err := <-s.ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("the old keeper does not end")
	}
}

// takeover starts a successor at the same socket.
func takeover(t *testing.T, socket string) *testServer {
	t.Helper()
	server, err := start(t.Context(), Config{Socket: socket, TakeoverSocket: socket, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, server)
}

// mounted makes a real mount with a server that answers it.
func mounted(t *testing.T, client *keeperapi.Client, id string) (target string, server *fusetest.Server) {
	t.Helper()
	target = t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := client.Mount(ctx, keeperapi.Request{ID: id, Target: target, AllowOther: true}); err != nil {
		t.Fatal(err)
	}
	return target, attach(t, client, id)
}

func attach(t *testing.T, client *keeperapi.Client, id string) *fusetest.Server {
	t.Helper()
	_, fuse, memory, err := client.Take(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	_ = memory.Close()
	server, err := fusetest.Serve(fuse)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return server
}

// read reads the file of the mount; a mount that hangs fails the test instead of hanging it.
func read(t *testing.T, target string) error {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- fusetest.Read(target) }()
	return await(t, result)
}

func await(t *testing.T, result <-chan error) error {
	t.Helper()
	select {
	case err := <-result:
		return err
	case <-time.After(patience):
		t.Fatal("reading hangs")
		return nil
	}
}

func TestAMountServesAndOutlivesItsServer(t *testing.T) {
	fusetest.RequireFuse(t)
	s := newTestServer(t, New("g"), filepath.Join(t.TempDir(), "k.sock"))
	target, first := mounted(t, s.client, "vol-1")
	if err := read(t, target); err != nil {
		t.Fatal(err)
	}
	first.Stop()
	waiting := make(chan error, 1)
	go func() { waiting <- fusetest.Read(target) }()
	attach(t, s.client, "vol-1")
	if err := await(t, waiting); err != nil {
		t.Fatal("a reader noticed that the server was exchanged:", err)
	}
	list, err := s.client.List(t.Context())
	if err != nil || len(list) != 1 || !list[0].Mounted || list[0].Takes != 2 || list[0].Target != target {
		t.Fatal(list, err)
	}
	if existing, err := s.client.Unmount(t.Context(), "vol-1", false); err != nil || !existing {
		t.Fatal(existing, err)
	}
	mustNotBeMounted(t, target)
}

// After a rollback a session goes on whose server has no lock, and is nobody's to abort.
func TestAServerOfAnEarlierVersionIsNotTakenForNone(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	kernel := &fakeSystem{}
	keeper := kernel.keeper()
	keeper.system.cloneFuse = func(*os.File) (*os.File, error) { return os.Open(os.DevNull) }
	s := newTestServer(t, keeper, socket)
	if _, err := s.client.Mount(t.Context(), *request("vol-1")); err != nil {
		t.Fatal(err)
	}
	_, fuse, memory, clone, lock, err := s.client.TakeOwn(t.Context(), "vol-1")
	if err != nil {
		t.Fatal(err)
	}
	keeperapi.CloseAll([]*os.File{fuse, memory, clone, lock})
	// The keeper lets go of what it handed over a moment later.
	awaitTrue(t, "the server that had the lock is gone", func() bool { return orphans.Unserved(socket, "vol-1") })
	_, fuse, memory, err = s.client.Take(t.Context(), "vol-1")
	if err != nil {
		t.Fatal(err)
	}
	defer keeperapi.CloseAll([]*os.File{fuse, memory})
	if orphans.Unserved(socket, "vol-1") {
		t.Fatal("it is served")
	}
}

func mustNotBeMounted(t *testing.T, target string) {
	t.Helper()
	table, err := mountinfo.Read()
	if err != nil {
		t.Fatal(err)
	}
	if mount, found := table.At(target); found {
		t.Fatal("still mounted:", mount)
	}
}

func TestTheKernelSeesTheOptionsAsked(t *testing.T) {
	fusetest.RequireFuse(t)
	s := newTestServer(t, New("g"), filepath.Join(t.TempDir(), "k.sock"))
	folder := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Mount(t.Context(), keeperapi.Request{
		ID: "ro", Target: link, Source: "pv,suid,dev one", ReadOnly: true, DefaultPermissions: true, MaxRead: 65536,
	}); err != nil {
		t.Fatal(err)
	}
	table, err := mountinfo.Read()
	if err != nil {
		t.Fatal(err)
	}
	mount, found := table.At(folder)
	if !found || !mount.ReadOnly() || mount.Source != "pv,suid,dev one" || !strings.Contains(mount.Options, "nosuid,nodev") {
		t.Fatalf("%+v", mount)
	}
	flagged := t.TempDir()
	if _, err := s.client.Mount(t.Context(), keeperapi.Request{ID: "flags", Target: flagged, Flags: []string{"suid", "dev", "noexec", "noatime"}}); err != nil {
		t.Fatal(err)
	}
	if table, err = mountinfo.Read(); err != nil {
		t.Fatal(err)
	}
	mount, found = table.At(flagged)
	if !found || strings.Contains(mount.Options, "nosuid") || strings.Contains(mount.Options, "nodev") ||
		!strings.Contains(mount.Options, "noexec") || !strings.Contains(mount.Options, "noatime") {
		t.Fatalf("%+v", mount)
	}
	if _, err := s.client.Mount(t.Context(), keeperapi.Request{ID: "bad", Target: t.TempDir(), Flags: []string{"colour"}}); err == nil {
		t.Fatal("a flag that is none")
	}
	if _, err := s.client.Mount(t.Context(), keeperapi.Request{ID: "second", Target: folder}); err == nil {
		t.Fatal("a second mount on top of the first")
	}
}

func TestTheSessionMemoryIsSharedByAllTakers(t *testing.T) {
	fusetest.RequireFuse(t)
	s := newTestServer(t, New("g"), filepath.Join(t.TempDir(), "k.sock"))
	if _, err := s.client.Mount(t.Context(), keeperapi.Request{ID: "m", Target: t.TempDir(), MemoryBytes: 8192}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		taken, fuse, memory, err := s.client.Take(t.Context(), "m")
		if err != nil {
			t.Fatal(err)
		}
		_ = fuse.Close()
		defer func() { _ = memory.Close() }()
		info, err := memory.Stat()
		if err != nil || info.Size() != 8192 || taken.MemoryBytes != 8192 || taken.Takes != int64(i) ||
			!strings.HasPrefix(taken.Device, "0:") {
			t.Fatal(info, taken, err)
		}
		was := make([]byte, 1)
		if _, err := memory.ReadAt(was, 100); err != nil || int(was[0]) != i {
			t.Fatalf("taker %d reads %d, %v", i, was[0], err)
		}
		if _, err := memory.WriteAt([]byte{byte(i + 1)}, 100); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSuccessorsTakeOverInBothDirectionsUnderLoad(t *testing.T) {
	fusetest.RequireFuse(t)
	socket := filepath.Join(t.TempDir(), "k.sock")
	keeper := newTestServer(t, New("first"), socket)
	target, _ := mounted(t, keeper.client, "vol-1")
	data := []byte("what the gateway needs")
	if err := keeper.client.SetRecord(t.Context(), "vol-1", data); err != nil {
		t.Fatal(err)
	}
	stopLoad := load(t, keeper.client, target)
	for range 20 {
		old := keeper
		keeper = takeover(t, socket)
		mustEnd(t, old)
		info, err := keeper.client.Info(t.Context())
		if err != nil || info.Sessions != 1 || info.Generation != "first" {
			t.Fatal(info, err)
		}
	}
	if calls := stopLoad(); calls == 0 {
		t.Fatal("there was no load")
	}
	if record, err := keeper.client.Record(t.Context(), "vol-1"); err != nil || string(record) != string(data) {
		t.Fatal(string(record), err)
	}
	attach(t, keeper.client, "vol-1")
	if err := read(t, target); err != nil {
		t.Fatal(err)
	}
	if _, err := keeper.client.Unmount(t.Context(), "vol-1", false); err != nil {
		t.Fatal(err)
	}
	mustNotBeMounted(t, target)
}

// load reads through the mount and asks the keeper, without pause; every failure fails the test.
func load(t *testing.T, client *keeperapi.Client, target string) (stop func() (calls int)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	counts := make(chan int, 4)
	for i := range 4 {
		go func() {
			calls := 0
			for ; ctx.Err() == nil; calls++ {
				if i%2 == 0 {
					if err := read(t, target); err != nil {
						t.Error("reader:", err)
					}
				} else if _, err := client.List(t.Context()); err != nil {
					t.Error("client:", err)
				}
			}
			counts <- calls
		}()
	}
	return func() (total int) {
		cancel()
		for range 4 {
			total += <-counts
		}
		return total
	}
}

func TestASuccessorThatDiesLeavesTheOldKeeperInCharge(t *testing.T) {
	fusetest.RequireFuse(t)
	socket := filepath.Join(t.TempDir(), "k.sock")
	old := newTestServer(t, New("first"), socket)
	target, _ := mounted(t, old.client, "vol-1")
	for _, bound := range []bool{false, true} {
		succession, err := Takeover(t.Context(), socket)
		if err != nil {
			t.Fatal(err)
		}
		if bound { // it had put its socket in the place of the old one's
			server, err := NewServer(succession.Keeper, socket, nil, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			server.hangUp()
		}
		succession.Abandon()
		awaitInfo(t, old)
		if err := read(t, target); err != nil {
			t.Fatal(err)
		}
	}
	takeover(t, socket)
	mustEnd(t, old)
	if err := read(t, target); err != nil {
		t.Fatal(err)
	}
}

// awaitInfo waits until the keeper listens again. One that counts as replaced answers nobody, so clients would ask on and on.
func awaitInfo(t *testing.T, s *testServer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if s.server.finished() {
			t.Fatal("the keeper counts as replaced by a successor that died before it had confirmed")
		}
		info, err := s.client.Info(ctx)
		if err == nil && info.Sessions == 1 {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(info, err)
		}
	}
}

func TestTakeoverFromNobodyStartsFresh(t *testing.T) {
	s := takeover(t, filepath.Join(t.TempDir(), "k.sock"))
	if info, err := s.client.Info(t.Context()); err != nil || info.Sessions != 0 || info.Generation == "" {
		t.Fatal(info, err)
	}
}

func TestForceUnmountFreesAHungReader(t *testing.T) {
	fusetest.RequireFuse(t)
	s := newTestServer(t, New("g"), filepath.Join(t.TempDir(), "k.sock"))
	target := t.TempDir()
	if _, err := s.client.Mount(t.Context(), keeperapi.Request{ID: "hung", Target: target}); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() { result <- fusetest.Read(target) }()
	if _, err := s.client.Unmount(t.Context(), "hung", true); err != nil {
		t.Fatal(err)
	}
	if err := await(t, result); err == nil {
		t.Fatal("the reader got an answer that nobody gave")
	}
	mustNotBeMounted(t, target)
}

func TestNonsenseIsAnsweredAndDoesNotDisturbOthers(t *testing.T) {
	s := newTestServer(t, (&fakeSystem{}).keeper(), filepath.Join(t.TempDir(), "k.sock"))
	for _, line := range []string{"nonsense\n", "[]\n", `{"op":"dance"}` + "\n", `{"op":5}` + "\n", strings.Repeat("x", 300<<10)} {
		conn, err := keeperapi.Dial(t.Context(), s.client.Socket)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = conn.Write([]byte(line)) // the keeper may hang up before it has read all of it
		var status keeperapi.Status
		if err := conn.Receive(&status); err == nil && (status.OK || status.Code != keeperapi.Invalid) {
			t.Errorf("%.20q: %+v", line, status)
		}
		_ = conn.Close()
	}
	if _, err := s.client.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyThoseWhoMayAreServed(t *testing.T) {
	server := &Server{clientUIDs: []uint32{64321}}
	cases := []struct {
		name  string
		uid   uint32
		op    string
		force bool
		ok    bool
	}{
		{"root may mount", 0, keeperapi.OpMount, false, true},
		{"the keeper's user may hand over", uint32(os.Getuid()), keeperapi.OpHandover, false, true},
		{"a gateway may take", 64321, keeperapi.OpTake, false, true},
		{"a gateway may store records", 64321, keeperapi.OpRecord, false, true},
		{"a gateway may not mount", 64321, keeperapi.OpMount, false, false},
		{"a gateway may not unmount", 64321, keeperapi.OpUnmount, false, false},
		{"a gateway may end a session that it cannot answer", 64321, keeperapi.OpUnmount, true, true},
		{"a stranger may not end a session", 1000, keeperapi.OpUnmount, true, false},
		{"a gateway may not hand over", 64321, keeperapi.OpHandover, false, false},
		{"a stranger may not even look", 1000, keeperapi.OpInfo, false, false},
	}
	for _, c := range cases {
		if err := server.admit(c.uid, &keeperapi.Request{Op: c.op, Force: c.force}); (err == nil) != c.ok {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

func TestDescriptorsDoNotLeak(t *testing.T) {
	fusetest.RequireFuse(t)
	s := newTestServer(t, New("g"), filepath.Join(t.TempDir(), "k.sock"))
	cycle := func() {
		target, server := mounted(t, s.client, "leak")
		if err := read(t, target); err != nil {
			t.Fatal(err)
		}
		if _, err := s.client.Unmount(t.Context(), "leak", false); err != nil {
			t.Fatal(err)
		}
		server.Stop()
	}
	cycle()
	before := openFiles(t)
	for range 20 {
		cycle()
	}
	for deadline := time.Now().Add(patience); openFiles(t) > before; { // the last connection may still be closing
		if time.Now().After(deadline) {
			t.Fatalf("%d open files, %d before", openFiles(t), before)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	var open int
	for fd := range 4096 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			open++
		}
	}
	return open
}

// The lock that an earlier gateway had says nothing of the next one, which has none: whoever looks would abort what is served.
func TestWhereAGatewayGetsNoLockThatOfAnEarlierOneIsForgotten(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	server := &Server{keeper: (&fakeSystem{}).keeper(), socket: socket, log: slog.New(slog.DiscardHandler)}
	server.keeper.system.cloneFuse = func(*os.File) (*os.File, error) { return nil, unix.EINVAL }
	first := server.ownFiles("vol-1", 0, nil, &keeperapi.Taken{})
	if len(first) != 1 {
		t.Fatal("the first gateway got", len(first), "files, not its lock alone")
	}
	keeperapi.CloseAll(first)
	if err := os.Chmod(socket+".served", 0o777); err != nil {
		t.Fatal(err)
	}
	if second := server.ownFiles("vol-1", 0, nil, &keeperapi.Taken{}); len(second) != 0 {
		t.Fatal("the second gateway got a lock in a folder of everybody's")
	}
	if orphans.Unserved(socket, "vol-1") {
		t.Fatal("what the second gateway serves counts as unserved")
	}
}

// Whoever touches a mount that nobody serves yet waits for its first server, on some kernels for good: nothing that the keeper is asked
// for does so.
func TestAMountThatNobodyServesYetIsNotTouched(t *testing.T) {
	fusetest.RequireFuse(t)
	s := newTestServer(t, New("g"), filepath.Join(t.TempDir(), "k.sock"))
	request := keeperapi.Request{ID: "vol-1", Target: t.TempDir(), AllowOther: true}
	done := make(chan error, 1)
	go func() {
		_, err := s.client.Mount(t.Context(), request)
		if err == nil {
			_, err = s.client.Mount(t.Context(), request)
		}
		if err == nil {
			_, err = s.client.List(t.Context())
		}
		done <- err
	}()
	if err := await(t, done); err != nil {
		t.Fatal(err)
	}
	_, fuse, memory, err := s.client.Take(t.Context(), "vol-1")
	if err != nil {
		t.Fatal(err)
	}
	defer keeperapi.CloseAll([]*os.File{fuse, memory})
	if err := unix.SetNonblock(int(fuse.Fd()), true); err != nil {
		t.Fatal(err)
	}
	const initialize = 26
	message := make([]byte, 1<<18)
	if _, err := unix.Read(int(fuse.Fd()), message); err != nil || binary.NativeEndian.Uint32(message[4:]) != initialize {
		t.Fatal("the first request is not INIT:", err)
	}
	go func() {
		_, err := s.client.Unmount(t.Context(), "vol-1", false)
		done <- err
	}()
	if err := await(t, done); err != nil {
		t.Fatal(err)
	}
	for { // what the kernel says by itself at the end has no caller that waits
		if _, err := unix.Read(int(fuse.Fd()), message); err != nil {
			return
		}
		if opcode := binary.NativeEndian.Uint32(message[4:]); opcode != 38 && opcode != 2 && opcode != 42 {
			t.Fatal("somebody asked for", opcode)
		}
	}
}
