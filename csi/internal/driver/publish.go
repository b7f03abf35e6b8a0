package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/mounts"
)

// NodePublishVolume shows the volume at the target: (1) validate, (2) lock, (3) find or repair the session, (4) record
// the intent, (5) bind. Kubelet repeats it (requiresRepublish), which is when dead mounts are found and replaced.
func (n *Node) NodePublishVolume(ctx context.Context, request *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	volume, err := n.parse(request.GetVolumeCapability(), request.GetVolumeContext(), request.GetSecrets())
	if err != nil {
		return nil, err
	}
	id, record, leave, err := n.enter(request.GetVolumeId(), "target path", request.GetTargetPath())
	if err != nil {
		return nil, err
	}
	defer leave()
	if request.GetVolumeContext()[attributes.Ephemeral] == "true" {
		err = n.publishInline(ctx, id, record, volume, request)
	} else {
		err = n.publishStaged(ctx, id, record, volume, request)
	}
	if err != nil {
		return nil, err
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

// publishInline mounts a session at the target itself.
func (n *Node) publishInline(ctx context.Context, id string, record *volumeRecord, volume *attributes.Volume, request *csi.NodePublishVolumeRequest) error {
	volume.ReadOnly = volume.ReadOnly || request.GetReadonly()
	fresh := record == nil
	if fresh {
		record = &volumeRecord{
			VolumeID: request.GetVolumeId(), Staging: request.GetTargetPath(), Inline: true, BootID: n.bootID,
			Volume: volume.WithoutSecrets(), Targets: map[string]bool{},
		}
	}
	if err := record.matches(request.GetTargetPath(), volume); err != nil {
		return err
	}
	return n.establish(ctx, id, record, volume, fresh)
}

// publishStaged binds the staged session to the target.
func (n *Node) publishStaged(ctx context.Context, id string, record *volumeRecord, volume *attributes.Volume, request *csi.NodePublishVolumeRequest) error {
	if !record.isStagedAt(request.GetStagingTargetPath()) {
		return status.Errorf(codes.FailedPrecondition, "volume %s is not staged at %q: stage it first", request.GetVolumeId(), request.GetStagingTargetPath())
	}
	target, readOnly := request.GetTargetPath(), request.GetReadonly() || volume.ReadOnly || record.Volume.ReadOnly
	if err := record.admits(target, readOnly); err != nil {
		return err
	}
	if err := n.admitUser(id, record, volume, target); err != nil {
		return err
	}
	group, err := n.regroup(ctx, id, record, volume, target)
	if err != nil {
		return err
	}
	if err := n.establish(ctx, id, record, effective(record, volume), false); err != nil {
		return err
	}
	if _, known := record.Targets[target]; !known {
		record.add(target, readOnly, group)
		if err := n.store.Save(id, record); err != nil {
			return coded("record volume "+id, err)
		}
		n.count()
	}
	err = n.bind(record, target)
	if errors.Is(err, mounts.ErrNoIDMap) {
		n.Log.Warn("cannot show a pod's fsGroup together with those of other pods", "volume", id, "error", err)
		return n.refuseGroup(id, record, target)
	}
	return coded("publish "+record.VolumeID, err)
}

// isStagedAt may be asked of no record at all.
func (r *volumeRecord) isStagedAt(staging string) bool {
	return r != nil && r.Staged && !r.Inline && r.Staging == staging
}

// admits refuses a target that contradicts those there are.
func (r *volumeRecord) admits(target string, readOnly bool) error {
	before, known := r.Targets[target]
	if known && before != readOnly {
		return status.Errorf(codes.AlreadyExists, "volume %s is published at %s with read-only=%t: unpublish it first", r.VolumeID, target, before)
	}
	if !known && r.SingleWriter && len(r.Targets) > 0 {
		return status.Errorf(codes.FailedPrecondition, "volume %s is ReadWriteOncePod and already published for another pod: "+
			"end that pod, or use ReadWriteMany", r.VolumeID)
	}
	return nil
}

// regroup finds out how target shows the group that a pod asks for. A session shows one group: when nobody uses it, it is made anew with
// that of the pod; while others do, the group to map onto the session's is returned, "" where none needs to be. A pod that asks for none
// takes what there is, as with any other kind of volume.
func (n *Node) regroup(ctx context.Context, id string, record *volumeRecord, volume *attributes.Volume, target string) (mapped string, err error) {
	wanted, shown := volume.PodGroup(), record.Volume.Options[attributes.Gid]
	_, known := record.Targets[target]
	switch {
	case known || wanted == "" || wanted == shown:
		return "", nil
	case len(record.Targets) > 0 && record.Volume.PodGroup() == "": // files of many groups cannot be shown as those of one by a map
		return "", otherGroup(record, wanted)
	case len(record.Targets) > 0:
		return wanted, nil
	case effective(record, volume).LacksSecrets(): // before a session that works is ended
		return "", status.Errorf(codes.FailedPrecondition, "show volume %s with the group %s: %s", record.VolumeID, wanted, lacksSecrets)
	}
	if err := n.lower(ctx, id, record.Staging); err != nil {
		return "", coded("show volume "+record.VolumeID+" with the group "+wanted, err)
	}
	record.Volume = record.Volume.WithGroupOf(volume)
	return "", coded("record volume "+id, n.store.Save(id, record))
}

// otherGroup refuses a pod whose group cannot be shown beside that of others.
func otherGroup(record *volumeRecord, wanted string) error {
	return status.Errorf(codes.FailedPrecondition, "volume %s shows the group of its files as %s to other pods on this node, but this pod's fsGroup "+
		"is %s. Both are possible only on Linux 6.12 and later, if all pods of the volume have an fsGroup and defaultPermissions is on. Give the pods "+
		"that share the volume the same fsGroup, set the volume's attribute gid, or run the pods on different nodes",
		record.VolumeID, cmp.Or(record.Volume.Options[attributes.Gid], "stored in Alluxio"), wanted)
}

// refuseGroup takes a target back whose group the kernel could not show.
func (n *Node) refuseGroup(id string, record *volumeRecord, target string) error {
	refusal := otherGroup(record, record.Groups[target])
	record.remove(target)
	err := errors.Join(n.Mounts.RemoveFolder(target), n.store.Save(id, record))
	n.count()
	if err != nil {
		return coded("remove "+target, err)
	}
	return refusal
}

// add notes a target; group is "" where it shows what the session does.
func (r *volumeRecord) add(target string, readOnly bool, group string) {
	r.Targets[target] = readOnly
	if group == "" {
		return
	}
	if r.Groups == nil {
		r.Groups = map[string]string{}
	}
	r.Groups[target] = group
}

func (r *volumeRecord) remove(target string) {
	delete(r.Targets, target)
	delete(r.Groups, target)
}

// bind shows the session at target, in the place of anything of ours that is there and is not the session.
func (n *Node) bind(record *volumeRecord, target string) error {
	table, err := n.Mounts.Mounts()
	if err != nil {
		return err
	}
	device, err := n.stagingDevice(table, record)
	if err != nil {
		return err
	}
	readOnly, group := record.Targets[target], record.Groups[target]
	present, mounted, err := n.at(table, target)
	switch {
	case err != nil:
	case !mounted:
		err = n.Mounts.MakeFolder(target)
	case !ours(present):
		err = status.Errorf(codes.FailedPrecondition, "a file system of type %s is mounted at %s: unmount it first", present.FSType, target)
	case present.Device == device && present.ReadOnly() == readOnly && present.IDMapped() == (group != ""):
		return nil
	default:
		n.Metrics.Repaired("dead target")
		_, err = n.detachAll(target)
	}
	if err != nil {
		return err
	}
	if group == "" {
		return n.Mounts.Bind(record.Staging, target, readOnly)
	}
	return n.bindShownAs(record, target, readOnly, group)
}

func (n *Node) bindShownAs(record *volumeRecord, target string, readOnly bool, group string) error {
	shown, err := attributes.ID(group)
	if err != nil {
		return err
	}
	ofSession, err := attributes.ID(record.Volume.Options[attributes.Gid])
	if err != nil {
		return err
	}
	return n.Mounts.BindShownAs(record.Staging, target, readOnly, ofSession, shown)
}

// rebind shows a session that was made anew at all targets of its predecessor.
func (n *Node) rebind(record *volumeRecord) error {
	var problems []error
	for target := range record.Targets {
		problems = append(problems, n.bind(record, target))
	}
	return errors.Join(problems...)
}

// NodeUnpublishVolume removes the target: (1) validate, (2) lock, (3) unmount, which asks nobody unless the volume is
// inline, (4) remove the folder, (5) record.
func (n *Node) NodeUnpublishVolume(ctx context.Context, request *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	id, record, leave, err := n.enter(request.GetVolumeId(), "target path", request.GetTargetPath())
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := n.unpublish(ctx, id, record, request.GetTargetPath()); err != nil {
		return nil, coded("unpublish "+request.GetVolumeId(), err)
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

func (n *Node) unpublish(ctx context.Context, id string, record *volumeRecord, target string) error {
	inline, err := n.isInline(ctx, id, record, target)
	if err != nil {
		return err
	}
	if inline {
		if err := n.lower(ctx, id, target); err != nil {
			return err
		}
	}
	if _, err := n.detachAll(target); err != nil {
		return err
	}
	if err := n.Mounts.RemoveFolder(target); err != nil {
		return err
	}
	if inline {
		return n.forget(id)
	}
	if record == nil {
		return nil
	}
	if _, known := record.Targets[target]; !known {
		return nil
	}
	record.remove(target)
	err = n.store.Save(id, record)
	n.count()
	return err
}

// isInline says whether the volume's session is mounted at target itself. Without a record the keeper knows.
func (n *Node) isInline(ctx context.Context, id string, record *volumeRecord, target string) (bool, error) {
	if record != nil {
		return record.Inline && record.Staging == target, nil
	}
	ctx, cancel := context.WithTimeout(ctx, quickCall)
	defer cancel()
	sessions, err := n.Keeper.List(ctx)
	if err != nil {
		return false, fmt.Errorf("request to the keeper: %w", err)
	}
	return slices.ContainsFunc(sessions, func(s keeperapi.Session) bool { return s.ID == id && s.Target == target }), nil
}
