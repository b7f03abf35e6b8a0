// Package version holds the release this binary was built from.
package version

// Version is set by the linker (-ldflags "-X posixgateway.io/csi/internal/version.Version=...").
var Version = "dev"
