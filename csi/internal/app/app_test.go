package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/driver"
)

func TestCommandLinesThatMakeNoSenseAreRefused(t *testing.T) {
	good := func() Config {
		return Config{Config: driver.Config{NodeID: "n", BasePath: "/b", Inline: attributes.InlinePolicy{Root: "/"}}, Mode: ModeAll, Endpoint: "unix:///csi/csi.sock"}
	}
	sound := good()
	if socket, err := sound.check(); err != nil || socket != "/csi/csi.sock" {
		t.Fatal(socket, err)
	}
	cases := map[string]func(*Config){
		`--mode "both": use node, controller or all`:          func(c *Config) { c.Mode = "both" },
		`--endpoint "tcp://:1": use unix:///path/to/csi.sock`: func(c *Config) { c.Endpoint = "tcp://:1" },
		"--node-id is missing: set it":                        func(c *Config) { c.NodeID = "" },
		`--base-path "kubernetes": use an absolute`:           func(c *Config) { c.BasePath = "kubernetes" },
		"--inline-root": func(c *Config) { c.Inline.Root = "relative" },
		"--self-register is for nodes: use --mode node or all": func(c *Config) { c.Mode, c.SelfRegister = ModeController, true },
		"--startup-taint is for nodes: use --mode node or all": func(c *Config) { c.Mode, c.StartupTaint = ModeController, "key" },
		"--provision is for controllers: use --mode":           func(c *Config) { c.Mode, c.Provision = ModeNode, true },
		"--label-pods is for controllers: use --mode":          func(c *Config) { c.Mode, c.LabelPods = ModeNode, "storage/app=x" },
		`--label-pods "app=x": use NAMESPACE/SELECTOR`:         func(c *Config) { c.LabelPods = "app=x" },
	}
	for flag, change := range cases {
		config := good()
		change(&config)
		if _, err := config.check(); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: got %v", flag, err)
		}
	}
}

func TestASuccessorWaitsForTheEndOfItsPredecessor(t *testing.T) {
	dir, log := t.TempDir()+"/state", slog.New(slog.DiscardHandler)
	leave, err := alone(t.Context(), dir, log)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := alone(short, dir, log); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("two drivers at once: %v", err)
	}
	succeeded := make(chan error, 1)
	go func() {
		leave, err := alone(t.Context(), dir, log)
		if err == nil {
			leave()
		}
		succeeded <- err
	}()
	leave()
	if err := <-succeeded; err != nil {
		t.Fatal(err)
	}
}

func TestTheEndpointMayLieInAFolderThatContainersShare(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o777|os.ModeSetgid); err != nil { // an emptyDir of a pod with an fsGroup
		t.Fatal(err)
	}
	listener, err := listen(t.Context(), folder+"/csi.sock")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	leave, err := alone(t.Context(), folder+"/state", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	leave()
}
