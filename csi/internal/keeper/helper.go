package keeper

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// Helpers are children, of this program, for the system calls in which the kernel may wait for an answer of a gateway in a
// way that no kill ends. A task that waits so keeps the files of its process open: the keeper's own would keep all
// connections when it is killed, and none of them would end. A helper holds one connection or none.
//
// A helper is known by its argument 0.
const (
	// notifierName writes notices: connection is descriptor 3, orders and replies are JSON lines over descriptor 0.
	notifierName = "posix-gateway-notifier"
	// unmounterName MOUNT_POINT FLAGS unmounts; its exit status is the errno.
	unmounterName = "posix-gateway-unmounter"
)

// environment is that of helpers. One that was built to find data races would sleep for a second at its end.
var environment = []string{"GOMAXPROCS=2", "GOGC=50", "GORACE=atexit_sleep_ms=0"}

func helper(name string, arguments ...string) *exec.Cmd {
	return &exec.Cmd{
		Path: "/proc/self/exe", Args: append([]string{name}, arguments...), Env: environment, Stderr: os.Stderr,
	}
}

// MaybeHelp makes this process a helper where it was started as one, and then does not return. Call it first thing in main.
func MaybeHelp() {
	switch os.Args[0] {
	case notifierName:
		os.Exit(writeNotices())
	case unmounterName:
		os.Exit(unmountHere(os.Args[1:]))
	}
}

// writeNotices writes what it is ordered to; it ends when the keeper is gone or wants no more.
func writeNotices() (status int) {
	const keeperEnd, connection = 0, 3
	socket, replies := os.NewFile(keeperEnd, "keeper"), make(chan notifierReply)
	go func() {
		encoder := json.NewEncoder(socket)
		for reply := range replies {
			_ = encoder.Encode(reply) // without a keeper the orders end, too
		}
	}()
	for orders := json.NewDecoder(socket); ; {
		var order notifierOrder
		if orders.Decode(&order) != nil {
			return 0
		}
		go func() { // a notice that waits keeps no other one waiting
			errno := 0
			for _, notice := range order.Notices {
				errno = writeNotice(connection, notice)
			}
			replies <- notifierReply{Number: order.Number, Errno: errno}
		}()
	}
}

func writeNotice(fd int, notice []byte) (errno int) {
	_, err := unix.Write(fd, notice)
	if refusal, refused := errors.AsType[unix.Errno](err); refused {
		return int(refusal)
	}
	return 0
}

// unmountByHelper may wait for a gateway: data that only the kernel has are written, and inodes are let go of.
func unmountByHelper(mountPoint string, detach bool) error {
	flags := unix.UMOUNT_NOFOLLOW
	if detach {
		flags |= unix.MNT_DETACH
	}
	err := helper(unmounterName, mountPoint, strconv.Itoa(flags)).Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.Exited() {
		return unix.Errno(ended.ExitCode())
	}
	return err
}

func unmountHere(arguments []string) (status int) {
	if len(arguments) != 2 {
		return int(unix.EINVAL)
	}
	flags, err := strconv.Atoi(arguments[1])
	if err != nil {
		return int(unix.EINVAL)
	}
	errno, _ := errors.AsType[unix.Errno](unix.Unmount(arguments[0], flags))
	return int(errno)
}
