package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.RunningListings.Listing;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RunningListingsTest {
    private final ManualClock clock = new ManualClock();
    private final RunningListings listings = new RunningListings(clock);

    @Test
    void all_givesEachDirectoryOnceTheLongestFirst() {
        listings.begin("/other");
        clock.advance(Duration.ofSeconds(5));
        long first = listings.begin("/big");
        clock.advance(Duration.ofSeconds(60));
        listings.begin("/big");
        assertThat(listings.all(0))
                .containsExactly(
                        new Listing("/other", Duration.ofSeconds(65).toNanos(), 1),
                        new Listing("/big", Duration.ofSeconds(60).toNanos(), 2));
        listings.end(first);
        assertThat(listings.all(1)).extracting(Listing::path).containsExactly("/other");
    }
}
