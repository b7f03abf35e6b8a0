package provision

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// patience is far more than any step takes on a loaded machine.
const patience = 2 * time.Minute

func until(t *testing.T, what string, ask func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ask(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// countingController makes volumes, and remembers for which names it was asked.
type countingController struct {
	csi.UnimplementedControllerServer
	mu    sync.Mutex
	names []string // guarded by mu
	err   error
}

func (c *countingController) CreateVolume(_ context.Context, request *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names = append(c.names, request.GetName())
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: "id-" + request.GetName()}}, c.err
}

func (c *countingController) asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.names)
}

const testDriver = "test.csi.posixgateway.io"

func newAPI() *fake.Clientset {
	return fake.NewClientset(&storage.StorageClass{ObjectMeta: meta.ObjectMeta{Name: "class"}, Provisioner: testDriver})
}

func claim(t *testing.T, api *fake.Clientset, name string) {
	t.Helper()
	class := "class"
	_, err := api.CoreV1().PersistentVolumeClaims("team").Create(t.Context(), &core.PersistentVolumeClaim{
		ObjectMeta: meta.ObjectMeta{
			Name: name, Namespace: "team", UID: types.UID("uid-of-" + name), Annotations: map[string]string{"volume.kubernetes.io/storage-provisioner": testDriver},
		},
		Spec: core.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []core.PersistentVolumeAccessMode{core.ReadWriteMany},
			Resources: core.VolumeResourceRequirements{Requests: core.ResourceList{core.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, meta.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func volumes(t *testing.T, api *fake.Clientset) int {
	t.Helper()
	list, err := api.CoreV1().PersistentVolumes().List(t.Context(), meta.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

// candidate is one controller that runs for the lease.
type candidate struct {
	working, stopped chan struct{}
	ended            chan error
	cancel           context.CancelFunc
}

func newCandidate(t *testing.T, api *fake.Clientset) *candidate {
	ctx, cancel := context.WithCancel(t.Context())
	c := &candidate{working: make(chan struct{}), stopped: make(chan struct{}), ended: make(chan error, 1), cancel: cancel}
	t.Cleanup(cancel)
	go func() {
		c.ended <- lead(ctx, api, meta.ObjectMeta{Namespace: "system", Name: testDriver}, usualTerms, slog.New(slog.DiscardHandler), func(ctx context.Context) {
			close(c.working)
			<-ctx.Done()
			close(c.stopped)
		})
	}()
	return c
}

func await[T any](t *testing.T, what string, done <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-done:
	case <-time.After(patience):
		t.Fatalf("waited %v for %s", patience, what)
	}
	return value
}

// The elections below run in virtual time.

func TestALeaderThatEndsIsFollowedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newAPI()
		first := newCandidate(t, api)
		await(t, "the first to lead", first.working)
		second := newCandidate(t, api)
		select {
		case <-second.working:
			t.Fatal("two lead at the same time")
		case <-time.After(10 * usualTerms.lease):
		}
		first.cancel()
		if err := await(t, "the end of the first", first.ended); err != nil {
			t.Error(err)
		}
		ended := time.Now()
		await(t, "the second to lead", second.working)
		if took := time.Since(ended); took >= usualTerms.lease/2 {
			t.Errorf("the second leads %v after the end of the first", took)
		}
	})
}

// A leader whose API server does not answer any more, as one that hangs or was cut off, stops before another one starts.
func TestALeaderThatIsCutOffStopsBeforeTheNextOneStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newAPI()
		cutOff := &fake.Clientset{} // the same API server, seen over a connection that breaks
		var broken atomic.Bool
		cutOff.AddReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
			if broken.Load() {
				return true, nil, errors.New("connection refused")
			}
			return clienttesting.ObjectReaction(api.Tracker())(action)
		})
		first := newCandidate(t, cutOff)
		await(t, "the first to lead", first.working)
		second := newCandidate(t, api)
		broken.Store(true)
		await(t, "the second to lead", second.working)
		select {
		case <-first.stopped:
		default:
			t.Error("the first still worked when the second began")
		}
		if err := await(t, "the end of the first", first.ended); err == nil || !strings.Contains(err.Error(), "lost") {
			t.Error("the first says:", err)
		}
	})
}

func TestAClaimIsProvisionedByTheLeaderAlone(t *testing.T) {
	api := newAPI()
	var made [2]countingController
	var ended sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for i := range made {
		provisioner := &Provisioner{DriverName: testDriver, Controller: &made[i], Client: api}
		ended.Go(func() {
			if err := provisioner.Run(ctx, Config{LeaderElectionNamespace: "system", Threads: 2}, slog.New(slog.DiscardHandler)); err != nil {
				t.Error(err)
			}
		})
	}
	claim(t, api, "one")
	claim(t, api, "two")
	until(t, "two volumes", func() bool { return volumes(t, api) == 2 })
	if first, second := made[0].asked(), made[1].asked(); first != 0 && second != 0 {
		t.Errorf("both made volumes: %d and %d", first, second)
	}
	cancel()
	ended.Wait()
}

func TestWhyAClaimWaitsIsAmongItsEvents(t *testing.T) {
	api := newAPI()
	provisioner := &Provisioner{
		DriverName: testDriver, Client: api,
		Controller: &countingController{err: status.Error(codes.PermissionDenied, "Alluxio refuses /kubernetes to user 'alice'")},
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- provisioner.Run(ctx, Config{Threads: 1}, slog.New(slog.DiscardHandler)) }()
	claim(t, api, "one")
	until(t, "an event of the claim", func() bool {
		events, err := api.CoreV1().Events("team").List(t.Context(), meta.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range events.Items {
			if event.InvolvedObject.Name == "one" && event.Reason == "ProvisioningFailed" && strings.Contains(event.Message, "refuses /kubernetes to user 'alice'") {
				return true
			}
		}
		return false
	})
	cancel()
	if err := await(t, "the end", ended); err != nil {
		t.Error(err)
	}
}
