package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class KnownAlluxioTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Answers for its cluster id, and where it is, alone. */
    private static Store answering(Callable<String> clusterId) {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(),
                new Class<?>[] {Store.class},
                (store, method, arguments) -> method.getName().equals("clusterId") ? clusterId.call() : "masters");
    }

    /** The thread that hears of the change may hold what the one that asks waits for when it is answered. */
    @Test
    void changed_waitsForNoAnswerOfAlluxio() throws StoreException {
        CompletableFuture<KnownAlluxio> subject = new CompletableFuture<>();
        AtomicReference<String> answer = new AtomicReference<>("before");
        Store store = answering(() -> {
            if (!answer.compareAndSet("before", "after")) {
                return answer.get();
            }
            Thread hears = new Thread(() -> subject.join().changed());
            hears.start();
            Waiting.until("it heard", LIMIT, () -> !hears.isAlive());
            return "before";
        });
        KnownAlluxio known = new KnownAlluxio(store, null, "/");
        subject.complete(known);
        assertThat(known.difference()).isNull();
    }

    @Test
    void difference_isNone_onceNothingOfTheAlluxioBeforeIsLeft() throws StoreException {
        AtomicReference<String> answer = new AtomicReference<>("before");
        KnownAlluxio subject = new KnownAlluxio(answering(answer::get), null, "/");
        assertThat(subject.difference()).isNull();
        answer.set("after");
        subject.changed();
        assertThat(subject.difference()).contains("before").contains("after");
        subject.record(true);
        assertThat(subject.difference()).isNull();
    }
}
