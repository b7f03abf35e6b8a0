package test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/mountinfo"
	"posixgateway.io/csi/internal/orphans"
)

// newRandom prints the seed; PGW_SEED repeats a run.
func newRandom(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("PGW_SEED"); text != "" {
		given, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = given
	}
	t.Logf("repeat with: PGW_SEED=%d go test -race -run '%s' ./test", seed, t.Name())
	return rand.New(rand.NewPCG(seed, 0))
}

func TestKillingAnyProcessDuringAnyCallAndTryingAgainLeavesNothing(t *testing.T) {
	onEachGateway(t, func(t *testing.T, r *rig) {
		random := newRandom(t)
		for _, victim := range []string{"driver", "gateway", "keeper"} {
			for step := range 6 {
				v := &volume{r: r, name: fmt.Sprintf("pvc-%s-%d", victim, step)}
				steps := []func(context.Context) error{
					v.create, v.stage, func(ctx context.Context) error { return v.publish(ctx, "pod", false) },
					func(ctx context.Context) error { return v.unpublish(ctx, "pod") }, v.unstage, v.remove,
				}
				for number, do := range steps {
					if number == step {
						r.killDuring(victim, do, time.Duration(random.IntN(30_000))*time.Microsecond)
					}
					r.until(fmt.Sprintf("%s, step %d of %s", victim, number, v.name), do)
					if number == 2 {
						r.until("the volume of "+v.name+" to be readable", func(context.Context) error { return v.read(v.target("pod")) })
					}
				}
			}
		}
		r.nothingLeft()
	})
}

// killDuring begins a call and ends a process in the middle of it.
func (r *rig) killDuring(role string, do func(context.Context) error, delay time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- do(ctx) }()
	<-time.After(delay)
	r.kill(role)
	r.start(role)
	if err := <-ended; err != nil { // it is tried again
		r.t.Logf("%s was killed: %v", role, err)
	}
}

func TestTwoHundredCyclesTenAtATimeGrowNothing(t *testing.T) {
	onEachGateway(t, func(t *testing.T, r *rig) {
		cycle := func(worker, round int) {
			v := &volume{r: r, name: fmt.Sprintf("pvc-%d-%d", worker, round)}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			for _, do := range []func(context.Context) error{
				v.create, v.stage,
				func(ctx context.Context) error { return v.publish(ctx, "a", false) },
				func(ctx context.Context) error { return v.publish(ctx, "b", true) },
				func(context.Context) error { return v.read(v.target("b")) },
				func(ctx context.Context) error { return v.unpublish(ctx, "a") },
				func(ctx context.Context) error { return v.unpublish(ctx, "b") },
				v.unstage, v.remove,
			} {
				if err := do(ctx); err != nil {
					t.Error(v.name, err)
					return
				}
			}
		}
		cycle(0, 999) // what is made once is made now
		goroutines, driverFiles, keeperFiles := r.goroutines(), r.openFiles("driver"), r.openFiles("keeper")
		var workers sync.WaitGroup
		for worker := range 10 {
			workers.Go(func() {
				for round := range 20 {
					cycle(worker, round)
				}
			})
		}
		workers.Wait()
		r.nothingLeft()
		const slack = 10 // connections of the last calls may still be closing
		r.until("everything to be given back", func(context.Context) error {
			if now := r.goroutines(); now > goroutines+slack {
				return fmt.Errorf("the driver has %d goroutines, before %d", now, goroutines)
			}
			if now := r.openFiles("driver"); now > driverFiles+slack {
				return fmt.Errorf("the driver has %d open files, before %d", now, driverFiles)
			}
			if now := r.openFiles("keeper"); now > keeperFiles+slack {
				return fmt.Errorf("the keeper has %d open files, before %d", now, keeperFiles)
			}
			return nil
		})
	})
}

func TestAHungGatewayBlocksNobodyBeyondTheDeadline(t *testing.T) {
	onEachGateway(t, func(t *testing.T, r *rig) {
		v := published(t, r, "pvc-hung")
		process := r.processes["gateway"].Process
		r.stop("gateway")
		// Calls that wait for the gateway end with their deadline; the others come before it.
		const short, long = 2 * time.Second, 30 * time.Second
		within := func(what string, limit time.Duration, do func(ctx context.Context) error) error {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			quiet := quietTime()
			err := do(ctx)
			if took := quiet(); took > limit+5*time.Second {
				t.Errorf("%s took %v", what, took)
			}
			return err
		}
		if err := within("stats", long, func(ctx context.Context) error {
			stats, err := r.node.NodeGetVolumeStats(ctx, &csi.NodeGetVolumeStatsRequest{VolumeId: v.id, VolumePath: v.target("pod")})
			if err == nil && !stats.GetVolumeCondition().GetAbnormal() {
				t.Error("the volume is said to be well")
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		if err := within("publish", short, func(ctx context.Context) error { return v.publish(ctx, "second", false) }); status.Code(err) != codes.DeadlineExceeded {
			t.Error("publish:", err)
		}
		if err := within("unpublish", long, notLeaving(func(ctx context.Context) error { return v.unpublish(ctx, "pod") })); err != nil {
			t.Error("unpublish:", err)
		}
		if err := within("unstage", short, notLeaving(v.unstage)); status.Code(err) != codes.DeadlineExceeded {
			t.Error("unstage:", err)
		}
		if err := process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		r.until("unstage", v.unstage)
		r.until("delete", v.remove)
		r.nothingLeft()
	})
}

// notLeaving repeats a call, as kubelet does, while the driver is still leaving one that ran out of time; a call whose context
// has ended says so.
func notLeaving(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := do(ctx)
		for status.Code(err) == codes.Aborted {
			time.Sleep(50 * time.Millisecond)
			err = do(ctx)
		}
		return err
	}
}

// published makes a volume that one pod uses.
func published(t *testing.T, r *rig, name string) *volume {
	t.Helper()
	v := &volume{r: r, name: name}
	for _, do := range []func(context.Context) error{v.create, v.stage, func(ctx context.Context) error { return v.publish(ctx, "pod", false) }} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := do(ctx)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func TestADeadMountIsReplacedAtTheNextPublish(t *testing.T) {
	onEachGateway(t, func(t *testing.T, r *rig) {
		v := published(t, r, "pvc-dead")
		before := len(r.mounts())
		for range 3 {
			r.kill("gateway")
			r.kill("keeper")
			if err := v.read(v.target("pod")); err == nil {
				t.Fatal("a mount works that nobody serves")
			}
			r.start("keeper")
			r.start("gateway")
			r.until("the repair", func(ctx context.Context) error { return v.publish(ctx, "pod", false) })
			if err := v.read(v.target("pod")); err != nil {
				t.Fatal(err)
			}
			if now := len(r.mounts()); now != before {
				t.Fatalf("%d mounts, before %d: %+v", now, before, r.mounts())
			}
		}
		v.finish(t)
		r.nothingLeft()
	})
}

// As abort_after does, or the kernel's own limit of a request: keeper and gateway live on, and the mount stands in the table.
func TestAMountWhoseConnectionWasAbortedIsReplacedAtTheNextPublish(t *testing.T) {
	onEachGateway(t, func(t *testing.T, r *rig) {
		v := published(t, r, "pvc-aborted")
		before := len(r.mounts())
		for _, restarted := range []string{"", "gateway"} {
			aborted, err := orphans.Abort(orphans.Record{Device: r.mounts()[0].Device, MountPoint: v.staging()}, mountinfo.Read)
			if err != nil || !aborted {
				t.Fatal(aborted, err)
			}
			if err := v.read(v.target("pod")); err == nil {
				t.Fatal("a mount works whose connection was aborted")
			}
			if restarted != "" {
				r.kill(restarted)
				r.start(restarted)
			}
			r.until("the next pod", func(ctx context.Context) error { return v.publish(ctx, "second", false) })
			for _, pod := range []string{"pod", "second"} {
				if err := v.read(v.target(pod)); err != nil {
					t.Fatal(pod, err)
				}
			}
			r.until("the end of the second pod", func(ctx context.Context) error { return v.unpublish(ctx, "second") })
			if now := len(r.mounts()); now != before {
				t.Fatalf("%d mounts, before %d: %+v", now, before, r.mounts())
			}
		}
		v.finish(t)
		r.nothingLeft()
	})
}

// finish takes a published volume away.
func (v *volume) finish(t *testing.T) {
	t.Helper()
	for _, do := range []func(context.Context) error{func(ctx context.Context) error { return v.unpublish(ctx, "pod") }, v.unstage, v.remove} {
		v.r.until("the end of "+v.name, do)
	}
}

func TestAnInlineVolumeLivesAndDiesWithItsPod(t *testing.T) {
	onEachGateway(t, func(t *testing.T, r *rig) {
		owner := published(t, r, "pvc-inline")
		inline := &volume{r: r, name: "inline", id: "csi-0123456789abcdef", context: map[string]string{
			attributes.AlluxioPath: owner.context[attributes.AlluxioPath], attributes.Ephemeral: "true",
		}}
		r.until("publish", func(ctx context.Context) error { return inline.publish(ctx, "pod", true) })
		r.until("publish again", func(ctx context.Context) error { return inline.publish(ctx, "pod", true) })
		if err := inline.read(inline.target("pod")); err != nil {
			t.Fatal(err)
		}
		r.kill("driver")
		r.start("driver")
		if err := inline.read(inline.target("pod")); err != nil {
			t.Fatal(err)
		}
		r.until("unpublish", func(ctx context.Context) error { return inline.unpublish(ctx, "pod") })
		owner.finish(t)
		r.nothingLeft()
	})
}

func TestReadersDoNotNoticeThatDriverAndGatewayAreReplaced(t *testing.T) {
	onEachGateway(t, func(t *testing.T, r *rig) {
		v := published(t, r, "pvc-read")
		for range 5 {
			waiting := make(chan error, 1)
			r.kill("driver")
			r.kill("gateway")
			go func() { waiting <- v.read(v.target("pod")) }()
			r.start("gateway")
			r.start("driver")
			if err := <-waiting; err != nil {
				t.Fatal(err)
			}
		}
		v.finish(t)
		r.nothingLeft()
	})
}

func TestAMissingAlluxioPathIsSaidAndLeavesNothing(t *testing.T) {
	onEachGateway(t, func(t *testing.T, r *rig) {
		v := &volume{r: r, name: "static", id: "static", context: map[string]string{attributes.AlluxioPath: basePath + "/none"}}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := v.stage(ctx); status.Code(err) != codes.NotFound {
			t.Fatal(err)
		}
		r.nothingLeft()
	})
}

// A subPath is a bind mount of a folder of the volume, made by kubelet and never made again. It is read all the while.
func TestASubPathOutlivesTheGateway(t *testing.T) {
	onTheGateway(t, func(t *testing.T, r *rig) {
		v := published(t, r, "pvc-sub")
		inside, shown := filepath.Join(v.target("pod"), "sub"), filepath.Join(r.kubelet(), "pods", "pod", "volume-subpaths", "v", "c", "0")
		for _, folder := range []string{inside, shown} {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mount(inside, shown, "", syscall.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		data := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
		if err := os.WriteFile(filepath.Join(shown, "file"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		stop := reading(t, filepath.Join(shown, "file"), data)
		for round := range 2 {
			r.kill("gateway")
			r.start("gateway")
			name := fmt.Sprintf("file-%d", round)
			if err := os.WriteFile(filepath.Join(shown, name), []byte(name), 0o644); err != nil {
				t.Error(err)
			}
			if text, err := os.ReadFile(filepath.Join(shown, name)); err != nil || string(text) != name {
				t.Errorf("%q, %v", text, err)
			}
		}
		if rounds := stop(); rounds == 0 {
			t.Error("nothing was read meanwhile")
		}
		if err := syscall.Unmount(shown, 0); err != nil {
			t.Error(err)
		}
		v.finish(t)
		r.nothingLeft()
	})
}

// reading opens, reads and lists until it is stopped; each answer must be right.
func reading(t *testing.T, path string, want []byte) (stop func() (rounds int)) {
	t.Helper()
	var ending atomic.Bool
	rounds := make(chan int, 1)
	go func() {
		count := 0
		for ; !ending.Load(); count++ {
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("read %d bytes of %d, %v", len(got), len(want), err)
				break
			}
			if _, err := os.ReadDir(filepath.Dir(path)); err != nil {
				t.Error(err)
				break
			}
		}
		rounds <- count
	}()
	return func() int { ending.Store(true); return <-rounds }
}
