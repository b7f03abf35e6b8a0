package driver

import (
	"context"
	"slices"
	"time"

	"posixgateway.io/csi/internal/orphans"
)

// OrphanWatch frees a node whose keeper and gateway were killed together: a thread of the dying keeper may wait in the kernel
// for an answer that nobody gives, hold the connections meanwhile, and so keep its pod, and the next keeper, from coming. A
// next keeper in the same process namespace does this itself; in a cluster there is none until the dying one is gone.
type OrphanWatch struct {
	// KeeperSocket is where the keeper listens, and beside it lies what it holds.
	KeeperSocket string
	Parts
	// Gone says that no keeper listens, or that it was killed and cannot end: see orphans.KeeperGone.
	Gone func(ctx context.Context) bool
	// Abort ends the connection of a record, if its mount is there.
	Abort func(record orphans.Record) (aborted bool, err error)

	silentSince time.Time
	// complaint is what was wrong with the list at the last look.
	complaint string
	// left is what the keeper had written down when it was heard last, or wrote since.
	left []orphans.Record
	// aborted are some of them.
	aborted map[orphans.Record]bool
}

const (
	// keeperSilence is how long no keeper may be there before its connections count as left. One that gives no answer is slow,
	// and its sessions wait for their gateway, unless it is of a version that may itself be waiting in the kernel.
	keeperSilence = 6 * time.Second
	orphanLook    = 2 * time.Second
)

// Run looks until the context ends.
func (w *OrphanWatch) Run(ctx context.Context) {
	for {
		w.Look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(orphanLook):
		}
	}
}

// Look asks the keeper, and aborts what it left when it has been silent for long.
func (w *OrphanWatch) Look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, orphanLook)
	defer cancel()
	gone := w.Gone(ctx)
	if _, err := w.Keeper.Info(ctx); err == nil && !gone {
		w.silentSince = time.Time{}
		return
	}
	records, isRead := w.load()
	if !isRead {
		return // it says nothing of who wrote it: the silence goes on
	}
	table, err := w.Mounts.Mounts()
	if err != nil {
		w.Log.Warn("cannot read the mounts", "error", err)
		return
	}
	if !w.isSilent(records) {
		return
	}
	for _, record := range records {
		if (gone || !record.Helped) && record.IsMounted(table) && !w.aborted[record] && orphans.Unserved(w.KeeperSocket, record.ID) {
			w.abort(record)
		}
	}
}

// load reads what the keeper wrote down; false: nothing of it can be read.
func (w *OrphanWatch) load() ([]orphans.Record, bool) {
	records, err := orphans.Load(w.KeeperSocket)
	w.complain(err)
	return records, err == nil || len(records) > 0
}

// complain warns of a list that is not understood, once for as long as it is the same.
func (w *OrphanWatch) complain(err error) {
	complaint := ""
	if err != nil {
		complaint = err.Error()
	}
	if complaint != "" && complaint != w.complaint {
		w.Log.Warn("cannot determine all sessions that the keeper held", "error", err)
	}
	w.complaint = complaint
}

// isSilent says that the keeper which wrote the records has been gone, or has not answered, for long. One that came and went
// between two looks has written others.
func (w *OrphanWatch) isSilent(records []orphans.Record) bool {
	if w.silentSince.IsZero() || !sameRecords(w.left, records) {
		w.silentSince, w.left, w.aborted = w.Now(), records, map[orphans.Record]bool{}
	}
	return w.Now().Sub(w.silentSince) >= keeperSilence
}

// sameRecords in whatever order.
func sameRecords(one, other []orphans.Record) bool {
	return len(one) == len(other) && !slices.ContainsFunc(one, func(record orphans.Record) bool { return !slices.Contains(other, record) })
}

func (w *OrphanWatch) abort(record orphans.Record) {
	aborted, err := w.Abort(record)
	if err != nil {
		w.Log.Warn("cannot abort a connection that no process can serve; retrying", "volume", record.ID, "error", err)
		return
	}
	w.aborted[record] = true
	if !aborted {
		return
	}
	w.Metrics.Repaired("orphaned connection")
	w.Log.Error("keeper and gateway have both ended; aborted a connection that no process can serve",
		"volume", record.ID, "device", record.Device)
}
