package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import alluxio.exception.status.NotFoundException;
import alluxio.exception.status.UnavailableException;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ListingRetriesTest {
    private final ManualClock clock = new ManualClock();
    private final ListingRetries retries = new ListingRetries(clock);
    private int calls;

    /** A listing whose calls take so long and fail, but the last one. */
    private String run(Duration each, Exception failure, int failing) throws StoreException {
        return retries.run("/big", () -> {
            clock.advance(each);
            if (++calls <= failing) {
                throw ErrnoTable.exception("list /big", failure);
            }
            return "listed";
        });
    }

    @Test
    void listing_cutOffWhileTheMasterWorked_isRepeated() throws Exception {
        assertThat(run(Duration.ofMinutes(4), new UnavailableException("Keepalive failed"), 2))
                .isEqualTo("listed");
        assertThat(calls).isEqualTo(3);
    }

    @Test
    void listing_ofAMasterThatTakesNoCalls_fails() {
        assertThatThrownBy(() -> run(Duration.ofSeconds(9), new UnavailableException("refused"), 1))
                .hasMessageContaining("refused");
        assertThat(calls).isEqualTo(1);
    }

    @Test
    void listing_thatTheMasterRefuses_fails() {
        assertThatThrownBy(() -> run(Duration.ofMinutes(4), new NotFoundException("gone"), 1))
                .hasMessageContaining("gone");
        assertThat(calls).isEqualTo(1);
    }

    @Test
    void listing_thatIsCutOffAgainAndAgain_fails() {
        assertThatThrownBy(() -> run(Duration.ofMinutes(4), new UnavailableException("Keepalive failed"), 99))
                .hasMessageContaining("Keepalive");
        assertThat(calls).isEqualTo(ListingRetries.MOST_TRIES);
    }

    @Test
    void listing_ofAnInterruptedThread_isNotRepeated() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> run(Duration.ofMinutes(4), new UnavailableException("interrupted"), 1))
                .hasMessageContaining("interrupted");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(calls).isEqualTo(1);
    }
}
