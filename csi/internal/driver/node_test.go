package driver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/keeperapi"
)

func newNode(t *testing.T, m *machine) *Node {
	t.Helper()
	return nodeWith(t, m.parts(t))
}

func nodeWith(t *testing.T, parts Parts) *Node {
	t.Helper()
	node, err := NewNode(parts)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

func mustStage(t *testing.T, n *Node) {
	t.Helper()
	if _, err := n.NodeStageVolume(t.Context(), stageRequest()); err != nil {
		t.Fatal(err)
	}
}

func mustPublish(t *testing.T, n *Node) {
	t.Helper()
	if _, err := n.NodePublishVolume(t.Context(), publishRequest()); err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code codes.Code) {
	t.Helper()
	if status.Code(err) != code {
		t.Fatalf("got %v, want %v", err, code)
	}
}

// clean checks that neither the machine nor the state remembers a volume.
func clean(t *testing.T, m *machine, n *Node) {
	t.Helper()
	keys, err := n.store.Keys()
	if len(m.table)+len(m.sessions)+len(m.serving)+len(keys) != 0 || err != nil {
		t.Fatalf("left: mounts %v, sessions %v, serving %v, records %v, %v", m.table, m.sessions, m.serving, keys, err)
	}
}

func TestAVolumesWholeLifeAndEveryStepTwice(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	for range 2 {
		mustStage(t, n)
	}
	for range 2 {
		mustPublish(t, n)
	}
	if len(m.table) != 2 || m.count("keeper mount") == 0 || m.serving["v"].GetAlluxioPath() != "/data" {
		t.Fatal(m.table, m.serving)
	}
	for range 2 {
		if _, err := n.NodeUnpublishVolume(t.Context(), unpublishRequest()); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if _, err := n.NodeUnstageVolume(t.Context(), unstageRequest()); err != nil {
			t.Fatal(err)
		}
	}
	clean(t, m, n)
	if len(m.folders) != 1 || !m.folders[staging] { // kubelet removes this one
		t.Fatal(m.folders)
	}
}

func TestStagingThatFailsLeavesNothing(t *testing.T) {
	cases := []struct {
		step string
		err  error
		code codes.Code
	}{
		{"gateway list", status.Error(codes.Unavailable, "connection refused"), codes.Unavailable},
		{"keeper list", keeperapi.ErrAway, codes.Unavailable},
		{"keeper mount", keeperapi.Errorf(keeperapi.Failed, "open /dev/fuse"), codes.Internal},
		{"keeper mount", keeperapi.Errorf(keeperapi.Exists, "mounted elsewhere"), codes.FailedPrecondition},
		{"make folder", os.ErrPermission, codes.Internal},
		{"attach", status.Error(codes.NotFound, "no such Alluxio path"), codes.NotFound},
		{"attach", status.Error(codes.PermissionDenied, "user nobody may not"), codes.PermissionDenied},
		{"attach", status.Error(codes.Unavailable, "Alluxio does not answer"), codes.Unavailable},
	}
	for _, c := range cases {
		t.Run(c.step+" fails with "+c.err.Error(), func(t *testing.T) {
			m := newMachine()
			n := newNode(t, m)
			m.fail[c.step] = c.err
			_, err := n.NodeStageVolume(t.Context(), stageRequest())
			wantCode(t, err, c.code)
			if !strings.Contains(err.Error(), status.Convert(c.err).Message()) {
				t.Errorf("the reason is lost: %v", err)
			}
			if strings.Count(err.Error(), "rpc error") > 1 {
				t.Errorf("the reason is wrapped in noise: %v", err)
			}
			clean(t, m, n)
			delete(m.fail, c.step)
			mustStage(t, n)
		})
	}
}

func TestRequestsThatMakeNoSenseAreRefused(t *testing.T) {
	stage := func(change func(*csi.NodeStageVolumeRequest)) func(*Node) error {
		return func(n *Node) error {
			request := stageRequest()
			change(request)
			_, err := n.NodeStageVolume(context.Background(), request)
			return err
		}
	}
	cases := map[string]func(*Node) error{
		"no volume id":    stage(func(r *csi.NodeStageVolumeRequest) { r.VolumeId = "" }),
		"no staging path": stage(func(r *csi.NodeStageVolumeRequest) { r.StagingTargetPath = "" }),
		"a staging path outside the kubelet's folder": stage(func(r *csi.NodeStageVolumeRequest) { r.StagingTargetPath = "/etc" }),
		"a staging path beside the kubelet's folder":  stage(func(r *csi.NodeStageVolumeRequest) { r.StagingTargetPath = "/kubelet2/a" }),
		"a staging path that climbs":                  stage(func(r *csi.NodeStageVolumeRequest) { r.StagingTargetPath = "/kubelet/../etc" }),
		"a staging path with a line break":            stage(func(r *csi.NodeStageVolumeRequest) { r.StagingTargetPath = "/kubelet/a\nb" }),
		"a relative staging path":                     stage(func(r *csi.NodeStageVolumeRequest) { r.StagingTargetPath = "kubelet/a" }),
		"no capability":                               stage(func(r *csi.NodeStageVolumeRequest) { r.VolumeCapability = nil }),
		"no access mode":                              stage(func(r *csi.NodeStageVolumeRequest) { r.VolumeCapability = capability(0) }),
		"an access mode of the future":                stage(func(r *csi.NodeStageVolumeRequest) { r.VolumeCapability = capability(99) }),
		"a raw block volume": stage(func(r *csi.NodeStageVolumeRequest) {
			r.VolumeCapability = &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Block{}}
		}),
		"no Alluxio path":                stage(func(r *csi.NodeStageVolumeRequest) { r.VolumeContext = nil }),
		"a mount option that is refused": stage(func(r *csi.NodeStageVolumeRequest) { r.VolumeCapability = capability(5, "suid") }),
		"a secret that is refused":       stage(func(r *csi.NodeStageVolumeRequest) { r.Secrets = map[string]string{"x": "y"} }),
		"a mount group that is no number": stage(func(r *csi.NodeStageVolumeRequest) {
			r.VolumeCapability = capability(5)
			r.VolumeCapability.GetMount().VolumeMountGroup = "wheel"
		}),
		"no volume id to unstage": func(n *Node) error {
			_, err := n.NodeUnstageVolume(context.Background(), &csi.NodeUnstageVolumeRequest{StagingTargetPath: staging})
			return err
		},
		"no target to unpublish": func(n *Node) error {
			_, err := n.NodeUnpublishVolume(context.Background(), &csi.NodeUnpublishVolumeRequest{VolumeId: "v"})
			return err
		},
		"no volume path for stats": func(n *Node) error {
			_, err := n.NodeGetVolumeStats(context.Background(), &csi.NodeGetVolumeStatsRequest{VolumeId: "v"})
			return err
		},
	}
	for name, call := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMachine()
			n := newNode(t, m)
			wantCode(t, call(n), codes.InvalidArgument)
			clean(t, m, n)
		})
	}
}

func TestAccessModesAndReadOnly(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	request := stageRequest()
	request.VolumeCapability = capability(csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY)
	if _, err := n.NodeStageVolume(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if !m.serving["v"].GetReadOnly() || !m.sessions["v"].ReadOnly {
		t.Fatal("ReadOnlyMany may be written")
	}
	publish := publishRequest()
	publish.VolumeCapability = request.VolumeCapability
	if _, err := n.NodePublishVolume(t.Context(), publish); err != nil {
		t.Fatal(err)
	}
	if mount, _ := m.table.At(target); !mount.ReadOnly() {
		t.Fatal("the target may be written")
	}
}

func TestAReadOnlyPodDoesNotMakeTheOthersReadOnly(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	mustStage(t, n)
	mustPublish(t, n)
	reader := publishRequest()
	reader.TargetPath, reader.Readonly = second, true
	if _, err := n.NodePublishVolume(t.Context(), reader); err != nil {
		t.Fatal(err)
	}
	first, _ := m.table.At(target)
	other, _ := m.table.At(second)
	if first.ReadOnly() || !other.ReadOnly() {
		t.Fatal(m.table)
	}
	reader.Readonly = false
	_, err := n.NodePublishVolume(t.Context(), reader)
	wantCode(t, err, codes.AlreadyExists)
}

func TestAVolumeForOnePodIsForOnePod(t *testing.T) {
	n := newNode(t, newMachine())
	stage, publish := stageRequest(), publishRequest()
	stage.VolumeCapability = capability(csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER)
	publish.VolumeCapability = stage.VolumeCapability
	if _, err := n.NodeStageVolume(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := n.NodePublishVolume(t.Context(), publish); err != nil {
			t.Fatal(err)
		}
	}
	publish.TargetPath = second
	_, err := n.NodePublishVolume(t.Context(), publish)
	wantCode(t, err, codes.FailedPrecondition)
}

func TestThingsInTheWrongOrder(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	_, err := n.NodePublishVolume(t.Context(), publishRequest())
	wantCode(t, err, codes.FailedPrecondition)
	mustStage(t, n)
	other := stageRequest()
	other.VolumeContext = map[string]string{attributes.AlluxioPath: "/other"}
	_, err = n.NodeStageVolume(t.Context(), other)
	wantCode(t, err, codes.AlreadyExists)
	other = stageRequest()
	other.StagingTargetPath += "2"
	_, err = n.NodeStageVolume(t.Context(), other)
	wantCode(t, err, codes.FailedPrecondition)
	mustPublish(t, n)
	_, err = n.NodeUnstageVolume(t.Context(), unstageRequest())
	wantCode(t, err, codes.FailedPrecondition)
}

func TestSecretsReachTheGatewayAndNoFile(t *testing.T) {
	m := newMachine()
	parts := m.parts(t)
	n := nodeWith(t, parts)
	request := stageRequest()
	request.Secrets = map[string]string{attributes.SecretUser: "alice-the-secret"}
	if _, err := n.NodeStageVolume(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if m.serving["v"].GetCluster().GetUser() != "alice-the-secret" {
		t.Fatal(m.serving["v"])
	}
	text, err := os.ReadFile(filepath.Join(parts.StateDir, "volumes", "v.json"))
	if err != nil || strings.Contains(string(text), "alice") {
		t.Fatal(string(text), err)
	}
	delete(m.serving, "v") // the gateway forgot; kubelet brings the secret again
	publish := publishRequest()
	publish.Secrets = request.Secrets
	if _, err := n.NodePublishVolume(t.Context(), publish); err != nil {
		t.Fatal(err)
	}
	if m.serving["v"].GetCluster().GetUser() != "alice-the-secret" {
		t.Fatal(m.serving["v"])
	}
}

func TestAVolumeIsNeverServedAsAnotherUserThanThatOfItsSecret(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	stage, publish := stageRequest(), publishRequest()
	stage.Secrets = map[string]string{attributes.SecretUser: "alice"}
	if _, err := n.NodeStageVolume(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	publish.VolumeCapability = ofGroup("2000") // the session would have to be made anew, and only the staging had the secret
	_, err := n.NodePublishVolume(t.Context(), publish)
	wantCode(t, err, codes.FailedPrecondition)
	if !strings.Contains(err.Error(), "nodePublishSecretRef") || m.serving["v"].GetCluster().GetUser() != "alice" {
		t.Fatal(err, m.serving["v"])
	}
	publish.VolumeCapability = shared
	if _, err := n.NodePublishVolume(t.Context(), publish); err != nil {
		t.Fatal(err)
	}
	delete(m.serving, "v")
	_, err = n.NodePublishVolume(t.Context(), publish)
	wantCode(t, err, codes.Unavailable)
	if m.serving["v"] != nil || len(m.sessions) != 1 { // a gateway that has the session's record may still come
		t.Fatal(m.serving["v"], m.sessions)
	}
	publish.Secrets, publish.VolumeCapability = stage.Secrets, ofGroup("2000")
	if _, err := n.NodePublishVolume(t.Context(), publish); err != nil || m.serving["v"].GetCluster().GetUser() != "alice" {
		t.Fatal(err, m.serving["v"])
	}
}

// The gateway was killed between the staging and the first publish, which brings no secret; its successor has the session's record.
func TestASessionThatTheGatewayHasYetToTakeOverWaitsForIt(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	stage := stageRequest()
	stage.Secrets = map[string]string{attributes.SecretUser: "alice"}
	if _, err := n.NodeStageVolume(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	served := m.serving["v"]
	delete(m.serving, "v")
	_, err := n.NodePublishVolume(t.Context(), publishRequest())
	wantCode(t, err, codes.Unavailable)
	if len(m.sessions) != 1 || m.count("keeper unmount by force") > 0 {
		t.Fatal(m.sessions, m.calls)
	}
	m.serving["v"] = served
	mustPublish(t, n)
}

func TestASessionThatIsLostIsNotMadeAnewWithoutItsSecret(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	stage := stageRequest()
	stage.Secrets = map[string]string{attributes.SecretUser: "alice"}
	if _, err := n.NodeStageVolume(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	delete(m.serving, "v")
	delete(m.sessions, "v")
	_, err := n.NodePublishVolume(t.Context(), publishRequest())
	wantCode(t, err, codes.FailedPrecondition)
	if len(m.sessions) != 0 || m.count("keeper mount") != 1 {
		t.Fatal(m.sessions, m.calls)
	}
}

// It holds no lock, so a staging may be saving the record of this boot in its place.
func TestStatsRemoveNoRecordOfAnEarlierBoot(t *testing.T) {
	m := newMachine()
	parts := m.parts(t)
	mustStage(t, nodeWith(t, parts))
	m.boot = "boot-2"
	n := nodeWith(t, parts)
	_, err := n.NodeGetVolumeStats(t.Context(), &csi.NodeGetVolumeStatsRequest{VolumeId: "v", VolumePath: staging})
	wantCode(t, err, codes.NotFound)
	if keys, err := n.store.Keys(); err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	mustReconcile(t, n)
	if keys, err := n.store.Keys(); err != nil || len(keys) != 0 {
		t.Fatal(keys, err)
	}
}

func TestASecondOperationOnAVolumeIsTurnedAway(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	m.hang["attach"] = true
	ctx, cancel := context.WithCancel(t.Context())
	var first sync.WaitGroup
	first.Go(func() { _, _ = n.NodeStageVolume(ctx, stageRequest()) })
	for deadline := time.Now().Add(time.Minute); m.count("attach") == 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the gateway was not asked")
		}
	}
	_, err := n.NodeStageVolume(t.Context(), stageRequest())
	wantCode(t, err, codes.Aborted)
	_, err = n.NodeUnpublishVolume(t.Context(), unpublishRequest())
	wantCode(t, err, codes.Aborted)
	cancel()
	first.Wait()
	m.hang["attach"] = false
	mustStage(t, n)
}

func TestAGatewayThatDoesNotLetGoIsOverruledInTheEnd(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	mustStage(t, n)
	m.fail["detach"] = status.Error(codes.Unavailable, "publishing spooled writes")
	_, err := n.NodeUnstageVolume(t.Context(), unstageRequest())
	wantCode(t, err, codes.Unavailable)
	if len(m.sessions) != 1 {
		t.Fatal("unmounted although writes are not published")
	}
	m.mu.Lock()
	m.now = m.now.Add(2 * time.Minute)
	m.mu.Unlock()
	if _, err := n.NodeUnstageVolume(t.Context(), unstageRequest()); err != nil {
		t.Fatal(err)
	}
	if m.count("keeper unmount by force") != 1 || len(m.sessions) != 0 {
		t.Fatal(m.calls)
	}
}

func TestAFailedUnstageIsForgottenWhenTheVolumeIsInUseAgain(t *testing.T) {
	for what, use := range map[string]func(*testing.T, *Node){"staged again": mustStage, "published again": mustPublish} {
		t.Run(what, func(t *testing.T) {
			m := newMachine()
			n := newNode(t, m)
			mustStage(t, n)
			m.fail["detach"] = status.Error(codes.Unavailable, "publishing spooled writes")
			_, err := n.NodeUnstageVolume(t.Context(), unstageRequest())
			wantCode(t, err, codes.Unavailable)
			use(t, n)
			m.now = m.now.Add(24 * time.Hour)
			if _, err := n.NodeUnpublishVolume(t.Context(), unpublishRequest()); err != nil {
				t.Fatal(err)
			}
			_, err = n.NodeUnstageVolume(t.Context(), unstageRequest())
			wantCode(t, err, codes.Unavailable)
			if m.count("keeper unmount by force") > 0 {
				t.Fatal("forced at the first failure")
			}
		})
	}
}

func TestAnUnpublishAsksNobody(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	mustStage(t, n)
	mustPublish(t, n)
	m.calls = nil
	if _, err := n.NodeUnpublishVolume(t.Context(), unpublishRequest()); err != nil {
		t.Fatal(err)
	}
	for _, call := range m.calls {
		if strings.Contains(call, "keeper") || strings.Contains(call, "gateway") || call == "detach" {
			t.Fatal(m.calls)
		}
	}
}

func TestInlineVolumesStayBelowTheirRoot(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	request := publishRequest()
	request.StagingTargetPath = ""
	request.VolumeContext = map[string]string{attributes.AlluxioPath: "/database", attributes.Ephemeral: "true"}
	_, err := n.NodePublishVolume(t.Context(), request)
	wantCode(t, err, codes.PermissionDenied)
	request.VolumeContext[attributes.AlluxioPath] = "/data/set"
	request.Secrets = map[string]string{attributes.SecretUser: "root"}
	_, err = n.NodePublishVolume(t.Context(), request)
	wantCode(t, err, codes.PermissionDenied)
	request.Secrets = nil
	clean(t, m, n)
	for range 2 {
		if _, err := n.NodePublishVolume(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	if m.sessions["v"].Target != target {
		t.Fatal(m.sessions)
	}
	if err := n.store.Remove("v"); err != nil { // even without a record the session is found and ended
		t.Fatal(err)
	}
	if _, err := n.NodeUnpublishVolume(t.Context(), unpublishRequest()); err != nil {
		t.Fatal(err)
	}
	clean(t, m, n)
}

func TestForeignMountsAreLeftAlone(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	mustStage(t, n)
	m.mount("8:1", target, "ext4", false)
	_, err := n.NodePublishVolume(t.Context(), publishRequest())
	wantCode(t, err, codes.FailedPrecondition)
	m.fail["remove folder"] = errors.New("device or resource busy")
	_, err = n.NodeUnpublishVolume(t.Context(), unpublishRequest())
	wantCode(t, err, codes.Internal)
	if mount, _ := m.table.At(target); mount.FSType != "ext4" {
		t.Fatal(m.table)
	}
}

func TestNodeInfo(t *testing.T) {
	m := newMachine()
	parts := m.parts(t)
	parts.MaxVolumes = 7
	info, err := nodeWith(t, parts).NodeGetInfo(t.Context(), nil)
	if err != nil || info.GetNodeId() != "node-1" || info.GetMaxVolumesPerNode() != 7 || info.GetAccessibleTopology() != nil {
		t.Fatal(info, err)
	}
	parts.Topology = map[string]string{"zone": "a"}
	if info, _ := nodeWith(t, parts).NodeGetInfo(t.Context(), nil); info.GetAccessibleTopology().GetSegments()["zone"] != "a" {
		t.Fatal(info)
	}
}

func TestProbeTellsTheTruth(t *testing.T) {
	for _, away := range []string{"", "gateway info", "keeper info"} {
		m := newMachine()
		if away != "" {
			m.fail[away] = errors.New("away")
		}
		answer, err := (&Identity{Parts: m.parts(t), Node: true}).Probe(t.Context(), nil)
		if err != nil || answer.GetReady().GetValue() != (away == "") {
			t.Errorf("%q away: %v, %v", away, answer, err)
		}
	}
}
