// Package podlabels writes onto each node pod whose volumes its gateway serves, so that kubectl finds the gateway of a claim:
// kubectl get pods -l claim.posixgateway.io/NAMESPACE.CLAIM. The controller does it, because who may write onto one pod of a
// namespace may write onto all of them, and nodes are to have no rights.
package podlabels

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"

	"posixgateway.io/csi/internal/driver"
)

const (
	// Prefix of the label of a claim; NAMESPACE.CLAIM follows. Its value is the volume's name.
	Prefix = "claim.posixgateway.io/"
	// Annotation has all claims, those too whose names are too long for a label.
	Annotation = "posixgateway.io/claims"
	// Port is the name of the port at which a node's driver has Page.
	Port = "csi-http"
	// Page lists the sessions of a node as a JSON array.
	Page = "/volumes"
)

// Labeler keeps the labels of the node pods.
type Labeler struct {
	Client     kubernetes.Interface
	DriverName string
	Namespace  string
	// Selector of the node pods in the namespace.
	Selector string
	// Sessions of a pod's node; Ask, but for tests.
	Sessions func(ctx context.Context, pod *core.Pod) ([]string, error)
	Log      *slog.Logger
	// Every is how long a change of volumes may be unseen.
	Every time.Duration
}

// Run labels until the context ends; that somebody does not answer ends nothing.
func (l *Labeler) Run(ctx context.Context) {
	said := ""
	for {
		now := ""
		if err := l.round(ctx); err != nil && ctx.Err() == nil {
			now = err.Error()
		}
		if now != "" && now != said {
			l.Log.Warn("cannot update the labels of node pods yet", "error", now)
		}
		said = now
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.Every):
		}
	}
}

// round looks at every node pod once, and gives the first of what went wrong.
func (l *Labeler) round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	pods, err := l.Client.CoreV1().Pods(l.Namespace).List(ctx, meta.ListOptions{LabelSelector: l.Selector})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	// Version 0 is what the API server has in memory, which is new enough.
	volumes, err := l.Client.CoreV1().PersistentVolumes().List(ctx, meta.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return fmt.Errorf("list volumes: %w", err)
	}
	bySession := map[string]*core.PersistentVolume{}
	for i := range volumes.Items {
		volume := &volumes.Items[i]
		if source := volume.Spec.CSI; source != nil && source.Driver == l.DriverName && volume.Spec.ClaimRef != nil {
			bySession[driver.SessionID(source.VolumeHandle)] = volume
		}
	}
	var first error
	for i := range pods.Items {
		if err := l.label(ctx, &pods.Items[i], bySession); err != nil {
			first = cmp.Or(first, fmt.Errorf("pod %s: %w", pods.Items[i].Name, err))
		}
	}
	return first
}

func (l *Labeler) label(ctx context.Context, pod *core.Pod, bySession map[string]*core.PersistentVolume) error {
	if pod.Status.Phase != core.PodRunning || pod.DeletionTimestamp != nil {
		return nil
	}
	sessions, err := l.Sessions(ctx, pod)
	if err != nil {
		return err
	}
	labels, claims := map[string]any{}, []string{}
	for _, session := range sessions {
		volume := bySession[session]
		if volume == nil { // an inline volume's end is its pod's
			continue
		}
		claim := volume.Spec.ClaimRef
		claims = append(claims, claim.Namespace+"/"+claim.Name)
		key, value := Prefix+claim.Namespace+"."+claim.Name, volume.Name
		if len(validation.IsValidLabelValue(value)) > 0 {
			value = ""
		}
		if len(validation.IsQualifiedName(key)) == 0 {
			labels[key] = value
		}
	}
	slices.Sort(claims)
	return l.patch(ctx, pod, labels, strings.Join(slices.Compact(claims), ","))
}

// patch changes what is different; claims that are gone lose their label.
func (l *Labeler) patch(ctx context.Context, pod *core.Pod, labels map[string]any, claims string) error {
	for key, value := range pod.Labels {
		switch wanted, ok := labels[key]; {
		case !strings.HasPrefix(key, Prefix):
		case !ok:
			labels[key] = nil
		case wanted == value:
			delete(labels, key)
		}
	}
	if len(labels) == 0 && pod.Annotations[Annotation] == claims {
		return nil
	}
	change, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels, "annotations": map[string]string{Annotation: claims}}})
	if err != nil {
		return err
	}
	_, err = l.Client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, change, meta.PatchOptions{})
	if err == nil {
		l.Log.Debug("labelled", "pod", pod.Name, "changed", slices.Sorted(maps.Keys(labels)))
	}
	return err
}

// Ask gets the sessions from the driver in the pod.
func Ask(ctx context.Context, pod *core.Pod) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == Port {
				return get(ctx, "http://"+net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(port.ContainerPort)))+Page)
			}
		}
	}
	return nil, fmt.Errorf("it has no port %s", Port)
}

func get(ctx context.Context, address string) (sessions []string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", address, answer.Status)
	}
	return sessions, json.NewDecoder(http.MaxBytesReader(nil, answer.Body, 4<<20)).Decode(&sessions)
}
