package driver

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/orphans"
)

func TestConnectionsOfADeadKeeperAreAbortedThatNoGatewayHas(t *testing.T) {
	m := newMachine()
	socket := filepath.Join(t.TempDir(), "keeper.sock")
	var held []orphans.Record
	for id, device := range map[string]string{
		"left": "0:1", "served": "0:2", "of-an-older-gateway": "0:3", "unmounted": "0:4", "of-others": "0:5", "number-of-another": "0:6",
	} {
		held = append(held, orphans.Record{ID: id, Device: device, MountPoint: "/" + id})
		switch id {
		case "unmounted":
		case "number-of-another":
			m.mount(device, "/elsewhere", keeperapi.FSType, false)
		case "of-others":
			m.mount(device, "/"+id, "fuse.sshfs", false)
		default:
			m.mount(device, "/"+id, keeperapi.FSType, false)
		}
		if id == "of-an-older-gateway" {
			continue
		}
		lock, err := orphans.Lock(socket, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		if id == "served" {
			t.Cleanup(func() { _ = lock.Close() })
		} else {
			_ = lock.Close()
		}
	}
	if err := orphans.Save(socket, held); err != nil {
		t.Fatal(err)
	}
	var aborted []string
	gone := false
	watch := &OrphanWatch{
		KeeperSocket: socket, Parts: m.parts(t), Abort: func(record orphans.Record) (bool, error) {
			aborted = append(aborted, record.Device)
			return true, nil
		},
		Gone: func(context.Context) bool { return gone },
	}
	pass := func(time time.Duration) { m.now = m.now.Add(time); watch.Look(t.Context()) }
	pass(time.Hour)
	gone, m.fail["keeper info"] = true, errors.New("no answer")
	pass(time.Hour)
	pass(keeperSilence - time.Millisecond)
	if len(aborted) > 0 {
		t.Fatal("aborted before the keeper was silent for long:", aborted)
	}
	pass(time.Millisecond)
	pass(time.Second)
	if !slices.Equal(aborted, []string{"0:1"}) {
		t.Fatal("aborted:", aborted)
	}
	gone, m.fail["keeper info"] = false, nil
	pass(time.Hour)
	gone, m.fail["keeper info"] = true, errors.New("no answer")
	pass(time.Second)
	if len(aborted) != 1 {
		t.Fatal("aborted before the keeper was silent for long again:", aborted)
	}
}

// It is stopped, starved or swapped out: a gateway that was killed meanwhile is followed by one that goes on with the mounts.
func TestAKeeperThatIsSlowIsNotGone(t *testing.T) {
	m := newMachine()
	socket := filepath.Join(t.TempDir(), "keeper.sock")
	var held []orphans.Record
	for id, helped := range map[string]bool{"of-this-version": true, "of-an-earlier-one": false} {
		held = append(held, orphans.Record{ID: id, Device: "0:" + id, MountPoint: "/" + id, Helped: helped})
		m.mount("0:"+id, "/"+id, keeperapi.FSType, false)
		lock, err := orphans.Lock(socket, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = lock.Close() // the gateway was killed
	}
	if err := orphans.Save(socket, held); err != nil {
		t.Fatal(err)
	}
	var aborted []string
	watch := &OrphanWatch{
		KeeperSocket: socket, Parts: m.parts(t), Abort: func(record orphans.Record) (bool, error) {
			aborted = append(aborted, record.Device)
			return true, nil
		},
		Gone: func(context.Context) bool { return false },
	}
	m.fail["keeper info"] = errors.New("no answer")
	for range 10 {
		m.now = m.now.Add(time.Hour)
		watch.Look(t.Context())
	}
	if !slices.Equal(aborted, []string{"0:of-an-earlier-one"}) {
		t.Fatal("aborted:", aborted)
	}
}

// left is a machine with the mount 0:1 at /a, whose keeper and gateway were killed, and where the keeper had listened.
func left(t *testing.T) (m *machine, socket string) {
	t.Helper()
	m, socket = newMachine(), filepath.Join(t.TempDir(), "keeper.sock")
	m.mount("0:1", "/a", keeperapi.FSType, false)
	lock, err := orphans.Lock(socket, "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = lock.Close()
	return m, socket
}

// It crashed again at once, and the mount that it had made anew got the number of the one before.
func TestAKeeperThatCameAndWentBetweenTwoLooksIsAnotherOne(t *testing.T) {
	m, socket := left(t)
	var aborted []string
	watch := &OrphanWatch{
		KeeperSocket: socket, Parts: m.parts(t), Abort: func(record orphans.Record) (bool, error) {
			aborted = append(aborted, record.Device)
			return true, nil
		},
		Gone: func(context.Context) bool { return true },
	}
	m.fail["keeper info"] = errors.New("nobody there")
	for held := range int64(3) {
		if err := orphans.Save(socket, []orphans.Record{{ID: "a", Device: "0:1", MountPoint: "/a", Held: held, Helped: true}}); err != nil {
			t.Fatal(err)
		}
		for _, pass := range []time.Duration{time.Second, keeperSilence - time.Millisecond} {
			m.now = m.now.Add(pass)
			watch.Look(t.Context())
		}
		if len(aborted) != int(held) {
			t.Fatalf("of keeper %d: aborted before it was silent for long: %v", held, aborted)
		}
		m.now = m.now.Add(time.Millisecond)
		watch.Look(t.Context())
		if len(aborted) != int(held)+1 {
			t.Fatalf("of keeper %d: not aborted: %v", held, aborted)
		}
	}
}

// The disk failed, or too many files were open, for a moment: that is no sign of another keeper.
func TestTheSilenceOfAKeeperGoesOnPastAListThatNobodyCanRead(t *testing.T) {
	m, socket := left(t)
	if err := orphans.Save(socket, []orphans.Record{{ID: "a", Device: "0:1", MountPoint: "/a", Helped: true}}); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(socket + ".sessions")
	if err != nil {
		t.Fatal(err)
	}
	aborted := 0
	watch := &OrphanWatch{
		KeeperSocket: socket, Parts: m.parts(t), Abort: func(orphans.Record) (bool, error) {
			aborted++
			return true, nil
		},
		Gone: func(context.Context) bool { return true },
	}
	m.fail["keeper info"] = errors.New("nobody there")
	for _, content := range [][]byte{list, []byte("torn"), list} {
		if err := os.WriteFile(socket+".sessions", content, 0o600); err != nil {
			t.Fatal(err)
		}
		watch.Look(t.Context())
		m.now = m.now.Add(keeperSilence / 2)
	}
	if aborted != 1 {
		t.Fatal("aborted:", aborted)
	}
}

func TestAListThatIsNotUnderstoodIsReportedOnce(t *testing.T) {
	m := newMachine()
	socket := filepath.Join(t.TempDir(), "keeper.sock")
	parts := m.parts(t)
	var log strings.Builder
	parts.Log = slog.New(slog.NewTextHandler(&log, nil))
	watch := &OrphanWatch{KeeperSocket: socket, Parts: parts, Gone: func(context.Context) bool { return true }}
	m.fail["keeper info"] = errors.New("nobody there")
	for reported, list := range []string{"no list", `["of a later version"]`, "no list"} {
		if err := os.WriteFile(socket+".sessions", []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			watch.Look(t.Context())
		}
		if times := strings.Count(log.String(), "cannot determine all sessions"); times != reported+1 {
			t.Fatalf("reported %d times: %s", times, log.String())
		}
	}
}
