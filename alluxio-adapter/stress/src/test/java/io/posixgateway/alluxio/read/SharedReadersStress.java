package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.fuse.time.Clock;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The streams that the handles of one file share ({@link FileReaders}, {@link RemoteFile}): a handle reads as long as it is
 * open, though the last other one is closed at the same time; after all are closed, no stream is open.
 */
public final class SharedReadersStress {
    private static final FileReader.Extent EXTENT = new FileReader.Extent(1L << 24, 1, 1, 0);

    private SharedReadersStress() {}

    /** One handle is closed while another, of the same file, begins to read. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "It reads, and all streams are closed in the end.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The stream was closed under the reader, or stays open.")
    @State
    public static class ReadWhileOtherCloses {
        private final CountingStore counting = new CountingStore();
        private final FileReaders readers =
                new FileReaders(counting.store, new BlockFiles(0), new BufferBudget(0), 0, Clock.system());
        private final FileReader closed = readers.reader(EXTENT, () -> "/f");
        private final FileReader reads = readers.reader(EXTENT, () -> "/f");

        public ReadWhileOtherCloses() {
            read(closed);
        }

        private static int read(FileReader reader) {
            try {
                return reader.read(0, ByteBuffer.allocate(1));
            } catch (StoreException e) {
                return -e.errno();
            }
        }

        @Actor
        public void close() {
            closed.close();
        }

        @Actor
        public void read(II_Result r) {
            r.r1 = read(reads);
        }

        @Arbiter
        public void end(II_Result r) {
            reads.close();
            r.r2 = counting.open.get();
        }
    }

    /** One handle is closed while it reads, as a request in flight may. */
    @JCStressTest
    @Outcome(
            id = {"1, 0", "-9, 0"},
            expect = Expect.ACCEPTABLE,
            desc = "It reads or gets EBADF; no stream stays open.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A stream stays open.")
    @State
    public static class ReadWhileClosed {
        private final CountingStore counting = new CountingStore();
        private final FileReaders readers =
                new FileReaders(counting.store, new BlockFiles(0), new BufferBudget(0), 0, Clock.system());
        private final FileReader reader = readers.reader(EXTENT, () -> "/f");

        @Actor
        public void close() {
            reader.close();
        }

        @Actor
        public void read(II_Result r) {
            r.r1 = ReadWhileOtherCloses.read(reader);
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = counting.open.get();
        }
    }

    /** Counts its open streams. */
    private static final class CountingStore {
        final AtomicInteger open = new AtomicInteger();
        final Store store = (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("open")) {
                        throw new UnsupportedOperationException(method.getName());
                    }
                    open.incrementAndGet();
                    return new Source();
                });

        private final class Source implements StoreReader {
            @Override
            public int read(long offset, ByteBuffer into) {
                into.put((byte) 1);
                return 1;
            }

            @Override
            public void close() {
                open.decrementAndGet();
            }
        }
    }
}
