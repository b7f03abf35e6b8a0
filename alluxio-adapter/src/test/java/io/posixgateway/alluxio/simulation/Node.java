package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.simulation.Step.Next;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A node with one mount, whose process may be killed and begun again. */
final class Node {
    private MemoryCluster cluster;
    private final Program program;
    private final Path folders;
    private final Map<Integer, OpenFile> open = new TreeMap<>();
    /** Slots of files that another mount may have taken away just when they were opened. */
    private final Set<Integer> contended = new HashSet<>();

    private int processes;
    private Turns turns;
    private MemoryMount mount;
    private @Nullable Path left;

    /** How its next process begins; null: it has one. */
    @Nullable
    Next next;

    /** After so many steps. */
    int later;

    private boolean keeps;
    private boolean stale;
    private boolean ended;
    private boolean appended;
    private int gaps;
    private Runnable meanwhile = () -> {};
    /** Is Alluxio away then? */
    boolean away;
    /** The request that its process was killed in, which the kernel sends again; null: none. */
    @Nullable
    Step resent;

    /** @param folders for what it spools and keeps; it is to be there */
    Node(MemoryCluster cluster, Program program, Path folders) {
        this.cluster = cluster;
        this.program = program;
        this.folders = folders;
        this.turns = new Turns(cluster.clock());
        this.mount = builder().openPersistent(newFolder(), null);
    }

    private MemoryMount.Builder builder() {
        return MemoryMount.of(cluster.connect(program.writeType()))
                .with("metadata_ttl", program.metadataTtl())
                .with("write_type", program.writeType().name())
                .with("replace", System.getProperty("pgw.sim.replace", "rename"))
                .by(turns);
    }

    private Path newFolder() {
        return folders.resolve("process-" + ++processes);
    }

    MemoryMount mount() {
        return mount;
    }

    Turns turns() {
        return turns;
    }

    /** By slot. */
    Map<Integer, OpenFile> open() {
        return open;
    }

    /** The one that it opened another mount changed by this step at the same time: whether it can be stored is not laid down. */
    void noteContended(Step opened, Step other) {
        boolean same = Stream.of(other.path(), other.other()).anyMatch(opened.path()::equals);
        if (opened.opens() && same) {
            contended.add(opened.slot());
        }
    }

    /** May the step fail for that? */
    boolean isContended(Step step) {
        return (step.kind() == Step.Kind.CLOSE || step.kind() == Step.Kind.FSYNC) && contended.contains(step.slot());
    }

    /** Did the last one that it appended reach the mount, which has read the file since, or does so? */
    boolean hasAppended() {
        return appended;
    }

    void appended(boolean written) {
        appended = written;
    }

    /** Does this once, between two requests of the next step. */
    void atGap(int nth, Runnable act) {
        gaps = nth;
        meanwhile = act;
    }

    /** It has looked up, or opened, what it is to change next. */
    void gap() {
        if (--gaps == 0) {
            meanwhile.run();
        }
    }

    /** Once; null: there is none. */
    @Nullable
    Step takeResent() {
        Step step = resent;
        resent = null;
        return step;
    }

    void opened(int slot, OpenFile file) {
        open.put(slot, file);
        contended.remove(slot);
    }

    /** From now on what was written stays there. */
    void closeFailed() {
        keeps = true;
    }

    boolean keeps() {
        return keeps;
    }

    /** Does the mount still have what it could not upload at a close, since others may have the file open? */
    boolean mayUploadClosed() {
        return keeps && mount.fileSystem().counts().changedFiles() > 0;
    }

    boolean isUp() {
        return next == null;
    }

    /** This one answers from now on. What is open is of no use any more. */
    void answeredBy(MemoryCluster other) {
        cluster = other;
        resent = null;
        mount.store().answeredBy(other);
        stale = true;
    }

    /** Closes what is of an Alluxio before, whatever that answers. */
    void closeStale() {
        if (!stale) {
            return;
        }
        stale = false;
        for (OpenFile file : List.copyOf(open.values())) {
            try {
                file.close();
            } catch (FuseFailure e) {
                assert e.errno() > 0; // its content is set aside
            }
        }
        open.clear();
    }

    void killAfter(Step.Crash crash) {
        left = newFolder();
        mount.killAfter(crash.calls(), crash.heard(), left);
    }

    /** Its process was killed. */
    void died(Step.Crash crash) {
        next = crash.next();
        later = crash.later();
        away = crash.away();
        end();
        if (next != Next.KEPT) {
            open.clear();
        }
        if (next == Next.POWER_LOST) {
            loseSome(new Random(crash.calls()));
        }
    }

    /** Files of the folder end anywhere: nothing was synced. */
    private void loseSome(Random random) {
        Path folder = left;
        if (folder == null) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> all = files.filter(Files::isRegularFile).sorted().toList();
            for (Path file : all) {
                if (random.nextInt(3) == 0) {
                    cut(file, random);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void cut(Path file, Random random) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate((long) (channel.size() * random.nextDouble()));
        }
    }

    /** Its next process. */
    void begin() {
        Next how = next;
        next = null;
        ended = false;
        MemoryMount earlier = mount;
        turns = new Turns(cluster.clock());
        Path folder = newFolder();
        if (how == Next.KEPT) {
            mount = builder().openPersistent(folder, earlier);
        } else if (how == Next.GONE) {
            mount = builder().openPersistent(folder, null);
        } else {
            mount = builder().openReturned(folder, earlier);
        }
        MemoryMount successor = mount;
        open.replaceAll((slot, file) -> successor.inherited(file));
    }

    /** Ends the process, as an unmount does if it was not killed. */
    void end() {
        if (!ended) {
            ended = true;
            turns.release();
            mount.close();
        }
    }

    /** What an ended mount left here, but for what was set aside. */
    List<String> leftovers() {
        Path folder = mount.folder();
        if (!Files.exists(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> Stream.of("spool-", "journal").anyMatch(name::startsWith))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
