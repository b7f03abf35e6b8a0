package podlabels

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"posixgateway.io/csi/internal/driver"
)

const csiDriver = "posix.csi.posixgateway.io"

func volume(name, handle, driverName, namespace, claim string) *core.PersistentVolume {
	return &core.PersistentVolume{ObjectMeta: meta.ObjectMeta{Name: name}, Spec: core.PersistentVolumeSpec{
		ClaimRef:               &core.ObjectReference{Namespace: namespace, Name: claim},
		PersistentVolumeSource: core.PersistentVolumeSource{CSI: &core.CSIPersistentVolumeSource{Driver: driverName, VolumeHandle: handle}},
	}}
}

func nodePod(name string, phase core.PodPhase) *core.Pod {
	return &core.Pod{
		ObjectMeta: meta.ObjectMeta{Name: name, Namespace: "storage", Labels: map[string]string{"component": "node", Prefix + "team.gone": "pv-0"}},
		Status:     core.PodStatus{Phase: phase},
	}
}

func TestANodePodHasALabelForEachClaimThatItsGatewayServes(t *testing.T) {
	handle, long := "alluxio:///base/a?base=%2Fbase", strings.Repeat("long-", 20)+"name"
	client := fake.NewClientset(nodePod("n1", core.PodRunning), nodePod("n2", core.PodPending), nodePod("n3", core.PodRunning),
		volume("pv-1", handle, csiDriver, "team", "data"), volume("pv-2", "static", csiDriver, "team", long),
		volume("pv-3", "other", "other.driver", "team", "foreign"))
	served := []string{driver.SessionID(handle), "static", "other", "csi-inline"}
	labeler := &Labeler{
		Client: client, DriverName: csiDriver, Namespace: "storage", Selector: "component=node", Log: slog.New(slog.DiscardHandler),
		Sessions: func(_ context.Context, pod *core.Pod) ([]string, error) {
			if pod.Name == "n3" {
				return nil, errors.New("does not answer")
			}
			return served, nil
		},
	}
	expect := func(name string, claims string, labels ...string) {
		t.Helper()
		pod, err := client.CoreV1().Pods("storage").Get(t.Context(), name, meta.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		delete(pod.Labels, "component")
		if keys := slices.Sorted(maps.Keys(pod.Labels)); !slices.Equal(keys, labels) || pod.Annotations[Annotation] != claims {
			t.Fatalf("%s has %v and %q", name, keys, pod.Annotations[Annotation])
		}
	}
	for range 2 {
		if err := labeler.round(t.Context()); err == nil || !strings.Contains(err.Error(), "n3: does not answer") {
			t.Fatal(err)
		}
		expect("n1", "team/data,team/"+long, Prefix+"team.data")
		expect("n2", "", Prefix+"team.gone")
		expect("n3", "", Prefix+"team.gone")
	}
	patches := 0
	for _, action := range client.Actions() {
		if action.GetVerb() == "patch" {
			patches++
		}
	}
	if patches != 1 {
		t.Fatalf("%d patches for one change", patches)
	}
	served = nil
	_ = labeler.round(t.Context())
	expect("n1", "")
}

func TestTheDriverOfAPodIsAsked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != Page {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(`["a","b"]`))
	}))
	defer server.Close()
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(address.Port())
	if err != nil {
		t.Fatal(err)
	}
	pod := &core.Pod{Status: core.PodStatus{PodIP: address.Hostname()}}
	if _, err := Ask(t.Context(), pod); err == nil {
		t.Fatal("a pod without the port is asked")
	}
	pod.Spec.Containers = []core.Container{{Ports: []core.ContainerPort{{Name: Port, ContainerPort: int32(port)}}}}
	if sessions, err := Ask(t.Context(), pod); err != nil || !slices.Equal(sessions, []string{"a", "b"}) {
		t.Fatal(sessions, err)
	}
}
