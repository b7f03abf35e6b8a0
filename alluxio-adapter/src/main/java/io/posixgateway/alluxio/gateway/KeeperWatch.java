package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.time.Clock;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives sessions that this process serves to a keeper that does not hold them: the next one after a keeper that crashed. Without
 * it, their mounts would end with this process.
 *
 * <p>Looks every 2 s on a thread of its own until it is closed, and at once when the keeper ends: until the next one has the
 * sessions, their mounts hang on this process alone. {@link #unkept} may be asked by any thread.
 */
public final class KeeperWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KeeperWatch.class);
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** While there is no keeper, and before whatever ends connections at once is asked again. */
    private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Keeper keeper;
    private final Clock clock;
    private final Set<String> complained = new HashSet<>();
    private final Thread thread;
    private volatile int unkept;
    private volatile boolean closed;

    /** A session that this process serves, or refuses. */
    interface Served {
        String name();

        /** Gives it to the keeper; false: it has ended meanwhile. */
        boolean give() throws KeeperException;
    }

    /** To one keeper; ends with it, and with {@link #close}. */
    interface Connection extends AutoCloseable {
        /** Waits until the keeper has ended (true), or as long as was said. */
        boolean awaitEnd();

        @Override
        void close();
    }

    /** What is held, and what is served. Any thread. */
    interface Keeper {
        /** To the keeper that there is, to wait so long for its end; one that has ended where there is none. */
        Connection connect(long nanos);

        /** The names of the sessions that the keeper holds. */
        Set<String> held() throws KeeperException;

        List<Served> served();
    }

    private KeeperWatch(Keeper keeper, Clock clock) {
        this.keeper = keeper;
        this.clock = clock;
        thread = new Thread(this::run, "keeper-watch");
        thread.setDaemon(true);
    }

    static KeeperWatch start(Keeper keeper, Clock clock) {
        KeeperWatch watch = new KeeperWatch(keeper, clock);
        watch.thread.start();
        return watch;
    }

    /** Of the volumes that are served, or refused, here. */
    public static KeeperWatch start(KeeperClient keeper, Volumes volumes, Clock clock) {
        return start(
                new Keeper() {
                    @Override
                    public Connection connect(long nanos) {
                        return keeper.connect(nanos);
                    }

                    @Override
                    public Set<String> held() throws KeeperException {
                        return keeper.list().stream()
                                .map(KeeperClient.Session::id)
                                .collect(Collectors.toSet());
                    }

                    @Override
                    public List<Served> served() {
                        Stream<Served> served = volumes.all().stream()
                                .filter(volume -> !volume.session().ended())
                                .map(volume -> new WatchedVolume(keeper, volume));
                        return Stream.concat(served, volumes.refusedSessions().stream())
                                .toList();
                    }
                },
                clock);
    }

    private record WatchedVolume(KeeperClient keeper, ServedVolume volume) implements Served {
        @Override
        public String name() {
            return volume.name();
        }

        @Override
        public boolean give() throws KeeperException {
            return volume.session()
                    .lend(kept ->
                            keeper.adopt(volume.name(), kept, volume.request().toByteArray()));
        }
    }

    /** How many of the sessions that are served here no keeper held at the last look. */
    public int unkept() {
        return unkept;
    }

    private void run() {
        while (!closed) {
            // Before the look, which may still find the sessions there.
            try (Connection connection = keeper.connect(LOOK_NANOS)) {
                look();
                if (connection.awaitEnd()) {
                    clock.pause(AGAIN_NANOS);
                }
            } catch (RuntimeException | Error e) {
                LOG.error("Checking that the keeper holds all sessions failed; retrying", e);
                clock.pause(LOOK_NANOS);
            }
        }
    }

    private void look() {
        List<Served> served = keeper.served();
        if (served.isEmpty()) {
            unkept = 0;
            return;
        }
        Set<String> held;
        try {
            held = keeper.held();
        } catch (KeeperException e) {
            unkept = served.size();
            complain("", "No keeper holds the sessions served here, so they end with this process: " + e.getMessage());
            return;
        }
        complained.remove("");
        int missing = 0;
        for (Served one : served) {
            if (!held.contains(one.name()) && !given(one)) {
                missing++;
            }
        }
        unkept = missing;
    }

    /** True as well of one that has ended. */
    private boolean given(Served one) {
        try {
            if (one.give()) {
                LOG.warn("Session {} was not held by the keeper, and is passed to it again", one.name());
            }
            complained.remove(one.name());
            return true;
        } catch (KeeperException e) {
            complain(
                    one.name(),
                    "The keeper does not hold session " + one.name() + ", so it ends with this process: "
                            + e.getMessage());
            return false;
        }
    }

    private void complain(String about, String text) {
        if (complained.add(about)) {
            LOG.error("{}; retrying", text);
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }
}
