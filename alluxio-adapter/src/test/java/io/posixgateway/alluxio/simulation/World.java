package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.simulation.Step.Crash;
import io.posixgateway.alluxio.simulation.Step.Fault;
import io.posixgateway.alluxio.simulation.Step.Kind;
import io.posixgateway.alluxio.simulation.Step.Next;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.MemoryWorker;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The cluster, the nodes and the outsider of one simulation, and what is known of their files. For one thread. */
final class World implements AutoCloseable {
    private static final long WORKER_BYTES = 1 << 30;
    /** Between two steps. */
    private static final Duration MOMENT = Duration.ofSeconds(1);
    /** What failed meanwhile is tried again and settled by then. */
    private static final Duration SETTLED = Duration.ofSeconds(90);

    /** The same of what a stopped worker undoes when its client's process was killed: the next one does not know which worker that is. */
    private static final Duration SETTLED_BY_SUCCESSOR = Duration.ofMinutes(65);

    private static final Duration AWAY = Duration.ofSeconds(20);
    /** No call takes longer. */
    private static final Duration LONGEST_CALL = Duration.ofMinutes(5);

    /** Failures that say what there is. */
    private static final Set<Integer> DEFINITE = Set.of(Errno.ENOENT, Errno.EEXIST, Errno.ENOTEMPTY, Errno.ENOTDIR);

    private final Program program;
    private MemoryCluster cluster;
    private Outsider outside;
    private final List<Node> nodes = new ArrayList<>();
    private Set<Model> models = new LinkedHashSet<>();
    /** What failed may still come true. */
    private boolean unsettled;
    /** A worker was stopped: what it was sent may be written under any name at which it was. */
    private boolean staleWorkerWrites;

    private int kills;
    private boolean workerStopped;
    private boolean formatted;
    private boolean hiddenStays;

    /** What comes of a step. */
    private record Outcome(int errno, String content) {}

    World(Program program, Path folders) {
        this.program = program;
        this.cluster = new MemoryCluster(program.ufs(), 2, WORKER_BYTES, null);
        this.outside = new Outsider(cluster);
        cluster.staleWorkerWritesRemove(program.staleWorkerWritesRemove());
        Model model = new Model();
        for (String directory : Program.DIRECTORIES.subList(0, Program.MADE_DIRECTORIES)) {
            outside.makeDirectory(directory);
            model = model.withDirectory(directory);
        }
        models.add(model);
        for (int i = 0; i < Program.MOUNTS; i++) {
            nodes.add(new Node(cluster, program.metadataTtl(), folders.resolve("node-" + i)));
        }
    }

    /** All of the program, and its end. Returns how many steps were done. */
    int run() {
        settle();
        int done = 0;
        for (Step step : program.steps()) {
            try {
                done += isDone(step) ? 1 : 0;
            } catch (Violation e) {
                throw new Violation("at step " + step + ": " + e.getMessage() + "\n  " + models, e);
            }
        }
        try {
            end();
        } catch (Violation e) {
            throw new Violation("at the end: " + e.getMessage() + "\n  " + models, e);
        }
        return done;
    }

    private boolean isDone(Step step) {
        for (Node node : nodes) {
            if (!node.isUp() && node.later-- <= 0) {
                begin(node);
            }
        }
        switch (step.kind()) {
            case STOP_WORKER, RESUME_WORKER -> work(step.kind() == Kind.RESUME_WORKER);
            case FORMAT -> format();
            default -> {
                return isDoneByClient(step);
            }
        }
        return true;
    }

    private boolean isDoneByClient(Step step) {
        boolean outsider = step.actor() == Step.OUTSIDER;
        boolean can = outsider ? !workerStopped : nodes.get(step.actor()).isUp();
        if (!can || models.stream().anyMatch(model -> model.skips(step))) {
            return false;
        }
        if (outsider) {
            judge(step, new Outcome(outside.execute(step), ""), false);
        } else {
            byMount(step, nodes.get(step.actor()));
        }
        pass(MOMENT);
        observe();
        return true;
    }

    private void work(boolean resumes) {
        if (resumes) {
            outside.resumeWorker(models);
            pass(afterStaleWorkerWrites());
        } else {
            cluster.workers().get(0).stop();
            staleWorkerWrites = true;
        }
        workerStopped = !resumes;
        unsettled = workerStopped;
    }

    private Duration afterStaleWorkerWrites() {
        return staleWorkerWrites && kills > 0 ? SETTLED_BY_SUCCESSOR : SETTLED;
    }

    /** What was open is closed, and what was not stored is no more. */
    private void format() {
        cluster.workers().forEach(MemoryWorker::kill);
        cluster = cluster.formatted();
        cluster.staleWorkerWritesRemove(program.staleWorkerWritesRemove());
        outside = new Outsider(cluster);
        workerStopped = false;
        unsettled = false;
        formatted = true;
        Set<Model> next = models;
        for (int i = 0; i < nodes.size(); i++) {
            int mount = i;
            nodes.get(i).answeredBy(cluster);
            next = mapped(next, model -> model.without(mount));
        }
        models = mapped(next, Model::withoutAbandoned);
        pass(SETTLED);
        nodes.stream().filter(Node::isUp).forEach(this::compareAfterFormat);
        pass(SETTLED);
        observe();
    }

    /** Its next call is answered with ESTALE, or waits for the comparison. */
    private void compareAfterFormat(Node node) {
        for (int i = 0; i < 2; i++) {
            try {
                node.mount().exists("/nothing");
            } catch (FuseFailure e) {
                if (e.errno() != Errno.ESTALE) {
                    throw new Violation("After a format the mount answers errno " + e.errno(), e);
                }
            }
        }
        node.closeStale();
        settle();
    }

    private static Set<Model> mapped(Set<Model> all, UnaryOperator<Model> change) {
        Set<Model> next = new LinkedHashSet<>();
        all.forEach(model -> next.add(change.apply(model)));
        return next;
    }

    /** The other mount does something between two calls of this one's. */
    private void race(Step step, Node node, Step.Meanwhile meanwhile) {
        Step other = meanwhile.step().by(1 - step.actor());
        Node second = nodes.get(other.actor());
        boolean murky = models.stream().anyMatch(model -> model.skips(other));
        if (!second.isUp() || murky) {
            byMount(step.calm(), node);
            return;
        }
        List<Outcome> heard = new ArrayList<>();
        StoreFaults.Fault moment = node.mount()
                .faults()
                .on(meanwhile.call())
                .nth(meanwhile.nth())
                .before(() -> heard.add(executed(other, second)));
        Outcome outcome = executed(step, node);
        moment.remove();
        settle();
        if (heard.isEmpty()) {
            judge(step, outcome, unsettled);
            return;
        }
        node.noteContended(step, other);
        second.noteContended(other, step);
        boolean wasUnsettled = unsettled;
        Set<Model> agree = new LinkedHashSet<>(inOrder(models, step, outcome, other, heard.get(0)));
        agree.addAll(inOrder(models, other, heard.get(0), step, outcome));
        models = agree;
        pass(SETTLED);
        unsettled = wasUnsettled;
        if (agree.isEmpty()) {
            throw new Violation("No order of the two explains " + outcome + " and " + heard.get(0));
        }
    }

    private static Set<Model> inOrder(Set<Model> models, Step first, Outcome one, Step second, Outcome two) {
        Set<Model> agree = new LinkedHashSet<>();
        for (Model model : models) {
            for (Model between : possible(model, first, one)) {
                if (between.skips(second)) {
                    agree.addAll(between.maybe(second, true));
                } else {
                    agree.addAll(possible(between, second, two));
                }
            }
        }
        return agree;
    }

    private static List<Model> possible(Model model, Step step, Outcome outcome) {
        Model after = model.after(step);
        if (outcome.errno == 0) {
            return after != null && reads(step, model, outcome) ? List.of(after) : List.of();
        }
        return DEFINITE.contains(outcome.errno) && after == null ? List.of(model) : model.maybe(step, true);
    }

    private void byMount(Step step, Node node) {
        if (step.meanwhile() != null) {
            race(step, node, step.meanwhile());
            return;
        }
        StoreFaults.Fault fault = befalls(step, node);
        Crash crash = crashOf(step);
        if (crash != null) {
            node.killAfter(crash);
        }
        Outcome outcome = executed(step, node);
        boolean heard = !node.mount().isDead();
        if (heard) {
            judge(step, outcome, fault != null || unsettled || node.isContended(step));
        }
        settle();
        pass(MOMENT);
        if (fault != null) {
            fault.remove();
            cluster.startMaster();
        }
        if (crash != null && node.mount().isKilled()) {
            died(step, node, crash, heard);
        }
        if (fault != null) {
            pass(SETTLED);
            unsettled = workerStopped;
        }
    }

    /** What a stopped worker may undo is on the disk of its node alone: no such disk is lost. */
    private @Nullable Crash crashOf(Step step) {
        Crash crash = step.crash();
        return crash == null || !workerStopped ? crash : crash.withDisk();
    }

    private StoreFaults.@Nullable Fault befalls(Step step, Node node) {
        Fault fault = step.fault();
        if (fault == null) {
            return null;
        }
        StoreFaults.Fault on = node.mount().faults().on(fault.call()).nth(fault.nth());
        return switch (fault.how()) {
            case LOSE_ANSWER -> on.loseAnswer();
            case LOSE_REQUEST -> on.loseRequest();
            case FAIL -> on.fail(Errno.EIO);
            case NO_SPACE -> on.fail(Errno.ENOSPC);
            case SLOW -> on.delay(Duration.ofSeconds(10));
            case MASTER_AWAY -> on.before(cluster::stopMaster);
            case MASTER_DIES_IN_THE_COPY, MASTER_DIES_BEFORE_THE_JOURNAL, MASTER_DIES_AFTER_THE_COPY ->
                program.ufs() == MemoryUfs.Kind.LOCAL ? on.loseAnswer() : dies(fault.how(), on);
        };
    }

    private static StoreFaults.Fault dies(Fault.How how, StoreFaults.Fault on) {
        return how == Fault.How.MASTER_DIES_AFTER_THE_COPY
                ? on.dieAfterTheCopy()
                : on.dieInTheCopy(how == Fault.How.MASTER_DIES_IN_THE_COPY);
    }

    /** How often a process was killed. */
    int kills() {
        return kills;
    }

    private void died(Step step, Node node, Crash crash, boolean answered) {
        kills++;
        if (!answered) {
            spread(step, false);
        }
        node.died(crash);
        node.resent = answered || crash.next() != Next.KEPT ? null : step;
        if (crash.next() != Next.KEPT) {
            Set<Model> without = new LinkedHashSet<>();
            for (Model model : models) {
                without.add(model.without(step.actor()));
                without.add(model.without(step.actor()).withoutAbandoned());
            }
            models = without;
        }
    }

    private void begin(Node node) {
        Next how = node.next;
        boolean away = node.away;
        if (away && how == Next.KEPT) {
            cluster.stopMaster();
        }
        try {
            node.begin();
        } catch (FuseFailure e) {
            throw new Violation("The next process does not begin: " + e.getMessage(), e);
        }
        settle();
        if (away) {
            pass(AWAY);
            cluster.startMaster();
            pass(AWAY);
        }
        node.closeStale();
        Step resent = node.takeResent();
        if (resent != null) {
            resend(resent, node);
        }
        pass(workerStopped ? SETTLED : afterStaleWorkerWrites());
        if (how == Next.GONE || how == Next.POWER_LOST) {
            removeAbandoned();
        }
        if (how != Next.KEPT) {
            Set<Model> without = mapped(models, Model::withoutAbandoned);
            if (nodes.stream().anyMatch(other -> !other.isUp())) {
                without.addAll(models); // there may be such of another one
            }
            models = without;
        }
        unsettled = workerStopped;
        observe();
    }

    /** It may have been done, as far as the program knows. */
    private void resend(Step step, Node node) {
        Outcome outcome = executed(step, node);
        if (step.kind() == Kind.CREATE && outcome.errno == Errno.EEXIST) {
            outcome = executed(step.as(Kind.OPEN), node); // as an open does that is not exclusive
        }
        if (outcome.errno == Errno.EIO && !unsettled && models.stream().noneMatch(model -> model.isContended(step))) {
            throw new Violation("What was sent again to the next process fails");
        }
        if (step.opens() && outcome.errno != 0) {
            failedAgain(step, outcome);
            return;
        }
        Set<Model> next = new LinkedHashSet<>();
        for (Model model : models) {
            Model after = model.skips(step) ? null : model.after(step);
            next.add(after == null || outcome.errno != 0 ? model : after);
        }
        models = next;
        settle();
    }

    private void failedAgain(Step open, Outcome outcome) {
        if (models.stream().allMatch(model -> model.has(open.path()))) {
            throw new Violation("An open that was sent again to the next process fails, errno " + outcome.errno);
        }
        models = mapped(models, model -> model.withoutDescriptor(open));
    }

    /** As an administrator does, of a node that does not come back. */
    private void removeAbandoned() {
        Map<String, String> seen = outside.seen();
        List<Model> agree = models.stream()
                .filter(model -> model.differs(seen, true) == null)
                .toList();
        seen.forEach((path, content) -> {
            if (content.equals(Model.INCOMPLETE)
                    && agree.stream()
                            .noneMatch(model -> model.withoutAbandoned().has(path))) {
                outside.delete(path);
            }
        });
        if (nodes.stream().allMatch(node -> node.open().isEmpty())) {
            outside.hidden().forEach(outside::delete);
        } else {
            hiddenStays = true; // some of it is of files that are open
        }
    }

    private Outcome executed(Step step, Node node) {
        long beganNanos = cluster.clock().nanos();
        Outcome outcome;
        try {
            outcome = new Outcome(0, new Executor(node).execute(step));
        } catch (FuseFailure e) {
            outcome = new Outcome(e.errno(), "");
        } catch (IllegalStateException | AssertionError e) {
            throw new Violation("The mount hangs, or worse: " + e.getMessage(), e);
        }
        if (cluster.clock().nanos() - beganNanos > LONGEST_CALL.toNanos()) {
            throw new Violation("It took " + Duration.ofNanos(cluster.clock().nanos() - beganNanos));
        }
        return outcome;
    }

    /** Which models agree with the answer? */
    private void judge(Step step, Outcome outcome, boolean faulty) {
        Set<Model> agree = new LinkedHashSet<>();
        boolean definite = DEFINITE.contains(outcome.errno);
        for (Model model : models) {
            Model after = model.after(step);
            if (outcome.errno == 0 && after != null && reads(step, model, outcome)) {
                agree.add(after);
            } else if (definite && after == null) {
                agree.add(model);
            }
        }
        if (outcome.errno != 0 && faulty) {
            spread(step, true);
            unsettled = true;
            if (step.kind() == Kind.CLOSE) {
                nodes.get(step.actor()).closeFailed();
            }
        } else if (agree.isEmpty()) {
            throw new Violation(
                    outcome.errno == 0
                            ? "It succeeds, though it cannot, with '" + outcome.content + "'"
                            : "It fails with errno " + outcome.errno);
        } else {
            models = agree;
        }
    }

    private static boolean reads(Step step, Model model, Outcome outcome) {
        return step.kind() != Kind.READ || outcome.content.equals(model.read(step.actor(), step.path()));
    }

    private void spread(Step step, boolean ended) {
        Set<Model> all = new LinkedHashSet<>();
        models.forEach(model -> all.addAll(model.maybe(step, ended)));
        models = all;
    }

    /** Which models agree with what others see? What a process left incomplete when it was killed its next one removes. */
    private void observe() {
        boolean down = nodes.stream().anyMatch(node -> !node.isUp());
        Map<String, String> seen = outside.seen();
        Set<Model> agree = new LinkedHashSet<>();
        List<String> why = new ArrayList<>();
        for (Model model : models) {
            String differs = model.differs(seen, unsettled || down);
            if (differs == null) {
                agree.add(model);
            } else {
                why.add(differs);
            }
        }
        if (agree.isEmpty()) {
            throw new Violation("Others see that " + why);
        }
        if (!unsettled && !down && nodes.stream().noneMatch(Node::mayUploadClosed)) {
            models = agree;
        }
    }

    private void settle() {
        nodes.forEach(node -> node.turns().run());
    }

    /** Time passes, and what waits for it is done. */
    private void pass(Duration whole) {
        long end = cluster.clock().nanos() + whole.toNanos();
        settle();
        for (long left = whole.toNanos(); left > 0; left = end - cluster.clock().nanos()) {
            long now = cluster.clock().nanos();
            long next = nodes.stream()
                    .mapToLong(node -> node.turns().nextNanos())
                    .min()
                    .orElse(Long.MAX_VALUE);
            long step = next == Long.MAX_VALUE ? left : Math.max(1, next - now);
            cluster.clock().advance(Duration.ofNanos(Math.min(left, step)));
            settle();
        }
    }

    private void end() {
        outside.resumeWorker(models);
        workerStopped = false;
        for (Node node : nodes) {
            if (!node.isUp()) {
                begin(node);
            }
        }
        pass(SETTLED);
        unsettled = false;
        for (int i = 0; i < nodes.size(); i++) {
            closeAll(i, nodes.get(i));
        }
        pass(Duration.ofHours(2));
        unsettled = false;
        observe();
        for (int i = 0; i < nodes.size(); i++) {
            lookThrough(i, nodes.get(i));
        }
        nodes.forEach(Node::end);
        observe();
        checkLeftovers();
    }

    private void closeAll(int number, Node node) {
        for (int slot : List.copyOf(node.open().keySet())) {
            Step close = new Step(-1, Kind.CLOSE, number, "", "", slot, 0, 0, null, null, null);
            if (models.stream().noneMatch(model -> model.skips(close))) {
                judge(close, executed(close, node), node.isContended(close));
                pass(MOMENT);
                observe();
            }
        }
    }

    /** The mount shows what others see. */
    private void lookThrough(int number, Node node) {
        Map<String, String> seen = outside.seen();
        seen.forEach((path, content) -> {
            Step read = new Step(-1, Kind.READ, number, path, "", 0, 0, 0, null, null, null);
            boolean directory = content.equals(Model.IS_DIRECTORY);
            if (directory) {
                checkNames(node, path, seen);
            } else if (!content.equals(Model.INCOMPLETE)) {
                Outcome outcome = executed(read, node);
                if (outcome.errno != 0 || !outcome.content.equals(content)) {
                    throw new Violation("Mount " + number + " reads of " + path + " '" + outcome.content + "', errno "
                            + outcome.errno + ", not '" + content + "'");
                }
            }
        });
    }

    private static void checkNames(Node node, String directory, Map<String, String> seen) {
        List<String> expected = seen.keySet().stream()
                .filter(path -> path.startsWith(directory + "/") && path.indexOf('/', directory.length() + 1) < 0)
                .map(path -> path.substring(directory.length() + 1))
                .toList();
        List<String> listed = node.mount().list(directory).stream().sorted().toList();
        if (!listed.equals(expected)) {
            throw new Violation("A mount lists " + directory + " as " + listed + ", not " + expected);
        }
    }

    private void checkLeftovers() {
        List<String> left = new ArrayList<>();
        if (!formatted && !hiddenStays) {
            left.addAll(staleWorkerWrites ? outside.hidden() : outside.hiddenAnywhere());
        }
        if (!formatted && nodes.stream().noneMatch(Node::keeps)) {
            nodes.forEach(node -> left.addAll(node.leftovers()));
        }
        if (!left.isEmpty()) {
            throw new Violation("Left over: " + left);
        }
        for (Map.Entry<String, String> file : outside.seen().entrySet()) {
            byte[] stored = cluster.ufs().read(file.getKey());
            boolean isFile = !file.getValue().equals(Model.IS_DIRECTORY);
            if (isFile
                    && (stored == null || !new String(stored, StandardCharsets.ISO_8859_1).equals(file.getValue()))) {
                throw new Violation("The UFS has another content of " + file.getKey());
            }
        }
    }

    @Override
    public void close() {
        for (Node node : nodes) {
            node.mount().kill();
            node.end();
        }
    }
}
