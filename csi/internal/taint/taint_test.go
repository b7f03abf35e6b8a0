package taint

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

const (
	key    = "posix.csi.posixgateway.io/agent-not-ready"
	driver = "posix.csi.posixgateway.io"
)

func TestTheTaintGoesWhenTheDriverIsKnownAndReadyAndOthersStay(t *testing.T) {
	client := fake.NewClientset(
		&core.Node{ObjectMeta: meta.ObjectMeta{Name: "n"}, Spec: core.NodeSpec{Taints: []core.Taint{
			{Key: "other", Effect: core.TaintEffectNoSchedule}, {Key: key, Effect: core.TaintEffectNoExecute},
		}}},
		&storage.CSINode{ObjectMeta: meta.ObjectMeta{Name: "n"}},
	)
	var ready atomic.Bool
	remover := &Remover{
		Client: client, Node: "n", DriverName: driver, Key: key, Ready: func(context.Context) bool { return ready.Load() },
		Log: slog.New(slog.DiscardHandler), Every: time.Millisecond,
	}
	taints := func() []core.Taint {
		node, err := client.CoreV1().Nodes().Get(t.Context(), "n", meta.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return node.Spec.Taints
	}
	stays := func(why string) {
		t.Helper()
		if done, err := remover.try(t.Context()); done || err != nil || len(taints()) != 2 {
			t.Fatalf("%s: done=%t, %v, %v", why, done, err, taints())
		}
	}
	ready.Store(true)
	stays("kubelet does not know the driver")
	registered := &storage.CSINode{ObjectMeta: meta.ObjectMeta{Name: "n"}, Spec: storage.CSINodeSpec{Drivers: []storage.CSINodeDriver{{Name: driver, NodeID: "n"}}}}
	if _, err := client.StorageV1().CSINodes().Update(t.Context(), registered, meta.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	ready.Store(false)
	stays("the driver cannot work yet")
	ready.Store(true)
	remover.Run(t.Context())
	if left := taints(); len(left) != 1 || left[0].Key != "other" {
		t.Fatal(left)
	}
	remover.Run(t.Context()) // and when there is none
}

func TestANodeThatCannotBeReadIsToldOnceAndTriedAgain(t *testing.T) {
	var text bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client, tries := fake.NewClientset(), 0
	client.PrependReactor("get", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		if tries++; tries == 5 {
			cancel()
		}
		return false, nil, nil
	})
	remover := &Remover{
		Client: client, Node: "n", DriverName: driver, Key: key, Ready: func(context.Context) bool { return true },
		Log: slog.New(slog.NewTextHandler(&text, nil)), Every: time.Millisecond,
	}
	remover.Run(ctx)
	if count := strings.Count(text.String(), "cannot remove the startup taint"); count != 1 {
		t.Fatalf("told %d times: %s", count, text.String())
	}
}
