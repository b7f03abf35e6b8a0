package driver

import (
	"context"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/controlpb"
	"posixgateway.io/csi/internal/keeperapi"
)

// FuzzVolumeID: an id names a folder below its base path, and is the only id that names it so, or it is nobody's.
func FuzzVolumeID(f *testing.F) {
	good := (&provisioned{name: "pvc-1", masters: "a:1,[::1]:2", basePath: "/b", path: "/b/pvc-1", onDelete: attributes.Delete}).id()
	for _, id := range []string{
		good, "", "static", good + "&x=y", strings.Replace(good, "/b/pvc-1", "/b/../etc", 1), strings.Replace(good, "/b/pvc-1", "/b/%2e%2e/x", 1),
		strings.Replace(good, "%2Fb", "%2F", 1), strings.Replace(good, "delete", "archive", 1), "alluxio://host/b?name=x", "alluxio:opaque",
	} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		p, err := parseID(id)
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Fatalf("%q: the answer repeats too much", id)
			}
			return
		}
		if p.id() != id || !attributes.IsPath(p.path) || !attributes.IsBelow(p.path, p.basePath) || p.path == p.basePath {
			t.Fatalf("%q became %+v", id, p)
		}
		if keeperapi.CheckID(SessionID(id)) != nil || keeperapi.CheckID(SessionID(p.name)) != nil {
			t.Fatalf("%q has the session %q", id, SessionID(id))
		}
	})
}

// hostileGateway answers with whatever it is given.
type hostileGateway struct {
	controlpb.ControlClient
	list  *controlpb.ListReply
	stats *controlpb.StatsReply
}

func (g hostileGateway) List(context.Context, *controlpb.ListRequest, ...grpc.CallOption) (*controlpb.ListReply, error) {
	return g.list, nil
}

func (g hostileGateway) Stats(context.Context, *controlpb.StatsRequest, ...grpc.CallOption) (*controlpb.StatsReply, error) {
	return g.stats, nil
}

func (g hostileGateway) Attach(context.Context, *controlpb.AttachRequest, ...grpc.CallOption) (*controlpb.AttachReply, error) {
	return &controlpb.AttachReply{SessionLine: g.stats.GetCondition()}, nil
}

func (g hostileGateway) Detach(context.Context, *controlpb.DetachRequest, ...grpc.CallOption) (*controlpb.DetachReply, error) {
	return &controlpb.DetachReply{}, nil
}

// FuzzControlReplies: whatever a gateway answers, the driver neither falls over nor tells the kubelet of negative sizes.
func FuzzControlReplies(f *testing.F) {
	for _, stats := range []*controlpb.StatsReply{
		{CapacityBytes: 100, UsedBytes: 40, AvailableBytes: 60, Healthy: true}, {CapacityBytes: -1, UsedBytes: 1 << 62, AvailableBytes: -5}, {},
	} {
		list, err := proto.Marshal(&controlpb.ListReply{Volumes: []*controlpb.Volume{{Volume: "v"}, {}}})
		if err != nil {
			f.Fatal(err)
		}
		text, err := proto.Marshal(stats)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(list, text)
	}
	f.Fuzz(func(t *testing.T, list, stats []byte) {
		gateway := hostileGateway{list: &controlpb.ListReply{}, stats: &controlpb.StatsReply{}}
		if proto.Unmarshal(list, gateway.list) != nil || proto.Unmarshal(stats, gateway.stats) != nil {
			return
		}
		parts := newMachine().parts(t)
		parts.Gateway = gateway
		n := nodeWith(t, parts)
		mustStage(t, n)
		mustPublish(t, n)
		answer, err := n.NodeGetVolumeStats(t.Context(), &csi.NodeGetVolumeStatsRequest{VolumeId: "v", VolumePath: target})
		if err != nil {
			t.Fatal(err)
		}
		for _, usage := range answer.GetUsage() {
			if usage.GetTotal() < 0 || usage.GetUsed() < 0 || usage.GetAvailable() < 0 {
				t.Fatalf("%+v was told to the kubelet", usage)
			}
		}
	})
}
