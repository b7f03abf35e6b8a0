package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"posixgateway.io/csi/internal/keeperapi"
)

const (
	// handoverPatience bounds how long a successor may take, once the gate is its own, during which clients of both keepers wait.
	handoverPatience = 20 * time.Second
	// openingPatience is the successor's, until the gate is its own: an operation in flight ends first.
	openingPatience = 20 * time.Second
	// takingPatience is the successor's from then on. It is the shorter one, so that it is the successor that gives up.
	takingPatience = 15 * time.Second
)

// handOver gives every session to a successor. Until it is told so, this keeper stays responsible: when the successor dies before,
// everything goes on here, and a socket file it put in the place of ours is replaced again.
func (s *Server) handOver(conn *keeperapi.Conn) error {
	err := s.tryHandOver(conn)
	if err == nil {
		return nil
	}
	// A connection that is closed means that this keeper has died. So the successor that is not to have the sessions is told, however
	// long it takes to listen, and waited for: it may put its socket in the place of ours until it knows.
	_ = conn.SetDeadline(time.Time{})
	if s.refuse(conn, err) == nil {
		for conn.Receive(&keeperapi.Request{}) == nil {
			continue
		}
	}
	s.keeper.gate.Lock()
	defer s.keeper.gate.Unlock()
	if s.finished() {
		return err
	}
	return errors.Join(err, s.restoreSocket())
}

// tryHandOver returns nil when the successor is responsible.
func (s *Server) tryHandOver(conn *keeperapi.Conn) error {
	s.keeper.gate.Lock()
	defer s.keeper.gate.Unlock()
	if s.finished() {
		return keeperapi.Errorf(keeperapi.Failed, "another successor has already taken over: connect to that one")
	}
	_ = conn.SetDeadline(time.Now().Add(handoverPatience))
	err := s.sendSessions(conn)
	if err == nil {
		// The successor is responsible from here on. One that has given up takes no answer: see Confirm.
		err = conn.Send(keeperapi.Status{OK: true})
	}
	if err != nil {
		return errors.Join(err, s.restoreSocket())
	}
	close(s.handedOver)
	s.log.Info("handed the sessions over to a successor", "sessions", s.keeper.forgetAll())
	return nil
}

// forgetAll drops every session, which a successor holds, and counts them.
func (k *Keeper) forgetAll() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	count := len(k.sessions)
	for _, session := range k.sessions {
		session.close()
	}
	clear(k.sessions)
	return count
}

// sendSessions returns nil once the successor has confirmed that it holds all of them.
func (s *Server) sendSessions(conn *keeperapi.Conn) error {
	sessions := s.keeper.sorted()
	opening := keeperapi.Handover{
		Status: keeperapi.Status{OK: true}, Count: len(sessions), Generation: s.keeper.generation,
	}
	if err := conn.Send(opening); err != nil {
		return err
	}
	for _, session := range sessions {
		handed := keeperapi.HandedSession{
			ID: session.id, Target: session.target, MountPoint: session.mountPoint, Device: session.device,
			MemoryBytes: session.memoryBytes, ReadOnly: session.readOnly, Takes: session.takes, Data: session.record,
		}
		if err := conn.Send(handed, session.fuse, session.memory); err != nil {
			return err
		}
	}
	var confirmation keeperapi.Request
	if err := conn.Receive(&confirmation); err != nil {
		return fmt.Errorf("the successor disconnected before it had taken over: %w", err)
	}
	if confirmation.Op != keeperapi.OpTaken {
		return fmt.Errorf("the successor sent %.40q where %q was expected", confirmation.Op, keeperapi.OpTaken)
	}
	return nil
}

func (k *Keeper) sorted() []*session {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := make([]*session, 0, len(k.sessions))
	for _, s := range k.sessions {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *session) int { return cmp.Compare(a.id, b.id) })
	return list
}

// restoreSocket binds again when a successor that failed has put its socket file over ours.
func (s *Server) restoreSocket() error {
	present, err := os.Lstat(s.socket)
	s.mu.Lock()
	ours, old := err == nil && os.SameFile(present, s.bound), s.listener
	s.mu.Unlock()
	if ours {
		return nil
	}
	if err := s.bind(); err != nil {
		return err
	}
	s.log.Warn("the successor failed; listening again", "socket", s.socket)
	return old.Close()
}

// Takeover asks the keeper at socket for its sessions. When it returns a Succession, this process holds them all, but
// the old keeper stays responsible until Confirm. With nobody listening there it returns os.ErrNotExist.
func Takeover(ctx context.Context, socket string) (*Succession, error) {
	conn, err := keeperapi.Dial(ctx, socket)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, os.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(openingPatience))
	succession := &Succession{conn: conn}
	if err := succession.receive(); err != nil {
		succession.Abandon()
		return nil, fmt.Errorf("takeover from %s: %w", socket, err)
	}
	return succession, nil
}

// Succession is a handover under way, seen by the successor.
type Succession struct {
	Keeper *Keeper
	conn   *keeperapi.Conn
	// until is when this process gives up.
	until time.Time
}

func (s *Succession) limit(until time.Time) {
	s.until = until
	_ = s.conn.SetDeadline(until)
}

func (s *Succession) receive() error {
	if err := s.conn.Send(keeperapi.Request{Op: keeperapi.OpHandover}); err != nil {
		return err
	}
	var opening keeperapi.Handover
	if err := s.conn.Receive(&opening); err != nil {
		return err
	}
	if !opening.OK {
		return &keeperapi.Error{Code: opening.Code, Message: opening.Message}
	}
	s.limit(time.Now().Add(takingPatience))
	s.Keeper = New(opening.Generation)
	for range opening.Count {
		var handed keeperapi.HandedSession
		if err := s.conn.Receive(&handed); err != nil {
			return err
		}
		files, err := s.conn.Claim(2)
		if err != nil {
			return err
		}
		made := &session{
			id: handed.ID, target: handed.Target, mountPoint: handed.MountPoint, device: handed.Device,
			readOnly: handed.ReadOnly, memoryBytes: handed.MemoryBytes, takes: handed.Takes, held: time.Now().UnixNano(),
			record: handed.Data,
			fuse:   files[0], memory: files[1],
		}
		_ = s.Keeper.connect(made) // tried again when it is needed
		s.Keeper.sessions[handed.ID] = made
	}
	return nil
}

// Confirm makes this process responsible; call it when its own socket already listens. A predecessor that dies instead
// of answering leaves us responsible just as well; one that objects, or does not answer in time, keeps its sessions.
func (s *Succession) Confirm() error {
	defer func() { _ = s.conn.Close() }()
	err := os.ErrDeadlineExceeded // the socket's own may not have been noticed yet by a process that was stopped
	if time.Now().Before(s.until) {
		err = s.conn.Send(keeperapi.Request{Op: keeperapi.OpTaken})
	}
	var last keeperapi.Status
	if !errors.Is(err, os.ErrDeadlineExceeded) { // also where it was not sent: what the predecessor said before it left is there
		err = s.conn.Receive(&last)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = s.lastWord(&last)
	}
	switch {
	case err == nil && !last.OK:
		return &keeperapi.Error{Code: last.Code, Message: last.Message}
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE): // or it is gone
		return nil
	}
	return fmt.Errorf("the predecessor keeps its sessions, as it did not answer in time: %w", err)
}

// lastWord is for when the time is over. From here on the predecessor can say nothing more, and so keeps its sessions; what it has said
// already holds.
func (s *Succession) lastWord(last *keeperapi.Status) error {
	_ = s.conn.CloseRead()
	_ = s.conn.SetDeadline(time.Time{})
	if err := s.conn.Receive(last); err != nil {
		return os.ErrDeadlineExceeded
	}
	return nil
}

// Abandon leaves everything to the old keeper.
func (s *Succession) Abandon() {
	if s.Keeper != nil {
		for _, session := range s.Keeper.sessions {
			session.close()
		}
	}
	_ = s.conn.Close()
}
