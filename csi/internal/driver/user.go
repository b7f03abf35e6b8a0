package driver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
)

// A session is served as one Alluxio user, whom the secret of its staging names. All pods of the node reach Alluxio as that user, so a
// publish whose secret names another one is refused: it would be given what that user may not read.

// userMark tells one user from another without naming either.
func userMark(volume *attributes.Volume, salt string) string {
	sum := sha256.Sum256([]byte(salt + "\n" + volume.Identity()))
	return hex.EncodeToString(sum[:])
}

// noteUser remembers whom the volume's secret names.
func (r *volumeRecord) noteUser(volume *attributes.Volume) {
	r.Volume.HasSecrets = volume.HasSecrets
	r.UserSalt = rand.Text()
	r.UserMark = userMark(volume, r.UserSalt)
}

// isServedAs says whether the session's user is the one whom the volume's secret names, or neither has a secret. Records of earlier
// versions do not know whose secret it was.
func (r *volumeRecord) isServedAs(volume *attributes.Volume) bool {
	if r.UserMark == "" {
		return r.Volume.HasSecrets == volume.HasSecrets
	}
	return r.UserMark == userMark(volume, r.UserSalt)
}

// otherUser refuses a secret of another user than that of the session.
func (r *volumeRecord) otherUser() error {
	if !r.Volume.HasSecrets || r.UserMark == userMark(&attributes.Volume{}, r.UserSalt) { // the latter: see keepUser
		return status.Errorf(codes.FailedPrecondition, "volume %s was staged on this node without a secret, so its session has the rights of the "+
			"gateway's own Alluxio user, not those of the user in this pod's secret: set the PersistentVolume's nodeStageSecretRef "+
			"(StorageClass: csi.storage.k8s.io/node-stage-secret-name) to the same secret as its nodePublishSecretRef, and end the volume's pods "+
			"on this node", r.VolumeID)
	}
	return status.Errorf(codes.FailedPrecondition, "volume %s is served on this node as another Alluxio user than the secret of this request names: "+
		"set the PersistentVolume's nodeStageSecretRef and nodePublishSecretRef to the same secret; after a change of its user, end the volume's "+
		"pods on this node", r.VolumeID)
}

// admitUser refuses a new target for another user than that of the session.
func (n *Node) admitUser(id string, record *volumeRecord, volume *attributes.Volume, target string) error {
	if !volume.HasSecrets || record.isServedAs(volume) {
		return nil
	}
	if _, known := record.Targets[target]; known {
		return n.keepUser(id, record)
	}
	return record.otherUser()
}

// keepUser is for a target that an earlier version published for another user than its session's, or whose secret has changed since.
// Its pod goes on with the session it has. When that is lost, it is not made again: neither user would be the right one.
func (n *Node) keepUser(id string, record *volumeRecord) error {
	n.Log.Warn("a pod has the volume although its secret names another user", "volume", id, "advice", status.Convert(record.otherUser()).Message())
	if record.Volume.HasSecrets {
		return nil
	}
	kept := *record.Volume
	record.Volume = &kept
	record.noteUser(record.Volume)
	record.Volume.HasSecrets = true // which nobody has: see attributes.Volume.LacksSecrets
	return coded("record volume "+id, n.store.Save(id, record))
}

// restageAs makes a staged volume ready for the user of a staging that is repeated. With pods on the session it stays that of its user.
func (n *Node) restageAs(ctx context.Context, id string, record *volumeRecord, volume *attributes.Volume) error {
	same := record.isServedAs(volume)
	switch {
	case same && record.UserMark != "":
		return nil
	case !same && len(record.Targets) > 0:
		return record.otherUser()
	case !same:
		if err := n.lower(ctx, id, record.Staging); err != nil {
			return coded("stage volume "+record.VolumeID+" as another user", err)
		}
		record.Volume, record.Staged = volume.WithoutSecrets(), false
	}
	record.noteUser(volume)
	return coded("record volume "+id, n.store.Save(id, record))
}

// effective is the volume as it was staged, with the secrets of the present call when they are of the session's user.
func effective(record *volumeRecord, volume *attributes.Volume) *attributes.Volume {
	if !record.isServedAs(volume) {
		return record.Volume
	}
	staged := *record.Volume
	staged.User, staged.Properties = volume.User, maps.Clone(volume.Properties)
	return &staged
}
