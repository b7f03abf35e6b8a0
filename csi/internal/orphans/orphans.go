// Package orphans ends FUSE connections that nobody can serve any more and that do not end by themselves: a task which is
// dying in the kernel may hold the last descriptor of a connection while it waits for an answer over that connection. Every
// access of such a mount hangs until the connection is aborted.
//
// A keeper writes down which connections it holds, beside its socket, and gives each gateway a file with a shared lock along
// with a session. The kernel lets go of the lock when the gateway has ended, however it ended. So whoever finds the keeper
// gone knows which connections were its own, and whether a gateway that lives still has one. A gateway that was killed and cannot finish
// its exit keeps the lock: so the file says which process got it.
package orphans

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/mountinfo"
	"posixgateway.io/csi/internal/trusted"
)

// Record is one connection that a keeper holds.
type Record struct {
	ID string `json:"id"`
	// Device is "major:minor" of its mounts.
	Device string `json:"device"`
	// MountPoint is where it was mounted: the number of a device that is gone is the next mount's.
	MountPoint string `json:"mount_point"`
	// Held is since when the keeper that wrote this holds it, in ns since 1970. It tells a session from an earlier one of the same
	// id and mount point whose device number it got.
	Held int64 `json:"held,omitempty"`
	// Helped: its keeper leaves to helpers whatever may wait for a gateway, so it ends whenever it is killed. Keepers of
	// earlier versions do not.
	Helped bool `json:"helped,omitempty"`
	// BootID tells records of an earlier boot, whose device numbers are others' now.
	BootID string `json:"boot_id"`
}

// bootID is a variable for tests.
var bootID = func() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

func recordsOf(socket string) string { return socket + ".sessions" }

// lockOf is the file whose lock says that a gateway lives which has the session.
func lockOf(socket, id string) string {
	return filepath.Join(socket+".served", strings.ReplaceAll("s-"+id, string(filepath.Separator), "_"))
}

// IsMounted: the table has a mount of this project's that is the one of the record, and not one that got its device number.
func (r Record) IsMounted(table mountinfo.Table) bool {
	return slices.ContainsFunc(table.OfDevice(r.Device, keeperapi.FSType), func(mount mountinfo.Mount) bool {
		return mount.MountPoint == r.MountPoint
	})
}

// Save writes down what the keeper at the socket holds now.
func Save(socket string, held []Record) error {
	boot, err := bootID()
	if err != nil {
		return err
	}
	list := make([]Record, 0, len(held))
	for _, record := range held {
		record.BootID = boot
		list = append(list, record)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s.%d", recordsOf(socket), os.Getpid())
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, recordsOf(socket))
}

// Load reads what the last keeper at the socket held, of this boot; nothing where there was none. The error names what of it cannot be
// understood; the rest is returned all the same.
func Load(socket string) ([]Record, error) {
	text, err := trusted.ReadFile(recordsOf(socket))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	list, damage := parse(text)
	current := slices.DeleteFunc(list, func(record Record) bool { return record.BootID != boot })
	if damage != nil {
		return current, fmt.Errorf("%s: %w", recordsOf(socket), damage)
	}
	return current, nil
}

// parse returns each record that can be read, and why others cannot: that of another version, or all after the point where the list
// is cut off.
func parse(text []byte) (list []Record, damage error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return nil, errors.Join(errors.New("it is no list"), err)
	}
	for decoder.More() {
		var one json.RawMessage
		if err := decoder.Decode(&one); err != nil {
			return list, errors.Join(damage, err)
		}
		var record Record
		if err := json.Unmarshal(one, &record); err != nil {
			damage = errors.Join(damage, fmt.Errorf("record %.200q: %w", one, err))
			continue
		}
		list = append(list, record)
	}
	_, err := decoder.Token()
	return list, errors.Join(damage, err)
}

// SetAside keeps a list that Load does not understand, or not all of, before the next Save: under another name, once, which is returned.
func SetAside(socket string) (name string, err error) {
	list, err := os.Lstat(recordsOf(socket))
	if err != nil {
		return "", err
	}
	for number := 1; number <= maxSetAside; number++ {
		name = fmt.Sprintf("%s-damaged-%d", recordsOf(socket), number)
		err = os.Link(recordsOf(socket), name)
		if err == nil || !errors.Is(err, os.ErrExist) {
			return name, err
		}
		if there, statErr := os.Lstat(name); statErr == nil && os.SameFile(list, there) {
			return name, nil
		}
	}
	return "", fmt.Errorf("%d such lists lie beside it already, remove them: %w", maxSetAside, err)
}

// maxSetAside bounds the room that damage takes.
const maxSetAside = 8

// Lock returns a file for a gateway to hold as long as it lives; the caller closes its own copy when the gateway has one. pid is the
// gateway's process, 0 where that cannot be seen from here.
func Lock(socket, id string, pid int) (*os.File, error) {
	path := lockOf(socket, id)
	if err := trusted.Folder(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := writeName(path, pid); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockPatience); ; time.Sleep(lockPause) {
		err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(end) {
			return nil, errors.Join(fmt.Errorf("lock of %s: %w", path, err), file.Close())
		}
	}
}

// Whoever asks for Unserved has the lock for a moment.
const (
	lockPatience = time.Second
	lockPause    = time.Millisecond
)

// Unlock forgets that gateways had locks of the session: it has ended, or one that can have none, as it is of an earlier
// version, serves it now.
func Unlock(socket, id string) error {
	err := os.Remove(lockOf(socket, id))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Unserved: a gateway had a lock of the session, and none has it any more, or only those that were killed and cannot finish their exit.
// False where no gateway had one, as those of earlier versions have none.
func Unserved(socket, id string) bool {
	file, err := os.OpenFile(lockOf(socket, id), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil || isOfDying(file)
}

// isOfDying says that the gateway which took the session last is dying. Those before it had let go of the session, or were dying, too.
func isOfDying(file *os.File) bool {
	text, err := io.ReadAll(io.LimitReader(file, maxName))
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(string(text), " ")
	pid, err := strconv.Atoi(first)
	return err == nil && pid > 0 && nameOf(pid) == string(text) && Dying(pid)
}

const maxName = 256

// writeName says who has the lock from now on. On a full disk the name is cut, and whoever had it counts as one that lives.
func writeName(path string, pid int) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, _ = file.WriteString(nameOf(pid))
	return file.Close()
}

// nameOf tells a process from every other one: its id, when it started, and the namespace that the id is of. Empty where that is
// not known.
func nameOf(pid int) string {
	fields := statOf(pid, pid)
	space, err := os.Readlink("/proc/self/ns/pid")
	if pid <= 0 || len(fields) <= startField || err != nil {
		return ""
	}
	return fmt.Sprintf("%d %s %s", pid, fields[startField], space)
}

// Prune removes locks of sessions that are not among held, and files that a keeper was killed over.
func Prune(socket string, held []Record) {
	keep := map[string]bool{}
	for _, record := range held {
		keep[lockOf(socket, record.ID)] = true
	}
	locks, _ := filepath.Glob(filepath.Join(globbed(socket)+".served", "s-*"))
	unfinished, _ := filepath.Glob(globbed(recordsOf(socket)) + ".*")
	for _, path := range append(locks, unfinished...) {
		if !keep[path] {
			_ = os.Remove(path) // best effort: it only takes room
		}
	}
}

// Discard removes what a keeper wrote beside its socket, once it holds nothing; best effort.
func Discard(socket string) {
	Prune(socket, nil)
	_ = os.Remove(recordsOf(socket))
	_ = os.Remove(socket + ".served")
}

// globbed is a path as a pattern that matches nothing else.
func globbed(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// KeeperGone says that no keeper listens at the socket, or one that has been killed and cannot finish its exit. One that is slow
// or does not answer is not gone.
func KeeperGone(ctx context.Context, socket string) bool {
	conn, err := keeperapi.Dial(ctx, socket)
	if err != nil {
		return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED)
	}
	defer func() { _ = conn.Close() }()
	peer, err := conn.Peer()
	return err == nil && peer.Pid > 0 && Dying(int(peer.Pid))
}

// Dying says that a process was killed and waits in the kernel to finish its exit: its first task was killed or is in its exit,
// and no other can do anything. Whichever is last waits for the answer, be it the first.
func Dying(pid int) bool {
	if lookAt(pid, pid) != ends {
		return false
	}
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return !slices.ContainsFunc(tasks, func(task os.DirEntry) bool {
		id, err := strconv.Atoi(task.Name())
		return err == nil && lookAt(pid, id) == lives
	})
}

// prospect is what may be hoped of a task.
type prospect int

const (
	gone  prospect = iota
	ends           // it was killed, or is in its exit
	waits          // only the kernel can go on with it
	lives
)

// In what /proc says of a task behind its name, see proc_pid_stat(5).
const (
	stateField, flagsField, startField, pendingField = 0, 6, 19, 28
	exiting                                          = 4 // PF_EXITING of the kernel's <linux/sched.h>
	killed                                           = 1 << (unix.SIGKILL - 1)
)

func statOf(pid, task int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, task))
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

func lookAt(pid, task int) prospect {
	fields := statOf(pid, task)
	if len(fields) <= pendingField {
		return gone
	}
	flags, _ := strconv.ParseUint(fields[flagsField], 10, 64)
	pending, _ := strconv.ParseUint(fields[pendingField], 10, 64)
	switch {
	case flags&exiting != 0 || pending&killed != 0:
		return ends
	case fields[stateField] == "D":
		return waits
	}
	return lives
}

// connections is where fusectl belongs.
const connections = "/sys/fs/fuse/connections"

// Connection is a FUSE connection that can be aborted whatever its server does. The device number of a connection that has ended
// is the next mount's at once. So this is the file of fusectl, which the kernel takes off its connection when that ends
// (fuse_ctl_remove_conn of fs/fuse/control.c): open it first, see in the mount table read afterwards that the device is the one
// that is meant, and then abort. For one goroutine at a time; nil is one that has ended.
type Connection struct{ abort *os.File }

// Open finds the connection that has the device number now, "major:minor"; nil without an error: none has it. The caller closes it.
func Open(device string) (*Connection, error) {
	folder, err := openConnections()
	if err != nil {
		return nil, fmt.Errorf("fusectl cannot be used at %s (mount it there): %w", connections, err)
	}
	defer func() { _ = unix.Close(folder) }()
	_, minor, _ := strings.Cut(device, ":")
	fd, err := unix.Openat(folder, filepath.Join(minor, "abort"), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", filepath.Join(connections, minor, "abort"), err)
	}
	return &Connection{abort: os.NewFile(uintptr(fd), "abort")}, nil
}

// mounting is held by the one who may mount fusectl for a moment: a second mount of it at the same place fails.
var mounting sync.Mutex

// mountTries is for other processes that do the same.
const mountTries = 100

// openConnections opens the root of fusectl, which stays when it is unmounted. It is mounted for a moment where it is not.
func openConnections() (folder int, err error) {
	mounting.Lock()
	defer mounting.Unlock()
	for range mountTries {
		folder, err = openFusectl()
		if !errors.Is(err, unix.ENODEV) {
			return folder, err
		}
		err = unix.Mount("fusectl", connections, "fusectl", 0, "")
		if err == nil {
			folder, err = openFusectl()
			_ = unix.Unmount(connections, unix.MNT_DETACH)
			return folder, err
		}
		if !errors.Is(err, unix.EBUSY) {
			return -1, err
		}
	}
	return -1, err
}

// openFusectl fails with ENODEV where another file system is.
func openFusectl() (folder int, err error) {
	folder, err = unix.Open(connections, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	var there unix.Statfs_t
	err = unix.Fstatfs(folder, &there)
	if err == nil && there.Type != fusectlMagic {
		err = unix.ENODEV
	}
	if err != nil {
		_ = unix.Close(folder)
		return -1, err
	}
	return folder, nil
}

// fusectlMagic is FUSE_CTL_SUPER_MAGIC of fs/fuse/control.c.
const fusectlMagic = 0x65735543

// Abort ends the connection, unless it has ended.
func (c *Connection) Abort() error {
	if c == nil {
		return nil
	}
	if _, err := c.abort.WriteString("1"); err != nil {
		return fmt.Errorf("abort of a connection: %w", err)
	}
	return nil
}

// Close leaves the connection as it is.
func (c *Connection) Close() {
	if c != nil {
		_ = c.abort.Close()
	}
}

// Abort ends the connection of a record, if the mount table still has its mount. After an error it is to be tried again.
func Abort(record Record, read func() (mountinfo.Table, error)) (aborted bool, err error) {
	return abort(record, Open, read)
}

func abort(record Record, open func(device string) (*Connection, error), read func() (mountinfo.Table, error)) (aborted bool, err error) {
	connection, err := open(record.Device)
	if err != nil {
		return false, err
	}
	defer connection.Close()
	table, err := read()
	if err != nil || !record.IsMounted(table) {
		return false, err
	}
	if err := connection.Abort(); err != nil {
		return false, err
	}
	return connection != nil, nil
}
