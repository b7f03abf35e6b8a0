package driver

import (
	"context"
	"time"
)

// Reconcile compares the records with the kernel's mounts and the keeper's sessions, before the first RPC. Work that was
// cut off is undone, because kubelet asks again or has given up; sessions that were lost are made anew, unless they need
// a secret, which kubelet brings with the next publish. What it cannot do now it leaves for that time too.
func (n *Node) Reconcile(ctx context.Context) error {
	keys, err := n.store.Keys()
	if err != nil {
		return err
	}
	for _, id := range keys {
		func() {
			defer n.locks.Lock(id)()
			perVolume, cancel := context.WithTimeout(ctx, 30*time.Second)
			defer cancel()
			if err := n.reconcile(perVolume, id); err != nil {
				n.Log.Warn("could not repair the volume; the next publish retries it", "volume", id, "error", err)
			}
		}()
	}
	n.count()
	return nil
}

func (n *Node) reconcile(ctx context.Context, id string) error {
	record, err := n.load(id)
	if err != nil || record == nil {
		return err
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
