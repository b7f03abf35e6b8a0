package orphans

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// Else a gateway would serve without one, and its connection count as left.
func TestALookKeepsNoGatewayFromItsLock(t *testing.T) {
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
	for deadline := time.Now().Add(time.Minute); !Dying(child.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it was killed, and nobody waited for it")
		}
	}
	_ = child.Wait()
}
