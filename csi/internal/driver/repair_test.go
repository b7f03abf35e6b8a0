package driver

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
)

func statsRequest() *csi.NodeGetVolumeStatsRequest {
	return &csi.NodeGetVolumeStatsRequest{VolumeId: "v", VolumePath: target}
}

// In virtual time.
func TestStatsComeFromTheGatewayAndAreRemembered(t *testing.T) {
	synctest.Test(t, statsComeFromTheGatewayAndAreRemembered)
}

func statsComeFromTheGatewayAndAreRemembered(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	_, err := n.NodeGetVolumeStats(t.Context(), statsRequest())
	wantCode(t, err, codes.NotFound)
	mustStage(t, n)
	_, err = n.NodeGetVolumeStats(t.Context(), statsRequest())
	wantCode(t, err, codes.NotFound)
	mustPublish(t, n)
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			stats, err := n.NodeGetVolumeStats(context.Background(), statsRequest())
			if err != nil || stats.GetUsage()[0].GetAvailable() != 60 || stats.GetVolumeCondition().GetAbnormal() {
				t.Error(stats, err)
			}
		})
	}
	callers.Wait()
	if m.count("stats") > 20 || m.count("stats") == 0 {
		t.Fatal(m.count("stats"))
	}
	before := m.count("stats")
	if _, err := n.NodeGetVolumeStats(t.Context(), statsRequest()); err != nil || m.count("stats") != before {
		t.Fatal("a fresh answer was asked for again", err)
	}
	m.mu.Lock()
	m.now = m.now.Add(time.Minute)
	m.hang["stats"] = true
	m.mu.Unlock()
	for range 3 { // the question that hangs is asked once
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		stats, err := n.NodeGetVolumeStats(ctx, statsRequest())
		cancel()
		if err != nil || stats.GetUsage()[0].GetAvailable() != 60 || !stats.GetVolumeCondition().GetAbnormal() {
			t.Fatal(stats, err)
		}
	}
	time.Sleep(statsCall) // then the question has ended
	if m.count("stats") != before+1 {
		t.Fatalf("asked %d times", m.count("stats")-before)
	}
}

func TestAMountThatIsGoneIsAnAbnormalCondition(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	mustStage(t, n)
	mustPublish(t, n)
	m.table = nil
	if stats, err := n.NodeGetVolumeStats(t.Context(), statsRequest()); err != nil || !stats.GetVolumeCondition().GetAbnormal() {
		t.Fatal(stats, err)
	}
}

// lose makes the machine forget sessions as a keeper and a gateway do that are killed together; their mounts stay, dead.
func (m *machine) lose() {
	clear(m.sessions)
	clear(m.serving)
}

func TestDeadMountsAreReplacedAndNeverStacked(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	mustStage(t, n)
	mustPublish(t, n)
	other := publishRequest()
	other.TargetPath, other.Readonly = second, true
	if _, err := n.NodePublishVolume(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		m.lose()
		mustPublish(t, n) // repairs the second target too
		if len(m.table) != 3 {
			t.Fatal(m.table)
		}
		session, _ := m.table.At(staging)
		one, _ := m.table.At(target)
		two, _ := m.table.At(second)
		if one.Device != session.Device || two.Device != session.Device || one.ReadOnly() || !two.ReadOnly() {
			t.Fatal(m.table)
		}
	}
}

func TestASessionWhoseKeeperWasLostKeepsWorking(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	mustStage(t, n)
	mustPublish(t, n)
	clear(m.sessions)
	before := m.table[0].Device
	mustPublish(t, n)
	if m.table[0].Device != before || m.count("keeper mount") > 2 {
		t.Fatal("open files were cut off")
	}
	if _, err := n.NodeUnpublishVolume(t.Context(), unpublishRequest()); err != nil {
		t.Fatal(err)
	}
	if _, err := n.NodeUnstageVolume(t.Context(), unstageRequest()); err != nil {
		t.Fatal(err)
	}
	clean(t, m, n)
}

func TestAGatewayThatForgotServesAgain(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	mustStage(t, n)
	clear(m.serving)
	mustPublish(t, n)
	if m.serving["v"] == nil || len(m.table) != 2 {
		t.Fatal(m.serving, m.table)
	}
}

func TestADriverThatStartsAgainCompletesWhatItFinds(t *testing.T) {
	cases := []struct {
		name   string
		before func(*testing.T, *machine, *Node)
		after  func(*testing.T, *machine, *Node)
	}{
		{
			name:   "cut off in the middle of staging: undone",
			before: func(t *testing.T, _ *machine, n *Node) { mustSave(t, n, false, nil); mustMountAtKeeper(t, n) },
			after:  clean,
		},
		{
			name: "cut off between record and bind: bound",
			before: func(t *testing.T, _ *machine, n *Node) {
				mustStage(t, n)
				mustSave(t, n, true, map[string]bool{target: true})
			},
			after: func(t *testing.T, m *machine, _ *Node) {
				if mount, found := m.table.At(target); !found || !mount.ReadOnly() {
					t.Fatal(m.table)
				}
			},
		},
		{
			name:   "nothing served any more: made anew",
			before: func(t *testing.T, m *machine, n *Node) { mustStage(t, n); mustPublish(t, n); m.lose() },
			after: func(t *testing.T, m *machine, _ *Node) {
				if len(m.table) != 2 || m.serving["v"] == nil || len(m.sessions) != 1 {
					t.Fatal(m.table, m.serving)
				}
			},
		},
		{
			name: "after a boot: forgotten",
			before: func(t *testing.T, m *machine, n *Node) {
				mustStage(t, n)
				m.lose()
				m.table, m.boot = nil, "boot-2"
			},
			after: clean,
		},
		{
			name: "with a secret: left for kubelet",
			before: func(t *testing.T, m *machine, n *Node) {
				request := stageRequest()
				request.Secrets = map[string]string{attributes.SecretUser: "alice"}
				if _, err := n.NodeStageVolume(t.Context(), request); err != nil {
					t.Fatal(err)
				}
				clear(m.serving)
			},
			after: func(t *testing.T, m *machine, _ *Node) {
				if len(m.serving) != 0 {
					t.Fatal("attached as the wrong user")
				}
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine()
			parts := m.parts(t)
			c.before(t, m, nodeWith(t, parts))
			again := nodeWith(t, parts)
			mustReconcile(t, again)
			c.after(t, m, again)
		})
	}
}

func mustReconcile(t *testing.T, n *Node) {
	t.Helper()
	done, err := n.Reconcile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-done
}

// Neither is the driver kept from registering with kubelet, nor are the other volumes from their repair. In virtual time.
func TestVolumesThatHangHoldUpNeitherTheStartNorTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine()
		n := nodeWith(t, m.parts(t))
		volume, err := attributes.Parse(map[string]string{attributes.AlluxioPath: "/data"}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		const count = 2*reconcilers + 1 // all but the last hang
		for i := range count {
			id := fmt.Sprintf("v%02d", i)
			m.hang["attach "+id] = i < count-1
			record := &volumeRecord{VolumeID: id, Staging: "/staging/" + id, Staged: true, BootID: n.bootID, Volume: volume, Targets: map[string]bool{}}
			if err := n.store.Save(id, record); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		done, err := n.Reconcile(t.Context())
		if err != nil || time.Since(began) > 0 {
			t.Fatal("the start waits:", time.Since(began), err)
		}
		if _, free := n.locks.TryLock("v00"); free {
			t.Fatal("a volume under repair takes requests")
		}
		<-done
		if took := time.Since(began); took > 2*reconcileTimeout+quickCall || m.serving["v16"] == nil {
			t.Fatal("a volume waits for those that hang:", took, m.serving)
		}
	})
}

func TestARecordWithoutAttributesStopsNoOther(t *testing.T) {
	m := newMachine()
	n := nodeWith(t, m.parts(t))
	if err := n.store.Save("a", &volumeRecord{VolumeID: "a", Staging: "/staging/a", Staged: true, BootID: n.bootID}); err != nil {
		t.Fatal(err)
	}
	mustSave(t, n, true, nil)
	mustReconcile(t, n)
	if m.serving["v"] == nil {
		t.Fatal("not repaired")
	}
	if record, err := n.load("a"); record != nil || err == nil {
		t.Fatal("believed:", record)
	}
}

func mustSave(t *testing.T, n *Node, staged bool, targets map[string]bool) {
	t.Helper()
	volume, err := attributes.Parse(map[string]string{attributes.AlluxioPath: "/data"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	record := &volumeRecord{VolumeID: "v", Staging: staging, Staged: staged, BootID: n.bootID, Volume: volume, Targets: targets}
	if err := n.store.Save("v", record); err != nil {
		t.Fatal(err)
	}
}

func mustMountAtKeeper(t *testing.T, n *Node) {
	t.Helper()
	volume, err := attributes.Parse(map[string]string{attributes.AlluxioPath: "/data"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.mount(t.Context(), "v", &volumeRecord{Staging: staging}, volume); err != nil {
		t.Fatal(err)
	}
}

func TestReconcilingWithoutKeeperOrGatewayDoesNotStopTheStart(t *testing.T) {
	m := newMachine()
	parts := m.parts(t)
	n := nodeWith(t, parts)
	mustStage(t, n)
	m.fail["gateway list"] = context.DeadlineExceeded
	mustReconcile(t, nodeWith(t, parts))
	delete(m.fail, "gateway list")
	mustPublish(t, n)
}

// It is of another version, say; each try would find its mount and fail over it.
func TestASessionThatCannotBeServedIsMadeAnewWhereNoPodHasIt(t *testing.T) {
	for _, c := range []struct {
		what      string
		published bool
		anew      bool
	}{{"no pod has it", false, true}, {"a pod has it, and may wait for a gateway that can", true, false}} {
		t.Run(c.what, func(t *testing.T) {
			m := newMachine()
			n := newNode(t, m)
			mustStage(t, n)
			if c.published {
				mustPublish(t, n)
			}
			for id := range m.serving { // the next gateway
				m.refused = m.devices[id]
				delete(m.serving, id)
			}
			_, err := n.NodeStageVolume(t.Context(), stageRequest())
			wantCode(t, err, codes.Internal)
			_, err = n.NodeStageVolume(t.Context(), stageRequest())
			if anew := err == nil; anew != c.anew {
				t.Fatal("at the next try:", err)
			}
		})
	}
}

func TestASessionIsKeptWhileItsGatewayIsAway(t *testing.T) {
	m := newMachine()
	n := newNode(t, m)
	mustStage(t, n)
	clear(m.serving)
	m.fail["attach"] = status.Error(codes.Unavailable, "Alluxio does not answer")
	_, err := n.NodeStageVolume(t.Context(), stageRequest())
	wantCode(t, err, codes.Unavailable)
	if len(m.sessions) != 1 {
		t.Fatal("the session was dropped")
	}
}
