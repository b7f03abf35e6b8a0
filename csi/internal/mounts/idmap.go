package mounts

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrNoIDMap says that the kernel does not show this file system with other owners: Linux before 6.12, a session that was begun without
// FUSE_ALLOW_IDMAP, or a process without CAP_SYS_ADMIN over the file system.
var ErrNoIDMap = errors.New("the kernel does not allow id-mapped mounts of this file system")

// maxIDs is how many users and groups there are: all of 32 bits but the last, which means none.
const maxIDs = 1<<32 - 1

// IDs maps owners: of Size owners in the file system, from ContainerID on, the mount shows those from HostID on.
type IDs = []syscall.SysProcIDMap

// everybody shows owners as they are.
var everybody = IDs{{ContainerID: 0, HostID: 0, Size: maxIDs}}

// swapped shows the group a as b and b as a, and every other one as it is: a map must lead back.
func swapped(a, b uint32) IDs {
	if a == b {
		return everybody
	}
	low, high := int(min(a, b)), int(max(a, b))
	parts := IDs{
		{ContainerID: 0, HostID: 0, Size: low},
		{ContainerID: low, HostID: high, Size: 1},
		{ContainerID: low + 1, HostID: low + 1, Size: high - low - 1},
		{ContainerID: high, HostID: low, Size: 1},
		{ContainerID: high + 1, HostID: high + 1, Size: maxIDs - high - 1},
	}
	var used IDs
	for _, part := range parts {
		if part.Size > 0 {
			used = append(used, part)
		}
	}
	return used
}

// BindShownAs implements System.
func (Kernel) BindShownAs(source, target string, readOnly bool, group, shown uint32) error {
	return BindMapped(source, target, readOnly, everybody, swapped(group, shown))
}

// BindMapped binds source to target with owners mapped, by maps of at most 340 parts. The mount gets its map before anybody can see it.
func BindMapped(source, target string, readOnly bool, users, groups IDs) error {
	namespace, err := userNamespace(users, groups)
	if err != nil {
		return fmt.Errorf("bind %s to %s: %w", source, target, err)
	}
	defer func() { _ = namespace.Close() }()
	tree, err := unix.OpenTree(unix.AT_FDCWD, source, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("bind %s: %w", source, orNoIDMap(err))
	}
	defer func() { _ = unix.Close(tree) }()
	attributes := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(namespace.Fd())}
	if readOnly {
		attributes.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &attributes); err != nil {
		return fmt.Errorf("map the owners of %s: %w", source, orNoIDMap(err))
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("bind %s to %s: %w", source, target, err)
	}
	return nil
}

// orNoIDMap adds to an error of the kernel what it means.
func orNoIDMap(err error) error {
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EPERM), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP),
		errors.Is(err, unix.ENOSPC): // no more user namespaces, as user.max_user_namespaces says
		return fmt.Errorf("%w: %w", ErrNoIDMap, err)
	}
	return err
}

// userNamespace makes a user namespace with these maps, which is what the kernel takes maps from. A process has to be in it while they
// are written: this program, started once more, which stops before its first instruction and is ended.
func userNamespace(users, groups IDs) (*os.File, error) {
	runtime.LockOSThread() // the child is traced by, and dies with, the thread
	defer runtime.UnlockOSThread()
	child, err := os.StartProcess("/proc/self/exe", []string{"posix-gateway-owners"}, &os.ProcAttr{
		Sys: &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_NEWUSER, UidMappings: users, GidMappings: groups, GidMappingsEnableSetgroups: true,
			Ptrace: true, Pdeathsig: syscall.SIGKILL,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("user namespace for a map of owners: %w", orNoIDMap(err))
	}
	namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", child.Pid))
	killErr := child.Kill()
	_, waitErr := child.Wait()
	if err := errors.Join(err, killErr, waitErr); err != nil {
		if namespace != nil {
			_ = namespace.Close()
		}
		return nil, fmt.Errorf("user namespace for a map of owners: %w", err)
	}
	return namespace, nil
}
