package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"posixgateway.io/csi/internal/keeperapi"
)

// handoverPatience bounds each step of a handover, during which clients of both keepers wait.
const handoverPatience = 20 * time.Second

// handOver gives every session to a successor. Until it has said "taken", this keeper stays responsible: when the
// successor dies before, everything goes on here, and a socket file it put in the place of ours is replaced again.
func (s *Server) handOver(conn *keeperapi.Conn) error {
	s.keeper.gate.Lock()
	defer s.keeper.gate.Unlock()
	if s.finished() {
		return s.refuse(conn, keeperapi.Errorf(keeperapi.Failed, "another successor has already taken over: connect to that one"))
	}
	_ = conn.SetDeadline(time.Now().Add(handoverPatience))
	if err := s.sendSessions(conn); err != nil {
		return errors.Join(err, s.restoreSocket())
	}
	close(s.handedOver)
	err := conn.Send(keeperapi.Status{OK: true})
	s.log.Info("handed the sessions over to a successor", "sessions", s.keeper.forgetAll())
	return err
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
	_ = conn.SetDeadline(time.Now().Add(handoverPatience))
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
		made.connection = s.Keeper.connectionOf(made)
		s.Keeper.sessions[handed.ID] = made
	}
	return nil
}

// Confirm makes this process responsible; call it when its own socket already listens. A predecessor that dies instead
// of answering leaves us responsible just as well; only one that objects keeps its sessions.
func (s *Succession) Confirm() error {
	defer func() { _ = s.conn.Close() }()
	if s.conn.Send(keeperapi.Request{Op: keeperapi.OpTaken}) != nil {
		return nil
	}
	var last keeperapi.Status
	if err := s.conn.Receive(&last); err == nil && !last.OK {
		return &keeperapi.Error{Code: last.Code, Message: last.Message}
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
