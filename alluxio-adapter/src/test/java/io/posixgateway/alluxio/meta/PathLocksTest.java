package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class PathLocksTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ManualClock clock = new ManualClock();
    private final InodeTable table =
            new InodeTable("/base", 0, 100, new MemoryAccounting(Long.MAX_VALUE), NameCodec.ESCAPED, clock);
    private final PathLocks pathLocks = new PathLocks(table, clock);
    private final Inode directory = at(table.root(), "a", 10, true);
    private final Inode file = at(directory, "f", 11, false);
    private final Inode elsewhere = at(table.root(), "ab", 12, false);

    private Inode at(Inode parent, String name, long fileId, boolean isDirectory) {
        Inode inode = table.of(fileId, isDirectory);
        table.attach(parent, Name.of(name), inode, 0);
        return inode;
    }

    /** Work on a thread of its own that lasts until it is told to end. */
    private static final class Held {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch over = new CountDownLatch(1);
        private final FutureTask<Held> task;
        private final Thread thread;

        /** What the thread does with the work. */
        private interface Way {
            Held go(PathLocks.Work<Held> work) throws StoreException;
        }

        Held(Way way) {
            task = new FutureTask<>(() -> way.go(this::last));
            thread = new Thread(task, "held");
            thread.start();
        }

        private Held last() {
            begun.countDown();
            try {
                over.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return this;
        }

        boolean hasBegun() {
            return begun.getCount() == 0;
        }

        void awaitBegin() throws InterruptedException {
            begun.await();
        }

        /** It waits before its work. */
        void awaitWaiting() throws Exception {
            Waiting.until("it waits", LIMIT, () -> thread.getState() == Thread.State.WAITING);
            assertThat(hasBegun()).isFalse();
        }

        void end() throws Exception {
            over.countDown();
            task.get();
        }
    }

    @Test
    void aMoveWaitsForThoseBelowAndTheyForIt() throws Exception {
        Held below = new Held(work -> pathLocks.shared(file, work));
        below.awaitBegin();
        Held move = new Held(work -> pathLocks.exclusive(directory, work));
        move.awaitWaiting();
        Held later = new Held(work -> pathLocks.shared(file, work));
        later.awaitWaiting();
        below.end();
        move.awaitBegin();
        assertThat(later.hasBegun()).isFalse();
        move.end();
        later.awaitBegin();
        later.end();
    }

    @Test
    void aWaitThatTakesLongIsSeveralAndGoesOn() throws Exception {
        Held below = new Held(work -> pathLocks.shared(file, work));
        below.awaitBegin();
        Held move = new Held(work -> pathLocks.exclusive(directory, work));
        move.awaitWaiting();
        for (int spell = 0; spell < 3; spell++) {
            long before = clock.waits();
            clock.advance(Duration.ofSeconds(30));
            Waiting.until("it waits anew", LIMIT, () -> clock.waits() > before);
            assertThat(move.hasBegun()).isFalse();
        }
        below.end();
        move.awaitBegin();
        move.end();
    }

    @Test
    void whoIsElsewhereGoesOn() throws Exception {
        Held move = new Held(work -> pathLocks.exclusive(directory, work));
        move.awaitBegin();
        assertThat(pathLocks.shared(elsewhere, () -> "done")).isEqualTo("done");
        assertThat(pathLocks.exclusive(elsewhere, () -> "moved")).isEqualTo("moved");
        List<String> done = new ArrayList<>();
        assertThat(pathLocks.tryShared(file, () -> done.add("below"))).isFalse();
        assertThat(pathLocks.tryShared(elsewhere, () -> done.add("elsewhere"))).isTrue();
        assertThat(done).containsExactly("elsewhere");
        move.end();
    }

    @Test
    void whoStaysElsewhereCanStayHereTooAndIsWaitedFor() throws Exception {
        Held commit = new Held(work -> pathLocks.shared(elsewhere, () -> {
            List<Held> done = new ArrayList<>();
            assertThat(pathLocks.tryShared(file, () -> done.add(work.run()))).isTrue();
            return done.get(0);
        }));
        commit.awaitBegin();
        Held move = new Held(work -> pathLocks.exclusive(directory, work));
        move.awaitWaiting();
        commit.end();
        move.awaitBegin();
        move.end();
    }

    @Test
    void whoStaysAlreadyIsNotWaitedForByWhomItWaitsFor() throws Exception {
        CountDownLatch moving = new CountDownLatch(1);
        Held outer = new Held(work -> pathLocks.shared(directory, () -> {
            Held done = work.run();
            return pathLocks.shared(file, () -> done);
        }));
        outer.awaitBegin();
        Held move = new Held(work -> pathLocks.exclusive(directory, () -> {
            moving.countDown();
            return pathLocks.shared(file, work);
        }));
        move.awaitWaiting();
        outer.end();
        moving.await();
        move.end();
    }

    @Test
    void directoriesMoveOneAtATimeAndReadersAreTold() throws Exception {
        Inode other = at(table.root(), "b", 20, true);
        long before = table.generation().issued();
        assertThat(pathLocks.directoryMovedSince(before, "/base/a/f")).isFalse();
        Held first = new Held(work -> pathLocks.rename(directory, table.root(), Name.of("c"), work));
        first.awaitBegin();
        Held second = new Held(work -> pathLocks.rename(other, table.root(), Name.of("d"), work));
        second.awaitWaiting();
        first.end();
        second.awaitBegin();
        second.end();
        assertThat(pathLocks.directoryMovedSince(before, "/base/a/f")).isTrue();
        long after = table.generation().issued();
        pathLocks.exclusive(elsewhere, () -> "moved");
        assertThat(pathLocks.directoryMovedSince(after, null)).isFalse();
    }

    /** A rename in an object store may take hours. */
    @Test
    void whoHasNothingToDoWithARenameGoesOn() throws Exception {
        Inode other = at(table.root(), "b", 20, true);
        Held rename = new Held(work -> pathLocks.rename(directory, table.root(), Name.of("c"), work));
        rename.awaitBegin();
        long during = table.generation().issued();
        assertThat(pathLocks.directoryMovedSince(during, "/base/b/missing")).isFalse();
        assertThat(pathLocks.exclusive(other, () -> "removed")).isEqualTo("removed");
        rename.end();
    }

    @Test
    void aRemovalOfWhereADirectoryIsRenamedToWaits() throws Exception {
        Inode other = at(table.root(), "b", 20, true);
        Held rename = new Held(work -> pathLocks.rename(directory, other, Name.of("c"), work));
        rename.awaitBegin();
        Held removal = new Held(work -> pathLocks.exclusive(other, work));
        removal.awaitWaiting();
        rename.end();
        removal.awaitBegin();
        removal.end();
    }

    @Test
    void aRenameWaitsForThoseInWhatItReplaces() throws Exception {
        Inode replaced = at(table.root(), "b", 20, true);
        Inode in = at(replaced, "hidden", 21, false);
        Held below = new Held(work -> pathLocks.shared(in, work));
        below.awaitBegin();
        Held rename = new Held(work -> pathLocks.rename(directory, table.root(), Name.of("b"), work));
        rename.awaitWaiting();
        below.end();
        rename.awaitBegin();
        rename.end();
    }

    @Test
    void whoStaysIsToldOfAMoveThatWaitsForItWithoutWaiting() throws Exception {
        FutureTask<Boolean> staying = new FutureTask<>(() -> pathLocks.shared(file, () -> {
            long before = table.generation().issued();
            Held move = new Held(work -> pathLocks.exclusive(directory, work));
            try {
                move.awaitWaiting();
                return pathLocks.directoryMovedSince(before, "/base/a/f");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            } finally {
                move.over.countDown();
            }
        }));
        Thread thread = new Thread(staying, "staying");
        thread.setDaemon(true);
        thread.start();
        assertThat(staying.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void whoIsInterruptedWhileWaitingLeavesNothingBehind() throws Exception {
        Held below = new Held(work -> pathLocks.shared(file, work));
        below.awaitBegin();
        Held move = new Held(work -> pathLocks.exclusive(directory, work));
        move.awaitWaiting();
        move.thread.interrupt();
        assertThatThrownBy(move::end).isInstanceOf(ExecutionException.class).hasCauseInstanceOf(StoreException.class);
        assertThat(pathLocks.shared(file, () -> "free")).isEqualTo("free");
        below.end();
        assertThat(pathLocks.exclusive(directory, () -> "free")).isEqualTo("free");
    }
}
