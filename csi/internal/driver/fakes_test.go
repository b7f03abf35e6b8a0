package driver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/controlpb"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/metrics"
	"posixgateway.io/csi/internal/mountinfo"
)

// node is a machine in memory: its mounts, a keeper, a gateway, Alluxio's folders and a clock. fail makes the step of
// that name fail; hang makes it wait for the caller's deadline.
type machine struct {
	mu       sync.Mutex // guards everything below
	table    mountinfo.Table
	folders  map[string]bool
	next     int
	sessions map[string]keeperapi.Session
	devices  map[string]string // of sessions
	serving  map[string]*controlpb.AttachRequest
	refused  string // the device of a session that the gateway cannot serve
	alluxio  map[string]bool
	marks    map[string]string // of folders in alluxio
	fail     map[string]error
	hang     map[string]bool
	boot     string
	calls    []string
	now      time.Time
	shown    map[string]string // groups of id-mapped targets
}

func newMachine() *machine {
	return &machine{
		folders: map[string]bool{}, sessions: map[string]keeperapi.Session{}, devices: map[string]string{},
		serving: map[string]*controlpb.AttachRequest{}, alluxio: map[string]bool{"/data": true}, marks: map[string]string{}, fail: map[string]error{},
		hang: map[string]bool{}, boot: "boot-1", now: time.Unix(1_000_000, 0),
		shown: map[string]string{},
	}
}

// step notes a call and says whether it is to fail. The caller holds mu, which a call that hangs lets go of.
func (m *machine) step(ctx context.Context, name string) error {
	m.calls = append(m.calls, name)
	if m.hang[name] {
		m.mu.Unlock()
		<-ctx.Done()
		m.mu.Lock()
		return status.FromContextError(ctx.Err()).Err()
	}
	return m.fail[name]
}

func (m *machine) count(name string) (times int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, call := range m.calls {
		if call == name {
			times++
		}
	}
	return times
}

func (m *machine) parts(t *testing.T) Parts {
	return Parts{
		Config: Config{
			DriverName: "test", NodeID: "node-1", KubeletDir: "/kubelet", StateDir: t.TempDir(), BasePath: "/kubernetes", Inline: attributes.InlinePolicy{Root: "/data", Allowed: attributes.DefaultInlineAllowed},
			ForceAfter: time.Minute,
		},
		Keeper: fakeKeeper{m}, Gateway: fakeGateway{m: m}, Mounts: fakeSystem{m}, Metrics: metrics.New(prometheus.NewRegistry()),
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { m.mu.Lock(); defer m.mu.Unlock(); return m.now },
	}
}

func (m *machine) mount(device, point, fsType string, readOnly bool) {
	m.next++
	options := "rw"
	if readOnly {
		options = "ro"
	}
	m.table = append(m.table, mountinfo.Mount{ID: m.next, Device: device, MountPoint: point, FSType: fsType, Options: options})
}

type fakeSystem struct{ m *machine }

func (f fakeSystem) Mounts() (mountinfo.Table, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return slices.Clone(f.m.table), f.m.fail["mounts"]
}

func (f fakeSystem) Resolve(path string) (string, error) { return path, f.m.fail["resolve"] }

func (f fakeSystem) MakeFolder(path string) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.folders[path] = true
	return f.m.step(context.Background(), "make folder")
}

func (f fakeSystem) RemoveFolder(path string) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	delete(f.m.folders, path)
	return f.m.step(context.Background(), "remove folder")
}

func (f fakeSystem) Bind(source, target string, readOnly bool) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.step(context.Background(), "bind"); err != nil {
		return err
	}
	mount, found := f.m.table.At(source)
	if !found || !f.m.folders[target] {
		return errors.New("bind: nothing there")
	}
	f.m.mount(mount.Device, target, mount.FSType, readOnly)
	return nil
}

func (f fakeSystem) BindShownAs(source, target string, readOnly bool, group, shown uint32) error {
	if err := f.m.fail["id map"]; err != nil {
		return err
	}
	if err := f.Bind(source, target, readOnly); err != nil {
		return err
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.table[len(f.m.table)-1].Options += ",idmapped"
	f.m.shown[target] = fmt.Sprintf("%d as %d", group, shown)
	return nil
}

func (f fakeSystem) Detach(target string) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.step(context.Background(), "detach mount"); err != nil {
		return err
	}
	for i := len(f.m.table) - 1; i >= 0; i-- {
		if f.m.table[i].MountPoint == target {
			f.m.table = slices.Delete(f.m.table, i, i+1)
			return nil
		}
	}
	return nil
}

func (f fakeSystem) BootID() (string, error) { return f.m.boot, nil }

type fakeKeeper struct{ m *machine }

func (f fakeKeeper) Info(ctx context.Context) (keeperapi.Info, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return keeperapi.Info{}, f.m.step(ctx, "keeper info")
}

func (f fakeKeeper) Mount(ctx context.Context, request keeperapi.Request) (bool, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.step(ctx, "keeper mount"); err != nil {
		return false, err
	}
	if err := request.Check(); err != nil {
		return false, err
	}
	if _, existing := f.m.sessions[request.ID]; existing {
		return true, nil
	}
	f.m.sessions[request.ID] = keeperapi.Session{ID: request.ID, Target: request.Target, Mounted: true, ReadOnly: request.ReadOnly}
	f.m.devices[request.ID] = fmt.Sprintf("0:%d", 100+f.m.next)
	f.m.mount(f.m.devices[request.ID], request.Target, request.FSType, request.ReadOnly)
	return false, nil
}

func (f fakeKeeper) List(ctx context.Context) ([]keeperapi.Session, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	var list []keeperapi.Session
	for _, session := range f.m.sessions {
		list = append(list, session)
	}
	return list, f.m.step(ctx, "keeper list")
}

func (f fakeKeeper) Unmount(ctx context.Context, id string, force bool) (bool, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	name := "keeper unmount"
	if force {
		name = "keeper unmount by force"
	}
	if err := f.m.step(ctx, name); err != nil {
		return false, err
	}
	session, existing := f.m.sessions[id]
	device := f.m.devices[id]
	f.m.table = slices.DeleteFunc(f.m.table, func(mount mountinfo.Mount) bool {
		return mount.MountPoint == session.Target && mount.Device == device
	})
	delete(f.m.sessions, id)
	return existing, nil
}

type fakeGateway struct {
	controlpb.ControlClient // nil: what is not overridden is not called
	m                       *machine
}

func (f fakeGateway) Info(ctx context.Context, _ *controlpb.InfoRequest, _ ...grpc.CallOption) (*controlpb.InfoReply, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return &controlpb.InfoReply{Ready: true}, f.m.step(ctx, "gateway info")
}

func (f fakeGateway) List(ctx context.Context, _ *controlpb.ListRequest, _ ...grpc.CallOption) (*controlpb.ListReply, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.step(ctx, "gateway list"); err != nil {
		return nil, err
	}
	reply := &controlpb.ListReply{}
	for id := range f.m.serving {
		reply.Volumes = append(reply.Volumes, &controlpb.Volume{Volume: id})
	}
	return reply, nil
}

func (f fakeGateway) Attach(ctx context.Context, request *controlpb.AttachRequest, _ ...grpc.CallOption) (*controlpb.AttachReply, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := errors.Join(f.m.step(ctx, "attach"), f.m.step(ctx, "attach "+request.GetVolume())); err != nil {
		return nil, err
	}
	if device := f.m.devices[request.GetVolume()]; device != "" && device == f.m.refused {
		return nil, status.Error(codes.Internal, "the session memory is not understood")
	}
	f.m.serving[request.GetVolume()] = request
	return &controlpb.AttachReply{}, nil
}

func (f fakeGateway) Detach(ctx context.Context, request *controlpb.DetachRequest, _ ...grpc.CallOption) (*controlpb.DetachReply, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.step(ctx, "detach"); err != nil {
		return nil, err
	}
	delete(f.m.serving, request.GetVolume())
	return &controlpb.DetachReply{}, nil
}

func (f fakeGateway) Stats(ctx context.Context, _ *controlpb.StatsRequest, _ ...grpc.CallOption) (*controlpb.StatsReply, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return &controlpb.StatsReply{CapacityBytes: 100, UsedBytes: 40, AvailableBytes: 60, Healthy: true}, f.m.step(ctx, "stats")
}

// isOthers says whether a folder carries the mark of another volume, and refuses one that carries none, as the gateway does.
func (m *machine) isOthers(path, volume string) (bool, error) {
	mark := m.marks[path]
	if volume == "" || !m.alluxio[path] || mark == volume {
		return false, nil
	}
	if mark == "" {
		return false, status.Error(codes.PermissionDenied, "the folder is nobody's")
	}
	return true, nil
}

func (f fakeGateway) MakeDirectory(ctx context.Context, request *controlpb.DirectoryRequest, _ ...grpc.CallOption) (*controlpb.DirectoryReply, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	mark, path := request.GetVolume(), request.GetPath()
	if f.m.alluxio[path] && f.m.marks[path] != mark {
		return nil, status.Error(codes.AlreadyExists, "the folder is another volume's, or nobody's")
	}
	f.m.alluxio[path], f.m.marks[path] = true, mark
	return &controlpb.DirectoryReply{}, f.m.step(ctx, "make directory")
}

func (f fakeGateway) RemoveDirectory(ctx context.Context, request *controlpb.DirectoryRequest, _ ...grpc.CallOption) (*controlpb.DirectoryReply, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if others, err := f.m.isOthers(request.GetPath(), request.GetVolume()); others || err != nil {
		return &controlpb.DirectoryReply{}, err
	}
	delete(f.m.alluxio, request.GetPath())
	return &controlpb.DirectoryReply{}, f.m.step(ctx, "remove directory")
}

func (f fakeGateway) RenameDirectory(ctx context.Context, request *controlpb.RenameDirectoryRequest, _ ...grpc.CallOption) (*controlpb.DirectoryReply, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if !f.m.alluxio[request.GetPath()] {
		return nil, status.Error(codes.NotFound, "no such folder")
	}
	if others, err := f.m.isOthers(request.GetPath(), request.GetVolume()); others || err != nil {
		return &controlpb.DirectoryReply{}, err
	}
	delete(f.m.alluxio, request.GetPath())
	f.m.alluxio[request.GetNewPath()] = true
	return &controlpb.DirectoryReply{}, f.m.step(ctx, "rename directory")
}

func (f fakeGateway) ListDirectory(ctx context.Context, request *controlpb.DirectoryRequest, _ ...grpc.CallOption) (*controlpb.ListDirectoryReply, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if !f.m.alluxio[request.GetPath()] {
		return nil, status.Error(codes.NotFound, "no such folder")
	}
	return &controlpb.ListDirectoryReply{}, f.m.step(ctx, "list directory")
}

const (
	staging = "/kubelet/plugins/v/globalmount"
	target  = "/kubelet/pods/p/mount"
	second  = "/kubelet/pods/q/mount"
	third   = "/kubelet/pods/r/mount"
	fourth  = "/kubelet/pods/s/mount"
)

func capability(mode csi.VolumeCapability_AccessMode_Mode, flags ...string) *csi.VolumeCapability {
	return &csi.VolumeCapability{
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: mode},
		AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{MountFlags: flags}},
	}
}

var shared = capability(csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER)

func stageRequest() *csi.NodeStageVolumeRequest {
	return &csi.NodeStageVolumeRequest{
		VolumeId: "v", StagingTargetPath: staging, VolumeCapability: shared, VolumeContext: map[string]string{attributes.AlluxioPath: "/data"},
	}
}

func publishRequest() *csi.NodePublishVolumeRequest {
	return &csi.NodePublishVolumeRequest{
		VolumeId: "v", StagingTargetPath: staging, TargetPath: target, VolumeCapability: shared, VolumeContext: map[string]string{attributes.AlluxioPath: "/data"},
	}
}

func unpublishRequest() *csi.NodeUnpublishVolumeRequest {
	return &csi.NodeUnpublishVolumeRequest{VolumeId: "v", TargetPath: target}
}

func unstageRequest() *csi.NodeUnstageVolumeRequest {
	return &csi.NodeUnstageVolumeRequest{VolumeId: "v", StagingTargetPath: staging}
}
