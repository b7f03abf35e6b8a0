package test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
)

// hangAlluxio stops master and worker as a machine out of memory would; resume lets them go on.
func hangAlluxio(t *testing.T) (resume func()) {
	t.Helper()
	var pids []int
	for text := range strings.SplitSeq(os.Getenv("PGW_ALLUXIO_PIDS"), ",") {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("PGW_ALLUXIO_PIDS must name the processes of Alluxio: %v", err)
		}
		pids = append(pids, pid)
	}
	all := func(signal syscall.Signal) {
		for _, pid := range pids {
			if err := syscall.Kill(pid, signal); err != nil {
				t.Error(pid, err)
			}
		}
	}
	resume = func() { all(syscall.SIGCONT) }
	t.Cleanup(resume)
	all(syscall.SIGSTOP)
	return resume
}

// obeying makes a call as kubelet would, and fails when it goes on long after the end of its context.
func obeying(ctx context.Context, t *testing.T, what string, do func(context.Context) error) error {
	t.Helper()
	ended := make(chan error, 1)
	begin := time.Now()
	go func() { ended <- notLeaving(do)(ctx) }()
	select {
	case err := <-ended:
		t.Logf("%s: %v after %v", what, err, time.Since(begin).Round(time.Millisecond))
		return err
	case <-time.After(2 * patience):
		t.Fatalf("%s hangs", what)
		return nil
	}
}

func (v *volume) stats(ctx context.Context) (*csi.NodeGetVolumeStatsResponse, error) {
	return v.r.node.NodeGetVolumeStats(ctx, &csi.NodeGetVolumeStatsRequest{VolumeId: v.id, VolumePath: v.target("pod")})
}

// Pods can be deleted while Alluxio hangs, one of them in the middle of writing; what was written waits in the gateway.
func TestAHungAlluxioBlocksNobodyBeyondTheDeadline(t *testing.T) {
	onTheGateway(t, func(t *testing.T, r *rig) {
		quiet, writing := published(t, r, "pvc-quiet"), published(t, r, "pvc-writing")
		file, err := os.Create(filepath.Join(writing.target("pod"), "file"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString("written before"); err != nil {
			t.Fatal(err)
		}
		resume := hangAlluxio(t)
		closed := make(chan error, 1)
		go func() { closed <- file.Close() }()

		// Both times are of the caller: what has to succeed has twice what the keeper gives an unmount, in quiet time; what may
		// wait for Alluxio ends with its deadline.
		const limit, short = 10 * time.Second, 2 * time.Second
		for _, v := range []*volume{quiet, writing} {
			for _, call := range []struct {
				what string
				do   func(context.Context) error
			}{
				{"statistics of ", func(ctx context.Context) error { _, err := v.stats(ctx); return err }},
				{"unpublishing ", func(ctx context.Context) error { return v.unpublish(ctx, "pod") }},
			} {
				ctx, cancel := withQuietTimeout(t.Context(), limit)
				if err := obeying(ctx, t, call.what+v.name, call.do); err != nil {
					t.Error(err)
				}
				cancel()
			}
			ctx, cancel := context.WithTimeout(t.Context(), short)
			err := obeying(ctx, t, "unstaging "+v.name, v.unstage)
			if code := status.Code(err); code != codes.OK && code != codes.DeadlineExceeded {
				t.Error(err)
			}
			cancel()
		}
		resume()
		if err := <-closed; err != nil {
			t.Error("closing what was written:", err)
		}
		for _, v := range []*volume{quiet, writing} {
			r.until("unstaging "+v.name, v.unstage)
		}
		again := &volume{r: r, name: "again", id: "again", context: map[string]string{attributes.AlluxioPath: writing.context[attributes.AlluxioPath]}}
		r.until("staging what was written", again.stage)
		r.until("publishing what was written", func(ctx context.Context) error { return again.publish(ctx, "pod", true) })
		if text, err := os.ReadFile(filepath.Join(again.target("pod"), "file")); err != nil || string(text) != "written before" {
			t.Errorf("the file holds %q, %v", text, err)
		}
		r.until("unpublishing", func(ctx context.Context) error { return again.unpublish(ctx, "pod") })
		for _, do := range []func(context.Context) error{again.unstage, quiet.remove, writing.remove} {
			r.until("the end", do)
		}
		r.nothingLeft()
	})
}
