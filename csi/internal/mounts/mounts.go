// Package mounts makes and removes bind mounts without ever touching what is mounted: no stat, no open of a mount.
package mounts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/mountinfo"
)

// System is what the node service asks of the kernel; tests have one of their own. Calls may wait for a file system on the way to a path:
// the node service uses Bounded.
type System interface {
	// Mounts reads the mounts of this namespace.
	Mounts() (mountinfo.Table, error)
	// Resolve names path as the mount table does: symbolic links above its last name are followed.
	Resolve(path string) (string, error)
	// MakeFolder makes a folder and its parents. Call it only for a path that carries no mount.
	MakeFolder(path string) error
	// RemoveFolder removes an empty folder; none is fine.
	RemoveFolder(path string) error
	// Bind shows source at target.
	Bind(source, target string, readOnly bool) error
	// BindShownAs does the same with the files of one group shown, and reached, as those of another; ErrNoIDMap where the kernel cannot.
	BindShownAs(source, target string, readOnly bool, group, shown uint32) error
	// Detach removes the topmost mount at target, at once; none is fine.
	Detach(target string) error
	// BootID differs between boots of the machine.
	BootID() (string, error)
}

// Kernel is the real System.
type Kernel struct{}

// Mounts implements System.
func (Kernel) Mounts() (mountinfo.Table, error) { return mountinfo.Read() }

// Resolve implements System.
func (Kernel) Resolve(path string) (string, error) {
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil { // there is no such folder, so nothing is mounted in it either
		return path, nil
	}
	return filepath.Join(folder, filepath.Base(path)), nil
}

// MakeFolder implements System.
func (Kernel) MakeFolder(path string) error { return os.MkdirAll(path, 0o750) }

// RemoveFolder implements System.
func (Kernel) RemoveFolder(path string) error {
	if err := unix.Rmdir(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove folder %s: %w", path, err)
	}
	return nil
}

// Bind implements System.
func (Kernel) Bind(source, target string, readOnly bool) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", source, target, err)
	}
	if !readOnly {
		return nil
	}
	flags := unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY | flagsOf(target)
	if err := unix.Mount("", target, "", flags, ""); err != nil {
		return errors.Join(fmt.Errorf("make %s read-only: %w", target, err), Kernel{}.Detach(target))
	}
	return nil
}

var flagOf = map[string]uintptr{
	"nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV, "noexec": unix.MS_NOEXEC, "noatime": unix.MS_NOATIME,
	"nodiratime": unix.MS_NODIRATIME, "relatime": unix.MS_RELATIME,
}

// flagsOf are those of the mount at target, which a remount would take away if it did not repeat them.
func flagsOf(target string) uintptr {
	table, err := mountinfo.Read()
	resolved, _ := Kernel{}.Resolve(target)
	mount, found := table.At(resolved)
	if err != nil || !found {
		return unix.MS_NOSUID | unix.MS_NODEV
	}
	var flags uintptr
	for option := range strings.SplitSeq(mount.Options, ",") {
		flags |= flagOf[option]
	}
	return flags
}

// Detach implements System.
func (Kernel) Detach(target string) error {
	err := unix.Unmount(target, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmount %s: %w", target, err)
	}
	return nil
}

// BootID implements System.
func (Kernel) BootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(text), err
}
