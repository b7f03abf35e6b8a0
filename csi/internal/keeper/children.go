package keeper

import (
	"sync"
	"time"
)

// children bounds how many notifiers' children there are in all: each takes memory of the keeper's limit, and with the keeper the
// mounts would end. At most maxResting do nothing, the others work, at most maxWorking at a time: an order waits for its turn. One
// that waits in the kernel gives its turn back after turnLimit, so the only children beyond are those of sessions whose server does
// not answer. Its methods may be called from any goroutine.
type children struct {
	turns chan struct{}
	// rest is how long a child without work stays.
	rest time.Duration

	mu sync.Mutex
	// resting has the one that has rested longest first; guarded by mu.
	resting []restingChild
}

type restingChild struct {
	of    *notifier
	child *notifierChild
}

const (
	maxResting = 8
	maxWorking = 16
	turnLimit  = time.Second
)

func newChildren() *children {
	return &children{turns: make(chan struct{}, maxWorking), rest: restLimit}
}

// turn waits for one and returns what gives it back, which may be called again.
func (c *children) turn() (end func()) {
	c.turns <- struct{}{}
	once := sync.OnceFunc(func() { <-c.turns })
	stuck := time.AfterFunc(turnLimit, once)
	return func() {
		stuck.Stop()
		once()
	}
}

// rests notes a child that has nothing to do, and ends the one that has had nothing for longest when there are too many. Not under a
// notifier's mu.
func (c *children) rests(n *notifier, child *notifierChild) {
	c.mu.Lock()
	c.forget(child)
	c.resting = append(c.resting, restingChild{of: n, child: child})
	var surplus []restingChild
	if count := len(c.resting) - maxResting; count > 0 {
		surplus = append(surplus, c.resting[:count]...)
		c.resting = c.resting[count:]
	}
	c.mu.Unlock()
	for _, one := range surplus {
		one.of.rested(one.child)
	}
}

// works notes that a child does something, or is no more.
func (c *children) works(child *notifierChild) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(child)
}

// forget is called under mu.
func (c *children) forget(child *notifierChild) {
	for i, one := range c.resting {
		if one.child == child {
			c.resting = append(c.resting[:i], c.resting[i+1:]...)
			return
		}
	}
}
