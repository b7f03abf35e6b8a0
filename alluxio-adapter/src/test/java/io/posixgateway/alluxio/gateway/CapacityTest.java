package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.time.ManualClock;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class CapacityTest {
    private final Queue<Runnable> asked = new ArrayDeque<>();
    private final ManualClock clock = new ManualClock();
    private final Capacity capacity = new Capacity(new MemoryFileSystem(64 << 20), asked::add, clock);

    private void seconds(long count) {
        clock.advanceNanos(count * 1_000_000_000L);
    }

    @Test
    void the_first_question_answers_at_once_and_starts_one_look() {
        assertThat(capacity.now().capacityBytes()).isZero();
        assertThat(capacity.now().condition()).isEmpty();
        assertThat(asked).hasSize(1);
    }

    @Test
    void figures_are_kept_and_their_age_is_told() {
        capacity.now();
        asked.remove().run();
        seconds(5);
        assertThat(capacity.now().capacityBytes()).isEqualTo(64 << 20);
        assertThat(capacity.now().ageMillis()).isEqualTo(5000);
        assertThat(asked).isEmpty();
        seconds(11);
        capacity.now();
        assertThat(asked).hasSize(1);
    }

    @Test
    void a_question_without_an_answer_makes_the_volume_unhealthy_and_is_not_asked_again() {
        capacity.now();
        seconds(16);
        assertThat(capacity.now().condition()).isEqualTo("Alluxio has not responded for 16 s");
        assertThat(asked).hasSize(1);
        asked.remove().run();
        assertThat(capacity.now().condition()).isEmpty();
    }

    @Test
    void a_question_that_fails_with_an_error_is_asked_again() {
        FileSystem failing = (FileSystem) Proxy.newProxyInstance(
                FileSystem.class.getClassLoader(), new Class<?>[] {FileSystem.class}, (proxy, method, arguments) -> {
                    throw new LinkageError("nobody expects this");
                });
        Capacity unknown = new Capacity(failing, asked::add, clock);
        unknown.now();
        Runnable question = asked.remove();
        assertThatThrownBy(question::run).isInstanceOf(LinkageError.class);
        seconds(16);
        assertThat(unknown.now().condition()).isEqualTo("Alluxio failed the last request for its capacity (errno 5)");
        assertThat(asked).hasSize(1);
    }
}
