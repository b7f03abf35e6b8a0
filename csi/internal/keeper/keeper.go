// Package keeper holds FUSE sessions: for each the /dev/fuse connection and the session memory (a memfd). Whoever has
// duplicates of both can serve the mount, so a gateway may die and the next one goes on. The keeper knows nothing of
// file systems and never reads from a connection.
//
// Locks, outermost first: gate (shared by every operation, exclusive for a handover), ids (one operation per session),
// mu (the table, held for moments only). A session's fields are guarded by mu.
package keeper

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/keylock"
	"posixgateway.io/csi/internal/mountinfo"
	"posixgateway.io/csi/internal/orphans"
)

// Keeper is the table of sessions and the operations on it. Its methods may be called from any goroutine.
type Keeper struct {
	system     system
	generation string
	// patience is how long an unmount may take before its connection is aborted.
	patience time.Duration

	// notifiers are the children of all sessions.
	notifiers *children

	// remember writes down what is held, for whoever finds this keeper gone; best effort, under mu.
	remember func(held []orphans.Record)
	// ended removes what is written down for a session besides; best effort, under mu.
	ended func(id string)

	gate     sync.RWMutex
	ids      keylock.Locks
	mu       sync.Mutex
	sessions map[string]*session
	// left are sessions of a keeper that is gone, by id, which gateways may still bring; guarded by mu.
	left map[string]orphans.Record
}

// session owns its two descriptors.
type session struct {
	id          string
	target      string // as the client named it
	mountPoint  string // as mountinfo names it
	device      string // "major:minor" of the file system
	readOnly    bool
	memoryBytes int64
	takes       int64
	held        int64 // since when by this keeper, in ns since 1970
	record      []byte
	fuse        *os.File
	memory      *os.File
	// connection ends the session's connection, and never another one that got its device number; nil: it could not be opened yet.
	// It is guarded by the id's lock.
	connection connection
	notifier   notifier
	// noticing counts notices that are being written.
	noticing atomic.Int32
}

func (s *session) close() {
	s.notifier.close()
	if s.connection != nil {
		s.connection.Close()
	}
	keeperapi.CloseAll([]*os.File{s.fuse, s.memory})
}

// isBelow: its mount is where it was made, whatever was mounted over it since.
func (s *session) isBelow(table mountinfo.Table) bool {
	return slices.ContainsFunc(table.OfDevice(s.device, keeperapi.FSType), func(mount mountinfo.Mount) bool {
		return mount.MountPoint == s.mountPoint
	})
}

// New makes a keeper without sessions. generation names it and its successors.
func New(generation string) *Keeper {
	return &Keeper{
		system: kernel(), generation: generation, patience: 5 * time.Second, notifiers: newChildren(), sessions: map[string]*session{},
	}
}

// Sessions counts the sessions held and how many takes there were.
func (k *Keeper) Sessions() (count int, takes int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.sessions {
		takes += s.takes
	}
	return len(k.sessions), takes
}

func (k *Keeper) find(id string) *session {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sessions[id]
}

// mount makes a session, or finds it made; with other options than the request's it is refused. A session whose mount somebody else removed,
// or whose connection was aborted, is made anew; one whose mount is covered stays, as programs may use it.
func (k *Keeper) mount(request *keeperapi.Request) (existing bool, err error) {
	if err := request.Check(); err != nil {
		return false, err
	}
	defer k.ids.Lock(request.ID)()
	old := k.find(request.ID)
	if old != nil {
		if usable, err := k.isUsable(old, request); usable || err != nil {
			return usable, err
		}
	}
	made, err := k.newSession(request) // which fails where the old mount is there, whatever the table said
	if err != nil {
		return false, failed(err)
	}
	if old != nil {
		k.forget(old)
	}
	k.hold(made)
	return false, nil
}

// isUsable says whether a session is the one that is requested, or else is to be made anew: the mount of one whose connection has ended
// is removed here. The error is for one that is neither.
func (k *Keeper) isUsable(s *session, request *keeperapi.Request) (bool, error) {
	if s.target != request.Target {
		return false, keeperapi.Errorf(keeperapi.Exists,
			"session %s is mounted at %s: unmount it first, or use another id", s.id, s.target)
	}
	table, err := k.system.mounts()
	if err != nil {
		return false, failed(err)
	}
	top, found := table.At(s.mountPoint)
	switch {
	case found && top.Device == s.device && hasEnded(s.fuse):
		return false, k.unmountMount(s, true)
	case found && top.Device == s.device:
		return true, sameOptions(top, request)
	case found && s.isBelow(table):
		return false, keeperapi.Errorf(keeperapi.Failed,
			"a mount of type %s covers session %s at %s: unmount that first", top.FSType, s.id, s.target)
	}
	return false, nil
}

// hold puts a session into the table.
func (k *Keeper) hold(s *session) {
	_ = k.connect(s) // tried again when it is needed
	k.mu.Lock()
	defer k.mu.Unlock()
	s.held = time.Now().UnixNano()
	k.sessions[s.id] = s
	k.noteHeld()
}

// connect opens a session's connection, if that is still to do. Where its mount is gone, its device number may be another's: then nothing
// is ever aborted. The caller has the id's lock, or the session for itself.
func (k *Keeper) connect(s *session) error {
	if s.connection != nil {
		return nil
	}
	found, err := k.system.connection(s.device)
	if err != nil {
		return err
	}
	table, err := k.system.mounts()
	if err != nil {
		found.Close()
		return err
	}
	if !s.isBelow(table) {
		found.Close()
		found = (*orphans.Connection)(nil)
	}
	s.connection = found
	return nil
}

// abort ends a session's connection, unless it has ended; under the id's lock.
func (k *Keeper) abort(s *session) error {
	if hasEnded(s.fuse) {
		return nil
	}
	err := k.connect(s)
	if err == nil {
		err = s.connection.Abort()
	}
	if err != nil {
		return fmt.Errorf("the connection of session %s cannot be aborted, so calls to its mount may hang; repeat the request: %w", s.id, err)
	}
	return nil
}

// noteHeld is called under mu, after each change of the table.
func (k *Keeper) noteHeld() {
	if k.remember == nil {
		return
	}
	held := slices.Collect(maps.Values(k.left))
	for id, s := range k.sessions {
		if k.left[id].Device != s.device {
			held = append(held, orphans.Record{ID: id, Device: s.device, MountPoint: s.mountPoint, Held: s.held, Helped: true})
		}
	}
	k.remember(held)
}

// adopt holds a session that the client serves and that another keeper made, whose descriptors it brings; they are the keeper's
// from here on. Of a session that is held already nothing changes.
func (k *Keeper) adopt(request *keeperapi.Request, files []*os.File) (existing bool, err error) {
	kept := false
	defer func() {
		if !kept {
			keeperapi.CloseAll(files)
		}
	}()
	if err := request.Check(); err != nil {
		return false, err
	}
	defer k.ids.Lock(request.ID)()
	if old := k.find(request.ID); old != nil {
		if old.device != request.Device {
			return true, keeperapi.Errorf(keeperapi.Exists, "session %s is a different mount here, of device %s", old.id, old.device)
		}
		return true, nil
	}
	table, err := k.system.mounts()
	if err != nil {
		return false, failed(err)
	}
	mounts := table.OfDevice(request.Device, keeperapi.FSType)
	if len(mounts) == 0 {
		return false, keeperapi.Errorf(keeperapi.NotFound, "there is no mount of device %.40s here", request.Device)
	}
	mountPoint := mounts[0].MountPoint
	for _, mount := range mounts {
		if mount.MountPoint == request.Target {
			mountPoint = mount.MountPoint
		}
	}
	memory, err := files[1].Stat()
	if err != nil {
		return false, failed(err)
	}
	adopted := &session{
		id: request.ID, target: request.Target, mountPoint: mountPoint, device: request.Device, readOnly: request.ReadOnly,
		memoryBytes: memory.Size(), takes: request.Takes, fuse: files[0], memory: files[1],
	}
	if request.Data != nil && len(*request.Data) <= keeperapi.MaxRecordBytes {
		adopted.record = *request.Data
	}
	kept = true
	k.hold(adopted)
	return false, nil
}

func (k *Keeper) newSession(request *keeperapi.Request) (_ *session, err error) {
	made := &session{id: request.ID, target: request.Target, readOnly: request.ReadOnly, memoryBytes: request.MemoryBytes}
	defer func() {
		if err != nil {
			made.close()
		}
	}()
	if made.fuse, err = k.system.openFuse(); err != nil {
		return nil, err
	}
	if made.memory, err = k.system.openMemory(made.id, made.memoryBytes); err != nil {
		return nil, err
	}
	if made.mountPoint, err = k.system.mount(request, made.fuse); err != nil {
		return nil, err
	}
	table, err := k.system.mounts()
	if err != nil {
		return nil, errors.Join(err, k.system.unmount(made.mountPoint, true))
	}
	if made.device, err = deviceOf(table, made.mountPoint, request.Source); err != nil {
		return nil, err
	}
	return made, nil
}

// deviceOf finds the mount that was just made, be it covered by another one. Where it cannot be told from another nothing there is
// touched: without its descriptors it is dead. Through propagation the same one may stand there twice.
func deviceOf(table mountinfo.Table, mountPoint, source string) (device string, err error) {
	for _, mount := range table {
		if mount.MountPoint != mountPoint || mount.FSType != keeperapi.FSType || mount.Source != source {
			continue
		}
		if device != "" && device != mount.Device {
			return "", fmt.Errorf("another program has mounted %s at %s at the same time: end it, unmount that, and repeat the request", source, mountPoint)
		}
		device = mount.Device
	}
	if device == "" {
		return "", fmt.Errorf("the mount of %s at %s disappeared at once: check whether another program unmounts it", source, mountPoint)
	}
	return device, nil
}

// take counts a take and returns the session's descriptors, which stay the keeper's. The caller must hold the id's lock
// for as long as it uses them.
func (k *Keeper) take(id string) (keeperapi.Taken, []*os.File, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.sessions[id]
	if s == nil {
		return keeperapi.Taken{}, nil, noSession(id)
	}
	s.takes++
	return keeperapi.Taken{
		ID: id, Target: s.target, MemoryBytes: s.memoryBytes, ReadOnly: s.readOnly, Takes: s.takes - 1,
		Device: s.device,
	}, []*os.File{s.fuse, s.memory}, nil
}

// record stores data with a session, or returns what is stored when data is nil.
func (k *Keeper) record(id string, data *[]byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.sessions[id]
	if s == nil {
		return nil, noSession(id)
	}
	if data == nil {
		return append([]byte{}, s.record...), nil
	}
	if len(*data) > keeperapi.MaxRecordBytes {
		return nil, keeperapi.Errorf(keeperapi.Invalid, "the record has %d bytes: give at most %d", len(*data), keeperapi.MaxRecordBytes)
	}
	s.record = *data
	return []byte{}, nil
}

func (k *Keeper) list() ([]keeperapi.Session, error) {
	table, err := k.system.mounts()
	if err != nil {
		return nil, failed(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	list := make([]keeperapi.Session, 0, len(k.sessions))
	for _, s := range k.sessions {
		list = append(list, keeperapi.Session{
			ID: s.id, Target: s.target, ReadOnly: s.readOnly, Takes: s.takes, HasRecord: len(s.record) > 0,
			Mounted: len(table.OfDevice(s.device, keeperapi.FSType)) > 0, Ended: hasEnded(s.fuse),
		})
	}
	slices.SortFunc(list, func(a, b keeperapi.Session) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

// unmount ends a session: the mount first, then the descriptors, so that a last reader sees an answer or the end of the
// connection, never a hang. An unmount that takes too long is helped by aborting the connection.
func (k *Keeper) unmount(id string, force bool) (existing bool, err error) {
	if err := keeperapi.CheckID(id); err != nil {
		return false, err
	}
	defer k.ids.Lock(id)()
	s := k.find(id)
	if s == nil {
		return false, nil
	}
	_ = k.connect(s) // while its mount is there
	table, err := k.system.mounts()
	if err != nil {
		return true, failed(err)
	}
	if top, found := table.At(s.mountPoint); found && top.Device == s.device {
		if err := k.unmountMount(s, force); err != nil {
			return true, failed(err)
		}
	}
	if err := k.endNotices(s); err != nil {
		return true, failed(err)
	}
	k.forget(s)
	return true, nil
}

// unmountMount leaves a session as it is whose connection has to be aborted and cannot be.
func (k *Keeper) unmountMount(s *session, force bool) error {
	if force {
		if err := k.abort(s); err != nil {
			return failed(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- k.detach(s.mountPoint, force) }()
	select {
	case err := <-done:
		return err
	case <-time.After(k.patience):
	}
	if err := k.abort(s); err != nil {
		return failed(err)
	}
	k.forget(s)
	select {
	case err := <-done:
		return err
	case <-time.After(k.patience):
		return keeperapi.Errorf(keeperapi.Failed,
			"the unmount of %s does not finish in the kernel: end the gateway that still holds its connection", s.mountPoint)
	}
}

// detach removes the mount; at once when force, else only after a plain unmount found it busy. A mount that somebody
// else removed meanwhile is as good.
func (k *Keeper) detach(mountPoint string, force bool) error {
	err := error(unix.EBUSY)
	if !force {
		err = k.system.unmount(mountPoint, false)
	}
	if errors.Is(err, unix.EBUSY) {
		err = k.system.unmount(mountPoint, true)
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// forget drops a session and closes its descriptors; harmless when done before.
func (k *Keeper) forget(s *session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sessions[s.id] == s {
		delete(k.sessions, s.id)
		s.close()
		k.noteHeld()
		if k.ended != nil {
			k.ended(s.id)
		}
	}
}

func noSession(id string) error {
	return keeperapi.Errorf(keeperapi.NotFound, "there is no session %.80q: mount it first", id)
}

// failed makes any error a refusal.
func failed(err error) error {
	if refusal, ok := errors.AsType[*keeperapi.Error](err); ok {
		return refusal
	}
	return keeperapi.Errorf(keeperapi.Failed, "%v", err)
}
