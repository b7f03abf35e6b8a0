package keeper

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/mountinfo"
	"posixgateway.io/csi/internal/mounts"
	"posixgateway.io/csi/internal/orphans"
)

// system is what the keeper asks of the kernel. Functions are fields so that tests can make each of them fail.
type system struct {
	openFuse func() (*os.File, error)
	// cloneFuse makes another descriptor of the connection, with requests of its own.
	cloneFuse  func(connection *os.File) (*os.File, error)
	openMemory func(id string, bytes int64) (*os.File, error)
	// mount puts the connection at target and returns where it really is (symbolic links resolved).
	mount   func(request *keeperapi.Request, fuse *os.File) (mountPoint string, err error)
	unmount func(mountPoint string, detach bool) error
	// connection finds the one that has the device number now. The mount table that is read afterwards says whose it is.
	connection func(device string) (connection, error)
	// abort ends the connection of a record, if its mount is there.
	abort  func(record orphans.Record) (aborted bool, err error)
	mounts func() (mountinfo.Table, error)
}

// connection is what ends one whatever its server does, and never another that got its device number: see orphans.Connection.
type connection interface {
	Abort() error
	Close()
}

func kernel() system {
	targets := mounts.NewBounded()
	mount := func(request *keeperapi.Request, fuse *os.File) (string, error) {
		return mountAt(targets, request, fuse)
	}
	return system{
		openFuse: openFuse, cloneFuse: cloneFuse, openMemory: openMemory, mount: mount, unmount: unmountByHelper, mounts: mountinfo.Read,
		connection: func(device string) (connection, error) { return orphans.Open(device) },
		abort:      func(record orphans.Record) (bool, error) { return orphans.Abort(record, mountinfo.Read) },
	}
}

func openFuse() (*os.File, error) {
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/fuse: %w (load the fuse module; a container must be privileged)", err)
	}
	return os.NewFile(uintptr(fd), "/dev/fuse"), nil
}

// ioctlClone is FUSE_DEV_IOC_CLONE.
const ioctlClone = 0x8004e500

func cloneFuse(connection *os.File) (*os.File, error) {
	clone, err := openFuse()
	if err != nil {
		return nil, err
	}
	raw, err := connection.SyscallConn()
	if err == nil {
		failure := raw.Control(func(fd uintptr) {
			err = unix.IoctlSetPointerInt(int(clone.Fd()), ioctlClone, int(fd))
		})
		err = errors.Join(failure, err)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("clone of the connection: %w", err), clone.Close())
	}
	return clone, nil
}

// hasEnded says that a connection was aborted, by whomever, or that its file system is gone. Nothing is read from it.
func hasEnded(connection *os.File) (ended bool) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		polled, err := []unix.PollFd{{Fd: int32(fd)}}, error(unix.EINTR)
		for errors.Is(err, unix.EINTR) {
			_, err = unix.Poll(polled, 0)
		}
		ended = err == nil && polled[0].Revents&unix.POLLERR != 0
	})
	return ended
}

func openMemory(id string, bytes int64) (*os.File, error) {
	fd, err := unix.MemfdCreate("posix-gateway", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("session memory of %s: %w", id, err)
	}
	if err := unix.Ftruncate(fd, bytes); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("session memory of %s, %d bytes: %w", id, bytes, err)
	}
	return os.NewFile(uintptr(fd), "session-memory"), nil
}

// paths finds what a client named. A call that a hung file system on the way to it holds up ends all the same: the operation that waits
// for it holds up every handover.
type paths interface {
	Resolve(path string) (string, error)
	OpenFolder(path string) (*os.File, error)
}

// mountAt holds the target by an O_PATH descriptor, which touches no file system there, so that nobody can exchange it
// between the look and the mount. A target that carries a mount already is not even opened: that mount may wait for a server.
func mountAt(targets paths, request *keeperapi.Request, fuse *os.File) (string, error) {
	resolved, err := targets.Resolve(request.Target)
	if err != nil {
		return "", err
	}
	if err := refuseMounted(resolved); err != nil {
		return "", err
	}
	target, err := targets.OpenFolder(request.Target)
	if errors.Is(err, mounts.ErrWaits) {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("target %s: %w (create the folder first)", request.Target, err)
	}
	defer func() { _ = target.Close() }()
	handle := fmt.Sprintf("/proc/self/fd/%d", target.Fd())
	mountPoint, err := os.Readlink(handle)
	if err != nil {
		return "", fmt.Errorf("target %s: %w", request.Target, err)
	}
	if err := refuseMounted(mountPoint); err != nil {
		return "", err
	}
	if err := unix.Mount(request.Source, handle, request.FSType, mountFlags(request), mountData(request, fuse)); err != nil {
		return "", fmt.Errorf("mount at %s: %w", mountPoint, err)
	}
	raiseReadahead(mountPoint)
	return mountPoint, nil
}

func refuseMounted(mountPoint string) error {
	table, err := mountinfo.Read()
	if err != nil {
		return err
	}
	if present, mounted := table.At(mountPoint); mounted {
		return fmt.Errorf("target %s already has a mount of type %s: unmount it first", mountPoint, present.FSType)
	}
	return nil
}

// mountFlags keeps set-user-id programs and devices from being heeded unless the request says so.
func mountFlags(request *keeperapi.Request) uintptr {
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
	if request.ReadOnly {
		flags |= unix.MS_RDONLY
	}
	for _, flag := range request.Flags {
		switch flag {
		case "suid":
			flags &^= unix.MS_NOSUID
		case "dev":
			flags &^= unix.MS_NODEV
		case "noexec":
			flags |= unix.MS_NOEXEC
		case "sync":
			flags |= unix.MS_SYNCHRONOUS
		case "dirsync":
			flags |= unix.MS_DIRSYNC
		case "noatime":
			flags |= unix.MS_NOATIME
		case "nodiratime":
			flags |= unix.MS_NODIRATIME
		case "strictatime":
			flags |= unix.MS_STRICTATIME
		}
	}
	return flags
}

// shownFlags are the flags that the kernel shows by these words.
var shownFlags = []struct {
	flag uintptr
	word string
}{
	{unix.MS_RDONLY, "ro"}, {unix.MS_NOSUID, "nosuid"}, {unix.MS_NODEV, "nodev"}, {unix.MS_NOEXEC, "noexec"}, {unix.MS_SYNCHRONOUS, "sync"},
	{unix.MS_DIRSYNC, "dirsync"}, {unix.MS_NOATIME, "noatime"}, {unix.MS_NODIRATIME, "nodiratime"},
}

// askedOptions are those of a request in the words of the kernel.
func askedOptions(request *keeperapi.Request) (words []string) {
	flags := mountFlags(request)
	if flags&unix.MS_STRICTATIME != 0 { // shown by no word, and stronger
		flags &^= unix.MS_NOATIME
	} else if flags&unix.MS_NOATIME == 0 {
		words = append(words, "relatime")
	}
	for _, shown := range shownFlags {
		if flags&shown.flag != 0 {
			words = append(words, shown.word)
		}
	}
	return append(words, dataOptions(request)...)
}

// dataOptions are those of FUSE that are words.
func dataOptions(request *keeperapi.Request) (words []string) {
	if request.AllowOther {
		words = append(words, "allow_other")
	}
	if request.DefaultPermissions {
		words = append(words, "default_permissions")
	}
	return words
}

// sameOptions refuses a request for a mount that has other options. The kernel knows them, whichever keeper made the mount. Who serves it
// relies on them: without default_permissions, say, nobody would check permission bits.
func sameOptions(mount mountinfo.Mount, request *keeperapi.Request) error {
	known := []string{"relatime", "allow_other", "default_permissions"}
	for _, shown := range shownFlags {
		known = append(known, shown.word)
	}
	has := slices.DeleteFunc(known, func(word string) bool { return !mount.With(word) })
	asked := askedOptions(request)
	slices.Sort(has)
	slices.Sort(asked)
	if slices.Equal(has, asked) {
		return nil
	}
	return keeperapi.Errorf(keeperapi.Exists, "session %s is mounted with the options %s, but these are requested: %s. Unmount it first, or request "+
		"the options that it has", request.ID, strings.Join(has, ","), strings.Join(asked, ","))
}

// readaheadKB is the most that one request of the gateway carries; the kernel's own start value is 128.
const readaheadKB = "1024"

// raiseReadahead is best effort, and for the keeper to do: it may write in /sys, which a gateway in a container may not.
// The kernel takes the least of this and of what the gateway answers when it begins to serve.
func raiseReadahead(mountPoint string) {
	table, err := mountinfo.Read()
	if err != nil {
		return
	}
	if mounted, there := table.At(mountPoint); there {
		_ = os.WriteFile("/sys/class/bdi/"+mounted.Device+"/read_ahead_kb", []byte(readaheadKB), 0)
	}
}

// mountData consists of numbers and fixed words only; nothing that a client wrote gets in as text.
func mountData(request *keeperapi.Request, fuse *os.File) string {
	data := []string{
		fmt.Sprintf("fd=%d", fuse.Fd()), "rootmode=40000",
		fmt.Sprintf("user_id=%d", os.Getuid()), fmt.Sprintf("group_id=%d", os.Getgid()),
	}
	if request.MaxRead > 0 {
		data = append(data, fmt.Sprintf("max_read=%d", request.MaxRead))
	}
	return strings.Join(append(data, dataOptions(request)...), ",")
}
