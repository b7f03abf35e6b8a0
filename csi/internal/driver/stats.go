package driver

import (
	"context"
	"sync"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/controlpb"
	"posixgateway.io/csi/internal/mountinfo"
)

const (
	// statsFresh is how long an answer of the gateway is given again.
	statsFresh = 10 * time.Second
	// statsPatience is how long a caller waits for a new answer.
	statsPatience = 3 * time.Second
	// statsCall bounds the question to the gateway, which goes on for the next caller when one has left.
	statsCall = 20 * time.Second
)

// NodeGetVolumeStats answers from what the gateway says, never by a call on the mount: (1) validate, (2) is the volume at
// this path? (3) ask, once for all callers, and for a few seconds only.
func (n *Node) NodeGetVolumeStats(ctx context.Context, request *csi.NodeGetVolumeStatsRequest) (*csi.NodeGetVolumeStatsResponse, error) {
	if request.GetVolumeId() == "" || request.GetVolumePath() == "" {
		return nil, invalid("volume id and volume path are needed")
	}
	id := SessionID(request.GetVolumeId())
	record, err := n.load(id)
	if err != nil {
		return nil, err
	}
	if record == nil {
		return nil, status.Errorf(codes.NotFound, "volume %s is not on this node", request.GetVolumeId())
	}
	if _, published := record.Targets[request.GetVolumePath()]; !published && record.Staging != request.GetVolumePath() {
		return nil, status.Errorf(codes.NotFound, "volume %s is not at %s", request.GetVolumeId(), request.GetVolumePath())
	}
	table, err := n.Mounts.Mounts()
	if err != nil {
		return nil, coded("stats of "+request.GetVolumeId(), err)
	}
	if problem := n.unmounted(table, request.GetVolumePath()); problem != "" {
		return abnormal(problem), nil
	}
	reply, problem := n.stats.get(ctx, id)
	if reply == nil {
		return abnormal(problem), nil
	}
	answer := &csi.NodeGetVolumeStatsResponse{
		Usage: []*csi.VolumeUsage{{
			Unit: csi.VolumeUsage_BYTES, Total: max(0, reply.GetCapacityBytes()), Used: max(0, reply.GetUsedBytes()),
			Available: max(0, reply.GetAvailableBytes()),
		}},
		VolumeCondition: &csi.VolumeCondition{Abnormal: !reply.GetHealthy(), Message: reply.GetCondition()},
	}
	if problem != "" {
		answer.VolumeCondition = &csi.VolumeCondition{Abnormal: true, Message: problem}
	}
	return answer, nil
}

// unmounted says why the volume is not known to be mounted at the path; "": it is.
func (n *Node) unmounted(table mountinfo.Table, path string) string {
	mount, found, err := n.at(table, path)
	switch {
	case err != nil:
		return err.Error()
	case !found || !ours(mount):
		return "the volume is not mounted; the next publish mounts it"
	}
	return ""
}

// abnormal has no figures, because none are known.
func abnormal(problem string) *csi.NodeGetVolumeStatsResponse {
	return &csi.NodeGetVolumeStatsResponse{
		Usage:           []*csi.VolumeUsage{{Unit: csi.VolumeUsage_BYTES}},
		VolumeCondition: &csi.VolumeCondition{Abnormal: true, Message: problem},
	}
}

// statsCache remembers the last answer for each volume. A question under way is shared by all who ask meanwhile.
type statsCache struct {
	parts  Parts
	flight singleflight.Group
	mu     sync.Mutex
	last   map[string]statsAnswer // guarded by mu
}

type statsAnswer struct {
	reply *controlpb.StatsReply
	at    time.Time
}

func newStatsCache(parts Parts) *statsCache {
	return &statsCache{parts: parts, last: map[string]statsAnswer{}}
}

// get returns the newest answer there is; problem says why it is not new. It waits for statsPatience at most.
func (c *statsCache) get(ctx context.Context, id string) (reply *controlpb.StatsReply, problem string) {
	c.mu.Lock()
	last := c.last[id]
	c.mu.Unlock()
	if last.reply != nil && c.parts.Now().Sub(last.at) < statsFresh {
		return last.reply, ""
	}
	ctx, cancel := context.WithTimeout(ctx, statsPatience)
	defer cancel()
	asked := c.flight.DoChan(id, func() (any, error) { return c.ask(id) })
	select {
	case answer := <-asked:
		if answer.Err != nil {
			return last.reply, "the gateway has no statistics: " + status.Convert(answer.Err).Message()
		}
		return answer.Val.(*controlpb.StatsReply), ""
	case <-ctx.Done():
		c.parts.Metrics.StatsTimeouts.Inc()
		return last.reply, "the gateway does not answer"
	}
}

func (c *statsCache) ask(id string) (*controlpb.StatsReply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), statsCall)
	defer cancel()
	reply, err := c.parts.Gateway.Stats(ctx, &controlpb.StatsRequest{Volume: id})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[id] = statsAnswer{reply: reply, at: c.parts.Now()}
	return reply, nil
}

func (c *statsCache) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.last, id)
}
