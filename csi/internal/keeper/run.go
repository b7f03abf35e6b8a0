package keeper

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// Config is what the command line says.
type Config struct {
	Socket string
	// TakeoverSocket is where a predecessor may listen; empty: start with nothing.
	TakeoverSocket string
	// MetricsAddress is host:port; empty: no metrics.
	MetricsAddress string
	ClientUIDs     []uint32
	// Linger after a handover until the context ends: where a process that ended is started again, as in a DaemonSet, it
	// would take the sessions back from its successor.
	Linger bool
	Log    *slog.Logger
}

// Run keeps sessions until the context ends or a successor takes over; both end without an error. When it ends by the
// context, sessions that no gateway serves are lost, so replace a keeper by a successor instead.
func Run(ctx context.Context, config Config) error {
	if err := os.MkdirAll(filepath.Dir(config.Socket), 0o755); err != nil {
		return fmt.Errorf("folder of the socket: %w", err)
	}
	server, err := start(ctx, config)
	if err != nil {
		return err
	}
	if config.MetricsAddress != "" {
		stop, err := serveMetrics(ctx, config.MetricsAddress, server.keeper)
		if err != nil {
			server.hangUp()
			return err
		}
		defer stop()
	}
	sessions, _ := server.keeper.Sessions()
	config.Log.Info("keeping sessions", "socket", config.Socket, "sessions", sessions, "generation", server.keeper.generation)
	err = server.Serve(ctx)
	if err == nil && config.Linger && ctx.Err() == nil {
		config.Log.Info("a successor keeps the sessions; waiting to be ended")
		<-ctx.Done()
	}
	if left, _ := server.keeper.Sessions(); left > 0 {
		config.Log.Warn("ending with sessions: mounts whose gateway ends too are dead; start a successor with --takeover instead",
			"sessions", left)
	}
	return err
}

// start makes the server, with the sessions of a predecessor when there is one.
func start(ctx context.Context, config Config) (*Server, error) {
	if config.TakeoverSocket == "" {
		return NewServer(New(rand.Text()), config.Socket, config.ClientUIDs, config.Log)
	}
	succession, err := Takeover(ctx, config.TakeoverSocket)
	if errors.Is(err, os.ErrNotExist) {
		config.Log.Info("no predecessor, starting with no sessions", "socket", config.TakeoverSocket)
		return NewServer(New(rand.Text()), config.Socket, config.ClientUIDs, config.Log)
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
	return server, nil
}
