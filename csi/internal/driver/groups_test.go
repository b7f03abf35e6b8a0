package driver

import (
	"fmt"
	"maps"
	"strings"
	"syscall"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/controlpb"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/mounts"
)

func TestTheGroupOfThePodIsShownForAllFiles(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	request := stageRequest()
	request.VolumeCapability = capability(csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER)
	request.VolumeCapability.GetMount().VolumeMountGroup = "2000"
	if _, err := n.NodeStageVolume(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if m.serving["v"].GetOptions()["gid"] != "2000" {
		t.Fatal(m.serving["v"])
	}
	mustStage(t, n) // kubelet stages again for a pod of another group
}

func ofGroup(group string) *csi.VolumeCapability {
	made := capability(csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER)
	made.GetMount().VolumeMountGroup = group
	return made
}

// publishWith asks for a target as a pod with this fsGroup does.
func publishWith(t *testing.T, n *Node, target, group string) error {
	t.Helper()
	request := publishRequest()
	request.TargetPath, request.VolumeCapability = target, ofGroup(group)
	_, err := n.NodePublishVolume(t.Context(), request)
	return err
}

func unpublishAll(t *testing.T, n *Node, targets ...string) {
	t.Helper()
	for _, at := range targets {
		if _, err := n.NodeUnpublishVolume(t.Context(), &csi.NodeUnpublishVolumeRequest{VolumeId: "v", TargetPath: at}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAPodIsNeverShownTheGroupOfAnother(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	m.fail["id map"] = fmt.Errorf("map the owners: %w: %w", mounts.ErrNoIDMap, syscall.EINVAL)
	stage := stageRequest()
	stage.VolumeCapability = ofGroup("1000680000")
	if _, err := n.NodeStageVolume(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{target, second, target} {
		if err := publishWith(t, n, at, "1000680000"); err != nil {
			t.Fatal(err)
		}
	}
	if err := publishWith(t, n, third, ""); err != nil { // it asks for none
		t.Fatal(err)
	}
	for range 2 { // as the kubelet does
		err := publishWith(t, n, fourth, "2000")
		wantCode(t, err, codes.FailedPrecondition)
		if !strings.Contains(err.Error(), "1000680000") || !strings.Contains(err.Error(), "fsGroup is 2000") || m.folders[fourth] {
			t.Fatal(err, m.folders)
		}
	}
	unpublishAll(t, n, target, second, third)
	m.fail["attach"] = status.Error(codes.Unavailable, "Alluxio does not answer")
	wantCode(t, publishWith(t, n, fourth, "2000"), codes.Unavailable)
	delete(m.fail, "attach")
	if err := publishWith(t, n, fourth, "2000"); err != nil { // nobody else uses it any more, and the kubelet does not stage it again
		t.Fatal(err)
	}
	if options := m.serving["v"].GetOptions(); options["gid"] != "2000" || options["group_access"] != "write" || len(m.table) != 2 {
		t.Fatal(options, m.table)
	}
}

func TestPodsOfSeveralGroupsAreEachShownTheirOwn(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	stage := stageRequest()
	stage.VolumeCapability = ofGroup("1000680000")
	if _, err := n.NodeStageVolume(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	// In this order: the first of them is of the session's own group.
	pods := []struct{ at, group string }{{target, "1000680000"}, {second, "2000"}, {third, "3000"}}
	for range 2 { // the kubelet repeats it
		for _, pod := range pods {
			if err := publishWith(t, n, pod.at, pod.group); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := map[string]string{second: "1000680000 as 2000", third: "1000680000 as 3000"}
	if !maps.Equal(m.shown, want) || m.count("bind") != 3 || m.count("attach") != 1 || m.serving["v"].GetOptions()["id_map"] != "on" {
		t.Fatal(m.shown, m.calls, m.serving["v"])
	}
	// The session is lost, and made anew: each target shows the same group again.
	m.table, m.sessions, m.serving, m.shown = nil, map[string]keeperapi.Session{}, map[string]*controlpb.AttachRequest{}, map[string]string{}
	if err := publishWith(t, n, second, "2000"); err != nil || !maps.Equal(m.shown, want) || len(m.table) != 4 {
		t.Fatal(err, m.shown, m.table)
	}
	// A target without its map, as a driver that was killed between two versions could leave it, gets it.
	for i := range m.table {
		if m.table[i].MountPoint == third {
			m.table[i].Options = "rw"
		}
	}
	if err := publishWith(t, n, third, "3000"); err != nil {
		t.Fatal(err)
	}
	if mount, _ := m.table.At(third); !mount.IDMapped() {
		t.Fatal(m.table)
	}
	unpublishAll(t, n, target, second, third)
	if err := publishWith(t, n, target, "3000"); err != nil || m.serving["v"].GetOptions()["gid"] != "3000" {
		t.Fatal(err, m.serving["v"])
	}
}

// Files shown with the groups that they have in Alluxio cannot be shown with one by a map.
func TestAGroupBesidePodsWithoutOneIsRefused(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	mustStage(t, n)
	mustPublish(t, n)
	wantCode(t, publishWith(t, n, second, "2000"), codes.FailedPrecondition)
	if m.folders[second] || len(m.shown) != 0 {
		t.Fatal(m.folders, m.shown)
	}
}

func TestAVolumeStagedAgainForAnotherPodKeepsItsGroup(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	stage := stageRequest()
	for _, group := range []string{"1000", "2000"} {
		m.serving = map[string]*controlpb.AttachRequest{} // the gateway forgot
		stage.VolumeCapability = ofGroup(group)
		if _, err := n.NodeStageVolume(t.Context(), stage); err != nil {
			t.Fatal(err)
		}
		if shown := m.serving["v"].GetOptions()["gid"]; shown != "1000" {
			t.Fatal(shown)
		}
	}
}

func TestTheGroupOfAReadOnlyVolumeMayRead(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	stage := stageRequest()
	stage.VolumeCapability, stage.VolumeContext["readOnly"] = ofGroup("5"), "true"
	if _, err := n.NodeStageVolume(t.Context(), stage); err != nil || m.serving["v"].GetOptions()["group_access"] != "read" {
		t.Fatal(m.serving, err)
	}
}

func TestAGroupThatTheVolumeNamesIsEachPods(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	stage, publish := stageRequest(), publishRequest()
	stage.VolumeContext["gid"], publish.VolumeContext["gid"] = "7", "7"
	stage.VolumeCapability, publish.VolumeCapability = ofGroup("5"), ofGroup("6")
	if _, err := n.NodeStageVolume(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	if _, err := n.NodePublishVolume(t.Context(), publish); err != nil || m.serving["v"].GetOptions()["gid"] != "7" {
		t.Fatal(m.serving, err)
	}
}
