package provision

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// terms are the times of an election.
type terms struct {
	// lease is how long nobody else leads after the last sign of life, renew how long a leader tries to give one, retry how
	// often everybody looks.
	lease, renew, retry time.Duration
}

var usualTerms = terms{lease: 15 * time.Second, renew: 10 * time.Second, retry: 2 * time.Second}

// lead works whenever this process holds the lease, and gives it back when the context ends, so that a successor need not
// wait for its end. It fails when the lease is lost: another process may be at work by then.
func lead(ctx context.Context, client kubernetes.Interface, lease meta.ObjectMeta, times terms, log *slog.Logger, work func(context.Context)) error {
	identity := hostname() + "_" + string(uuid.NewUUID())
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: lease, Client: client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: times.lease, RenewDeadline: times.renew, RetryPeriod: times.retry, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				log.Info("leading", "lease", lease.Namespace+"/"+lease.Name, "as", identity)
				work(ctx)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	elector.Run(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("lost the lease %s/%s: another controller provisions", lease.Namespace, lease.Name)
}
