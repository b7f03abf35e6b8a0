package keylock

import (
	"sync"
	"testing"
)

func TestASecondTryIsRefusedUntilTheFirstLetsGo(t *testing.T) {
	var locks Locks
	unlock, ok := locks.TryLock("a")
	if !ok {
		t.Fatal("the first try was refused")
	}
	if _, ok := locks.TryLock("a"); ok {
		t.Fatal("two holders of one key")
	}
	if other, ok := locks.TryLock("b"); !ok {
		t.Fatal("another key was refused")
	} else {
		other()
	}
	unlock()
	unlock, ok = locks.TryLock("a")
	if !ok {
		t.Fatal("refused after release")
	}
	unlock()
	if len(locks.held) != 0 {
		t.Fatalf("keys stay behind: %v", locks.held)
	}
}

func TestOnlyOneHolderAtATime(t *testing.T) {
	var locks Locks
	var wait sync.WaitGroup
	count := 0 // guarded by the lock of "k": the race detector is the judge
	for range 20 {
		wait.Go(func() {
			for range 100 {
				unlock := locks.Lock("k")
				count++
				unlock()
			}
		})
	}
	wait.Wait()
	if count != 2000 {
		t.Fatalf("count = %d, want 2000", count)
	}
}
