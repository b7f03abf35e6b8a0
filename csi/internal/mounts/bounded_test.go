package mounts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/fusetest"
)

// hung is a System that has a folder made when it is let.
type hung struct {
	Kernel
	let  chan struct{}
	made map[string]int
}

func (h *hung) MakeFolder(path string) error {
	if path == "/hung" {
		<-h.let
	}
	h.made[path]++
	return nil
}

func TestACallThatTheKernelDoesNotAnswerEndsAndKeepsItsPathUntilItIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system := &hung{let: make(chan struct{}), made: map[string]int{}}
		b := bounded(system, time.Minute)
		err := b.MakeFolder("/hung")
		if !errors.Is(err, ErrWaits) || !strings.HasPrefix(err.Error(), "make /hung: the kernel does not answer") {
			t.Fatal(err)
		}
		began := time.Now()
		err = b.Bind("/source", "/hung", false)
		if !errors.Is(err, ErrWaits) || !strings.Contains(err.Error(), "an earlier call to make it") || time.Since(began) != 0 {
			t.Fatal("a bind that the late call may disturb:", err, time.Since(began))
		}
		if err := b.MakeFolder("/other"); err != nil {
			t.Fatal(err)
		}
		close(system.let)
		synctest.Wait()
		if err := b.MakeFolder("/hung"); err != nil || system.made["/hung"] != 2 {
			t.Fatal(err, system.made)
		}
	})
}

func TestAPathIsFreeOnlyWhenTheLastCallThatWasLeftHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system := &hung{let: make(chan struct{}), made: map[string]int{}}
		b := bounded(system, time.Minute)
		looked := make(chan struct{})
		go func() { _ = b.do("find", "/hung", func() error { <-looked; return nil }) }()
		if err := b.MakeFolder("/hung"); !errors.Is(err, ErrWaits) {
			t.Fatal(err)
		}
		close(looked)
		synctest.Wait()
		if err := b.Detach("/hung"); !errors.Is(err, ErrWaits) {
			t.Fatal("the folder may still be made:", err)
		}
		close(system.let)
		synctest.Wait()
		if err := b.MakeFolder("/hung"); err != nil {
			t.Fatal(err)
		}
	})
}

// counted says when calls that make something have ended.
type counted struct {
	Kernel
	waiting *sync.WaitGroup
}

func (c counted) MakeFolder(path string) error {
	defer c.waiting.Done()
	return c.Kernel.MakeFolder(path)
}

func (c counted) Bind(source, target string, readOnly bool) error {
	defer c.waiting.Done()
	return c.Kernel.Bind(source, target, readOnly)
}

// Nobody serves it: each look below it waits, and only its end ends that.
func TestAFolderBelowAMountThatHangsIsNotWaitedFor(t *testing.T) {
	fusetest.RequireFuse(t)
	folder := t.TempDir()
	fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	data := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fuse.Fd())
	if err := unix.Mount("test", folder, "fuse", unix.MS_NOSUID|unix.MS_NODEV, data); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	waiting.Add(2)
	b := bounded(counted{waiting: &waiting}, time.Millisecond)
	t.Cleanup(func() {
		_ = fuse.Close() // what waits ends with the connection
		waiting.Wait()   // and makes nothing in the folder that was below
		if err := unix.Unmount(folder, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if _, err := b.Resolve(filepath.Join(folder, "a", "b")); !errors.Is(err, ErrWaits) {
		t.Error("resolve:", err)
	}
	if _, err := b.OpenFolder(filepath.Join(folder, "e")); !errors.Is(err, ErrWaits) {
		t.Error("open:", err)
	}
	if err := b.MakeFolder(filepath.Join(folder, "c")); !errors.Is(err, ErrWaits) {
		t.Error("make folder:", err)
	}
	if err := b.Bind(t.TempDir(), filepath.Join(folder, "d"), false); !errors.Is(err, ErrWaits) {
		t.Error("bind:", err)
	}
}
