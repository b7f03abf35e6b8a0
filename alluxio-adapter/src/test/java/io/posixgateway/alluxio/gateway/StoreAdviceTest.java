package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What the doctor says of each Alluxio, however it answers. */
class StoreAdviceTest {
    private static final long LIMIT_NANOS = 60_000_000_000L;

    private final AtomicInteger asked = new AtomicInteger();

    private interface Answer {
        List<String> of() throws StoreException, InterruptedException;
    }

    private Store store(String cluster, Answer answer) {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("cluster")) {
                        return cluster;
                    }
                    assertThat(method.getName()).isEqualTo("advice");
                    asked.incrementAndGet();
                    return answer.of();
                });
    }

    @Test
    void eachAlluxioIsAskedOnce() {
        Store one = store("a/<unresolved>:1", () -> List.of("set this", "set that"));
        String text = StoreAdvice.text(List.of(one, one, store("b:1", List::of)), LIMIT_NANOS);
        assertThat(text).isEqualTo("Alluxio a:1: set this\nAlluxio a:1: set that\n");
        assertThat(asked).hasValue(2);
    }

    @Test
    void withoutAdviceItSaysSo() {
        assertThat(StoreAdvice.text(List.of(store("a:1", List::of)), LIMIT_NANOS))
                .isEqualTo(StoreAdvice.NONE);
        assertThat(StoreAdvice.text(List.of(), LIMIT_NANOS)).isEqualTo(StoreAdvice.NONE);
    }

    @Test
    void whatIsWrongWithTheKernelStandsFirst() {
        assertThat(StoreAdvice.and("", StoreAdvice.NONE)).isEqualTo(StoreAdvice.NONE);
        assertThat(StoreAdvice.and("too short", StoreAdvice.NONE)).isEqualTo("kernel: too short\n");
        assertThat(StoreAdvice.and("too short", "Alluxio a:1: set this\n"))
                .isEqualTo("kernel: too short\nAlluxio a:1: set this\n");
    }

    @Test
    void anAlluxioThatFailsOrDoesNotAnswerHoldsUpNoOther() {
        CountDownLatch never = new CountDownLatch(1);
        Store hangs = store("a:1", () -> {
            never.await();
            return List.of();
        });
        Store fails = store("b:1", () -> {
            throw new StoreException(Errno.EIO, "refused", null);
        });
        assertThat(StoreAdvice.text(List.of(hangs, fails), 0))
                .contains("Alluxio a:1: not available: the master did not answer in time");
        assertThat(StoreAdvice.text(List.of(fails), LIMIT_NANOS)).isEqualTo("Alluxio b:1: not available: refused\n");
        never.countDown();
    }
}
