package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.simulation.Step.Fault;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Lets calls of a mount fail. For one thread. */
final class Befalls {
    private final MemoryUfs.Kind ufs;
    private final Runnable stopMaster;

    Befalls(MemoryUfs.Kind ufs, Runnable stopMaster) {
        this.ufs = ufs;
        this.stopMaster = stopMaster;
    }

    /** Until it is removed; null: nothing does. */
    StoreFaults.@Nullable Fault during(Step step, MemoryMount mount) {
        Fault fault = step.fault();
        if (fault == null) {
            return null;
        }
        StoreFaults.Fault on = mount.faults().on(fault.call()).nth(fault.nth());
        return switch (fault.how()) {
            case LOSE_ANSWER -> on.loseAnswer();
            case LOSE_REQUEST -> on.loseRequest();
            case FAIL -> on.fail(Errno.EIO);
            case NO_SPACE -> on.fail(Errno.ENOSPC);
            case SLOW -> on.delay(Duration.ofSeconds(10));
            case MASTER_AWAY -> on.before(stopMaster);
            case MASTER_DIES_IN_THE_COPY, MASTER_DIES_BEFORE_THE_JOURNAL, MASTER_DIES_AFTER_THE_COPY ->
                ufs == MemoryUfs.Kind.OBJECT_STORE ? dies(fault.how(), on) : on.loseAnswer();
        };
    }

    private static StoreFaults.Fault dies(Fault.How how, StoreFaults.Fault on) {
        return how == Fault.How.MASTER_DIES_AFTER_THE_COPY
                ? on.dieAfterTheCopy()
                : on.dieInTheCopy(how == Fault.How.MASTER_DIES_IN_THE_COPY);
    }
}
