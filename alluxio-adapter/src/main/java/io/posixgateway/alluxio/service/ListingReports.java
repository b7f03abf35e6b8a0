package io.posixgateway.alluxio.service;

import io.posixgateway.alluxio.client.RunningListings.Listing;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports in the log which directory Alluxio lists for long, at most every ten seconds for a volume. One thread, that of the watchdog. */
final class ListingReports {
    /** A listing that is in flight for so long is reported; each look after that is one second later. */
    static final long LONG_NANOS = 10_000_000_000L;

    private static final int LOOKS = 10;
    private static final Logger LOG = LoggerFactory.getLogger(ListingReports.class);

    private final String volume;
    private final Source source;
    private int quiet;

    /** Where they are asked for; never waits. */
    @FunctionalInterface
    interface Source {
        /** Those in flight for at least so long, the longest first. */
        List<Listing> listings(long atLeastNanos);
    }

    ListingReports(String volume, Source source) {
        this.volume = volume;
        this.source = source;
    }

    /** Once a second. */
    void look() {
        if (quiet > 0) {
            quiet--;
            return;
        }
        List<Listing> all = source.listings(LONG_NANOS);
        if (!all.isEmpty()) {
            quiet = LOOKS - 1;
            LOG.info("{}", line(volume, all));
        }
    }

    /** The longest one by its path, the others by their number. */
    static String line(String volume, List<Listing> all) {
        Listing longest = all.get(0);
        String others = all.size() == 1 ? "" : "; " + (all.size() - 1) + " more directories are being listed";
        return "Volume " + volume + ": Alluxio lists " + longest.path() + " for "
                + longest.nanos() / 1_000_000_000L + " s, " + longest.calls()
                + (longest.calls() == 1 ? " call waits" : " calls wait")
                + " (the first listing of a large directory of an object store takes minutes)" + others;
    }
}
