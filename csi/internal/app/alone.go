package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"posixgateway.io/csi/internal/trusted"
)

// alone waits until no other driver works with the folder of state: at an update the successor is started first, and
// goes on when the predecessor has ended, however that ended. Call leave at the end.
func alone(ctx context.Context, stateDir string, log *slog.Logger) (leave func(), err error) {
	if err := trusted.FolderAnywhere(stateDir, 0o700); err != nil {
		return nil, fmt.Errorf("--state-dir: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(stateDir, "lock"), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--state-dir: %w", err)
	}
	leave = func() { _ = file.Close() }
	for waiting := false; ; waiting = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return leave, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			leave()
			return nil, fmt.Errorf("--state-dir %s: lock: %w", stateDir, err)
		}
		if !waiting {
			log.Info("another driver is running here; waiting for it to end", "state_dir", stateDir)
		}
		select {
		case <-ctx.Done():
			leave()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
