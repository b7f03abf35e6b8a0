package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/keeperapi"
)

// notifier has the notices of one session written by a child process, which holds a descriptor of that connection and of no
// other. The kernel may let a notice wait for an answer of the session's server, in a thread that cannot be killed and keeps
// all files of its process open: that of the keeper would keep all connections. A child ends with the keeper, as the socket
// between them does, but for such a thread, whose one connection somebody has to abort.
//
// States: idle (no child) → busy (a child, notices wait) → resting (a child, nothing waits) → idle after restLimit; closed
// from any of them, then the child ends when nothing waits any more. Its methods may be called from any goroutine.
type notifier struct {
	mu sync.Mutex
	// child is nil while idle.
	child  *notifierChild
	closed bool
}

// notifierChild is a running child; its fields are guarded by the notifier's mu.
type notifierChild struct {
	all     *children
	command *exec.Cmd
	socket  *os.File
	last    uint64
	waiting map[uint64]chan<- notifierReply
	rest    *time.Timer
}

// notifierOrder and notifierReply are the lines between keeper and child.
type (
	notifierOrder struct {
		Number  uint64   `json:"n"`
		Notices [][]byte `json:"notices"`
	}
	notifierReply struct {
		Number uint64 `json:"n"`
		Errno  int    `json:"errno"`
		// lost: the child ended before it replied.
		lost bool
	}
)

// restLimit is how long a child without work stays: its start takes milliseconds, its memory is a few MiB.
const restLimit = 10 * time.Second

// orderLimit is how long a child may leave its orders unread.
const orderLimit = time.Second

// notifierTries is how many children may die over one order; a notice may be written twice.
const notifierTries = 2

// write has the notices written, in order, and returns the errno of the last one. It waits as long as the kernel does.
func (n *notifier) write(all *children, connection *os.File, notices [][]byte) (errno int, err error) {
	defer all.turn()()
	for range notifierTries {
		replies, err := n.order(all, connection, notices)
		if err != nil {
			return 0, err
		}
		if reply := <-replies; !reply.lost {
			return reply.Errno, nil
		}
	}
	return 0, keeperapi.Errorf(keeperapi.Failed, "the process that writes notifications was killed: check whether the keeper's memory limit is too low")
}

func (n *notifier) order(all *children, connection *os.File, notices [][]byte) (<-chan notifierReply, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, os.ErrClosed
	}
	if n.child == nil {
		if err := n.start(all, connection); err != nil {
			return nil, err
		}
	}
	child := n.child
	child.last++
	child.rest.Stop()
	all.works(child)
	replies := make(chan notifierReply, 1)
	child.waiting[child.last] = replies
	// Orders are small and the child always reads, so this does not wait. One that was stopped, or killed over a notice that waits,
	// does not read: nothing of the keeper may wait for it, and listen says that its orders are lost.
	_ = child.socket.SetWriteDeadline(time.Now().Add(orderLimit))
	if err := json.NewEncoder(child.socket).Encode(notifierOrder{Number: child.last, Notices: notices}); err != nil {
		n.leave(child)
	}
	return replies, nil
}

// leave ends a child by ending what it reads; under mu.
func (n *notifier) leave(child *notifierChild) {
	n.child = nil
	raw, err := child.socket.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) })
	}
}

// start is called under mu. Our end alone is non-blocking, so that deadlines hold.
func (n *notifier) start(all *children, connection *os.File) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("start the process that writes notifications: %w", err)
	}
	_ = unix.SetNonblock(pair[0], true)
	socket, theirs := os.NewFile(uintptr(pair[0]), "notifier"), os.NewFile(uintptr(pair[1]), "notifier")
	defer func() { _ = theirs.Close() }()
	command := helper(notifierName)
	command.Stdin, command.ExtraFiles = theirs, []*os.File{connection}
	if err := command.Start(); err != nil {
		return errors.Join(fmt.Errorf("start the process that writes notifications: %w", err), socket.Close())
	}
	child := &notifierChild{all: all, command: command, socket: socket, waiting: map[uint64]chan<- notifierReply{}}
	child.rest = time.AfterFunc(all.rest, func() { n.rested(child) })
	n.child = child
	go n.listen(child)
	return nil
}

// listen passes replies on until the child ends or is left, and reaps it.
func (n *notifier) listen(child *notifierChild) {
	replies := json.NewDecoder(child.socket)
	for {
		var reply notifierReply
		if replies.Decode(&reply) != nil {
			break
		}
		n.mu.Lock()
		if waiting := child.waiting[reply.Number]; waiting != nil {
			delete(child.waiting, reply.Number)
			waiting <- reply
		}
		rests := len(child.waiting) == 0
		if rests {
			child.rest.Reset(child.all.rest)
			n.release(child)
		}
		n.mu.Unlock()
		if rests {
			child.all.rests(n, child)
		}
	}
	child.all.works(child)
	n.mu.Lock()
	if n.child == child {
		n.child = nil
	}
	for _, waiting := range child.waiting {
		waiting <- notifierReply{lost: true}
	}
	child.rest.Stop()
	n.mu.Unlock()
	_ = child.socket.Close()
	_ = child.command.Process.Kill() // one that was stopped ends no other way
	_ = child.command.Wait()         // how it ended is of no interest
}

// rested ends a child that had nothing to do.
func (n *notifier) rested(child *notifierChild) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.child == child && len(child.waiting) == 0 {
		n.leave(child)
	}
}

// release ends the child of a closed notifier when nothing waits any more; under mu.
func (n *notifier) release(child *notifierChild) {
	if n.closed && n.child == child && len(child.waiting) == 0 {
		n.leave(child)
	}
}

// close lets what was ordered be written, and nothing else. Idempotent.
func (n *notifier) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	if n.child != nil {
		n.release(n.child)
	}
}
