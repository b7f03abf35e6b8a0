// Package gatewaytest stands in for the gateway in tests of the driver: the control API over a folder on disk that plays
// Alluxio, and sessions answered by fusetest. Like the real one it takes sessions from the keeper, and after a restart
// serves again those that have a record.
package gatewaytest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"posixgateway.io/csi/internal/controlpb"
	"posixgateway.io/csi/internal/fusetest"
	"posixgateway.io/csi/internal/keeperapi"
)

// Gateway implements controlpb.ControlServer as far as the driver uses it.
type Gateway struct {
	controlpb.UnimplementedControlServer
	root   string
	keeper *keeperapi.Client
	mu     sync.Mutex
	served map[string]*served // guarded by mu
}

type served struct {
	request *controlpb.AttachRequest
	server  *fusetest.Server
	// own tells others, as long as it is open, that this gateway lives.
	own []*os.File
}

func (s *served) stop() {
	s.server.Stop()
	keeperapi.CloseAll(s.own)
}

// Run serves at socket until the context ends; root is the folder that plays Alluxio.
func Run(ctx context.Context, socket, keeperSocket, root string) error {
	g := &Gateway{root: root, keeper: &keeperapi.Client{Socket: keeperSocket}, served: map[string]*served{}}
	if err := g.serveAgain(ctx); err != nil {
		return err
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	controlpb.RegisterControlServer(server, g)
	context.AfterFunc(ctx, server.Stop)
	return server.Serve(listener)
}

func (g *Gateway) serveAgain(ctx context.Context) error {
	sessions, err := g.keeper.List(ctx)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if !session.HasRecord {
			continue
		}
		record, err := g.keeper.Record(ctx, session.ID)
		if refusal, ok := errors.AsType[*keeperapi.Error](err); ok && refusal.Code == keeperapi.NotFound {
			continue // it ended meanwhile
		}
		if err != nil {
			return err
		}
		request := &controlpb.AttachRequest{}
		if err := proto.Unmarshal(record, request); err != nil {
			return err
		}
		if _, err := g.Attach(ctx, request); err != nil && status.Code(err) != codes.NotFound {
			return err
		}
	}
	return nil
}

// Info implements controlpb.ControlServer.
func (g *Gateway) Info(context.Context, *controlpb.InfoRequest) (*controlpb.InfoReply, error) {
	return &controlpb.InfoReply{Version: "stand-in", Ready: true, Pid: int64(os.Getpid())}, nil
}

// Attach implements controlpb.ControlServer.
func (g *Gateway) Attach(ctx context.Context, request *controlpb.AttachRequest) (*controlpb.AttachReply, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := os.Stat(g.place(request.GetAlluxioPath())); err != nil {
		return nil, status.Errorf(codes.NotFound, "there is no %s in Alluxio: create it first", request.GetAlluxioPath())
	}
	if g.served[request.GetVolume()] != nil {
		return &controlpb.AttachReply{}, nil
	}
	_, fuse, memory, clone, lock, err := g.keeper.TakeOwn(ctx, request.GetVolume())
	if err != nil {
		return nil, status.Errorf(codes.NotFound, "keeper: %v", err)
	}
	_, _ = memory.Close(), clone.Close()
	server, err := fusetest.Serve(fuse)
	if err != nil {
		_ = lock.Close()
		return nil, status.Error(codes.Internal, err.Error())
	}
	taken := &served{request: request, server: server, own: []*os.File{lock}}
	record, err := proto.Marshal(request)
	if err == nil {
		err = g.keeper.SetRecord(ctx, request.GetVolume(), record)
	}
	if err != nil {
		taken.stop()
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	g.served[request.GetVolume()] = taken
	return &controlpb.AttachReply{SessionLine: "transport=stand-in"}, nil
}

// Detach implements controlpb.ControlServer.
func (g *Gateway) Detach(ctx context.Context, request *controlpb.DetachRequest) (*controlpb.DetachReply, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := g.served[request.GetVolume()]
	if known == nil {
		return &controlpb.DetachReply{}, nil
	}
	if err := g.keeper.SetRecord(ctx, request.GetVolume(), nil); err != nil {
		if refusal, ok := errors.AsType[*keeperapi.Error](err); !ok || refusal.Code != keeperapi.NotFound {
			return nil, status.Error(codes.Unavailable, err.Error())
		}
	}
	known.stop()
	delete(g.served, request.GetVolume())
	return &controlpb.DetachReply{}, nil
}

// List implements controlpb.ControlServer.
func (g *Gateway) List(context.Context, *controlpb.ListRequest) (*controlpb.ListReply, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	reply := &controlpb.ListReply{}
	for id, volume := range g.served {
		reply.Volumes = append(reply.Volumes, &controlpb.Volume{Volume: id, AlluxioPath: volume.request.GetAlluxioPath()})
	}
	return reply, nil
}

// Stats implements controlpb.ControlServer.
func (g *Gateway) Stats(_ context.Context, request *controlpb.StatsRequest) (*controlpb.StatsReply, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.served[request.GetVolume()] == nil {
		return nil, status.Errorf(codes.NotFound, "volume %s is not attached", request.GetVolume())
	}
	return &controlpb.StatsReply{CapacityBytes: 1 << 40, UsedBytes: 1 << 30, AvailableBytes: 1<<40 - 1<<30, Healthy: true}, nil
}

// MakeDirectory implements controlpb.ControlServer.
func (g *Gateway) MakeDirectory(_ context.Context, request *controlpb.DirectoryRequest) (*controlpb.DirectoryReply, error) {
	_, err := os.Stat(g.place(request.GetPath()))
	return &controlpb.DirectoryReply{Changed: err != nil}, coded(os.MkdirAll(g.place(request.GetPath()), 0o755))
}

// RemoveDirectory implements controlpb.ControlServer.
func (g *Gateway) RemoveDirectory(_ context.Context, request *controlpb.DirectoryRequest) (*controlpb.DirectoryReply, error) {
	return &controlpb.DirectoryReply{Changed: true}, coded(os.RemoveAll(g.place(request.GetPath())))
}

// RenameDirectory implements controlpb.ControlServer.
func (g *Gateway) RenameDirectory(_ context.Context, request *controlpb.RenameDirectoryRequest) (*controlpb.DirectoryReply, error) {
	return &controlpb.DirectoryReply{Changed: true}, coded(os.Rename(g.place(request.GetPath()), g.place(request.GetNewPath())))
}

// ListDirectory implements controlpb.ControlServer.
func (g *Gateway) ListDirectory(_ context.Context, request *controlpb.DirectoryRequest) (*controlpb.ListDirectoryReply, error) {
	entries, err := os.ReadDir(g.place(request.GetPath()))
	reply := &controlpb.ListDirectoryReply{}
	for _, entry := range entries {
		reply.Entries = append(reply.Entries, &controlpb.ListDirectoryReply_Entry{Name: entry.Name(), Directory: entry.IsDir()})
	}
	return reply, coded(err)
}

func (g *Gateway) place(path string) string { return filepath.Join(g.root, filepath.Clean("/"+path)) }

func coded(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return status.Error(codes.NotFound, err.Error())
	}
	return status.Error(codes.Internal, fmt.Sprint(err))
}
