package driver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/keylock"
	"posixgateway.io/csi/internal/mountinfo"
	"posixgateway.io/csi/internal/state"
)

// Node makes and removes the mounts of one node.
type Node struct {
	csi.UnimplementedNodeServer
	Parts
	store    *state.Store[volumeRecord]
	bootID   string
	locks    keylock.Locks
	patience patience
	stats    *statsCache
	// warnOfKernel says once what the node's kernel lacks.
	warnOfKernel sync.Once
}

// NewNode opens the durable state. Call Reconcile before serving.
func NewNode(parts Parts) (*Node, error) {
	store, err := state.Open[volumeRecord](parts.StateDir + "/volumes")
	if err != nil {
		return nil, err
	}
	bootID, err := parts.Mounts.BootID()
	if err != nil {
		return nil, err
	}
	return &Node{Parts: parts, store: store, bootID: bootID, stats: newStatsCache(parts)}, nil
}

// Sessions names the volumes on this node, as keeper, gateway and metrics do.
func (n *Node) Sessions() ([]string, error) { return n.store.Keys() }

// NodeGetInfo implements csi.NodeServer.
func (n *Node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	answer := &csi.NodeGetInfoResponse{NodeId: n.NodeID, MaxVolumesPerNode: n.MaxVolumes}
	if len(n.Topology) > 0 {
		answer.AccessibleTopology = &csi.Topology{Segments: n.Topology}
	}
	return answer, nil
}

// NodeGetCapabilities implements csi.NodeServer.
func (n *Node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	answer := &csi.NodeGetCapabilitiesResponse{}
	for _, kind := range []csi.NodeServiceCapability_RPC_Type{
		csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME,
		csi.NodeServiceCapability_RPC_GET_VOLUME_STATS,
		csi.NodeServiceCapability_RPC_VOLUME_CONDITION,
		csi.NodeServiceCapability_RPC_VOLUME_MOUNT_GROUP,
		csi.NodeServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER,
	} {
		answer.Capabilities = append(answer.Capabilities, &csi.NodeServiceCapability{
			Type: &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: kind}},
		})
	}
	return answer, nil
}

// NodeStageVolume makes the volume's FUSE session at the staging path: (1) validate, (2) lock, (3) record the intent,
// (4) mount by the keeper, attach the gateway, (5) record.
func (n *Node) NodeStageVolume(ctx context.Context, request *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	volume, err := n.parse(request.GetVolumeCapability(), request.GetVolumeContext(), request.GetSecrets())
	if err != nil {
		return nil, err
	}
	id, record, leave, err := n.enter(request.GetVolumeId(), "staging target path", request.GetStagingTargetPath())
	if err != nil {
		return nil, err
	}
	defer leave()
	fresh := record == nil
	if fresh {
		record = &volumeRecord{
			VolumeID: request.GetVolumeId(), Staging: request.GetStagingTargetPath(), BootID: n.bootID,
			SingleWriter: isSingleWriter(request.GetVolumeCapability()), Volume: volume.WithoutSecrets(), Targets: map[string]bool{},
		}
		record.noteUser(volume)
	}
	if err := record.matches(request.GetStagingTargetPath(), volume); err != nil {
		return nil, err
	}
	if !fresh {
		if err := n.restageAs(ctx, id, record, volume); err != nil {
			return nil, err
		}
		volume = effective(record, volume) // the group is that of the pods that use it, not of the pod to come
	}
	if err := n.establish(ctx, id, record, volume, fresh); err != nil {
		return nil, err
	}
	return &csi.NodeStageVolumeResponse{}, nil
}

// establish raises a session with its record written before and after; a fresh one that fails leaves nothing.
func (n *Node) establish(ctx context.Context, id string, record *volumeRecord, volume *attributes.Volume, fresh bool) error {
	defer n.count()
	if fresh {
		if err := n.store.Save(id, record); err != nil {
			return coded("record volume "+id, err)
		}
	}
	err := n.complete(ctx, id, record, volume)
	if err != nil && fresh {
		_, detachErr := n.detachAll(record.Staging)
		if undone := errors.Join(detachErr, n.store.Remove(id)); undone != nil {
			n.Log.Warn("a volume that could not be staged could not be cleaned up; the next attempt does so", "volume", id, "error", undone)
		}
	}
	if err == nil {
		n.patience.forget(id) // it is in use: what failed at an earlier end is over
	}
	return coded("volume "+record.VolumeID, err)
}

// complete does what is still to be done for a recorded volume to be staged.
func (n *Node) complete(ctx context.Context, id string, record *volumeRecord, volume *attributes.Volume) error {
	table, err := n.Mounts.Mounts()
	if err != nil {
		return err
	}
	if _, mounted, err := n.at(table, record.Staging); err != nil {
		return err
	} else if !mounted {
		if err := n.Mounts.MakeFolder(record.Staging); err != nil {
			return err
		}
	}
	made, err := n.raise(ctx, id, record, volume)
	if err != nil {
		return err
	}
	if record.Staged {
		if !made {
			return nil
		}
		n.Metrics.Repaired("lost session")
		return n.rebind(record)
	}
	record.Staged = true
	return n.store.Save(id, record)
}

// matches refuses a second staging that contradicts the first. The group may differ: kubelet brings that of the pod for
// which it happens to stage; publishing compares it.
func (r *volumeRecord) matches(staging string, volume *attributes.Volume) error {
	if r.Staging != staging {
		return status.Errorf(codes.FailedPrecondition, "volume %s is staged at %s: unstage it there first", r.VolumeID, r.Staging)
	}
	plain := volume.WithoutSecrets()
	if r.Volume.AlluxioPath != plain.AlluxioPath || r.Volume.Masters != plain.Masters || r.Volume.ReadOnly != plain.ReadOnly ||
		!r.Volume.SameButGroup(plain) || !maps.Equal(r.Volume.Properties, plain.Properties) {
		return status.Errorf(codes.AlreadyExists, "volume %s is staged with other attributes: unstage it first", r.VolumeID)
	}
	return nil
}

// NodeUnstageVolume ends the session: (1) validate, (2) lock, (3) nothing published any more, (4) detach the gateway,
// unmount by the keeper, (5) forget.
func (n *Node) NodeUnstageVolume(ctx context.Context, request *csi.NodeUnstageVolumeRequest) (*csi.NodeUnstageVolumeResponse, error) {
	id, record, leave, err := n.enter(request.GetVolumeId(), "staging target path", request.GetStagingTargetPath())
	if err != nil {
		return nil, err
	}
	defer leave()
	if record != nil && record.Staging != request.GetStagingTargetPath() {
		return &csi.NodeUnstageVolumeResponse{}, nil // it is staged elsewhere, so it is not staged here
	}
	if record != nil {
		if still, err := n.published(record); err != nil {
			return nil, coded("unstage "+record.VolumeID, err)
		} else if still != "" {
			return nil, status.Errorf(codes.FailedPrecondition, "volume %s is still published at %s: unpublish it first", record.VolumeID, still)
		}
	}
	if err := n.lower(ctx, id, request.GetStagingTargetPath()); err != nil {
		return nil, coded("unstage "+request.GetVolumeId(), err)
	}
	if err := n.forget(id); err != nil {
		return nil, err
	}
	return &csi.NodeUnstageVolumeResponse{}, nil
}

// published returns a target at which the volume still is.
func (n *Node) published(record *volumeRecord) (string, error) {
	table, err := n.Mounts.Mounts()
	if err != nil {
		return "", err
	}
	for _, target := range slices.Sorted(maps.Keys(record.Targets)) {
		mount, found, err := n.at(table, target)
		if err != nil {
			return "", err
		}
		if found && ours(mount) {
			return target, nil
		}
	}
	return "", nil
}

// enter begins an operation on a volume: it checks what every request names, takes the volume's lock or says Aborted, and
// loads the record. Call leave when the operation ends.
func (n *Node) enter(volumeID, what, path string) (id string, record *volumeRecord, leave func(), err error) {
	if volumeID == "" {
		return "", nil, nil, invalid("the volume id is missing")
	}
	if err := n.checkPath(what, path); err != nil {
		return "", nil, nil, err
	}
	id = SessionID(volumeID)
	leave, free := n.locks.TryLock(id)
	if !free {
		return "", nil, nil, busy(volumeID)
	}
	if record, err = n.load(id); err != nil {
		leave()
		return "", nil, nil, err
	}
	return id, record, leave, nil
}

// load reads a volume's record, nil when there is none of this boot. It changes nothing, so it needs no lock; Reconcile removes those of
// earlier boots.
func (n *Node) load(id string) (*volumeRecord, error) {
	record, err := n.store.Load(id)
	if err != nil {
		return nil, coded("load", err)
	}
	if record != nil && record.BootID != n.bootID {
		return nil, nil
	}
	if record != nil && record.Volume == nil {
		return nil, status.Errorf(codes.Internal,
			"the record of volume %s has no attributes: remove %s.json from the driver's state folder", record.VolumeID, id)
	}
	return record, nil
}

func (n *Node) forget(id string) error {
	err := n.store.Remove(id)
	n.count()
	return coded("forget volume "+id, err)
}

// count brings the gauges up to date.
func (n *Node) count() {
	keys, err := n.store.Keys()
	if err != nil {
		n.Log.Warn("cannot count the volumes", "error", err)
		return
	}
	n.Metrics.Volumes.Set(float64(len(keys)))
	targets := 0
	for _, key := range keys {
		if record, err := n.store.Load(key); err == nil && record != nil {
			targets += len(record.Targets)
		}
	}
	n.Metrics.Published.Set(float64(targets))
}

// parse checks what is said about a volume, capability included.
func (p *Parts) parse(capability *csi.VolumeCapability, given, secret map[string]string) (*attributes.Volume, error) {
	if err := checkCapability(capability); err != nil {
		return nil, err
	}
	volume, err := attributes.Parse(given, capability.GetMount().GetMountFlags(), secret)
	if err != nil {
		return nil, invalid("%v", err)
	}
	if given[attributes.Ephemeral] == "true" {
		if err := p.Inline.Admit(volume); err != nil {
			return nil, status.Error(codes.PermissionDenied, err.Error())
		}
	}
	if isReader(capability.GetAccessMode().GetMode()) {
		volume.ReadOnly = true
	}
	if group := capability.GetMount().GetVolumeMountGroup(); group != "" {
		if err := attributes.SetGroup(volume, group); err != nil {
			return nil, invalid("%v", err)
		}
	}
	return volume, nil
}

func isReader(mode csi.VolumeCapability_AccessMode_Mode) bool {
	return mode == csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY || mode == csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY
}

func isSingleWriter(capability *csi.VolumeCapability) bool {
	return capability.GetAccessMode().GetMode() == csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER
}

// checkCapability accepts every access mode of a file system.
func checkCapability(capability *csi.VolumeCapability) error {
	if capability == nil {
		return invalid("the volume capability is missing")
	}
	if capability.GetBlock() != nil {
		return invalid("raw block volumes are not supported: set volumeMode: Filesystem")
	}
	if capability.GetMount() == nil {
		return invalid("the volume capability has no access type: set volumeMode: Filesystem")
	}
	mode := capability.GetAccessMode().GetMode()
	if _, known := csi.VolumeCapability_AccessMode_Mode_name[int32(mode)]; !known || mode == csi.VolumeCapability_AccessMode_UNKNOWN {
		return invalid("the access mode %v is not known: use ReadWriteOnce, ReadWriteOncePod, ReadOnlyMany or ReadWriteMany", mode)
	}
	return nil
}

// stagingDevice is the file system a staging path shows.
func (n *Node) stagingDevice(table mountinfo.Table, record *volumeRecord) (string, error) {
	mount, found, err := n.at(table, record.Staging)
	if err != nil {
		return "", err
	}
	if !found || !ours(mount) {
		return "", status.Errorf(codes.Internal, "volume %s is not mounted at %s", record.VolumeID, record.Staging)
	}
	return mount.Device, nil
}
