// Package app puts the driver together: services, metrics, registration, provisioning.
package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/driver"
	"posixgateway.io/csi/internal/gateway"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/metrics"
	"posixgateway.io/csi/internal/mountinfo"
	"posixgateway.io/csi/internal/mounts"
	"posixgateway.io/csi/internal/orphans"
	"posixgateway.io/csi/internal/podlabels"
	"posixgateway.io/csi/internal/provision"
	"posixgateway.io/csi/internal/registration"
	"posixgateway.io/csi/internal/taint"
)

// Config is what the command line says.
type Config struct {
	driver.Config
	// Mode is node, controller or all.
	Mode string
	// Endpoint of the CSI services: unix:///path.
	Endpoint      string
	GatewaySocket string
	KeeperSocket  string
	// HTTPAddress of /metrics and /healthz; empty: none.
	HTTPAddress string
	// SelfRegister with kubelet, which finds the driver at RegistrationPath.
	SelfRegister     bool
	RegistrationPath string
	// Provision volumes for claims, electing a leader by a lease in LeaderElectionNamespace.
	Provision               bool
	LeaderElectionNamespace string
	// StartupTaint is the key of a taint to take off the node once the driver can work; empty: none.
	StartupTaint string
	// LabelPods are the node pods, NAMESPACE/SELECTOR, that get labels of the claims they serve; empty: none.
	LabelPods string
	Log       *slog.Logger
}

// Modes.
const (
	ModeNode       = "node"
	ModeController = "controller"
	ModeAll        = "all"
)

func (c *Config) check() (socket string, err error) {
	socket, isUnix := strings.CutPrefix(c.Endpoint, "unix://")
	for _, rule := range []struct {
		broken bool
		text   string
	}{
		{c.Mode != ModeNode && c.Mode != ModeController && c.Mode != ModeAll, fmt.Sprintf("--mode %q: use node, controller or all", c.Mode)},
		{!isUnix || !filepath.IsAbs(socket), fmt.Sprintf("--endpoint %q: use unix:///path/to/csi.sock", c.Endpoint)},
		{!attributes.IsPath(c.BasePath), fmt.Sprintf("--base-path %q: use an absolute Alluxio path, without . and .. in it", c.BasePath)},
		{c.Mode != ModeController && c.NodeID == "", "--node-id is missing: set it to the node's name"},
		{c.Mode == ModeController && c.SelfRegister, "--self-register is for nodes: use --mode node or all"},
		{c.Mode == ModeController && c.StartupTaint != "", "--startup-taint is for nodes: use --mode node or all"},
		{c.Mode == ModeNode && c.Provision, "--provision is for controllers: use --mode controller or all"},
		{c.Mode == ModeNode && c.LabelPods != "", "--label-pods is for controllers: use --mode controller or all"},
		{c.LabelPods != "" && !strings.Contains(c.LabelPods, "/"), fmt.Sprintf("--label-pods %q: use NAMESPACE/SELECTOR", c.LabelPods)},
	} {
		if rule.broken {
			return "", errors.New(rule.text)
		}
	}
	return socket, c.checkInline()
}

func (c *Config) checkInline() error {
	if err := c.Inline.Check(); err != nil {
		return fmt.Errorf("--inline-root, --inline-allowed: %w", err)
	}
	return nil
}

// Run serves until the context ends.
func Run(ctx context.Context, config Config) error {
	socket, err := config.check()
	if err != nil {
		return err
	}
	client, conn, err := gateway.Dial(config.GatewaySocket)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	parts := driver.Parts{
		Config: config.Config, Keeper: &keeperapi.Client{Socket: config.KeeperSocket}, Gateway: client, Mounts: mounts.NewBounded(),
		Metrics: metrics.New(registry), Log: config.Log, Now: time.Now,
	}
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(parts.Metrics.Intercept, logCalls(config.Log)))
	group, ctx := errgroup.WithContext(ctx)
	node := &atomic.Pointer[driver.Node]{}
	if config.HTTPAddress != "" { // first: who waits for a predecessor is alive too
		group.Go(func() error { return serveHTTP(ctx, config.HTTPAddress, pages(registry, node)) })
	}
	leave, err := alone(ctx, config.StateDir, config.Log)
	if err != nil {
		return ended(group, err)
	}
	defer leave()
	if config.Mode != ModeController { // before the node is reconciled, which asks the keeper
		watch := &driver.OrphanWatch{
			KeeperSocket: config.KeeperSocket, Parts: parts, Abort: func(record orphans.Record) (bool, error) { return orphans.Abort(record, mountinfo.Read) },
			Gone: func(ctx context.Context) bool { return orphans.KeeperGone(ctx, config.KeeperSocket) },
		}
		group.Go(func() error { watch.Run(ctx); return nil })
	}
	if err := addServices(ctx, group, server, config, parts, node); err != nil {
		return err
	}
	listener, err := listen(ctx, socket)
	if err != nil {
		return err
	}
	config.Log.Info("serving", "driver", config.DriverName, "mode", config.Mode, "endpoint", config.Endpoint)
	group.Go(func() error { return server.Serve(listener) })
	context.AfterFunc(ctx, server.Stop)
	if config.SelfRegister {
		registrar := &registration.Registrar{DriverName: config.DriverName, Endpoint: config.RegistrationPath, Log: config.Log}
		group.Go(func() error { return registrar.Serve(ctx, config.KubeletDir) })
	}
	return group.Wait()
}

// ended is why a driver that never served ends: nothing when it was told to while it waited.
func ended(group *errgroup.Group, err error) error {
	if errors.Is(err, context.Canceled) {
		return group.Wait()
	}
	return err
}

// addServices makes the services of the mode; a volume of a node is reconciled before the first call for it is served.
func addServices(ctx context.Context, group *errgroup.Group, server *grpc.Server, config Config, parts driver.Parts, served *atomic.Pointer[driver.Node]) error {
	identity := &driver.Identity{Parts: parts, Node: config.Mode != ModeController, Controller: config.Mode != ModeNode}
	csi.RegisterIdentityServer(server, identity)
	if identity.Node {
		node, err := driver.NewNode(parts)
		if err != nil {
			return err
		}
		if _, err := node.Reconcile(ctx); err != nil {
			return err
		}
		csi.RegisterNodeServer(server, node)
		served.Store(node)
		if err := removeTaint(ctx, group, config, identity); err != nil {
			return err
		}
	}
	if !identity.Controller {
		return nil
	}
	controller, err := driver.NewController(parts)
	if err != nil {
		return err
	}
	csi.RegisterControllerServer(server, controller)
	if err := labelPods(ctx, group, config); err != nil {
		return err
	}
	if !config.Provision {
		return nil
	}
	api, err := kubernetesAPI("--provision")
	if err != nil {
		return err
	}
	provisioner := &provision.Provisioner{DriverName: config.DriverName, Controller: controller, Client: api}
	group.Go(func() error {
		return provisioner.Run(ctx, provision.Config{LeaderElectionNamespace: config.LeaderElectionNamespace, Threads: 4}, config.Log)
	})
	return nil
}

// removeTaint takes the startup taint off the node, if there is to be one.
func removeTaint(ctx context.Context, group *errgroup.Group, config Config, identity *driver.Identity) error {
	if config.StartupTaint == "" {
		return nil
	}
	api, err := kubernetesAPI("--startup-taint")
	if err != nil {
		return err
	}
	remover := &taint.Remover{
		Client: api, Node: config.NodeID, DriverName: config.DriverName, Key: config.StartupTaint, Log: config.Log, Every: 2 * time.Second,
		Ready: func(ctx context.Context) bool {
			answer, err := identity.Probe(ctx, &csi.ProbeRequest{})
			return err == nil && answer.GetReady().GetValue()
		},
	}
	group.Go(func() error { remover.Run(ctx); return nil })
	return nil
}

// labelPods keeps the labels of the node pods, if they are to have some. Every replica may: who finds nothing to change writes
// nothing.
func labelPods(ctx context.Context, group *errgroup.Group, config Config) error {
	namespace, selector, _ := strings.Cut(config.LabelPods, "/")
	if namespace == "" {
		return nil
	}
	api, err := kubernetesAPI("--label-pods")
	if err != nil {
		return err
	}
	labeler := &podlabels.Labeler{
		Client: api, DriverName: config.DriverName, Namespace: namespace, Selector: selector, Sessions: podlabels.Ask, Log: config.Log,
		Every: 10 * time.Second,
	}
	group.Go(func() error { labeler.Run(ctx); return nil })
	return nil
}

// kubernetesAPI is reached as the pod's service account.
func kubernetesAPI(flag string) (kubernetes.Interface, error) {
	access, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("%s needs a service account: %w", flag, err)
	}
	api, err := kubernetes.NewForConfig(access)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return api, nil
}

// listen replaces the socket a predecessor left. The folder may be one that the containers of a pod share, writable by all of them.
func listen(ctx context.Context, socket string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(socket), 0o755); err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	return listener, nil
}

// logCalls logs what failed, and nothing of what was asked: requests may hold secrets.
func logCalls(log *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		answer, err := handler(ctx, request)
		volume := ""
		if named, ok := request.(interface{ GetVolumeId() string }); ok {
			volume = named.GetVolumeId()
		}
		switch code := status.Code(err); code {
		case codes.OK, codes.Unimplemented:
			log.Debug("call", "method", info.FullMethod, "volume", volume)
		default:
			log.Warn("request failed", "method", info.FullMethod, "volume", volume, "code", code, "error", err)
		}
		return answer, err
	}
}

// pages are /metrics; /healthz, which says that this process answers, while Probe says whether it can work; and, once there is a
// node, its volumes.
func pages(registry *prometheus.Registry, node *atomic.Pointer[driver.Node]) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 2}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET "+podlabels.Page, func(w http.ResponseWriter, _ *http.Request) {
		serving := node.Load()
		if serving == nil {
			http.Error(w, "this driver does not serve its node yet", http.StatusServiceUnavailable)
			return
		}
		sessions, err := serving.Sessions()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(append([]string{}, sessions...))
	})
	return mux
}

func serveHTTP(ctx context.Context, address string, pages http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("--http %s: %w", address, err)
	}
	server := &http.Server{Handler: pages, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("--http %s: %w", address, err)
	}
	return nil
}
