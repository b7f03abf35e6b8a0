package driver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/controlpb"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/mountinfo"
)

// volumeRecord is what must outlive the driver. It is written before the work begins (Staged false) and after.
type volumeRecord struct {
	VolumeID string
	// Staging is where the session is mounted; of an inline volume, the target itself.
	Staging string
	Inline  bool
	Staged  bool
	// SingleWriter: one target at most.
	SingleWriter bool
	// BootID tells records of an earlier boot, whose mounts are gone.
	BootID string
	// Volume is without secrets; when it had some, only kubelet can repair the session.
	Volume *attributes.Volume
	// UserMark tells whom the secret of the staging names, without a name; "" in records of earlier versions.
	UserMark string `json:",omitempty"`
	UserSalt string `json:",omitempty"`
	// Targets are the published paths; the value says read-only.
	Targets map[string]bool
	// Groups has those of the targets that show another group than the session does, and which.
	Groups map[string]string `json:",omitempty"`
}

// ours says whether a mount was made by this project.
func ours(mount mountinfo.Mount) bool { return mount.FSType == keeperapi.FSType }

// at finds the mount at a path that kubelet named.
func (p *Parts) at(table mountinfo.Table, path string) (mount mountinfo.Mount, found bool, err error) {
	resolved, err := p.Mounts.Resolve(path)
	if err != nil {
		return mountinfo.Mount{}, false, err
	}
	mount, found = table.At(resolved)
	return mount, found, nil
}

// raise makes sure that the volume's session is mounted at its staging path and served. It may be repeated. made says
// that a session was mounted anew, so that bind mounts of an earlier one are dead. When it fails, what it made is undone.
func (n *Node) raise(ctx context.Context, id string, record *volumeRecord, volume *attributes.Volume) (made bool, err error) {
	serving, err := n.serving(ctx, id)
	if err != nil {
		return false, err
	}
	kept, alive, err := n.clearStaging(ctx, id, record, serving)
	if err != nil || alive {
		return false, err
	}
	if err := attachable(volume, kept, serving); err != nil {
		return false, err
	}
	existing, err := n.mount(ctx, id, record, volume)
	if err != nil || existing && serving {
		return false, err
	}
	if serving { // what it serves is a predecessor of the mount just made
		if err := n.detach(ctx, id); err != nil {
			n.drop(ctx, id)
			return false, err
		}
	}
	if err := n.attach(ctx, id, volume); err != nil {
		if mayBeDropped(record, existing, err) {
			n.drop(ctx, id)
		}
		return false, err
	}
	return !existing, nil
}

// attachable refuses to attach a session without its secret, as the gateway would go to Alluxio as its own user. One that the keeper
// holds stays: a gateway that was restarted has its record, and takes it over.
func attachable(volume *attributes.Volume, kept, serving bool) error {
	if !volume.LacksSecrets() || kept && serving {
		return nil
	}
	if kept {
		return status.Error(codes.Unavailable, "this node's gateway has not taken its session over yet: retry; where that does not help, "+lacksSecrets)
	}
	return status.Error(codes.FailedPrecondition, lacksSecrets)
}

// mayBeDropped: a session whose attach failed was made just now; or the gateway refuses it, and no pod has been given the volume,
// so that nobody loses anything when the session is made anew.
func mayBeDropped(record *volumeRecord, existing bool, err error) bool {
	unused := !record.Staged || !record.Inline && len(record.Targets) == 0
	return !existing || unused && cannotBeServed(err)
}

// cannotBeServed says that the gateway refused, not that it or Alluxio is away for now.
func cannotBeServed(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Aborted:
		return false
	}
	return true
}

func (n *Node) mount(ctx context.Context, id string, record *volumeRecord, volume *attributes.Volume) (existing bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, quickCall)
	defer cancel()
	existing, err = n.Keeper.Mount(ctx, keeperapi.Request{
		ID: id, Target: record.Staging, Source: id, ReadOnly: volume.ReadOnly, AllowOther: true,
		DefaultPermissions: volume.Options[attributes.DefaultPermissions] != "off", MemoryBytes: n.SessionMemoryBytes,
		Flags: volume.MountFlags(),
	})
	if err != nil {
		return false, fmt.Errorf("mount: %w", err)
	}
	return existing, nil
}

// serving asks the gateway whether it serves the session.
func (n *Node) serving(ctx context.Context, id string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, quickCall)
	defer cancel()
	list, err := n.Gateway.List(ctx, &controlpb.ListRequest{})
	if err != nil {
		return false, fmt.Errorf("request to this node's gateway: %w", err)
	}
	return slices.ContainsFunc(list.GetVolumes(), func(v *controlpb.Volume) bool { return v.GetVolume() == id }), nil
}

// clearStaging removes dead mounts of ours from the staging path: those the keeper does not know. One that the gateway
// serves is alive although its keeper was lost, and stays: pods have files open in it. kept says that the keeper holds the session.
func (n *Node) clearStaging(ctx context.Context, id string, record *volumeRecord, serving bool) (kept, alive bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, quickCall)
	defer cancel()
	sessions, err := n.Keeper.List(ctx)
	if err != nil {
		return false, false, fmt.Errorf("request to the keeper: %w", err)
	}
	if slices.ContainsFunc(sessions, func(s keeperapi.Session) bool { return s.ID == id && s.Mounted }) {
		return true, false, nil
	}
	table, err := n.Mounts.Mounts()
	if err != nil {
		return false, false, err
	}
	top, found, err := n.at(table, record.Staging)
	if err != nil {
		return false, false, err
	}
	if found && ours(top) && serving {
		n.Log.Warn("the keeper lost this session; it works only until the gateway ends", "volume", id, "path", record.Staging)
		return false, true, nil
	}
	removed, err := n.detachAll(record.Staging)
	if removed {
		n.Metrics.Repaired("dead session")
		n.Log.Warn("a dead mount was removed", "volume", id, "path", record.Staging)
	}
	return false, false, err
}

func (n *Node) detach(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, slowCall)
	defer cancel()
	if _, err := n.Gateway.Detach(ctx, &controlpb.DetachRequest{Volume: id}); err != nil && status.Code(err) != codes.NotFound {
		return fmt.Errorf("detach: %w", err)
	}
	return nil
}

// detachAll removes every mount of ours that is stacked at path.
func (p *Parts) detachAll(path string) (removed bool, err error) {
	for range 64 {
		table, err := p.Mounts.Mounts()
		if err != nil {
			return removed, err
		}
		top, found, err := p.at(table, path)
		if err != nil || !found || !ours(top) {
			return removed, err
		}
		if err := p.Mounts.Detach(path); err != nil {
			return removed, err
		}
		removed = true
	}
	return removed, fmt.Errorf("new mounts keep appearing at %s: end the program that creates them", path)
}

// attach has the gateway serve the session, as the user that the volume's secrets name.
func (n *Node) attach(ctx context.Context, id string, volume *attributes.Volume) error {
	if volume.LacksSecrets() {
		return status.Error(codes.FailedPrecondition, lacksSecrets)
	}
	ctx, cancel := context.WithTimeout(ctx, slowCall)
	defer cancel()
	reply, err := n.Gateway.Attach(ctx, &controlpb.AttachRequest{
		Volume: id, Cluster: cluster(volume), AlluxioPath: volume.AlluxioPath, ReadOnly: volume.ReadOnly,
		Options: volume.GatewayOptions(), Labels: volume.Labels,
	})
	if err != nil {
		return fmt.Errorf("attach Alluxio path %s: %w", volume.AlluxioPath, err)
	}
	n.Log.Info("attached", "volume", id, "session", reply.GetSessionLine())
	if strings.Contains(reply.GetSessionLine(), "takeover clone") {
		n.warnOfKernel.Do(func() {
			n.Log.Warn("this kernel does not resend requests (Linux before 6.9): calls in flight fail with ECONNABORTED when the gateway is killed")
		})
	}
	return nil
}

// lacksSecrets: without them the gateway would go to Alluxio as its own user.
const lacksSecrets = "its session must be created again, but the secret it was staged with is not available: set the PersistentVolume's " +
	"nodePublishSecretRef to the same secret as its nodeStageSecretRef"

func cluster(volume *attributes.Volume) *controlpb.Cluster {
	return &controlpb.Cluster{Masters: volume.Masters, User: volume.User, Properties: volume.Properties}
}

// drop undoes a session that never served anybody; the caller's deadline may have passed.
func (n *Node) drop(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), quickCall)
	defer cancel()
	detachErr := n.detach(ctx, id)
	if _, err := n.Keeper.Unmount(ctx, id, true); err != nil {
		n.Log.Warn("a session that could not be served stays mounted until the next attempt", "volume", id, "error", err, "detach", detachErr)
	}
}

// lower ends a session. The gateway publishes what is spooled first, so its failure is reported and the call repeated
// by kubelet; only a gateway that has failed for ForceAfter is overruled, so that pods can end.
func (n *Node) lower(ctx context.Context, id, staging string) error {
	force := false
	if err := n.detach(ctx, id); err != nil {
		if !n.patience.exhausted(id, n.Now(), n.ForceAfter) {
			return err
		}
		force = true
		n.Metrics.Forced.Inc()
		n.Log.Error("the gateway does not release the volume; forcing the unmount: writes not yet uploaded stay in its spool folder", "volume", id, "error", err)
	}
	quick, cancel := context.WithTimeout(context.WithoutCancel(ctx), quickCall)
	defer cancel()
	if _, err := n.Keeper.Unmount(quick, id, force); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	_, err := n.detachAll(staging) // of a keeper that was lost
	if err == nil {
		n.patience.forget(id)
		n.stats.forget(id)
	}
	return err
}

// patience remembers since when volumes cannot be detached. That is forgotten when one is detached, and when it is in use again: the
// next end, days later, has its full time.
type patience struct {
	mu    sync.Mutex
	since map[string]time.Time // guarded by mu
}

// exhausted notes a failure and says whether the first one is longer ago than limit.
func (p *patience) exhausted(id string, now time.Time, limit time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first, known := p.since[id]
	if !known {
		if p.since == nil {
			p.since = map[string]time.Time{}
		}
		p.since[id], first = now, now
	}
	return now.Sub(first) >= limit
}

func (p *patience) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.since, id)
}
