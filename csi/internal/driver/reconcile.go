package driver

import (
	"context"
	"sync"
	"time"
)

const (
	// reconcileTimeout is how long one volume may take; what is not done by then is left to the next publish.
	reconcileTimeout = 30 * time.Second
	// reconcilers is how many volumes are repaired at a time.
	reconcilers = 8
)

// Reconcile compares the records with the kernel's mounts and the keeper's sessions. Work that was cut off is undone, because
// kubelet asks again or has given up; sessions that were lost are made anew, unless they need a secret, which kubelet brings
// with the next publish. What it cannot do now it leaves for that time too.
//
// It is called before the first RPC and returns at once, with the lock of every recorded volume taken: an RPC for one that is still
// being repaired is answered with Aborted, and kubelet retries. So a volume that hangs keeps neither the driver from registering nor
// the others from being repaired. done is closed when all have been seen to.
func (n *Node) Reconcile(ctx context.Context) (done <-chan struct{}, err error) {
	keys, err := n.store.Keys()
	if err != nil {
		return nil, err
	}
	n.count()
	slots := make(chan struct{}, reconcilers)
	var volumes sync.WaitGroup
	for _, id := range keys {
		unlock := n.locks.Lock(id)
		volumes.Go(func() {
			defer unlock()
			n.reconcileAlone(ctx, id, slots)
		})
	}
	all := make(chan struct{})
	go func() {
		volumes.Wait()
		n.count()
		close(all)
	}()
	return all, nil
}

// reconcileAlone waits for a slot, and gives it back in time also where the volume hangs in a system call.
func (n *Node) reconcileAlone(ctx context.Context, id string, slots chan struct{}) {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	perVolume, cancel := context.WithTimeout(ctx, reconcileTimeout)
	defer cancel()
	context.AfterFunc(perVolume, func() { <-slots })
	if err := n.reconcile(perVolume, id); err != nil {
		n.Log.Warn("could not repair the volume; the next publish retries it", "volume", id, "error", err)
	}
}

func (n *Node) reconcile(ctx context.Context, id string) error {
	record, err := n.load(id)
	if err != nil {
		return err
	}
	if record == nil {
		return n.store.Remove(id)
	}
	if !record.Staged {
		n.Metrics.Repaired("incomplete volume")
		if err := n.lower(ctx, id, record.Staging); err != nil {
			return err
		}
		return n.store.Remove(id)
	}
	if record.Volume.HasSecrets {
		return nil
	}
	if err := n.establish(ctx, id, record, record.Volume, false); err != nil {
		return err
	}
	return n.rebind(record) // targets cut off between record and mount, and dead ones
}
