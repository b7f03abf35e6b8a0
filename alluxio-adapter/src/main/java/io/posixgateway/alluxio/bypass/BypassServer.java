package io.posixgateway.alluxio.bypass;

import io.posixgateway.fuse.jni.Bypass;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.time.Supervised;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers what programs ask at the bypass socket: shown a file that was opened through FUSE for reading, it gives the block
 * files. What was opened is proof that the kernel let the peer read it.
 *
 * <p>One thread. The file shown may belong to a file system whose server lets everybody wait: it is asked for nothing, and
 * closed on a thread that has nothing else to do. A peer whose files are not closed shows no more of them until they are.
 */
public final class BypassServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BypassServer.class);
    private static final int QUESTIONS_PER_SECOND = 10_000;
    private static final int O_PATH = 010000000;
    private static final long FOLDERS_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final long server;
    private final Supplier<List<BypassVolume>> volumes;
    private final Thread thread = new Thread(this::run, "bypass");
    private final ReadOnlyFolders folders = new ReadOnlyFolders();
    private final Clock clock;
    private final PeerRateLimit limit;
    private final LongAdder strangers = new LongAdder();
    private final ThreadPoolExecutor closers = closers();
    private long foldersNanos;
    private boolean closed;

    private BypassServer(long server, Supplier<List<BypassVolume>> volumes, Clock clock) {
        this.clock = clock;
        this.limit = new PeerRateLimit(QUESTIONS_PER_SECOND, clock);
        this.foldersNanos = clock.nanos();
        this.server = server;
        this.volumes = volumes;
        thread.setDaemon(true);
    }

    /**
     * Listens and answers.
     *
     * @param volumes those with bypass now
     * @throws IOException nobody can listen there
     */
    public static BypassServer start(Path socket, Supplier<List<BypassVolume>> volumes, Clock clock)
            throws IOException {
        long server = Bypass.listen(Native.pathBytes(socket.toString()));
        if (server <= 0) {
            throw new IOException("cannot listen at " + socket + ": " + Native.errorText(server));
        }
        BypassServer started = new BypassServer(server, volumes, clock);
        started.thread.start();
        return started;
    }

    /** A thread for each file that is not closed, of which there is a limit. */
    private static ThreadPoolExecutor closers() {
        return new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread closer = new Thread(task, "bypass-closer");
            closer.setDaemon(true);
            return closer;
        });
    }

    private void run() {
        long[] asked = new long[Bypass.FIELDS];
        int result = Bypass.next(server, asked);
        while (result == 0) {
            Supervised.run("A request at the bypass socket", () -> answer(asked));
            Native.close((int) asked[Bypass.CONNECTION]);
            Supervised.run("The end of a request at the bypass socket", () -> closeProof(asked));
            result = Bypass.next(server, asked);
        }
        if (result != -Errno.ECANCELED) {
            LOG.warn("The bypass socket is closed: {}", Native.errorText(result));
        }
        folders.close();
    }

    private void closeProof(long[] asked) {
        int proof = (int) asked[Bypass.PROOF];
        int place = (int) asked[Bypass.PLACE];
        if (proof >= 0) {
            closers.execute(() -> Bypass.closeProof(proof, place));
        }
    }

    private void answer(long[] asked) {
        int connection = (int) asked[Bypass.CONNECTION];
        if (asked[Bypass.LIMITED] != 0 || !limit.allows(asked[Bypass.UID], asked[Bypass.PID])) {
            Bypass.tell(connection, BypassResult.LIMITED.number());
            strangers.increment();
        } else if (asked[Bypass.PROOF] < 0) {
            Bypass.tellDevices(connection, devices());
        } else {
            BypassVolume volume = asked[Bypass.MAJOR] == 0 ? volumeOf(volumes.get(), asked[Bypass.MINOR]) : null;
            if (volume == null) {
                Bypass.tell(connection, BypassResult.FOREIGN.number());
                strangers.increment();
            } else {
                volume.counts().count(answer(connection, asked, volume));
            }
        }
    }

    private long[] devices() {
        List<BypassVolume> all =
                volumes.get().stream().filter(BypassVolume::isConnected).toList();
        long[] pairs = new long[2 * all.size()];
        for (int i = 0; i < all.size(); i++) {
            pairs[2 * i] = all.get(i).device();
            pairs[2 * i + 1] = all.get(i).leastBytes();
        }
        return pairs;
    }

    /** The one whose mount has this number now, which a file shown keeps from being another's; null: none. */
    static @Nullable BypassVolume volumeOf(List<BypassVolume> volumes, long device) {
        for (BypassVolume volume : volumes) {
            if (volume.device() == device && volume.isConnected()) {
                return volume;
            }
        }
        return null;
    }

    private BypassResult answer(int connection, long[] asked, BypassVolume volume) {
        BlockSet blocks = judged(asked, volume);
        BypassResult bypassResult = blocks.bypassResult();
        if (bypassResult == BypassResult.GIVEN && blocks.content() == asked[Bypass.CONTENT]) {
            bypassResult = BypassResult.SAME;
        }
        if (bypassResult == BypassResult.GIVEN) {
            return give(connection, blocks);
        }
        Bypass.tell(connection, bypassResult.number());
        return bypassResult;
    }

    private static BlockSet judged(long[] asked, BypassVolume volume) {
        long flags = asked[Bypass.FLAGS];
        if (flags < 0 || (flags & Stat.O_ACCMODE) != Stat.O_RDONLY || (flags & O_PATH) != 0) {
            return BlockSet.refused(BypassResult.NOT_READING);
        }
        if (asked[Bypass.INODE] <= 0) {
            return BlockSet.refused(BypassResult.NOT_COMPLETE);
        }
        BlockSet blocks = volume.blocks(asked[Bypass.INODE]);
        boolean many = blocks.blocks() > Math.min(asked[Bypass.PEER_MAX_BLOCKS], Bypass.MAX_BLOCKS);
        return many ? BlockSet.refused(BypassResult.BLOCKS_MANY) : blocks;
    }

    private BypassResult give(int connection, BlockSet blocks) {
        int[] fds = folders.of(blocks.folders());
        if (fds.length == 0) {
            Bypass.tell(connection, BypassResult.UNSAFE.number());
            return BypassResult.UNSAFE;
        }
        long[] file = {blocks.content(), blocks.lengthBytes(), blocks.blockBytes(), blocks.blocks(), blocks.firstBlock()
        };
        BypassResult given = BypassResult.of(Bypass.give(connection, file, fds));
        if (given != BypassResult.GIVEN && clock.nanos() - foldersNanos > FOLDERS_NANOS) {
            folders.forget();
            foldersNanos = clock.nanos();
        }
        return given;
    }

    /** Questions about files of others, or more than allowed. */
    public long strangers() {
        return strangers.sum();
    }

    /** Stops answering; the socket's file stays, as it may be a successor's by now. Idempotent; one thread. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        Bypass.stop(server);
        try {
            thread.join();
            Bypass.close(server);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        closers.shutdown();
    }
}
