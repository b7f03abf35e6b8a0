package registration

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	registerapi "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// serve offers a registration and dials it as kubelet does.
func serve(ctx context.Context, t *testing.T) (client registerapi.RegistrationClient, ended chan error, socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "reg") // short: sockets have paths of at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "plugins_registry"), 0o755); err != nil {
		t.Fatal(err)
	}
	registrar := &Registrar{DriverName: "d", Endpoint: "/plugins/d/csi.sock", Log: slog.New(slog.DiscardHandler)}
	ended = make(chan error, 1)
	go func() { ended <- registrar.Serve(ctx, dir) }()
	socket = filepath.Join(dir, "plugins_registry", "d-reg.sock")
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return registerapi.NewRegistrationClient(conn), ended, socket
}

func await(t *testing.T, ended chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the registration does not end")
		return nil
	}
}

func TestKubeletLearnsWhatItNeedsAndTheSocketGoesWithTheDriver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client, ended, socket := serve(ctx, t)
	info, err := client.GetInfo(t.Context(), &registerapi.InfoRequest{}, grpc.WaitForReady(true))
	if err != nil || info.GetType() != "CSIPlugin" || info.GetName() != "d" || info.GetEndpoint() != "/plugins/d/csi.sock" || len(info.GetSupportedVersions()) != 1 {
		t.Fatal(info, err)
	}
	if _, err := client.NotifyRegistrationStatus(t.Context(), &registerapi.RegistrationStatus{PluginRegistered: true}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := await(t, ended); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Fatal("the socket stays, so kubelet would not forget the driver:", err)
	}
}

func TestARefusalEndsTheProcess(t *testing.T) {
	client, ended, _ := serve(t.Context(), t)
	_, _ = client.NotifyRegistrationStatus(t.Context(), &registerapi.RegistrationStatus{Error: "wrong name"}, grpc.WaitForReady(true))
	if err := await(t, ended); err == nil || !strings.Contains(err.Error(), "wrong name") {
		t.Fatal(err)
	}
}
