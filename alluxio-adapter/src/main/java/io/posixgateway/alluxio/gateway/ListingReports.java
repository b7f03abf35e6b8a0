package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.store.RunningListings.Listing;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports in the log which directory Alluxio lists for long, or which file it renames, at most every ten seconds for a volume. One
 * thread, that of the watchdog.
 */
final class ListingReports {
    /** A listing that is in flight for so long is reported; each look after that is one second later. */
    static final long LONG_NANOS = 10_000_000_000L;

    private static final int LOOKS = 10;
    private static final Logger LOG = LoggerFactory.getLogger(ListingReports.class);

    private final String volume;
    private final Source source;
    private final Wording wording;
    private int quiet;

    /** Where they are asked for; never waits. */
    @FunctionalInterface
    interface Source {
        /** Those in flight for at least so long, the longest first. */
        List<Listing> listings(long atLeastNanos);
    }

    /** What is reported, in words. */
    private record Wording(String verb, String why, String others) {
        private static final Wording LISTINGS = new Wording(
                "lists",
                "the first listing of a large directory in an object store takes minutes",
                "more directories are being listed");
        private static final Wording COPIES = new Wording(
                "renames a file to",
                "in an object store, renaming copies the file; to stop it, kill the program",
                "more files are being renamed");
    }

    private ListingReports(String volume, Source source, Wording wording) {
        this.volume = volume;
        this.source = source;
        this.wording = wording;
    }

    ListingReports(String volume, Source source) {
        this(volume, source, Wording.LISTINGS);
    }

    static ListingReports ofCopies(String volume, Source source) {
        return new ListingReports(volume, source, Wording.COPIES);
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
            LOG.info("{}", line(volume, all, wording));
        }
    }

    /** The longest one by its path, the others by their number. */
    static String line(String volume, List<Listing> all) {
        return line(volume, all, Wording.LISTINGS);
    }

    private static String line(String volume, List<Listing> all, Wording wording) {
        Listing longest = all.get(0);
        String others = all.size() == 1 ? "" : "; " + (all.size() - 1) + " " + wording.others;
        return "Volume " + volume + ": Alluxio " + wording.verb + " " + longest.path() + " for "
                + longest.nanos() / 1_000_000_000L + " s, " + longest.calls()
                + (longest.calls() == 1 ? " call waits" : " calls wait")
                + " (" + wording.why + ")" + others;
    }
}
