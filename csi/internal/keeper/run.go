package keeper

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"posixgateway.io/csi/internal/orphans"
	"posixgateway.io/csi/internal/trusted"
)

// Config is what the command line says.
type Config struct {
	Socket string
	// TakeoverSocket is where a predecessor may listen; empty: start with nothing.
	TakeoverSocket string
	// MetricsAddress is host:port; empty: no metrics.
	MetricsAddress string
	// OldMetricNames also offers renamed metrics by their earlier names.
	OldMetricNames bool
	ClientUIDs     []uint32
	// Linger after a handover until the context ends: where a process that ended is started again, as in a DaemonSet, it
	// would take the sessions back from its successor.
	Linger bool
	Log    *slog.Logger
}

// Run keeps sessions until the context ends or a successor takes over; both end without an error. When it ends by the
// context, sessions that no gateway serves are lost, so replace a keeper by a successor instead.
func Run(ctx context.Context, config Config) error {
	if err := trusted.Folder(filepath.Dir(config.Socket), 0o755); err != nil {
		return fmt.Errorf("folder of the socket: %w", err)
	}
	pages, err := openPages(ctx, config)
	if err != nil {
		return err
	}
	server, err := start(ctx, config)
	if err != nil {
		pages.close()
		return err
	}
	if config.MetricsAddress != "" {
		served, stop := context.WithCancel(ctx)
		defer stop()
		go pages.serve(served, server.keeper)
	}
	sessions, _ := server.keeper.Sessions()
	config.Log.Info("holding sessions", "socket", config.Socket, "sessions", sessions, "generation", server.keeper.generation)
	err = server.Serve(ctx)
	if err == nil && config.Linger && ctx.Err() == nil {
		config.Log.Info("a successor holds the sessions; waiting for a signal to exit")
		<-ctx.Done()
	}
	if left, _ := server.keeper.Sessions(); left > 0 {
		config.Log.Warn("exiting with sessions: they are dead once their gateway ends, too; start a successor with --takeover instead",
			"sessions", left)
	}
	return err
}

// start makes the server, with the sessions of a predecessor when there is one.
func start(ctx context.Context, config Config) (*Server, error) {
	if config.TakeoverSocket == "" {
		return fresh(ctx, config)
	}
	if orphans.KeeperGone(ctx, config.TakeoverSocket) {
		config.Log.Info("no predecessor, starting with no sessions", "socket", config.TakeoverSocket)
		return fresh(ctx, config)
	}
	succession, err := Takeover(ctx, config.TakeoverSocket)
	if errors.Is(err, os.ErrNotExist) { // it went meanwhile
		config.Log.Info("no predecessor, starting with no sessions", "socket", config.TakeoverSocket)
		return fresh(ctx, config)
	}
	if err != nil {
		return nil, err
	}
	server, err := NewServer(succession.Keeper, config.Socket, config.ClientUIDs, config.Log)
	if err != nil {
		succession.Abandon()
		return nil, err
	}
	if err := succession.Confirm(); err != nil {
		server.hangUp()
		succession.Abandon()
		return nil, err
	}
	server.watchLeft(ctx, config) // a predecessor may not have seen the end of what an earlier one left
	return server, nil
}

// fresh makes a server without sessions. Those of a keeper that is gone come back from the gateways that serve them; where
// nobody has one any more, and it does not end by itself, it is aborted. Beside a keeper that lives there is none: clients would
// not find that one's sessions any more.
func fresh(ctx context.Context, config Config) (*Server, error) {
	if !orphans.KeeperGone(ctx, config.Socket) {
		return nil, fmt.Errorf("another keeper listens at %s: take its sessions over with --takeover %[1]s, or use another --socket", config.Socket)
	}
	server, err := NewServer(New(rand.Text()), config.Socket, config.ClientUIDs, config.Log)
	if err != nil {
		return nil, err
	}
	server.watchLeft(ctx, config)
	return server, nil
}

// watchLeft finds what was written down and is not held, looks at it until it has ended or is held, and keeps records from now on.
func (s *Server) watchLeft(ctx context.Context, config Config) {
	records, err := orphans.Load(config.Socket)
	if err != nil {
		aside, asideErr := orphans.SetAside(config.Socket)
		config.Log.Warn("cannot determine all sessions that the last keeper held; its locks stay, and its list is kept",
			"error", errors.Join(err, asideErr), "list", aside)
	} else {
		orphans.Prune(config.Socket, records)
	}
	left := map[string]orphans.Record{}
	for _, record := range records {
		left[record.ID] = record
	}
	s.keeper.mu.Lock()
	s.keeper.left = left
	s.keeper.mu.Unlock()
	s.keeper.abortLeft(config)
	keepRecords(s.keeper, config)
	go func() {
		for s.abortLeft(config) > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(lookEvery):
			}
		}
	}()
}

// lookEvery is the pause between looks at what a keeper left that is gone.
const lookEvery = time.Second

// abortLeft is the keeper's, until a successor has taken over: from then on it is the successor's to say what waits for a gateway.
func (s *Server) abortLeft(config Config) int {
	s.keeper.gate.RLock()
	defer s.keeper.gate.RUnlock()
	if s.finished() {
		return 0
	}
	return s.keeper.abortLeft(config)
}

// abortLeft ends what a keeper that is gone left and nobody has, and says how much there is still to look at.
func (k *Keeper) abortLeft(config Config) int {
	table, err := k.system.mounts()
	if err != nil {
		return 1
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, record := range k.left {
		held := k.sessions[id] != nil && k.sessions[id].device == record.Device
		if held || !record.IsMounted(table) {
			delete(k.left, id)
		} else if orphans.Unserved(config.Socket, id) {
			aborted, err := k.system.abort(record)
			if err != nil {
				config.Log.Warn("cannot abort a connection that no process can serve; retrying", "id", id, "error", err)
				continue
			}
			delete(k.left, id)
			if aborted {
				config.Log.Warn("aborted a connection that no process can serve: unmount it and mount it again",
					"id", id, "device", record.Device)
			}
		}
	}
	k.noteHeld()
	return len(k.left)
}

// keepRecords writes down what the keeper holds from now on.
func keepRecords(keeper *Keeper, config Config) {
	keeper.mu.Lock()
	defer keeper.mu.Unlock()
	keeper.remember = func(held []orphans.Record) {
		if err := orphans.Save(config.Socket, held); err != nil {
			config.Log.Warn("cannot record the sessions that are held: if this keeper dies, nobody ends their connections", "error", err)
		}
	}
	keeper.ended = func(id string) {
		if err := orphans.Unlock(config.Socket, id); err != nil {
			config.Log.Warn("the lock of an ended session cannot be removed", "id", id, "error", err)
		}
	}
	keeper.noteHeld()
}
