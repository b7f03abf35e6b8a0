// Package provision makes PersistentVolumes for claims by calling the driver's own Controller, so that no sidecar image
// is needed. The official external-provisioner may be used instead: both speak to the same Controller.
package provision

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v10/controller"

	"posixgateway.io/csi/internal/attributes"
)

// Parameters of a StorageClass that name secrets, as the official provisioner has them.
const (
	prefix           = "csi.storage.k8s.io/"
	provisionerName  = prefix + "provisioner-secret-name"
	provisionerSpace = prefix + "provisioner-secret-namespace"
	stageName        = prefix + "node-stage-secret-name"
	stageSpace       = prefix + "node-stage-secret-namespace"
	publishName      = prefix + "node-publish-secret-name"
	publishSpace     = prefix + "node-publish-secret-namespace"
)

// deletionSecret remembers on a PersistentVolume which secret deletes it; the official provisioner uses the same.
const (
	deletionSecretName  = "volume.kubernetes.io/provisioner-deletion-secret-name"      //nolint:gosec // a key, no secret
	deletionSecretSpace = "volume.kubernetes.io/provisioner-deletion-secret-namespace" //nolint:gosec // a key, no secret
)

// Provisioner implements controller.Provisioner on a CSI Controller.
type Provisioner struct {
	DriverName string
	Controller csi.ControllerServer
	Client     kubernetes.Interface
}

// Config is how the provisioner runs.
type Config struct {
	// LeaderElectionNamespace holds the lease; empty: no election, for a single replica.
	LeaderElectionNamespace string
	Threads                 int
}

// Run provisions until the context ends; with an election, whenever this process leads. It fails when it led and does no
// more.
func (p *Provisioner) Run(ctx context.Context, config Config, log *slog.Logger) error {
	log.Info("provisioning", "driver", p.DriverName, "leader_election_namespace", config.LeaderElectionNamespace, "host", hostname())
	work := func(ctx context.Context) { p.work(ctx, config.Threads) }
	if config.LeaderElectionNamespace == "" {
		work(ctx)
		return nil
	}
	lease := meta.ObjectMeta{Namespace: config.LeaderElectionNamespace, Name: strings.ReplaceAll(p.DriverName, "/", "-")}
	return lead(ctx, p.Client, lease, usualTerms, log, work)
}

func (p *Provisioner) work(ctx context.Context, threads int) {
	controller.NewProvisionController(klog.Background(), p.Client, p.DriverName, p,
		controller.LeaderElection(false), // this package has its own, which gives the lease back
		controller.Threadiness(threads),
		controller.FailedProvisionThreshold(0), // kubelet and users expect that a claim is tried for as long as it is there
		controller.FailedDeleteThreshold(0),
		controller.AddFinalizer(true),
	).Run(ctx)
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// Provision implements controller.Provisioner.
func (p *Provisioner) Provision(ctx context.Context, options controller.ProvisionOptions) (*core.PersistentVolume, controller.ProvisioningState, error) {
	references, err := secretReferences(options)
	if err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	secret, err := p.secret(ctx, references[provisionerName])
	if err != nil {
		return nil, controller.ProvisioningNoChange, err
	}
	answer, err := p.Controller.CreateVolume(ctx, createRequest(options, secret))
	if err != nil {
		return nil, stateOf(err), fmt.Errorf("claim %s/%s: %w", options.PVC.Namespace, options.PVC.Name, err)
	}
	return p.volume(options, answer.GetVolume(), references), controller.ProvisioningFinished, nil
}

// stateOf says whether a failed creation may have left something, so that it must be repeated or undone: it did not where the request
// was refused.
func stateOf(err error) controller.ProvisioningState {
	switch status.Code(err) {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.Aborted, codes.ResourceExhausted,
		codes.Internal, codes.Unknown, codes.DataLoss:
		return controller.ProvisioningInBackground
	}
	return controller.ProvisioningFinished
}

func createRequest(options controller.ProvisionOptions, secret map[string]string) *csi.CreateVolumeRequest {
	parameters := map[string]string{
		attributes.PVCName: options.PVC.Name, attributes.PVCNamespace: options.PVC.Namespace, attributes.PVName: options.PVName,
	}
	for key, value := range options.PVC.Labels {
		parameters[attributes.PVCLabels+key] = value
	}
	for key, value := range options.StorageClass.Parameters {
		if !strings.HasPrefix(key, prefix) {
			parameters[key] = value
		}
	}
	request := &csi.CreateVolumeRequest{Name: options.PVName, Parameters: parameters, Secrets: secret}
	for _, mode := range options.PVC.Spec.AccessModes {
		request.VolumeCapabilities = append(request.VolumeCapabilities, capability(mode, options))
	}
	size := options.PVC.Spec.Resources.Requests[core.ResourceStorage]
	request.CapacityRange = &csi.CapacityRange{RequiredBytes: size.Value()}
	if source := options.PVC.Spec.DataSource; source != nil { // which the driver refuses, and says why
		request.VolumeContentSource = &csi.VolumeContentSource{}
	}
	return request
}

func capability(mode core.PersistentVolumeAccessMode, options controller.ProvisionOptions) *csi.VolumeCapability {
	made := &csi.VolumeCapability{
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: map[core.PersistentVolumeAccessMode]csi.VolumeCapability_AccessMode_Mode{
			core.ReadWriteOnce:    csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER,
			core.ReadWriteOncePod: csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER,
			core.ReadOnlyMany:     csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY,
			core.ReadWriteMany:    csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER,
		}[mode]},
	}
	if block := options.PVC.Spec.VolumeMode; block != nil && *block == core.PersistentVolumeBlock {
		made.AccessType = &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}
	} else {
		made.AccessType = &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{MountFlags: options.StorageClass.MountOptions}}
	}
	return made
}

// volume describes what was made.
func (p *Provisioner) volume(options controller.ProvisionOptions, made *csi.Volume, references map[string]*core.SecretReference) *core.PersistentVolume {
	filesystem := core.PersistentVolumeFilesystem
	volume := &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{Name: options.PVName, Annotations: map[string]string{}},
		Spec: core.PersistentVolumeSpec{
			AccessModes:  options.PVC.Spec.AccessModes,
			MountOptions: options.StorageClass.MountOptions,
			// Alluxio enforces no size, so the one asked for is as right as any.
			Capacity:   core.ResourceList{core.ResourceStorage: options.PVC.Spec.Resources.Requests[core.ResourceStorage]},
			VolumeMode: &filesystem,
			PersistentVolumeSource: core.PersistentVolumeSource{CSI: &core.CSIPersistentVolumeSource{
				Driver: p.DriverName, VolumeHandle: made.GetVolumeId(), VolumeAttributes: made.GetVolumeContext(),
				NodeStageSecretRef: references[stageName], NodePublishSecretRef: references[publishName],
			}},
		},
	}
	if policy := options.StorageClass.ReclaimPolicy; policy != nil {
		volume.Spec.PersistentVolumeReclaimPolicy = *policy
	}
	if secret := references[provisionerName]; secret != nil {
		volume.Annotations[deletionSecretName], volume.Annotations[deletionSecretSpace] = secret.Name, secret.Namespace
	}
	return volume
}

// Delete implements controller.Provisioner.
func (p *Provisioner) Delete(ctx context.Context, volume *core.PersistentVolume) error {
	source := volume.Spec.CSI
	if source == nil || source.Driver != p.DriverName {
		return &controller.IgnoredError{Reason: "the volume belongs to another driver"}
	}
	var reference *core.SecretReference
	if name := volume.Annotations[deletionSecretName]; name != "" {
		reference = &core.SecretReference{Name: name, Namespace: volume.Annotations[deletionSecretSpace]}
	}
	secret, err := p.secret(ctx, reference)
	if err != nil {
		return err
	}
	_, err = p.Controller.DeleteVolume(ctx, &csi.DeleteVolumeRequest{VolumeId: source.VolumeHandle, Secrets: secret})
	return err
}

func (p *Provisioner) secret(ctx context.Context, reference *core.SecretReference) (map[string]string, error) {
	if reference == nil {
		return nil, nil
	}
	secret, err := p.Client.CoreV1().Secrets(reference.Namespace).Get(ctx, reference.Name, meta.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("secret %s/%s: %w", reference.Namespace, reference.Name, err)
	}
	values := make(map[string]string, len(secret.Data))
	for key, value := range secret.Data {
		values[key] = string(value)
	}
	return values, nil
}

// secretReferences works out the secrets of a class, by the parameter that names each.
func secretReferences(options controller.ProvisionOptions) (map[string]*core.SecretReference, error) {
	references := map[string]*core.SecretReference{}
	for _, pair := range [][2]string{{provisionerName, provisionerSpace}, {stageName, stageSpace}, {publishName, publishSpace}} {
		name, space := options.StorageClass.Parameters[pair[0]], options.StorageClass.Parameters[pair[1]]
		if (name == "") != (space == "") {
			return nil, fmt.Errorf("StorageClass %s: give both %s and %s, or neither", options.StorageClass.Name, pair[0], pair[1])
		}
		if name == "" {
			continue
		}
		replacer := strings.NewReplacer("${pv.name}", options.PVName, "${pvc.name}", options.PVC.Name, "${pvc.namespace}", options.PVC.Namespace)
		references[pair[0]] = &core.SecretReference{Name: replacer.Replace(name), Namespace: replacer.Replace(space)}
	}
	if references[publishName] != nil && references[stageName] == nil { // the driver would refuse its pods
		return nil, fmt.Errorf("StorageClass %s has %s, but not %s: give both, with the same secret", options.StorageClass.Name, publishName, stageName)
	}
	return references, nil
}
