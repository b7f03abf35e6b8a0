package provision

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v10/controller"

	"posixgateway.io/csi/internal/attributes"
)

// fakeController remembers what it is asked and answers err.
type fakeController struct {
	csi.UnimplementedControllerServer
	created *csi.CreateVolumeRequest
	deleted *csi.DeleteVolumeRequest
	err     error
}

func (f *fakeController) CreateVolume(_ context.Context, request *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	f.created = request
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: "id-" + request.GetName(), VolumeContext: map[string]string{attributes.AlluxioPath: "/x"}}}, f.err
}

func (f *fakeController) DeleteVolume(_ context.Context, request *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	f.deleted = request
	return &csi.DeleteVolumeResponse{}, f.err
}

func options() controller.ProvisionOptions {
	reclaim := core.PersistentVolumeReclaimDelete
	return controller.ProvisionOptions{
		PVName: "pvc-1",
		StorageClass: &storage.StorageClass{
			ObjectMeta: meta.ObjectMeta{Name: "class"}, ReclaimPolicy: &reclaim, MountOptions: []string{"uid=1000"},
			Parameters: map[string]string{
				attributes.BasePath: "/b", provisionerName: "s-${pvc.name}", provisionerSpace: "${pvc.namespace}", stageName: "stage", stageSpace: "system",
			},
		},
		PVC: &core.PersistentVolumeClaim{
			ObjectMeta: meta.ObjectMeta{Name: "claim", Namespace: "team", Labels: map[string]string{"app": "web"}},
			Spec: core.PersistentVolumeClaimSpec{
				AccessModes: []core.PersistentVolumeAccessMode{core.ReadWriteMany, core.ReadWriteOncePod},
				Resources:   core.VolumeResourceRequirements{Requests: core.ResourceList{core.ResourceStorage: resource.MustParse("5Gi")}},
			},
		},
	}
}

func newProvisioner(f *fakeController) *Provisioner {
	return &Provisioner{DriverName: "d", Controller: f, Client: fake.NewClientset(&core.Secret{
		ObjectMeta: meta.ObjectMeta{Name: "s-claim", Namespace: "team"}, Data: map[string][]byte{attributes.SecretUser: []byte("alice")},
	})}
}

func TestAClaimBecomesAVolume(t *testing.T) {
	f := &fakeController{}
	volume, state, err := newProvisioner(f).Provision(t.Context(), options())
	if err != nil || state != controller.ProvisioningFinished {
		t.Fatal(state, err)
	}
	asked := f.created.GetParameters()
	if asked[attributes.BasePath] != "/b" || asked[attributes.PVCName] != "claim" || asked[attributes.PVCLabels+"app"] != "web" || asked[provisionerName] != "" {
		t.Fatal(asked)
	}
	if f.created.GetSecrets()[attributes.SecretUser] != "alice" || f.created.GetCapacityRange().GetRequiredBytes() != 5<<30 {
		t.Fatal(f.created)
	}
	modes := f.created.GetVolumeCapabilities()
	if len(modes) != 2 || modes[0].GetAccessMode().GetMode() != csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER ||
		modes[1].GetAccessMode().GetMode() != csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER || modes[0].GetMount().GetMountFlags()[0] != "uid=1000" {
		t.Fatal(modes)
	}
	source := volume.Spec.CSI
	if source.VolumeHandle != "id-pvc-1" || source.VolumeAttributes[attributes.AlluxioPath] != "/x" || source.NodeStageSecretRef.Name != "stage" ||
		source.NodePublishSecretRef != nil || volume.Spec.PersistentVolumeReclaimPolicy != core.PersistentVolumeReclaimDelete {
		t.Fatalf("%+v", volume)
	}
	if size := volume.Spec.Capacity[core.ResourceStorage]; size.Value() != 5<<30 || volume.Spec.MountOptions[0] != "uid=1000" {
		t.Fatal(volume.Spec)
	}

	if err := newProvisioner(f).Delete(t.Context(), volume); err != nil {
		t.Fatal(err)
	}
	if f.deleted.GetVolumeId() != "id-pvc-1" || f.deleted.GetSecrets()[attributes.SecretUser] != "alice" {
		t.Fatal(f.deleted)
	}
}

func TestFailuresSayWhetherSomethingMayBeLeft(t *testing.T) {
	cases := map[codes.Code]controller.ProvisioningState{
		codes.InvalidArgument: controller.ProvisioningFinished, codes.PermissionDenied: controller.ProvisioningFinished,
		codes.Unavailable: controller.ProvisioningInBackground, codes.DeadlineExceeded: controller.ProvisioningInBackground, codes.Aborted: controller.ProvisioningInBackground,
		codes.Internal: controller.ProvisioningInBackground, codes.Unknown: controller.ProvisioningInBackground,
	}
	for code, want := range cases {
		_, state, err := newProvisioner(&fakeController{err: status.Error(code, "because")}).Provision(t.Context(), options())
		if err == nil || state != want {
			t.Errorf("%v: %v, %v", code, state, err)
		}
	}
}

func TestBlocksAndClonesAreAskedForAsSuch(t *testing.T) {
	f := &fakeController{}
	asked := options()
	block := core.PersistentVolumeBlock
	asked.PVC.Spec.VolumeMode = &block
	asked.PVC.Spec.DataSource = &core.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "other"}
	if _, _, err := newProvisioner(f).Provision(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	if f.created.GetVolumeCapabilities()[0].GetBlock() == nil || f.created.GetVolumeContentSource() == nil {
		t.Fatal(f.created)
	}
}

func TestSecretsThatAreNotThere(t *testing.T) {
	asked := options()
	asked.StorageClass.Parameters[provisionerName] = "none"
	if _, _, err := newProvisioner(&fakeController{}).Provision(t.Context(), asked); err == nil {
		t.Fatal("a missing secret went unnoticed")
	}
	delete(asked.StorageClass.Parameters, provisionerName)
	if _, _, err := newProvisioner(&fakeController{}).Provision(t.Context(), asked); err == nil {
		t.Fatal("half a secret's name went unnoticed")
	}
}

func TestASecretForThePublishAloneIsRefused(t *testing.T) {
	f, asked := &fakeController{}, options()
	parameters := asked.StorageClass.Parameters
	parameters[publishName], parameters[publishSpace] = "publish", "system"
	if _, _, err := newProvisioner(f).Provision(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	delete(parameters, stageName)
	delete(parameters, stageSpace)
	f.created = nil
	if _, _, err := newProvisioner(f).Provision(t.Context(), asked); err == nil || !strings.Contains(err.Error(), stageName) || f.created != nil {
		t.Fatal(err, f.created)
	}
}

func TestVolumesOfOtherDriversAreLeftAlone(t *testing.T) {
	f := &fakeController{}
	err := newProvisioner(f).Delete(t.Context(), &core.PersistentVolume{})
	if _, ignored := errors.AsType[*controller.IgnoredError](err); !ignored || f.deleted != nil {
		t.Fatal(err)
	}
}
