package app

import (
	"strings"
	"testing"

	"posixgateway.io/csi/internal/driver"
)

func TestCommandLinesThatMakeNoSenseAreRefused(t *testing.T) {
	good := func() Config {
		return Config{Config: driver.Config{NodeID: "n", BasePath: "/b", InlineRoot: "/"}, Mode: ModeAll, Endpoint: "unix:///csi/csi.sock"}
	}
	sound := good()
	if socket, err := sound.check(); err != nil || socket != "/csi/csi.sock" {
		t.Fatal(socket, err)
	}
	cases := map[string]func(*Config){
		"--mode":          func(c *Config) { c.Mode = "both" },
		"--endpoint":      func(c *Config) { c.Endpoint = "tcp://:1" },
		"--node-id":       func(c *Config) { c.NodeID = "" },
		"--base-path":     func(c *Config) { c.BasePath = "kubernetes" },
		"--inline-root":   func(c *Config) { c.InlineRoot = "" },
		"--self-register": func(c *Config) { c.Mode, c.SelfRegister = ModeController, true },
		"--provision":     func(c *Config) { c.Mode, c.Provision = ModeNode, true },
	}
	for flag, change := range cases {
		config := good()
		change(&config)
		if _, err := config.check(); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: got %v", flag, err)
		}
	}
}
