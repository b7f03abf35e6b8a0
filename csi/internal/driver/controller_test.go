package driver

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
)

func newController(t *testing.T, m *machine) *Controller {
	t.Helper()
	c, err := NewController(m.parts(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRecordsMayLieInAFolderThatContainersShare(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o777|os.ModeSetgid); err != nil { // an emptyDir, on disk, of a pod with an fsGroup
		t.Fatal(err)
	}
	parts := newMachine().parts(t)
	parts.StateDir = folder + "/volumes"
	if _, err := NewController(parts); err != nil {
		t.Fatal(err)
	}
}

func createRequest(name string, parameters map[string]string) *csi.CreateVolumeRequest {
	return &csi.CreateVolumeRequest{Name: name, VolumeCapabilities: []*csi.VolumeCapability{shared}, Parameters: parameters}
}

func TestWhatBecomesOfTheFolder(t *testing.T) {
	cases := []struct {
		onDelete string
		left     []string
	}{
		{attributes.Delete, []string{"/data"}},
		{attributes.Retain, []string{"/data", "/kubernetes/pvc-1"}},
		{attributes.Archive, []string{"/data", "/kubernetes/archived-pvc-1"}},
	}
	for _, c := range cases {
		t.Run(c.onDelete, func(t *testing.T) {
			m := newMachine()
			controller := newController(t, m)
			made, err := controller.CreateVolume(t.Context(), createRequest("pvc-1", map[string]string{
				attributes.OnDelete: c.onDelete, attributes.Masters: "a:19998,b:19998", "consistency": "ttl",
			}))
			if err != nil {
				t.Fatal(err)
			}
			if given := made.GetVolume().GetVolumeContext(); given[attributes.AlluxioPath] != "/kubernetes/pvc-1" || given["consistency"] != "ttl" || given[attributes.OnDelete] != "" {
				t.Fatal(given)
			}
			lost := newController(t, m) // its records are gone; the id says all
			for range 2 {
				if _, err := lost.DeleteVolume(t.Context(), &csi.DeleteVolumeRequest{VolumeId: made.GetVolume().GetVolumeId()}); err != nil {
					t.Fatal(err)
				}
			}
			if left := slices.Sorted(maps.Keys(m.alluxio)); !slices.Equal(left, c.left) {
				t.Fatal(left)
			}
		})
	}
}

func TestTwoClaimsHaveNoFolderInCommonThatGoesWithOne(t *testing.T) {
	for _, onDelete := range []string{attributes.Delete, attributes.Archive} {
		m := newMachine()
		c := newController(t, m)
		shared := func(name, onDelete string) (string, error) {
			made, err := c.CreateVolume(t.Context(), createRequest(name, map[string]string{attributes.PathPattern: "shared", attributes.OnDelete: onDelete}))
			return made.GetVolume().GetVolumeId(), err
		}
		first, err := shared("pvc-1", onDelete)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{onDelete, attributes.Retain} {
			_, err = shared("pvc-2", other)
			wantCode(t, err, codes.AlreadyExists)
		}
		if _, err := c.DeleteVolume(t.Context(), &csi.DeleteVolumeRequest{VolumeId: first}); err != nil || m.alluxio["/kubernetes/shared"] {
			t.Fatal(m.alluxio, err)
		}
	}
}

// The answer to a deletion was lost, and the name was given to the next claim before it was asked for again.
func TestADeletionThatIsRepeatedLeavesTheNextVolumeAlone(t *testing.T) {
	for _, onDelete := range []string{attributes.Delete, attributes.Archive} {
		m := newMachine()
		c := newController(t, m)
		class := map[string]string{attributes.PathPattern: "shared", attributes.OnDelete: onDelete}
		first, err := c.CreateVolume(t.Context(), createRequest("pvc-1", class))
		if err != nil {
			t.Fatal(err)
		}
		gone := &csi.DeleteVolumeRequest{VolumeId: first.GetVolume().GetVolumeId()}
		if _, err := c.DeleteVolume(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CreateVolume(t.Context(), createRequest("pvc-2", class)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.DeleteVolume(t.Context(), gone); err != nil || !m.alluxio["/kubernetes/shared"] {
			t.Fatal(m.alluxio, err)
		}
	}
}

func TestAnIdThatSomebodyWroteDeletesNothing(t *testing.T) {
	m := newMachine()
	m.alluxio["/prod/payroll"] = true
	c := newController(t, m)
	for _, onDelete := range []string{attributes.Delete, attributes.Archive} {
		forged := (&provisioned{name: "pvc-1", basePath: "/", path: "/prod/payroll", onDelete: onDelete}).id()
		_, err := c.DeleteVolume(t.Context(), &csi.DeleteVolumeRequest{VolumeId: forged})
		wantCode(t, err, codes.PermissionDenied)
	}
	if !m.alluxio["/prod/payroll"] {
		t.Fatal("deleted")
	}
}

func TestArchivesOfSharedNamesDoNotCollide(t *testing.T) {
	p := &provisioned{name: "pvc-1", basePath: "/b", path: "/b/team/claim", onDelete: attributes.Archive}
	if got := p.archivePath(); got != "/b/team/archived-claim-pvc-1" {
		t.Fatal(got)
	}
}

func TestIdsThatWereTamperedWithDeleteNothing(t *testing.T) {
	good := (&provisioned{name: "pvc-1", basePath: "/b", path: "/b/pvc-1", onDelete: attributes.Delete}).id()
	if parsed, err := parseID(good); err != nil || parsed.path != "/b/pvc-1" {
		t.Fatal(good, parsed, err)
	}
	for _, id := range []string{
		"", "static", "/b/pvc-1", "alluxio://host/b/pvc-1?base=%2Fb&name=pvc-1&onDelete=delete",
		strings.Replace(good, "/b/pvc-1", "/b/../etc", 1), strings.Replace(good, "/b/pvc-1", "/b", 1), strings.Replace(good, "/b/pvc-1", "/other", 1),
		strings.Replace(good, "/b/pvc-1", "/b/", 1), strings.Replace(good, "/b/pvc-1", "/b/%2e%2e/x", 1), strings.Replace(good, "/b/pvc-1", "/b/a%0ab", 1),
		strings.Replace(good, "%2Fb", "", 1), strings.Replace(good, "onDelete=delete", "onDelete=shred", 1), good + "&x=y", good + "#x",
		good + "&masters=evil", strings.Replace(good, "pvc-1&", "..&", 1),
	} {
		m := newMachine()
		c := newController(t, m)
		if _, err := c.DeleteVolume(t.Context(), &csi.DeleteVolumeRequest{VolumeId: id}); id != "" && err != nil {
			t.Errorf("%q: %v", id, err)
		}
		if len(m.calls) > 0 {
			t.Errorf("%q did %v", id, m.calls)
		}
	}
}

func TestACreationAskedForTwice(t *testing.T) {
	c := newController(t, newMachine())
	request := createRequest("pvc-1", nil)
	request.CapacityRange = &csi.CapacityRange{RequiredBytes: 100}
	first, err := c.CreateVolume(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.CreateVolume(t.Context(), request)
	if err != nil || again.GetVolume().GetVolumeId() != first.GetVolume().GetVolumeId() || again.GetVolume().GetCapacityBytes() != 100 {
		t.Fatal(again, err)
	}
	request.CapacityRange = &csi.CapacityRange{RequiredBytes: 200}
	_, err = c.CreateVolume(t.Context(), request)
	wantCode(t, err, codes.AlreadyExists)
	request.CapacityRange, request.Parameters = nil, map[string]string{attributes.BasePath: "/elsewhere"}
	_, err = c.CreateVolume(t.Context(), request)
	wantCode(t, err, codes.AlreadyExists)
}

func TestCreationsThatCannotBe(t *testing.T) {
	cases := []struct {
		name   string
		change func(*csi.CreateVolumeRequest)
		code   codes.Code
	}{
		{"no name", func(r *csi.CreateVolumeRequest) { r.Name = "" }, codes.InvalidArgument},
		{"a name that climbs", func(r *csi.CreateVolumeRequest) { r.Name = ".." }, codes.InvalidArgument},
		{"a name with a slash and a pattern without it", func(r *csi.CreateVolumeRequest) {
			r.Name, r.Parameters = "a/b", map[string]string{attributes.PathPattern: "x"}
		}, codes.InvalidArgument},
		{"no capability", func(r *csi.CreateVolumeRequest) { r.VolumeCapabilities = nil }, codes.InvalidArgument},
		{"a mount option that is refused", func(r *csi.CreateVolumeRequest) {
			r.VolumeCapabilities = []*csi.VolumeCapability{capability(5, "suid")}
		}, codes.InvalidArgument},
		{"a clone", func(r *csi.CreateVolumeRequest) { r.VolumeContentSource = &csi.VolumeContentSource{} }, codes.InvalidArgument},
		{"a class of attributes", func(r *csi.CreateVolumeRequest) { r.MutableParameters = map[string]string{"a": "b"} }, codes.InvalidArgument},
		{"a size that cannot be", func(r *csi.CreateVolumeRequest) {
			r.CapacityRange = &csi.CapacityRange{RequiredBytes: 2, LimitBytes: 1}
		}, codes.OutOfRange},
		{"a parameter that is refused", func(r *csi.CreateVolumeRequest) { r.Parameters = map[string]string{"uid": "root"} }, codes.InvalidArgument},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine()
			request := createRequest("pvc-1", nil)
			c.change(request)
			_, err := newController(t, m).CreateVolume(t.Context(), request)
			wantCode(t, err, c.code)
			if len(m.calls) > 0 {
				t.Fatal(m.calls)
			}
		})
	}
}

func TestFailuresOfAlluxioAreTold(t *testing.T) {
	m := newMachine()
	c := newController(t, m)
	m.fail["make directory"] = status.Error(codes.PermissionDenied, "user x may not write /")
	_, err := c.CreateVolume(t.Context(), createRequest("pvc-1", nil))
	wantCode(t, err, codes.PermissionDenied)
	if keys, _ := c.store.Keys(); len(keys) > 0 {
		t.Fatal(keys)
	}
}

// A full disk, say. The folder is made by then, and its id is all that its deletion needs.
func TestAVolumeWhoseRecordCannotBeSavedIsProvisionedAndDeleted(t *testing.T) {
	m := newMachine()
	c := newController(t, m)
	if err := os.RemoveAll(filepath.Join(c.StateDir, "provisioned")); err != nil {
		t.Fatal(err)
	}
	made, err := c.CreateVolume(t.Context(), createRequest("pvc-1", nil))
	if err != nil || !m.alluxio["/kubernetes/pvc-1"] {
		t.Fatal(made, err)
	}
	if _, err := c.DeleteVolume(t.Context(), &csi.DeleteVolumeRequest{VolumeId: made.GetVolume().GetVolumeId()}); err != nil || m.alluxio["/kubernetes/pvc-1"] {
		t.Fatal(m.alluxio, err)
	}
}

func TestADamagedRecordIsReplacedByTheNextCreation(t *testing.T) {
	c := newController(t, newMachine())
	if err := os.WriteFile(filepath.Join(c.StateDir, "provisioned", "pvc-1.json"), []byte(`{"Name":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateVolume(t.Context(), createRequest("pvc-1", nil)); err != nil {
		t.Fatal(err)
	}
	if list, err := c.ListVolumes(t.Context(), &csi.ListVolumesRequest{}); err != nil || len(list.GetEntries()) != 1 {
		t.Fatal(list, err)
	}
}

func TestListsComeInPages(t *testing.T) {
	c := newController(t, newMachine())
	for i := range 5 {
		if _, err := c.CreateVolume(t.Context(), createRequest(fmt.Sprintf("pvc-%d", i), nil)); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for token, pages := "", 0; pages == 0 || token != ""; pages++ {
		page, err := c.ListVolumes(t.Context(), &csi.ListVolumesRequest{MaxEntries: 2, StartingToken: token})
		if err != nil || len(page.GetEntries()) > 2 {
			t.Fatal(page, err)
		}
		for _, entry := range page.GetEntries() {
			names = append(names, entry.GetVolume().GetVolumeContext()[attributes.AlluxioPath])
		}
		token = page.GetNextToken()
	}
	if len(names) != 5 || !slices.IsSorted(names) {
		t.Fatal(names)
	}
	for _, token := range []string{"x", "-1", "6"} {
		_, err := c.ListVolumes(t.Context(), &csi.ListVolumesRequest{StartingToken: token})
		wantCode(t, err, codes.Aborted)
	}
}

func TestADamagedRecordLeavesTheOtherVolumesInTheList(t *testing.T) {
	c := newController(t, newMachine())
	for i := range 3 {
		if _, err := c.CreateVolume(t.Context(), createRequest(fmt.Sprintf("pvc-%d", i), nil)); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := c.store.Keys()
	if err != nil || len(keys) != 3 {
		t.Fatal(keys, err)
	}
	if err := os.WriteFile(filepath.Join(c.StateDir, "provisioned", keys[1]+".json"), []byte(`{"Name":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := c.ListVolumes(t.Context(), &csi.ListVolumesRequest{}); err != nil || len(list.GetEntries()) != 2 {
		t.Fatal(list, err)
	}
}

func TestVolumesAreLookedUp(t *testing.T) {
	m := newMachine()
	c := newController(t, m)
	made, err := c.CreateVolume(t.Context(), createRequest("pvc-1", nil))
	if err != nil {
		t.Fatal(err)
	}
	id := made.GetVolume().GetVolumeId()
	validate := &csi.ValidateVolumeCapabilitiesRequest{VolumeId: id, VolumeCapabilities: []*csi.VolumeCapability{shared}}
	if answer, err := c.ValidateVolumeCapabilities(t.Context(), validate); err != nil || answer.GetConfirmed() == nil {
		t.Fatal(answer, err)
	}
	validate.VolumeCapabilities[0] = &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}}
	if answer, err := c.ValidateVolumeCapabilities(t.Context(), validate); err != nil || answer.GetConfirmed() != nil || answer.GetMessage() == "" {
		t.Fatal(answer, err)
	}
	if answer, err := c.ControllerGetVolume(t.Context(), &csi.ControllerGetVolumeRequest{VolumeId: id}); err != nil || answer.GetStatus().GetVolumeCondition().GetAbnormal() {
		t.Fatal(answer, err)
	}
	m.fail["list directory"] = status.Error(codes.Unavailable, "Alluxio does not answer")
	if answer, err := c.ControllerGetVolume(t.Context(), &csi.ControllerGetVolumeRequest{VolumeId: id}); err != nil || !answer.GetStatus().GetVolumeCondition().GetAbnormal() {
		t.Fatal(answer, err)
	}
	delete(m.alluxio, "/kubernetes/pvc-1")
	_, err = c.ControllerGetVolume(t.Context(), &csi.ControllerGetVolumeRequest{VolumeId: id})
	wantCode(t, err, codes.NotFound)
	_, err = c.ValidateVolumeCapabilities(t.Context(), validate)
	wantCode(t, err, codes.NotFound)
}
