package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.mounted.LogLines;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What of the failures of a mount is logged. */
class FailuresTest {
    private final ManualClock clock = new ManualClock();
    private final Failures failures = new Failures("/logged", clock);
    private final LogLines log = new LogLines();

    @AfterEach
    void end() {
        log.close();
    }

    private void answers(StoreException failure) {
        assertThat(failures.answer("open", failure)).isEqualTo(-failure.errno());
    }

    @Test
    void refusedLogin_isLoggedWithItsAdvice_butNotForEachCall() {
        StoreException refused = StoreException.loginRefused("check the credentials", new IllegalStateException());
        answers(refused);
        answers(refused);
        answers(refused);
        assertThat(log.with("open on /logged failed with EACCES"))
                .singleElement()
                .asString()
                .contains("check the credentials");
        clock.advanceNanos(Duration.ofSeconds(10).toNanos());
        answers(refused);
        assertThat(log.with("open on /logged failed with EACCES"))
                .hasSize(2)
                .last()
                .asString()
                .contains("(2 more since the last such line)");
    }

    @Test
    void pathThatIsForbidden_isTheProgramsOwnBusiness() {
        answers(new StoreException(Errno.EACCES, "forbidden", null));
        assertThat(log.with("/logged")).isEmpty();
    }
}
