package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.time.Clock;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class KernelInvalidatorTest {
    private static final long PAGES_IN_FLIGHT = 1;
    private static final long CHANGED = 2;
    private static final long SAME = 3;

    private static final int MANY = 100;

    private final CountDownLatch told = new CountDownLatch(1);
    private final CountDownLatch toldAgain = new CountDownLatch(2);
    private final CountDownLatch waits = new CountDownLatch(1);
    private final CountDownLatch arrived = new CountDownLatch(1);
    /** Nodes whose attributes it was told of alone. */
    private final List<Long> attributes = new CopyOnWriteArrayList<>();

    /** Waits, as the real one does, for pages of a file that a worker is asked for. */
    private Kernel kernel() {
        return (Kernel) Proxy.newProxyInstance(
                Kernel.class.getClassLoader(), new Class<?>[] {Kernel.class}, (proxy, method, arguments) -> {
                    long node = (Long) arguments[0];
                    if ((Long) arguments[1] < 0) {
                        attributes.add(node);
                    } else if (node == PAGES_IN_FLIGHT) {
                        waits.countDown();
                        arrived.await();
                        toldAgain.countDown();
                    } else {
                        told.countDown();
                    }
                    return 0;
                });
    }

    /** A worker that does not answer a read would keep the kernel from all that others change. */
    @Test
    @Timeout(60)
    void notification_whileAnotherWaitsForPages_isTold() throws Exception {
        try (KernelInvalidator invalidator = new KernelInvalidator(Clock.system())) {
            invalidator.started(kernel());
            invalidator.changed(PAGES_IN_FLIGHT);
            waits.await();
            for (int i = 0; i < MANY; i++) {
                invalidator.changed(PAGES_IN_FLIGHT);
            }
            invalidator.changed(CHANGED);
            told.await();
            assertThat(arrived.getCount()).as("it still waits").isEqualTo(1);
            arrived.countDown();
            toldAgain.await();
        }
    }

    /** The kernel would read the new content to the old length. */
    @Test
    @Timeout(60)
    void tellLength_ofFileWhoseNotificationWaits_isToldAtOnce() throws Exception {
        try (KernelInvalidator invalidator = new KernelInvalidator(Clock.system())) {
            invalidator.started(kernel());
            invalidator.changed(PAGES_IN_FLIGHT);
            waits.await();
            invalidator.tellLength(SAME);
            assertThat(attributes).isEmpty();
            invalidator.tellLength(PAGES_IN_FLIGHT);
            assertThat(attributes).containsExactly(PAGES_IN_FLIGHT);
            arrived.countDown();
        }
    }
}
