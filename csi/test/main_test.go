// Package test runs the driver with a real keeper and a gateway, each a process of its own, on real mounts.
package test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"posixgateway.io/csi/internal/app"
	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/driver"
	"posixgateway.io/csi/internal/fusetest"
	"posixgateway.io/csi/internal/gatewaytest"
	"posixgateway.io/csi/internal/keeper"
)

// roleVariable makes this test binary one of the processes under test.
const roleVariable = "PGW_TEST_ROLE"

const driverName = "test.csi.posixgateway.io"

// forceAfter is how long the driver under test waits for a gateway that does not let go.
const forceAfter = time.Hour

func TestMain(m *testing.M) {
	keeper.MaybeHelp()
	role := os.Getenv(roleVariable)
	if role == "" {
		fusetest.Main(m)
		return
	}
	if role == "load" {
		playLoad(os.Args[1])
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := play(ctx, role, places{dir: os.Args[1]}, os.Args[2:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

func play(ctx context.Context, role string, p places, more []string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	switch role {
	case "keeper":
		user, err := strconv.ParseUint(more[2], 10, 32)
		if err != nil {
			return err
		}
		return keeper.Run(ctx, keeper.Config{Socket: p.keeperSocket(), MetricsAddress: more[1], ClientUIDs: []uint32{uint32(user)}, Log: log})
	case "gateway":
		return gatewaytest.Run(ctx, p.gatewaySocket(), p.keeperSocket(), p.alluxio())
	case "driver":
		return app.Run(ctx, app.Config{
			Config: driver.Config{
				DriverName: driverName, NodeID: "node-1", KubeletDir: p.kubelet(), StateDir: p.state(), BasePath: basePath,
				Inline: attributes.InlinePolicy{Root: "/"}, ForceAfter: forceAfter,
			},
			Mode: app.ModeAll, Endpoint: "unix://" + p.driverSocket(), GatewaySocket: p.gatewaySocket(), KeeperSocket: p.keeperSocket(),
			HTTPAddress: more[0], Log: log,
		})
	}
	return fmt.Errorf("no such role")
}
