// Package taint takes the taint off a node that keeps pods away until the driver can mount for them. Whoever makes nodes
// puts it there; without it a pod that needs no volume of ours may start earlier, and one that needs one waits on the node.
package taint

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Remover removes one taint of one node.
type Remover struct {
	Client     kubernetes.Interface
	Node       string
	DriverName string
	// Key of the taint, whatever its value and effect.
	Key string
	// Ready says whether the driver can mount.
	Ready func(ctx context.Context) bool
	Log   *slog.Logger
	// Every is how long it waits between two tries.
	Every time.Duration
}

// Run tries until the taint is off or the context ends; that the API does not answer ends nothing.
func (r *Remover) Run(ctx context.Context) {
	said := ""
	for {
		done, err := r.try(ctx)
		if done || ctx.Err() != nil {
			return
		}
		if err != nil && err.Error() != said {
			said = err.Error()
			r.Log.Warn("cannot remove the startup taint yet", "node", r.Node, "taint", r.Key, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.Every):
		}
	}
}

// try removes the taint when kubelet knows the driver and the driver can work.
func (r *Remover) try(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	node, err := r.Client.CoreV1().Nodes().Get(ctx, r.Node, meta.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("get node %s: %w", r.Node, err)
	}
	isOurs := func(taint core.Taint) bool { return taint.Key == r.Key }
	if !slices.ContainsFunc(node.Spec.Taints, isOurs) {
		return true, nil
	}
	drivers, err := r.Client.StorageV1().CSINodes().Get(ctx, r.Node, meta.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("get CSINode %s: %w", r.Node, err)
	}
	registered := false
	for _, driver := range drivers.Spec.Drivers {
		registered = registered || driver.Name == r.DriverName
	}
	if !registered || !r.Ready(ctx) {
		return false, nil
	}
	left := slices.DeleteFunc(slices.Clone(node.Spec.Taints), isOurs)
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/spec/taints", "value": node.Spec.Taints}, // somebody else may change them too
		{"op": "replace", "path": "/spec/taints", "value": left},
	})
	if err != nil {
		return false, fmt.Errorf("patch of node %s: %w", r.Node, err)
	}
	if _, err := r.Client.CoreV1().Nodes().Patch(ctx, r.Node, types.JSONPatchType, patch, meta.PatchOptions{}); err != nil {
		return false, fmt.Errorf("patch node %s: %w", r.Node, err)
	}
	r.Log.Info("the driver is ready; removed the startup taint", "node", r.Node, "taint", r.Key)
	return true, nil
}
