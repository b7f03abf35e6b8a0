package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.simulation.Step.Crash;
import io.posixgateway.alluxio.simulation.Step.Fault;
import io.posixgateway.alluxio.simulation.Step.Kind;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.WriteType;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What happens in one simulation.
 *
 * @param seed from which all of it was made
 * @param writeType of the mounts
 * @param metadataTtl of the mounts, as on the command line
 * @param staleWorkerWritesRemove a worker that goes on removes what is there by then
 */
record Program(
        long seed,
        MemoryUfs.Kind ufs,
        WriteType writeType,
        String metadataTtl,
        boolean staleWorkerWritesRemove,
        List<Step> steps) {
    static final int MOUNTS = 2;
    static final List<String> DIRECTORIES = List.of("/a", "/b", "/a/c", "/b/d");
    /** These are there at the beginning. */
    static final int MADE_DIRECTORIES = 3;

    static final List<String> FILES = List.of("/a/f", "/a/g", "/b/f", "/b/g", "/a/c/f", "/b/d/f", "/f");
    static final List<String> XATTRS = List.of("user.a", "user.b");
    private static final int SLOTS = 2;
    private static final int MAX_BYTES = 12;
    private static final int MAX_CALLS = 24;
    /** Added to the number of a step that happens in another. */
    private static final int MEANWHILE = 1000;

    private static final List<Kind> KINDS = List.of(
            Kind.CREATE,
            Kind.CREATE,
            Kind.CREATE,
            Kind.OPEN,
            Kind.OPEN,
            Kind.WRITE,
            Kind.WRITE,
            Kind.WRITE,
            Kind.TRUNCATE,
            Kind.FSYNC,
            Kind.CLOSE,
            Kind.CLOSE,
            Kind.CLOSE,
            Kind.READ,
            Kind.RENAME,
            Kind.RENAME,
            Kind.RENAME_DIRECTORY,
            Kind.UNLINK,
            Kind.MKDIR,
            Kind.RMDIR);

    /** Of those that were added to the programs later. */
    private static final List<Kind> ADDED_KINDS = List.of(
            Kind.CHMOD,
            Kind.CHMOD,
            Kind.CHOWN,
            Kind.UTIMENS,
            Kind.UTIMENS,
            Kind.SETXATTR,
            Kind.SETXATTR,
            Kind.REMOVEXATTR,
            Kind.TRUNCATE_PATH,
            Kind.APPEND,
            Kind.APPEND,
            Kind.STAT);

    private static final int ADDED = 500;
    /** So many of the steps before tell which file is worth it. */
    private static final int RECENT = 4;

    private static final List<Kind> OUTSIDE = List.of(Kind.CREATE, Kind.RENAME, Kind.UNLINK);

    private static final List<StoreCall> FAULTY = List.of(
            StoreCall.STATUS,
            StoreCall.PATH_OF,
            StoreCall.LIST,
            StoreCall.COMPARED,
            StoreCall.CREATE,
            StoreCall.CREATE,
            StoreCall.MAKE_DIRECTORY,
            StoreCall.DELETE,
            StoreCall.RENAME,
            StoreCall.RENAME,
            StoreCall.RENAME,
            StoreCall.CHANGE,
            StoreCall.OPEN,
            StoreCall.WRITE,
            StoreCall.COMPLETE,
            StoreCall.COMPLETE,
            StoreCall.READ);

    /** What may befall a program. */
    record Kinds(boolean crashes, boolean faults, boolean lateWorkers, boolean races, boolean formats) {
        static Kinds of(Random random) {
            return new Kinds(
                    random.nextInt(4) > 0,
                    random.nextInt(3) > 0,
                    random.nextInt(5) == 0,
                    random.nextInt(3) == 0,
                    random.nextInt(6) == 0);
        }
    }

    static Program of(long seed) {
        Random random = new Random(~seed);
        return new Maker(random, Kinds.of(random)).adding(ofContents(seed));
    }

    /** The same without steps that were added later, so that a seed that found a fault before does so again. */
    static Program ofContents(long seed) {
        Random random = new Random(seed);
        return new Maker(random, Kinds.of(random)).program(seed, 8 + random.nextInt(25));
    }

    /** One that nothing befalls, and so short. */
    static Program plain(long seed, int length) {
        return new Maker(new Random(seed), new Kinds(false, false, false, false, false)).program(seed, length);
    }

    Program with(List<Step> otherSteps) {
        return new Program(seed, ufs, writeType, metadataTtl, staleWorkerWritesRemove, List.copyOf(otherSteps));
    }

    /** The same with one step in another way. */
    Program with(int index, Step other) {
        List<Step> changed = new ArrayList<>(steps);
        changed.set(index, other);
        return with(changed);
    }

    Program without(int index) {
        List<Step> fewer = new ArrayList<>(steps);
        fewer.remove(index);
        return with(fewer);
    }

    @Override
    public String toString() {
        return "seed " + seed + ", UFS " + ufs + ", " + writeType + ", metadata_ttl=" + metadataTtl
                + (staleWorkerWritesRemove ? ", late workers remove" : "")
                + steps.stream().map(step -> "\n  " + step).collect(Collectors.joining());
    }

    /** Makes one. */
    private static final class Maker {
        private final Random random;
        private final Kinds kinds;

        Maker(Random random, Kinds kinds) {
            this.random = random;
            this.kinds = kinds;
        }

        private Program program(long seed, int length) {
            MemoryUfs.Kind ufs = random.nextInt(5) < 2 ? MemoryUfs.Kind.OBJECT_STORE : MemoryUfs.Kind.LOCAL;
            String ttl = random.nextBoolean() ? "0" : "500ms";
            boolean remove = random.nextBoolean();
            List<Step> steps = new ArrayList<>();
            for (int number = 0; number < length; number++) {
                steps.add(step(number, ufs));
            }
            return new Program(seed, ufs, WriteType.CACHE_THROUGH, ttl, remove, List.copyOf(steps));
        }

        private <T> T any(List<T> all) {
            return all.get(random.nextInt(all.size()));
        }

        private Kind kind(int actor, MemoryUfs.Kind ufs) {
            Kind kind = any(actor == Step.OUTSIDER ? OUTSIDE : KINDS);
            if (kinds.lateWorkers && random.nextInt(8) == 0) {
                kind = random.nextBoolean() ? Kind.STOP_WORKER : Kind.RESUME_WORKER;
            }
            if (kinds.formats && random.nextInt(12) == 0) {
                kind = Kind.FORMAT;
            }
            boolean byFiles = kind == Kind.RENAME_DIRECTORY && ufs == MemoryUfs.Kind.OBJECT_STORE;
            return byFiles ? Kind.WRITE : kind; // it would be renamed by threads in any order
        }

        private Step step(int number, MemoryUfs.Kind ufs) {
            int actor = random.nextInt(8) == 0 ? Step.OUTSIDER : random.nextInt(MOUNTS);
            Kind kind = kind(actor, ufs);
            boolean directory = kind == Kind.MKDIR || kind == Kind.RMDIR || kind == Kind.RENAME_DIRECTORY;
            List<String> paths = directory ? DIRECTORIES : FILES;
            Step plain = new Step(
                    number,
                    kind,
                    actor,
                    any(paths),
                    any(paths),
                    random.nextInt(SLOTS),
                    random.nextInt(MAX_BYTES),
                    1 + random.nextInt(MAX_BYTES),
                    null,
                    null,
                    null);
            Step.Meanwhile meanwhile = actor == Step.OUTSIDER ? null : meanwhile(number);
            boolean calm = actor == Step.OUTSIDER || meanwhile != null;
            return calm ? plain.with(null, null, meanwhile) : plain.with(fault(), crash(), null);
        }

        /** Steps that change attributes, and whole files by their paths, between the others. */
        private Program adding(Program program) {
            List<Step> steps = new ArrayList<>();
            List<String> recent = new ArrayList<>(FILES);
            for (Step step : program.steps()) {
                steps.add(step);
                if (step.opens()) {
                    recent.add(step.path());
                }
                while (random.nextInt(5) < 2) {
                    steps.add(added(ADDED + steps.size(), recent.subList(recent.size() - RECENT, recent.size())));
                }
            }
            return elsewhere(program).with(steps);
        }

        /** In any under store, and stored in any way that keeps what was acknowledged. */
        private Program elsewhere(Program program) {
            boolean local = program.ufs == MemoryUfs.Kind.LOCAL && random.nextInt(3) > 0;
            MemoryUfs.Kind ufs =
                    local || program.ufs == MemoryUfs.Kind.OBJECT_STORE ? program.ufs : MemoryUfs.Kind.HDFS;
            // What is in workers alone goes with them, or when Alluxio finds another content in the under file system.
            boolean loses = program.steps.stream()
                    .anyMatch(step -> step.actor() == Step.OUTSIDER
                            || step.kind() == Kind.STOP_WORKER
                            || step.kind() == Kind.FORMAT);
            List<WriteType> types =
                    loses ? List.of(WriteType.CACHE_THROUGH, WriteType.THROUGH) : List.of(WriteType.values());
            WriteType type = random.nextInt(3) == 0 ? any(types) : WriteType.CACHE_THROUGH;
            return new Program(
                    program.seed, ufs, type, program.metadataTtl, program.staleWorkerWritesRemove, program.steps);
        }

        private Step added(int number, List<String> recent) {
            boolean outsider = random.nextInt(8) == 0;
            int actor = outsider ? Step.OUTSIDER : random.nextInt(MOUNTS);
            Kind kind = outsider ? Kind.CHMOD : any(ADDED_KINDS);
            String path = any(random.nextInt(4) == 0 ? FILES : recent);
            Step plain = ofFile(number, kind, actor, path);
            if (outsider) {
                return plain;
            }
            boolean raced = (kind == Kind.APPEND || plain.gives()) && random.nextInt(2) == 0;
            if (raced) {
                return plain.with(null, null, meanwhile(plain));
            }
            return plain.with(fault(), kind == Kind.APPEND ? null : crash(), null);
        }

        /** The other mount does the like with the same file. Of two changes of attributes at the very same moment one may be lost. */
        private Step.Meanwhile meanwhile(Step step) {
            boolean appends = step.kind() == Kind.APPEND;
            Kind kind = appends ? Kind.APPEND : any(List.of(Kind.CHMOD, Kind.CHOWN, Kind.UTIMENS, Kind.SETXATTR));
            Step other = ofFile(step.number() + MEANWHILE, kind, 0, step.path());
            boolean gap = !appends || random.nextBoolean();
            return new Step.Meanwhile(gap ? null : any(FAULTY), appends ? 1 + random.nextInt(2) : 1, other);
        }

        private Step ofFile(int number, Kind kind, int actor, String path) {
            return new Step(
                    number,
                    kind,
                    actor,
                    path,
                    "",
                    random.nextInt(SLOTS),
                    random.nextInt(MAX_BYTES),
                    1 + random.nextInt(MAX_BYTES),
                    null,
                    null,
                    null);
        }

        private Step.@Nullable Meanwhile meanwhile(int number) {
            if (!kinds.races || random.nextInt(4) > 0) {
                return null;
            }
            Kind kind =
                    any(List.of(Kind.CREATE, Kind.RENAME, Kind.RENAME, Kind.UNLINK, Kind.MKDIR, Kind.RMDIR, Kind.READ));
            boolean directory = kind == Kind.MKDIR || kind == Kind.RMDIR;
            Step step = new Step(
                    number + MEANWHILE,
                    kind,
                    0,
                    any(directory ? DIRECTORIES : FILES),
                    any(FILES),
                    random.nextInt(SLOTS),
                    0,
                    1,
                    null,
                    null,
                    null);
            return new Step.Meanwhile(any(FAULTY), 1 + random.nextInt(2), step);
        }

        private @Nullable Fault fault() {
            if (!kinds.faults || random.nextInt(5) > 0) {
                return null;
            }
            Fault.How how = any(List.of(Fault.How.values()));
            StoreCall call = any(FAULTY);
            boolean copies = how.name().contains("MASTER_DIES");
            boolean content = how == Fault.How.NO_SPACE;
            call = copies ? StoreCall.RENAME : call;
            call = content ? any(List.of(StoreCall.WRITE, StoreCall.COMPLETE)) : call;
            return new Fault(call, random.nextInt(3) == 0 ? 2 : 1, how);
        }

        private @Nullable Crash crash() {
            if (!kinds.crashes || random.nextInt(6) > 0) {
                return null;
            }
            int calls = random.nextInt(random.nextBoolean() ? MAX_CALLS : 6);
            int later = random.nextInt(3) == 0 ? random.nextInt(6) : 0;
            boolean heard = calls == 0 || random.nextBoolean();
            return new Crash(calls, heard, any(List.of(Step.Next.values())), later, random.nextInt(6) == 0);
        }
    }
}
