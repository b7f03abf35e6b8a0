package driver

import (
	"context"
	"strconv"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/controlpb"
	"posixgateway.io/csi/internal/keylock"
	"posixgateway.io/csi/internal/state"
)

// Controller makes and removes folders in Alluxio, through a gateway. Alluxio 2.x has no quota on folders: the capacity
// asked for is remembered and reported, and nothing enforces it.
type Controller struct {
	csi.UnimplementedControllerServer
	Parts
	store *state.Store[provisionRecord]
	locks keylock.Locks
}

// provisionRecord serves ListVolumes and the comparison of repeated requests. A volume's id alone is enough for
// everything else, so a controller that lost its records still deletes rightly: one that cannot be read or written is reported in the
// log, and nothing fails for it.
type provisionRecord struct {
	ID       string
	Capacity int64
	Context  map[string]string
}

// NewController opens the durable state, which may lie in an emptyDir: all containers of the pod may write there.
func NewController(parts Parts) (*Controller, error) {
	store, err := state.OpenAnywhere[provisionRecord](parts.StateDir + "/provisioned")
	if err != nil {
		return nil, err
	}
	return &Controller{Parts: parts, store: store}, nil
}

// ControllerGetCapabilities implements csi.ControllerServer.
func (c *Controller) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	answer := &csi.ControllerGetCapabilitiesResponse{}
	for _, kind := range []csi.ControllerServiceCapability_RPC_Type{
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME,
		csi.ControllerServiceCapability_RPC_LIST_VOLUMES,
		csi.ControllerServiceCapability_RPC_GET_VOLUME,
		csi.ControllerServiceCapability_RPC_VOLUME_CONDITION,
		csi.ControllerServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER,
	} {
		answer.Capabilities = append(answer.Capabilities, &csi.ControllerServiceCapability{
			Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: kind}},
		})
	}
	return answer, nil
}

// CreateVolume makes a folder: (1) validate, (2) lock, (3) compare with an earlier request of the name, (4) make it,
// (5) record.
func (c *Controller) CreateVolume(ctx context.Context, request *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if err := checkCreate(request); err != nil {
		return nil, err
	}
	class, err := attributes.ParseClass(request.GetName(), c.BasePath, request.GetParameters(), request.GetSecrets())
	if err != nil {
		return nil, invalid("%v", err)
	}
	volume := provisioned{
		name: request.GetName(), masters: class.Volume.Masters, basePath: class.BasePath, path: class.Path, onDelete: class.OnDelete,
	}
	if _, err := parseID(volume.id()); err != nil {
		return nil, invalid("%.200q is not a valid volume name: %v", request.GetName(), err)
	}
	key := SessionID(request.GetName())
	unlock, free := c.locks.TryLock(key)
	if !free {
		return nil, busy(request.GetName())
	}
	defer unlock()
	record := &provisionRecord{ID: volume.id(), Capacity: request.GetCapacityRange().GetRequiredBytes(), Context: class.Attributes}
	before, err := c.store.Load(key)
	c.note(request.GetName(), err)
	if before != nil && !before.serves(record.ID, request.GetCapacityRange()) {
		return nil, status.Errorf(codes.AlreadyExists, "volume %s already exists as %s with %d bytes: request the same parameters and capacity, or "+
			"delete it first", request.GetName(), before.ID, before.Capacity)
	}
	if before != nil {
		record = before
	}
	ctx, cancel := context.WithTimeout(ctx, slowCall)
	defer cancel()
	if _, err := c.Gateway.MakeDirectory(ctx, &controlpb.DirectoryRequest{
		Cluster: cluster(class.Volume), Path: class.Path, Mode: class.DirectoryMode, Volume: volume.mark(),
	}); err != nil {
		return nil, coded("create Alluxio folder "+class.Path, err)
	}
	c.note(request.GetName(), c.store.Save(key, record))
	return &csi.CreateVolumeResponse{Volume: record.volume()}, nil
}

// note reports a failure of the records.
func (c *Controller) note(volume string, err error) {
	if err != nil {
		c.Log.Error("ListVolumes may show this volume wrongly; check the folder of --state-dir", "volume", volume, "error", err)
	}
}

// serves says whether an existing volume is what is asked for.
func (r *provisionRecord) serves(id string, capacity *csi.CapacityRange) bool {
	limit := capacity.GetLimitBytes()
	return r.ID == id && r.Capacity >= capacity.GetRequiredBytes() && (limit == 0 || r.Capacity <= limit)
}

func (r *provisionRecord) volume() *csi.Volume {
	return &csi.Volume{VolumeId: r.ID, CapacityBytes: r.Capacity, VolumeContext: r.Context}
}

func checkCreate(request *csi.CreateVolumeRequest) error {
	if request.GetName() == "" {
		return invalid("the volume's name is missing")
	}
	if err := checkCapabilities(request.GetVolumeCapabilities()); err != nil {
		return err
	}
	if request.GetVolumeContentSource() != nil {
		return invalid("volumes cannot be created from snapshots or other volumes, because Alluxio has no copy-on-write: create an empty volume and copy the data")
	}
	if len(request.GetMutableParameters()) > 0 {
		return invalid("VolumeAttributesClass is not supported: set attributes in the StorageClass")
	}
	required, limit := request.GetCapacityRange().GetRequiredBytes(), request.GetCapacityRange().GetLimitBytes()
	if required < 0 || limit < 0 || limit > 0 && required > limit {
		return status.Errorf(codes.OutOfRange, "a capacity of at least %d and at most %d bytes is not possible: give a limit of 0 (none), or one not "+
			"below the request", required, limit)
	}
	return nil
}

// checkCapabilities checks mount options too, so that a wrong one is told to who claims and not to every pod.
func checkCapabilities(capabilities []*csi.VolumeCapability) error {
	if len(capabilities) == 0 {
		return invalid("the volume capabilities are missing")
	}
	for _, capability := range capabilities {
		if err := checkCapability(capability); err != nil {
			return err
		}
		if _, err := attributes.Parse(map[string]string{attributes.AlluxioPath: "/"}, capability.GetMount().GetMountFlags(), nil); err != nil {
			return invalid("%v", err)
		}
	}
	return nil
}

// DeleteVolume does with the folder what onDelete says: (1) validate, (2) lock, (3) act, (4) forget. An id that this
// driver did not make has no folder of its own, so there is nothing to do; of a well-formed one the gateway asks the folder itself
// whether it is this volume's.
func (c *Controller) DeleteVolume(ctx context.Context, request *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, invalid("the volume id is missing")
	}
	volume, err := parseID(request.GetVolumeId())
	if err != nil {
		c.Log.Info("nothing to delete", "reason", err)
		return &csi.DeleteVolumeResponse{}, nil
	}
	who, err := c.accessor(volume, request.GetSecrets())
	if err != nil {
		return nil, err
	}
	key := SessionID(volume.name)
	unlock, free := c.locks.TryLock(key)
	if !free {
		return nil, busy(request.GetVolumeId())
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(ctx, slowCall)
	defer cancel()
	switch volume.onDelete {
	case attributes.Delete:
		_, err = c.Gateway.RemoveDirectory(ctx, &controlpb.DirectoryRequest{Cluster: who, Path: volume.path, Recursive: true, Volume: volume.mark()})
	case attributes.Archive:
		_, err = c.Gateway.RenameDirectory(ctx, &controlpb.RenameDirectoryRequest{
			Cluster: who, Path: volume.path, NewPath: volume.archivePath(), Volume: volume.mark(),
		})
	}
	if err != nil && status.Code(err) != codes.NotFound {
		return nil, coded(volume.onDelete+" Alluxio folder "+volume.path, err)
	}
	c.note(volume.name, c.store.Remove(key))
	return &csi.DeleteVolumeResponse{}, nil
}

// accessor is the cluster of a volume, as the user of the secret.
func (c *Controller) accessor(volume *provisioned, secret map[string]string) (*controlpb.Cluster, error) {
	given := map[string]string{attributes.AlluxioPath: volume.path}
	if volume.masters != "" {
		given[attributes.Masters] = volume.masters
	}
	parsed, err := attributes.Parse(given, nil, secret)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return cluster(parsed), nil
}

// ValidateVolumeCapabilities implements csi.ControllerServer.
func (c *Controller) ValidateVolumeCapabilities(ctx context.Context, request *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, invalid("the volume id is missing")
	}
	if len(request.GetVolumeCapabilities()) == 0 {
		return nil, invalid("the volume capabilities are missing")
	}
	volume, err := parseID(request.GetVolumeId())
	if err != nil {
		return nil, status.Error(codes.NotFound, err.Error())
	}
	who, err := c.accessor(volume, request.GetSecrets())
	if err != nil {
		return nil, err
	}
	if err := c.find(ctx, volume, who); err != nil {
		return nil, err
	}
	for _, capability := range request.GetVolumeCapabilities() {
		if err := checkCapability(capability); err != nil {
			return &csi.ValidateVolumeCapabilitiesResponse{Message: status.Convert(err).Message()}, nil
		}
	}
	return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: &csi.ValidateVolumeCapabilitiesResponse_Confirmed{
		VolumeContext: request.GetVolumeContext(), VolumeCapabilities: request.GetVolumeCapabilities(), Parameters: request.GetParameters(),
	}}, nil
}

// find fails with NotFound when the volume's folder is not there.
func (c *Controller) find(ctx context.Context, volume *provisioned, who *controlpb.Cluster) error {
	ctx, cancel := context.WithTimeout(ctx, slowCall)
	defer cancel()
	_, err := c.Gateway.ListDirectory(ctx, &controlpb.DirectoryRequest{Cluster: who, Path: volume.path})
	return coded("check Alluxio folder "+volume.path, err)
}

// ControllerGetVolume implements csi.ControllerServer.
func (c *Controller) ControllerGetVolume(ctx context.Context, request *csi.ControllerGetVolumeRequest) (*csi.ControllerGetVolumeResponse, error) {
	if request.GetVolumeId() == "" {
		return nil, invalid("the volume id is missing")
	}
	volume, err := parseID(request.GetVolumeId())
	if err != nil {
		return nil, status.Error(codes.NotFound, err.Error())
	}
	who, err := c.accessor(volume, nil)
	if err != nil {
		return nil, err
	}
	condition := &csi.VolumeCondition{Message: "the folder exists"}
	if err := c.find(ctx, volume, who); status.Code(err) == codes.NotFound {
		return nil, err
	} else if err != nil {
		condition = &csi.VolumeCondition{Abnormal: true, Message: status.Convert(err).Message()}
	}
	record, err := c.store.Load(SessionID(volume.name))
	c.note(volume.name, err)
	if record == nil {
		record = &provisionRecord{ID: request.GetVolumeId()}
	}
	return &csi.ControllerGetVolumeResponse{
		Volume: record.volume(), Status: &csi.ControllerGetVolumeResponse_VolumeStatus{VolumeCondition: condition},
	}, nil
}

// ListVolumes lists what this controller has provisioned, in the order of names. A token is the position to go on from. A record
// that cannot be read is reported in the log and left out.
func (c *Controller) ListVolumes(_ context.Context, request *csi.ListVolumesRequest) (*csi.ListVolumesResponse, error) {
	keys, err := c.store.Keys()
	if err != nil {
		return nil, coded("list", err)
	}
	start := 0
	if token := request.GetStartingToken(); token != "" {
		if start, err = strconv.Atoi(token); err != nil || start < 0 || start > len(keys) {
			return nil, status.Errorf(codes.Aborted, "the starting token %.80q is not from ListVolumes: start again without a token", token)
		}
	}
	end := len(keys)
	if most := int(request.GetMaxEntries()); most > 0 {
		end = min(end, start+most)
	}
	answer := &csi.ListVolumesResponse{}
	for _, key := range keys[start:end] {
		record, err := c.store.Load(key)
		if err != nil {
			c.Log.Error("a volume is missing in the list", "volume", key, "error", err)
		}
		if record == nil {
			continue // or deleted meanwhile
		}
		answer.Entries = append(answer.Entries, &csi.ListVolumesResponse_Entry{
			Volume: record.volume(),
			Status: &csi.ListVolumesResponse_VolumeStatus{VolumeCondition: &csi.VolumeCondition{Message: "as provisioned"}},
		})
	}
	if end < len(keys) {
		answer.NextToken = strconv.Itoa(end)
	}
	return answer, nil
}
