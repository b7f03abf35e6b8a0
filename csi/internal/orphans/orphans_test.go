package orphans

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/fusetest"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/mountinfo"
)

func TestASessionIsUnservedWhenTheLastHolderOfItsLockIsGone(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	if Unserved(socket, "a") {
		t.Fatal("nothing is known of a gateway that took no lock")
	}
	first, err := Lock(socket, "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Lock(socket, "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	if Unserved(socket, "a") {
		t.Fatal("the second gateway lives")
	}
	_ = second.Close()
	if !Unserved(socket, "a") {
		t.Fatal("nobody lives")
	}
}

// Else a gateway would serve without one, and its connection count as left. In virtual time.
func TestALookKeepsNoGatewayFromItsLock(t *testing.T) {
	synctest.Test(t, aLookKeepsNoGatewayFromItsLock)
}

func aLookKeepsNoGatewayFromItsLock(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	first, err := Lock(socket, "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(first.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = first.Close() })
	second, err := Lock(socket, "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Close()
}

func TestRecordsOfAnEarlierBootAreNothing(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	if err := Save(socket, []Record{{ID: "a", Device: "0:1"}}); err != nil {
		t.Fatal(err)
	}
	if records, err := Load(socket); err != nil || len(records) != 1 || records[0].Device != "0:1" {
		t.Fatal(records, err)
	}
	really := bootID
	defer func() { bootID = really }()
	bootID = func() (string, error) { return "another", nil }
	if records, err := Load(socket); err != nil || len(records) != 0 {
		t.Fatal(records, err)
	}
}

func TestAProcessIsDyingWhenItWasKilledAndIsNotGone(t *testing.T) {
	if Dying(os.Getpid()) {
		t.Fatal("this one lives")
	}
	child := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if Dying(child.Process.Pid) {
		t.Fatal("the child lives")
	}
	_ = child.Process.Kill()
	awaitDying(t, child.Process.Pid)
	_ = child.Wait()
}

// Its only task is the first one, and waits for an answer to the flush of its file.
func TestAProcessIsDyingThatWaitsInItsExit(t *testing.T) {
	fusetest.RequireFuse(t)
	target := t.TempDir()
	held, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", held)
	if err := unix.Mount("orphans-test", target, keeperapi.FSType, 0, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(target, unix.MNT_DETACH) })
	served, err := unix.FcntlInt(uintptr(held), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	server, err := fusetest.Serve(os.NewFile(uintptr(served), "/dev/fuse"))
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), "sh", "-c", `exec 3<"$0"; echo open; exec sleep 1000`, filepath.Join(target, fusetest.FileName))
	said, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := said.Read(make([]byte, len("open"))); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	socket := filepath.Join(t.TempDir(), "k.sock")
	lock, err := Lock(socket, "a", child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }() // in the child's place, which keeps its own as long as it is dying
	if Dying(child.Process.Pid) || Unserved(socket, "a") {
		t.Error("it lives")
	}
	_ = child.Process.Kill()
	awaitDying(t, child.Process.Pid)
	if !Unserved(socket, "a") {
		t.Error("it can serve nobody any more, and counts as served")
	}
	later, err := Lock(socket, "a", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if Unserved(socket, "a") {
		t.Error("another one has it, which lives")
	}
	_ = later.Close()
	_ = unix.Close(held) // the last descriptor of the connection: it ends
	_ = child.Wait()
}

func awaitDying(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !Dying(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it was killed, and nobody waited for it")
		}
	}
}

// A device number goes to the next mount as soon as its own is gone.
func TestTheConnectionThatGotTheDeviceNumberOfAnotherIsNotAborted(t *testing.T) {
	fusetest.RequireFuse(t)
	target := t.TempDir()
	mounted := serveAt(t, target)
	record := Record{ID: "a", Device: mounted.device, MountPoint: target}
	connection, err := Open(mounted.device)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	mounted.end()
	next := serveAt(t, target)
	defer next.end()
	if next.device != mounted.device {
		t.Skipf("the next mount is %s, not %s", next.device, mounted.device)
	}
	if err := errors.Join(connection.Abort(), fusetest.Read(target)); err != nil {
		t.Fatal("the next mount was aborted:", err)
	}
	elsewhere := record
	elsewhere.MountPoint += "/elsewhere"
	if aborted, err := Abort(elsewhere, mountinfo.Read); err != nil || aborted || fusetest.Read(target) != nil {
		t.Fatal("a mount of another place was aborted:", aborted, err)
	}
	if aborted, err := Abort(record, mountinfo.Read); err != nil || !aborted || fusetest.Read(target) == nil {
		t.Fatal("the mount of the record was not aborted:", aborted, err)
	}
}

// The mount of the record ends while the mount table is read, and another gets its number.
func TestARecordIsOfTheConnectionThatWasThereBeforeTheMountTableWasRead(t *testing.T) {
	fusetest.RequireFuse(t)
	target, other := t.TempDir(), t.TempDir()
	mounted := serveAt(t, target)
	var next served
	aborted, err := Abort(Record{ID: "a", Device: mounted.device, MountPoint: target}, func() (mountinfo.Table, error) {
		table, err := mountinfo.Read()
		mounted.end()
		next = serveAt(t, other)
		return table, err
	})
	defer next.end()
	if next.device != mounted.device {
		t.Skipf("the next mount is %s, not %s", next.device, mounted.device)
	}
	if err != nil || !aborted || fusetest.Read(other) != nil {
		t.Fatal("the next mount was aborted:", aborted, err, fusetest.Read(other))
	}
}

// Where fusectl is not mounted, as in a container, each look mounts it for a moment.
func TestAConnectionThatLivesIsFoundByManyAtOnce(t *testing.T) {
	fusetest.RequireFuse(t)
	for unix.Unmount(connections, unix.MNT_DETACH) == nil { // in the namespace of this test alone
		continue
	}
	living := serveAt(t, t.TempDir())
	var looks sync.WaitGroup
	start := make(chan struct{})
	for range 32 {
		looks.Go(func() {
			<-start
			for range 32 {
				connection, err := Open(living.device)
				if err != nil || connection == nil {
					t.Error("it counts as ended:", connection, err)
					return
				}
				connection.Close()
			}
		})
	}
	close(start)
	looks.Wait()
	if connection, err := Open("0:4294967295"); err != nil || connection != nil {
		t.Error("a number that no connection has:", connection, err)
	}
	table, err := mountinfo.Read()
	if err != nil {
		t.Fatal(err)
	}
	if left, mounted := table.At(connections); mounted {
		t.Error("left mounted:", left)
	}
}

func TestAnAbortThatFailsIsNotReportedAsDone(t *testing.T) {
	record := Record{ID: "a", Device: "0:1", MountPoint: "/a"}
	mounted := func() (mountinfo.Table, error) {
		return mountinfo.Table{{Device: "0:1", MountPoint: "/a", FSType: keeperapi.FSType}}, nil
	}
	readOnly, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	for what, open := range map[string]func(string) (*Connection, error){
		"open":  func(string) (*Connection, error) { return nil, unix.EMFILE },
		"write": func(string) (*Connection, error) { return &Connection{abort: readOnly}, nil },
	} {
		if aborted, err := abort(record, open, mounted); aborted || err == nil {
			t.Error(what, aborted, err)
		}
	}
	if aborted, err := abort(record, func(string) (*Connection, error) { return nil, nil }, mounted); aborted || err != nil {
		t.Error("one that has ended:", aborted, err)
	}
}

// served is a mount that this process serves.
type served struct {
	device string
	end    func()
}

func serveAt(t *testing.T, target string) served {
	t.Helper()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	data := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)
	if err := unix.Mount("a", target, keeperapi.FSType, unix.MS_NOSUID|unix.MS_NODEV, data); err != nil {
		t.Fatal(err)
	}
	server, err := fusetest.Serve(os.NewFile(uintptr(fd), "/dev/fuse"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := mountinfo.Read()
	if err != nil {
		t.Fatal(err)
	}
	mount, _ := table.At(target)
	end := sync.OnceFunc(func() {
		if err := unix.Unmount(target, 0); err != nil {
			t.Error(err, unix.Unmount(target, unix.MNT_DETACH))
		}
		server.Stop()
	})
	t.Cleanup(end)
	return served{device: mount.Device, end: end}
}

func TestARecordThatIsNotUnderstoodLeavesTheOthers(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	if err := Save(socket, []Record{{ID: "a", Device: "0:1"}, {ID: "b", Device: "0:2"}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(recordsOf(socket))
	if err != nil {
		t.Fatal(err)
	}
	of := strings.Replace(string(text), `"0:1"`, `{"major":0,"minor":1}`, 1) // as a later version may write it
	if err := os.WriteFile(recordsOf(socket), []byte(of), 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := Load(socket)
	if len(records) != 1 || records[0].ID != "b" || err == nil || !strings.Contains(err.Error(), `minor`) {
		t.Fatal(records, err)
	}
}

func TestAListThatIsCutOffHasTheRecordsBefore(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	if err := Save(socket, []Record{{ID: "a", Device: "0:1"}, {ID: "b", Device: "0:2"}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(recordsOf(socket))
	if err != nil {
		t.Fatal(err)
	}
	for left, want := range map[int]int{len(text) - 1: 2, len(text) - 9: 1, 1: 0, 0: 0} {
		if err := os.WriteFile(recordsOf(socket), text[:left], 0o600); err != nil {
			t.Fatal(err)
		}
		if records, err := Load(socket); err == nil || len(records) != want {
			t.Fatal(left, records, err)
		}
	}
}

func TestAListIsSetAsideOnceAndEachUnderANameOfItsOwn(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	names := map[string]bool{}
	for damage := range maxSetAside {
		text := fmt.Sprintf("damage %d", damage)
		if err := os.WriteFile(recordsOf(socket)+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(recordsOf(socket)+".new", recordsOf(socket)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			name, err := SetAside(socket)
			if err != nil {
				t.Fatal(err)
			}
			if there, err := os.ReadFile(name); err != nil || string(there) != text {
				t.Fatalf("%s: %q, %v", name, there, err)
			}
			names[name] = true
		}
	}
	if len(names) != maxSetAside {
		t.Fatal(names)
	}
	Discard(socket)
	if err := Save(socket, nil); err != nil {
		t.Fatal(err)
	}
	if name, err := SetAside(socket); err == nil || !strings.Contains(err.Error(), "remove them") {
		t.Fatal("more room than there is:", name, err)
	}
}

func TestAGatewayGetsItsLockWhereTheDiskIsFull(t *testing.T) {
	fusetest.RequireFuse(t) // root, in a mount namespace of its own
	folder := t.TempDir()
	if err := unix.Mount("none", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=4k,mode=700"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
	if err := os.WriteFile(filepath.Join(folder, "all"), make([]byte, 8<<10), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "k.sock")
	lock, err := Lock(socket, "a", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if Unserved(socket, "a") {
		t.Error("a gateway that lives has it")
	}
}
