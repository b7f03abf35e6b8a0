// Package driver is the CSI driver: Identity, Node and Controller. Each RPC validates, takes the volume's lock (or says
// Aborted), looks whether the work is done already, acts, and records. gRPC codes are made in RPC methods only.
//
// No method touches a mount: what is mounted is read from mountinfo, what works is asked of keeper and gateway.
package driver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/controlpb"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/metrics"
	"posixgateway.io/csi/internal/mounts"
)

// Keeper is what the driver asks of the keeper; *keeperapi.Client implements it.
type Keeper interface {
	Info(ctx context.Context) (keeperapi.Info, error)
	Mount(ctx context.Context, request keeperapi.Request) (existing bool, err error)
	List(ctx context.Context) ([]keeperapi.Session, error)
	Unmount(ctx context.Context, id string, force bool) (existing bool, err error)
}

// Config is what an installation decides.
type Config struct {
	DriverName string
	NodeID     string
	// KubeletDir contains all staging and target paths.
	KubeletDir string
	StateDir   string
	// BasePath is where provisioned volumes lie unless their StorageClass says otherwise.
	BasePath string
	// Inline is what authors of pods may do with inline volumes.
	Inline attributes.InlinePolicy
	// MaxVolumes per node; 0: no limit.
	MaxVolumes int64
	// Topology is the segments of this node; empty: topology is off.
	Topology map[string]string
	// SessionMemoryBytes is the size of the memory the gateway shares with its successors, per volume.
	SessionMemoryBytes int64
	// ForceAfter is how long a gateway may fail to let go of a volume before its connection is aborted.
	ForceAfter time.Duration
}

// Parts are what the services work with.
type Parts struct {
	Config
	Keeper  Keeper
	Gateway controlpb.ControlClient
	Mounts  mounts.System
	Metrics *metrics.Metrics
	Log     *slog.Logger
	Now     func() time.Time
}

const (
	// quickCall bounds calls that ask only what a process knows; kubelet's own deadline is two minutes.
	quickCall = 15 * time.Second
	// slowCall bounds calls that may wait for Alluxio, when the caller set no deadline.
	slowCall = 100 * time.Second
)

// SessionID names a volume at keeper and gateway, and its state file.
func SessionID(volumeID string) string {
	if keeperapi.CheckID(volumeID) == nil && len(volumeID) <= 200 && !strings.HasPrefix(volumeID, ".") && !strings.HasPrefix(volumeID, "v-") {
		return volumeID
	}
	sum := sha256.Sum256([]byte(volumeID))
	return "v-" + hex.EncodeToString(sum[:])
}

// invalid is an InvalidArgument.
func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

// busy answers a second operation on a volume.
func busy(volume string) error {
	return status.Errorf(codes.Aborted, "another operation on volume %s is in progress: retry when it has finished", volume)
}

// coded gives an error of keeper, gateway or kernel its gRPC code, with what was being done in front.
func coded(doing string, err error) error {
	if err == nil {
		return nil
	}
	if refusal, ok := errors.AsType[*keeperapi.Error](err); ok {
		code := codes.Internal
		if refusal.Code == keeperapi.Exists {
			code = codes.FailedPrecondition
		}
		return status.Errorf(code, "%s: %s", doing, refusal.Message)
	}
	if answer, ok := errors.AsType[interface {
		error
		GRPCStatus() *status.Status
	}](err); ok { // in its place in the sentence, without gRPC's own words
		text := strings.Replace(err.Error(), answer.Error(), answer.GRPCStatus().Message(), 1)
		return status.Errorf(answer.GRPCStatus().Code(), "%s: %s", doing, text)
	}
	code := codes.Internal
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, mounts.ErrWaits):
		code = codes.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		code = codes.Canceled
	case errors.Is(err, keeperapi.ErrAway):
		code = codes.Unavailable
	}
	return status.Errorf(code, "%s: %v", doing, err)
}

// checkPath accepts absolute clean paths below the kubelet's folder.
func (c *Config) checkPath(what, path string) error {
	if path == "" {
		return invalid("%s is missing", what)
	}
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || len(path) > 4000 || strings.ContainsAny(path, "\x00\n") {
		return invalid("%s %.200q: an absolute path without . and .. is needed", what, path)
	}
	if !strings.HasPrefix(path, strings.TrimSuffix(c.KubeletDir, "/")+"/") {
		return invalid("%s %.200q: it must lie below %s (set --kubelet-dir to the kubelet's root folder)", what, path, c.KubeletDir)
	}
	return nil
}
