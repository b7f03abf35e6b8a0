// Package seccomp has the profile of system calls with which the gateway's container may use io_uring, which the runtimes' own profiles
// deny: what a JVM with files and sockets needs, and nothing that makes mounts or namespaces, traces, or loads code into the kernel.
package seccomp

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"posixgateway.io/csi/internal/trusted"
)

// Command is the word after the driver's name by which it writes the profile and ends.
const Command = "write-seccomp-profile"

//go:embed io-uring.json
var profile []byte

// Run is that command; its one argument is the file to write. It returns the exit status.
func Run(arguments []string, complaints io.Writer) (status int) {
	if len(arguments) != 1 || arguments[0] == "" {
		_, _ = fmt.Fprintf(complaints, "%s: give the file to write, in the kubelet's folder seccomp\n", Command)
		return 2
	}
	if err := Write(arguments[0]); err != nil {
		_, _ = fmt.Fprintf(complaints, "%s: %v\n", Command, err)
		return 1
	}
	return 0
}

// Write puts the profile into a file that the container runtime reads, whole or not at all; its folder is made where it is missing, and
// refused where somebody else than root and this user may write to it.
func Write(path string) (err error) {
	folder := filepath.Dir(path)
	if err := trusted.Folder(folder, 0o755); err != nil {
		return fmt.Errorf("seccomp profile: %w", err)
	}
	file, err := os.CreateTemp(folder, filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("seccomp profile: %w", err)
	}
	_, err = file.Write(profile)
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("seccomp profile: %w", err), os.Remove(file.Name()))
	}
	return nil
}
