package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.RunningListings.Listing;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListingReportsTest {
    private static final long SECOND = 1_000_000_000L;

    private final List<Listing> running = new ArrayList<>();
    private int reported;

    private final ListingReports reports = new ListingReports("vol", atLeastNanos -> {
        List<Listing> found = running.stream()
                .filter(listing -> listing.nanos() >= atLeastNanos)
                .toList();
        reported += found.isEmpty() ? 0 : 1;
        return found;
    });

    @Test
    void listings_inFlightForMinutes_areReportedOnceInTenSeconds() {
        running.add(new Listing("/big", 9 * SECOND, 1));
        reports.look();
        assertThat(reported).isZero();
        running.set(0, new Listing("/big", 600 * SECOND, 1));
        for (int second = 0; second < 30; second++) {
            reports.look();
        }
        assertThat(reported).isEqualTo(3);
    }

    @Test
    void line_namesTheLongestAndCountsTheOthers() {
        assertThat(ListingReports.line(
                        "vol", List.of(new Listing("/big", 73 * SECOND, 4), new Listing("/other", 12 * SECOND, 1))))
                .contains("Volume vol", "lists /big for 73 s, 4 calls wait", "1 more");
    }
}
