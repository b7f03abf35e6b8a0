package orphans

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/fusetest"
	"posixgateway.io/csi/internal/keeperapi"
)

func TestASessionIsUnservedWhenTheLastHolderOfItsLockIsGone(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	if Unserved(socket, "a") {
		t.Fatal("nothing is known of a gateway that took no lock")
	}
	first, err := Lock(socket, "a")
	if err != nil {
		t.Fatal(err)
	}
	second, err := Lock(socket, "a")
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
	first, err := Lock(socket, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(first.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = first.Close() })
	second, err := Lock(socket, "a")
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
	if Dying(child.Process.Pid) {
		t.Error("it lives")
	}
	_ = child.Process.Kill()
	awaitDying(t, child.Process.Pid)
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
