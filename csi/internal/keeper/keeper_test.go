package keeper

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/mountinfo"
	"posixgateway.io/csi/internal/orphans"
)

// fakeSystem is a kernel with a mount table in memory.
type fakeSystem struct {
	table    mountinfo.Table
	covers   mountinfo.Table // what somebody else mounts right after the keeper
	fail     map[string]error
	unmounts []bool // detach flag of each call
	aborted  []string
	stuck    chan struct{} // an unmount waits for it, when set
}

type fakeConnection struct {
	system *fakeSystem
	device string
}

func (c fakeConnection) Abort() error {
	if err := c.system.fail["abort"]; err != nil {
		return err
	}
	c.system.aborted = append(c.system.aborted, c.device)
	return nil
}
func (c fakeConnection) Close() {}

func (f *fakeSystem) keeper() *Keeper {
	k := New("test")
	k.patience = time.Minute
	open := func(what string) (*os.File, error) {
		if err := f.fail[what]; err != nil {
			return nil, err
		}
		return os.Open(os.DevNull)
	}
	k.system = system{
		openFuse:   func() (*os.File, error) { return open("fuse") },
		openMemory: func(string, int64) (*os.File, error) { return open("memory") },
		mount: func(request *keeperapi.Request, _ *os.File) (string, error) {
			if err := f.fail["mount"]; err != nil {
				return "", err
			}
			f.table = append(f.table, mountinfo.Mount{
				ID: len(f.table) + 1, Device: "0:" + request.ID, MountPoint: request.Target, FSType: request.FSType, Source: request.Source,
				Options: strings.Join(askedOptions(request), ","),
			})
			f.table = append(f.table, f.covers...)
			return request.Target, nil
		},
		unmount: func(_ string, detach bool) error {
			if f.stuck != nil {
				<-f.stuck
				return nil
			}
			f.unmounts = append(f.unmounts, detach)
			if err := f.fail["unmount"]; err != nil && !detach {
				return err
			}
			f.table = nil
			return nil
		},
		connection: func(device string) (connection, error) { return fakeConnection{f, device}, f.fail["connection"] },
		abort: func(record orphans.Record) (bool, error) {
			if err := f.fail["abort"]; err != nil {
				return false, err
			}
			f.aborted = append(f.aborted, record.Device)
			return true, nil
		},
		mounts: func() (mountinfo.Table, error) { return f.table, f.fail["mounts"] },
	}
	return k
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	refusal, ok := errors.AsType[*keeperapi.Error](err)
	if !ok || refusal.Code != code {
		t.Fatalf("got %v, want a refusal with code %s", err, code)
	}
}

func request(id string) *keeperapi.Request {
	return &keeperapi.Request{Op: keeperapi.OpMount, ID: id, Target: "/mnt/" + id}
}

func TestMountingTwiceIsMountingOnce(t *testing.T) {
	k := (&fakeSystem{}).keeper()
	if existing, err := k.mount(request("a")); existing || err != nil {
		t.Fatal(existing, err)
	}
	if existing, err := k.mount(request("a")); !existing || err != nil {
		t.Fatal(existing, err)
	}
	elsewhere := request("a")
	elsewhere.Target = "/mnt/elsewhere"
	_, err := k.mount(elsewhere)
	wantCode(t, err, keeperapi.Exists)
}

func TestAMountThatSomebodyElseRemovedIsMadeAnew(t *testing.T) {
	system := &fakeSystem{}
	k := system.keeper()
	if _, err := k.mount(request("a")); err != nil {
		t.Fatal(err)
	}
	system.table = nil
	if list, _ := k.list(); list[0].Mounted {
		t.Fatal("list calls it mounted")
	}
	if existing, err := k.mount(request("a")); existing || err != nil {
		t.Fatal(existing, err)
	}
	if list, _ := k.list(); len(list) != 1 || !list[0].Mounted {
		t.Fatal(list)
	}
}

// A kernel left it out of the table once; or it is gone, and the next one cannot be made.
func TestASessionWhoseMountIsNotSeenStaysUntilAnotherIsMade(t *testing.T) {
	system := &fakeSystem{}
	k := system.keeper()
	if _, err := k.mount(request("a")); err != nil {
		t.Fatal(err)
	}
	before, table := k.find("a"), system.table
	system.table, system.fail = nil, map[string]error{"mount": errors.New("target /mnt/a already has a mount")}
	_, err := k.mount(request("a"))
	wantCode(t, err, keeperapi.Failed)
	system.table, system.fail = table, nil
	if existing, err := k.mount(request("a")); !existing || err != nil || k.find("a") != before {
		t.Fatal("a session that lives was dropped:", existing, err)
	}
	if _, _, err := k.take("a"); err != nil {
		t.Fatal(err)
	}
}

func TestAMountThatIsCoveredKeepsItsSession(t *testing.T) {
	system := &fakeSystem{}
	k := system.keeper()
	if _, err := k.mount(request("a")); err != nil {
		t.Fatal(err)
	}
	before := k.find("a")
	system.table = append(system.table, mountinfo.Mount{ID: 99, Parent: 1, Device: "0:tmpfs", MountPoint: "/mnt/a", FSType: "tmpfs"})
	_, err := k.mount(request("a"))
	wantCode(t, err, keeperapi.Failed)
	if !strings.Contains(err.Error(), "tmpfs") {
		t.Errorf("it does not say what is in the way: %v", err)
	}
	if k.find("a") != before {
		t.Fatal("programs that use the mount lose it with their gateway")
	}
	system.table = system.table[:1]
	if existing, err := k.mount(request("a")); !existing || err != nil {
		t.Fatal(existing, err)
	}
}

// Its device is what an unmount by force aborts.
func TestAMountThatIsCoveredAtOnceIsNotTakenForTheOneThatCoversIt(t *testing.T) {
	for _, other := range []mountinfo.Mount{
		{ID: 99, Parent: 1, Device: "0:other", MountPoint: "/mnt/a", FSType: "tmpfs", Source: "a"},
		{ID: 99, Parent: 1, Device: "0:other", MountPoint: "/mnt/a", FSType: keeperapi.FSType, Source: "b"},
		{ID: 99, Parent: 7, Device: "0:a", MountPoint: "/mnt/a", FSType: keeperapi.FSType, Source: "a"}, // the same, by propagation
	} {
		system := &fakeSystem{covers: mountinfo.Table{other}}
		k := system.keeper()
		if _, err := k.mount(request("a")); err != nil {
			t.Fatal(err)
		}
		if device := k.find("a").device; device != "0:a" {
			t.Fatal(device)
		}
		if _, err := k.unmount("a", true); err != nil || slices.Contains(system.aborted, "0:other") {
			t.Fatal(err, system.aborted)
		}
	}
}

// Another keeper mounts the same volume there: which of them is which cannot be told.
func TestAMountThatCannotBeToldFromAnotherIsGivenUpAndNothingElseIsTouched(t *testing.T) {
	system := &fakeSystem{covers: mountinfo.Table{{ID: 99, Parent: 1, Device: "0:other", MountPoint: "/mnt/a", FSType: keeperapi.FSType, Source: "a"}}}
	k := system.keeper()
	_, err := k.mount(request("a"))
	wantCode(t, err, keeperapi.Failed)
	if count, _ := k.Sessions(); count != 0 || len(system.unmounts) > 0 || len(system.aborted) > 0 {
		t.Fatal(count, system.unmounts, system.aborted)
	}
}

func TestAFailedMountLeavesNothing(t *testing.T) {
	for _, step := range []string{"fuse", "memory", "mount"} {
		k := (&fakeSystem{fail: map[string]error{step: syscall.EPERM}}).keeper()
		_, err := k.mount(request("a"))
		wantCode(t, err, keeperapi.Failed)
		if count, _ := k.Sessions(); count != 0 {
			t.Errorf("step %s: a session stayed", step)
		}
	}
}

func TestHostileRequestsAreRefused(t *testing.T) {
	k := (&fakeSystem{}).keeper()
	for _, id := range []string{"", "a/b", "a b", "a\nb", "..\x00", "é", strings.Repeat("a", 256)} {
		bad := request("x")
		bad.ID = id
		_, err := k.mount(bad)
		wantCode(t, err, keeperapi.Invalid)
		_, err = k.unmount(id, false)
		wantCode(t, err, keeperapi.Invalid)
	}
	for _, target := range []string{"", "/", "mnt", "/mnt/../etc", "/mnt/", "/a\nb", "/a\x00", "/" + strings.Repeat("a", 5000)} {
		bad := request("x")
		bad.Target = target
		_, err := k.mount(bad)
		wantCode(t, err, keeperapi.Invalid)
	}
	for _, change := range []func(*keeperapi.Request){
		func(r *keeperapi.Request) { r.FSType = "ext4" },
		func(r *keeperapi.Request) { r.Source = "a\nb" },
		func(r *keeperapi.Request) { r.Source = strings.Repeat("a", 1025) },
		func(r *keeperapi.Request) { r.MemoryBytes = -1 },
		func(r *keeperapi.Request) { r.MemoryBytes = keeperapi.MaxMemoryBytes + 1 },
	} {
		bad := request("x")
		change(bad)
		_, err := k.mount(bad)
		wantCode(t, err, keeperapi.Invalid)
	}
}

func TestUnmount(t *testing.T) {
	cases := []struct {
		name    string
		force   bool
		fail    error
		detach  []bool
		aborted int
		code    string
	}{
		{name: "an idle mount goes plainly", detach: []bool{false}},
		{name: "a busy mount is detached", fail: syscall.EBUSY, detach: []bool{false, true}},
		{name: "force detaches at once and aborts", force: true, detach: []bool{true}, aborted: 1},
		{name: "a mount that is gone is as good", fail: syscall.EINVAL, detach: []bool{false}},
		{name: "another error is told and the session stays", fail: syscall.EPERM, detach: []bool{false}, code: keeperapi.Failed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			system := &fakeSystem{}
			k := system.keeper()
			if _, err := k.mount(request("a")); err != nil {
				t.Fatal(err)
			}
			system.fail = map[string]error{"unmount": c.fail}
			existing, err := k.unmount("a", c.force)
			left, _ := k.Sessions()
			if c.code != "" {
				wantCode(t, err, c.code)
				if left != 1 {
					t.Error("the session is gone")
				}
			} else if err != nil || !existing || left != 0 {
				t.Errorf("got %v, %v, %d sessions left", existing, err, left)
			}
			if len(system.unmounts) != len(c.detach) || system.unmounts[len(c.detach)-1] != c.detach[len(c.detach)-1] {
				t.Errorf("unmount calls %v, want %v", system.unmounts, c.detach)
			}
			if len(system.aborted) != c.aborted {
				t.Errorf("aborted %v", system.aborted)
			}
		})
	}
}

func TestUnmountOfAnUnknownSessionIsFine(t *testing.T) {
	if existing, err := (&fakeSystem{}).keeper().unmount("a", false); existing || err != nil {
		t.Fatal(existing, err)
	}
}

func TestAStuckUnmountAbortsTheConnectionAndGivesUp(t *testing.T) {
	system := &fakeSystem{}
	k := system.keeper()
	if _, err := k.mount(request("a")); err != nil {
		t.Fatal(err)
	}
	system.stuck = make(chan struct{})
	defer close(system.stuck)
	k.patience = 50 * time.Millisecond
	_, err := k.unmount("a", false)
	wantCode(t, err, keeperapi.Failed)
	if len(system.aborted) != 1 {
		t.Error("the connection was not aborted")
	}
	if count, _ := k.Sessions(); count != 0 {
		t.Error("the session's descriptors are still held")
	}
}

// Too many files were open when the session came, or when it had to end: the calls of its mount would hang, and nobody would look again.
func TestAConnectionThatCannotBeAbortedKeepsItsSession(t *testing.T) {
	for _, c := range []struct {
		when, step string
		ends       func(system *fakeSystem, k *Keeper) error
	}{
		{"by force", "connection", func(_ *fakeSystem, k *Keeper) error { _, err := k.unmount("a", true); return err }},
		{"by force", "abort", func(_ *fakeSystem, k *Keeper) error { _, err := k.unmount("a", true); return err }},
		{"by an unmount that hangs", "connection", func(system *fakeSystem, k *Keeper) error {
			system.stuck = make(chan struct{})
			defer close(system.stuck)
			k.patience = 50 * time.Millisecond
			_, err := k.unmount("a", false)
			return err
		}},
	} {
		system := &fakeSystem{fail: map[string]error{c.step: syscall.EMFILE}}
		k := system.keeper()
		if _, err := k.mount(request("a")); err != nil {
			t.Fatal(err)
		}
		wantCode(t, c.ends(system, k), keeperapi.Failed)
		if count, _ := k.Sessions(); count != 1 || len(system.aborted) > 0 {
			t.Fatal("it ended", c.when, count, system.aborted)
		}
		system.fail = nil
		k.patience = time.Minute
		if existing, err := k.unmount("a", true); err != nil || !existing || len(system.aborted) != 1 {
			t.Fatal("it is not aborted later", c.when, existing, err, system.aborted)
		}
	}
}

func TestRecords(t *testing.T) {
	k := (&fakeSystem{}).keeper()
	_, err := k.record("a", nil)
	wantCode(t, err, keeperapi.NotFound)
	if _, err := k.mount(request("a")); err != nil {
		t.Fatal(err)
	}
	tooMuch := make([]byte, keeperapi.MaxRecordBytes+1)
	_, err = k.record("a", &tooMuch)
	wantCode(t, err, keeperapi.Invalid)
	data := []byte("remember")
	if _, err := k.record("a", &data); err != nil {
		t.Fatal(err)
	}
	if stored, _ := k.record("a", nil); string(stored) != "remember" {
		t.Fatalf("got %q", stored)
	}
	empty := []byte{}
	if _, err := k.record("a", &empty); err != nil {
		t.Fatal(err)
	}
	if list, _ := k.list(); list[0].HasRecord {
		t.Fatal("an empty record counts as one")
	}
}

func TestStaleSocketFilesDoNotHinderAStart(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	server := newTestServer(t, (&fakeSystem{}).keeper(), socket)
	if info, err := server.client.Info(t.Context()); err != nil || info.PID != os.Getpid() || info.Generation != "test" {
		t.Fatal(info, err)
	}
	if found, err := os.Stat(socket); err != nil || found.Mode().Perm() != 0o600 {
		t.Fatal(found, err)
	}
}
