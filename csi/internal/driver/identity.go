package driver

import (
	"context"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"posixgateway.io/csi/internal/controlpb"
	"posixgateway.io/csi/internal/version"
)

// Identity says who the driver is and whether it can work.
type Identity struct {
	csi.UnimplementedIdentityServer
	Parts
	// Node, Controller: which of the services are offered.
	Node, Controller bool
}

// GetPluginInfo implements csi.IdentityServer.
func (i *Identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: i.DriverName, VendorVersion: version.Version}, nil
}

// GetPluginCapabilities implements csi.IdentityServer.
func (i *Identity) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	answer := &csi.GetPluginCapabilitiesResponse{}
	add := func(kind csi.PluginCapability_Service_Type) {
		answer.Capabilities = append(answer.Capabilities, &csi.PluginCapability{
			Type: &csi.PluginCapability_Service_{Service: &csi.PluginCapability_Service{Type: kind}},
		})
	}
	if i.Controller {
		add(csi.PluginCapability_Service_CONTROLLER_SERVICE)
	}
	if len(i.Topology) > 0 {
		add(csi.PluginCapability_Service_VOLUME_ACCESSIBILITY_CONSTRAINTS)
	}
	return answer, nil
}

// Probe is ready when the gateway, and on a node the keeper too, answer at once and the gateway serves what it should.
func (i *Identity) Probe(ctx context.Context, _ *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	info, err := i.Gateway.Info(ctx, &controlpb.InfoRequest{})
	ready := err == nil && info.GetReady()
	if ready && i.Node {
		_, err = i.Keeper.Info(ctx)
		ready = err == nil
	}
	if !ready {
		i.Log.Warn("not ready", "gateway_ready", info.GetReady(), "error", err)
	}
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(ready)}, nil
}
