package mounts

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ErrWaits says that the kernel gave no answer in time: a file system on the way to a path hangs, such as that of kubelet's folder, or
// that of a mount over it.
var ErrWaits = errors.New("the kernel does not answer: a file system on the way to it hangs; end or unmount that one")

// callLimit is how long a call may wait for the kernel. Calls that wait for nobody take milliseconds.
const callLimit = 15 * time.Second

// Bounded is a System whose calls end. One that the kernel does not answer is left to itself, as nothing interrupts it, and as it may
// take effect yet, all others of its path are refused until it has ended. Any goroutine.
type Bounded struct {
	System

	limit time.Duration
	mu    sync.Mutex
	left  map[string][]string // guarded by mu: what is still being done with a path, by calls that began before one was left
}

// NewBounded is the machine's System, with bounds.
func NewBounded() *Bounded { return bounded(Kernel{}, callLimit) }

func bounded(system System, limit time.Duration) *Bounded {
	return &Bounded{System: system, limit: limit, left: map[string][]string{}}
}

// do calls, and returns what it returns, or ErrWaits.
func (b *Bounded) do(what, path string, call func() error) error {
	if earlier := b.leftAt(path); earlier != "" {
		return fmt.Errorf("%s %s: an earlier call to %s it has not ended: %w", what, path, earlier, ErrWaits)
	}
	result, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		result <- call()
	}()
	timer := time.NewTimer(b.limit)
	defer timer.Stop()
	select {
	case err := <-result:
		return err
	case <-timer.C:
	}
	b.leave(path, what)
	go func() {
		<-ended
		b.over(path, what)
	}()
	return fmt.Errorf("%s %s: %w", what, path, ErrWaits)
}

// leftAt is the first of what is still being done with a path, or "".
func (b *Bounded) leftAt(path string) (what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.left[path]) == 0 {
		return ""
	}
	return b.left[path][0]
}

func (b *Bounded) leave(path, what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left[path] = append(b.left[path], what)
}

func (b *Bounded) over(path, what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := slices.Index(b.left[path], what)
	b.left[path] = slices.Delete(b.left[path], one, one+1)
	if len(b.left[path]) == 0 {
		delete(b.left, path)
	}
}

// Resolve implements System.
func (b *Bounded) Resolve(path string) (string, error) {
	found := make(chan string, 1)
	err := b.do("find", path, func() error {
		resolved, err := b.System.Resolve(path)
		found <- resolved
		return err
	})
	if err != nil {
		return "", err
	}
	return <-found, nil
}

// OpenFolder holds a folder by an O_PATH descriptor, which touches no file system in it, and which the caller closes. One that comes too
// late is closed as any file is that nobody has.
func (b *Bounded) OpenFolder(path string) (*os.File, error) {
	opened := make(chan *os.File, 1)
	err := b.do("open", path, func() error {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err == nil {
			opened <- os.NewFile(uintptr(fd), path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return <-opened, nil
}

// MakeFolder implements System.
func (b *Bounded) MakeFolder(path string) error {
	return b.do("make", path, func() error { return b.System.MakeFolder(path) })
}

// RemoveFolder implements System.
func (b *Bounded) RemoveFolder(path string) error {
	return b.do("remove", path, func() error { return b.System.RemoveFolder(path) })
}

// Bind implements System.
func (b *Bounded) Bind(source, target string, readOnly bool) error {
	return b.do("mount", target, func() error { return b.System.Bind(source, target, readOnly) })
}

// BindShownAs implements System.
func (b *Bounded) BindShownAs(source, target string, readOnly bool, group, shown uint32) error {
	return b.do("mount", target, func() error { return b.System.BindShownAs(source, target, readOnly, group, shown) })
}

// Detach implements System.
func (b *Bounded) Detach(target string) error {
	return b.do("unmount", target, func() error { return b.System.Detach(target) })
}
