package keeper

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/keeperapi"
)

// pair is a connection of which the test is the other side.
func pair(t *testing.T) (ours, theirs *keeperapi.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*keeperapi.Conn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "pair")
		conn, err := net.FileConn(file)
		_ = file.Close()
		if err != nil {
			t.Fatal(err)
		}
		unixConn, _ := conn.(*net.UnixConn)
		ends[i] = keeperapi.NewConn(unixConn)
		t.Cleanup(func() { _ = conn.Close() })
	}
	return ends[0], ends[1]
}

func TestASuccessorIsResponsibleOnlyWhenItsPredecessorSaidSoOrDied(t *testing.T) {
	said := func(t *testing.T, theirs *keeperapi.Conn, message any) {
		t.Helper()
		if err := theirs.Send(message); err != nil {
			t.Fatal(err)
		}
	}
	refusal := keeperapi.Status{Code: keeperapi.Failed, Message: "too late"}
	for _, c := range []struct {
		what        string
		late        bool
		predecessor func(t *testing.T, theirs *keeperapi.Conn)
		responsible bool
	}{
		{"it agrees", false, func(t *testing.T, theirs *keeperapi.Conn) { said(t, theirs, keeperapi.Status{OK: true}) }, true},
		{"it objects", false, func(t *testing.T, theirs *keeperapi.Conn) { said(t, theirs, refusal) }, false},
		{"it died", false, func(_ *testing.T, theirs *keeperapi.Conn) { _ = theirs.Close() }, true},
		{"it objected and left", false, func(t *testing.T, theirs *keeperapi.Conn) { said(t, theirs, refusal); _ = theirs.Close() }, false},
		{"it objected, and the time is over", true, func(t *testing.T, theirs *keeperapi.Conn) { said(t, theirs, refusal) }, false},
		{"it lives, and the time is over", true, func(*testing.T, *keeperapi.Conn) {}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			ours, theirs := pair(t)
			c.predecessor(t, theirs)
			succession := &Succession{Keeper: New("g"), conn: ours}
			succession.limit(time.Now().Add(time.Minute))
			if c.late {
				succession.limit(time.Now().Add(-time.Second))
			}
			if err := succession.Confirm(); (err == nil) != c.responsible {
				t.Fatal(err)
			}
		})
	}
}

// A successor that was told nothing in time hears no more, and its predecessor finds that out.
func TestAnAnswerThatComesTooLateIsNotGiven(t *testing.T) {
	ours, theirs := pair(t)
	succession := &Succession{Keeper: New("g"), conn: ours}
	succession.limit(time.Now().Add(time.Minute))
	ended := make(chan error, 1)
	go func() { ended <- succession.Confirm() }()
	var taken keeperapi.Request
	if err := theirs.Receive(&taken); err != nil || taken.Op != keeperapi.OpTaken {
		t.Fatal(taken, err)
	}
	_ = ours.SetDeadline(time.Now().Add(-time.Second)) // it waits for the answer
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	if err := theirs.Send(keeperapi.Status{OK: true}); err == nil {
		t.Fatal("the predecessor believes that it was heard")
	}
}

// It is told that it failed, and whatever it had put in the place of the socket by then, the old keeper can be reached again.
func TestAPredecessorThatKeepsItsSessionsSaysSo(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "k.sock")
	old := newTestServer(t, (&fakeSystem{}).keeper(), socket)
	succession, err := Takeover(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := succession.conn.Send(keeperapi.Request{Op: keeperapi.OpInfo}); err != nil { // which ends the handover, as its time does
		t.Fatal(err)
	}
	awaitTrue(t, "the end of the handover", func() bool {
		free := old.server.keeper.gate.TryRLock()
		if free {
			old.server.keeper.gate.RUnlock()
		}
		return free
	})
	late, err := NewServer(succession.Keeper, socket, nil, slog.New(slog.DiscardHandler)) // it does not know yet
	if err != nil {
		t.Fatal(err)
	}
	err = succession.Confirm()
	if _, refused := errors.AsType[*keeperapi.Error](err); !refused || old.server.finished() {
		t.Fatal("two keepers are responsible:", err)
	}
	late.hangUp()
	succession.Abandon()
	awaitTrue(t, "the old keeper", func() bool {
		conn, err := keeperapi.Dial(t.Context(), socket)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	if info, err := old.client.Info(t.Context()); err != nil || info.PID != os.Getpid() || old.server.finished() {
		t.Fatal(info, err)
	}
}
