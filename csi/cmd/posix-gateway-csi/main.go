// Command posix-gateway-csi is the Container Storage Interface driver of the Alluxio POSIX Gateway.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"posixgateway.io/csi/internal/app"
	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/gateway"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/seccomp"
	"posixgateway.io/csi/internal/version"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == seccomp.Command {
		os.Exit(seccomp.Run(os.Args[2:], os.Stderr))
	}
	config, showVersion, err := parse(os.Args[1:])
	if err != nil {
		os.Exit(2) // the flag set has said why
	}
	if showVersion {
		fmt.Println(version.Version)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err = app.Run(ctx, config)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "posix-gateway-csi:", err)
		os.Exit(1)
	}
}

const usage = `Usage: posix-gateway-csi [FLAG...]

The CSI driver: its node service mounts volumes for the kubelet, its controller makes and deletes folders in Alluxio.

Examples:
  posix-gateway-csi --mode=node --node-id=worker-1 --self-register
  posix-gateway-csi --mode=controller --provision --base-path=/kubernetes

Flags:
`

func parse(arguments []string) (config app.Config, showVersion bool, err error) {
	flags := flag.NewFlagSet("posix-gateway-csi", flag.ContinueOnError)
	flags.StringVar(&config.Mode, "mode", app.ModeAll, "services to run: node, controller or all")
	flags.StringVar(&config.Endpoint, "endpoint", "unix:///csi/csi.sock", "`socket` of the CSI services")
	flags.StringVar(&config.NodeID, "node-id", "", "`name` of this node")
	flags.StringVar(&config.DriverName, "driver-name", "posix.csi.posixgateway.io", "`name` of the driver")
	flags.StringVar(&config.GatewaySocket, "gateway-socket", gateway.DefaultSocket, "control `socket` of the gateway")
	flags.StringVar(&config.KeeperSocket, "keeper-socket", keeperapi.DefaultSocket, "`socket` of the keeper")
	flags.StringVar(&config.StateDir, "state-dir", "/var/lib/posix-gateway/csi", "`folder` for state that must outlive this process")
	flags.StringVar(&config.KubeletDir, "kubelet-dir", "/var/lib/kubelet", "root `folder` of the kubelet")
	flags.StringVar(&config.HTTPAddress, "http", ":9401", "`address` of /metrics and /healthz; empty: none")
	flags.BoolVar(&config.SelfRegister, "self-register", false, "register with the kubelet, without a sidecar")
	flags.StringVar(&config.RegistrationPath, "kubelet-registration-path", "", "`path` of the endpoint as the kubelet sees it (default KUBELET-DIR/plugins/DRIVER-NAME/csi.sock)")
	flags.BoolVar(&config.Provision, "provision", false, "provision volumes for claims, without a sidecar")
	flags.StringVar(&config.LeaderElectionNamespace, "leader-election-namespace", "", "`namespace` of the lease for the provisioners' leader election; empty: no election")
	flags.StringVar(&config.StartupTaint, "startup-taint", "", "`key` of a taint to remove from this node once volumes can be mounted; empty: none")
	flags.StringVar(&config.LabelPods, "label-pods", "", "`namespace/selector` of the node pods to label with the claims they serve; empty: none")
	flags.StringVar(&config.BasePath, "base-path", "/kubernetes", "Alluxio `path` below which volumes are provisioned unless their StorageClass says otherwise")
	flags.StringVar(&config.Inline.Root, "inline-root", "", "Alluxio `path` below which inline volumes must lie; empty: there are none")
	config.Inline.Allowed = attributes.DefaultInlineAllowed
	flags.Func("inline-allowed", "comma-separated `names` of the attributes, properties and keys of secrets that inline volumes may set (default "+
		strings.Join(attributes.DefaultInlineAllowed, ",")+")", func(text string) error {
		config.Inline.Allowed = strings.FieldsFunc(text, func(c rune) bool { return c == ',' })
		return nil
	})
	flags.Int64Var(&config.MaxVolumes, "max-volumes", 0, "maximum number of volumes on this node; 0: no limit")
	flags.Int64Var(&config.SessionMemoryBytes, "session-memory", keeperapi.DefaultMemoryBytes, "`bytes` of memory per volume that its successive gateways share")
	flags.DurationVar(&config.ForceAfter, "force-after", 2*time.Minute, "how long a gateway may fail to release a volume before it is unmounted by force")
	flags.Func("topology", "`key=value` topology segment of this node; repeatable; none: topology is off", func(text string) error {
		key, value, found := strings.Cut(text, "=")
		if !found || key == "" || value == "" {
			return fmt.Errorf("%q is not of the form key=value", text)
		}
		if config.Topology == nil {
			config.Topology = map[string]string{}
		}
		config.Topology[key] = value
		return nil
	})
	var level slog.Level
	flags.TextVar(&level, "log-level", slog.LevelInfo, "log `level`: DEBUG, INFO, WARN or ERROR")
	flags.BoolVar(&showVersion, "version", false, "print the version and exit")
	flags.Usage = func() {
		_, _ = fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(arguments); err != nil {
		return config, false, err
	}
	if flags.NArg() > 0 {
		err := fmt.Errorf("%q is not an option; see --help", flags.Arg(0))
		fmt.Fprintln(os.Stderr, "posix-gateway-csi:", err)
		return config, false, err
	}
	if config.RegistrationPath == "" {
		config.RegistrationPath = filepath.Join(config.KubeletDir, "plugins", config.DriverName, "csi.sock")
	}
	config.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	return config, showVersion, nil
}
