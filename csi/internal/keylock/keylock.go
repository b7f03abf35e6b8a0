// Package keylock is a set of locks named by strings: one operation per volume, without a lock per volume that stays.
package keylock

import "sync"

// Locks is ready to use as its zero value. Locks are not reentrant.
type Locks struct {
	mu sync.Mutex
	// held is guarded by mu; a key is present while somebody holds it, its channel is closed on release.
	held map[string]chan struct{}
}

// TryLock takes the lock of key, or says that somebody else has it. The caller must call unlock exactly once.
func (l *Locks) TryLock(key string) (unlock func(), ok bool) {
	unlock, _ = l.take(key)
	return unlock, unlock != nil
}

// Lock waits for the lock of key. The caller must call unlock exactly once.
func (l *Locks) Lock(key string) (unlock func()) {
	for {
		unlock, busy := l.take(key)
		if unlock != nil {
			return unlock
		}
		<-busy
	}
}

// take returns the unlock function, or nil and a channel that is closed when the present holder lets go.
func (l *Locks) take(key string) (unlock func(), busy <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if holder, taken := l.held[key]; taken {
		return nil, holder
	}
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	released := make(chan struct{})
	l.held[key] = released
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, key)
		close(released)
	}, nil
}
