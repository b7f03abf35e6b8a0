// Package registration makes the driver known to kubelet by its plugin registration API, as node-driver-registrar does.
package registration

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	registerapi "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// Registrar answers kubelet's plugin watcher.
type Registrar struct {
	registerapi.UnimplementedRegistrationServer
	DriverName string
	// Endpoint is the driver's socket as kubelet sees it.
	Endpoint string
	Log      *slog.Logger
	// refused ends Serve.
	refused context.CancelCauseFunc
}

// GetInfo says what is to be registered.
func (r *Registrar) GetInfo(context.Context, *registerapi.InfoRequest) (*registerapi.PluginInfo, error) {
	return &registerapi.PluginInfo{
		Type: registerapi.CSIPlugin, Name: r.DriverName, Endpoint: r.Endpoint, SupportedVersions: []string{"1.0.0"},
	}, nil
}

// NotifyRegistrationStatus hears how it went. After a refusal kubelet tries again only when the socket is made anew, so
// Serve ends with an error and the process is restarted.
func (r *Registrar) NotifyRegistrationStatus(_ context.Context, status *registerapi.RegistrationStatus) (*registerapi.RegistrationStatusResponse, error) {
	if status.GetPluginRegistered() {
		r.Log.Info("registered with the kubelet", "driver", r.DriverName)
	} else {
		r.refused(fmt.Errorf("the kubelet refused the registration of %s: %s", r.DriverName, status.GetError()))
	}
	return &registerapi.RegistrationStatusResponse{}, nil
}

// Serve offers the registration until the context ends; the driver must listen already.
func (r *Registrar) Serve(ctx context.Context, kubeletDir string) error {
	socket := filepath.Join(kubeletDir, "plugins_registry", r.DriverName+"-reg.sock")
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("registration: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("registration: %w (check that the kubelet's plugins_registry is mounted here)", err)
	}
	ctx, r.refused = context.WithCancelCause(ctx)
	defer r.refused(nil)
	server := grpc.NewServer()
	registerapi.RegisterRegistrationServer(server, r)
	stop := context.AfterFunc(ctx, server.Stop) // which removes the socket, so that kubelet forgets the driver
	defer stop()
	if err := server.Serve(listener); err != nil {
		return fmt.Errorf("registration: %w", err)
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}
