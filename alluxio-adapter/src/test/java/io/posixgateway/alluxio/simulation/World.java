package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.simulation.Step.Crash;
import io.posixgateway.alluxio.simulation.Step.Kind;
import io.posixgateway.alluxio.simulation.Step.Next;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryWorker;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

    private final Program program;
    private final Befalls befalls;
    private MemoryCluster cluster;
    private Outsider outside;
    private final List<Node> nodes = new ArrayList<>();
    private final Histories histories;
    /** What failed may still come true. */
    private boolean unsettled;
    /** A worker was stopped: what it was sent may be written under any name at which it was. */
    private boolean staleWorkerWrites;

    private int kills;
    private boolean workerStopped;
    private boolean formatted;
    private boolean hiddenStays;

    World(Program program, Path folders) {
        this.program = program;
        this.cluster = new MemoryCluster(program.ufs(), 2, WORKER_BYTES, null);
        this.outside = new Outsider(cluster);
        this.befalls = new Befalls(program.ufs(), () -> cluster.stopMaster());
        cluster.staleWorkerWritesRemove(program.staleWorkerWritesRemove());
        Model model = new Model();
        for (String directory : Program.DIRECTORIES.subList(0, Program.MADE_DIRECTORIES)) {
            outside.makeDirectory(directory);
            model = model.withDirectory(directory);
        }
        histories = new Histories(model);
        for (int i = 0; i < Program.MOUNTS; i++) {
            nodes.add(new Node(cluster, program, folders.resolve("node-" + i)));
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
                throw new Violation("at step " + step + ": " + e.getMessage() + "\n  " + histories, e);
            }
        }
        try {
            end();
        } catch (Violation e) {
            throw new Violation("at the end: " + e.getMessage() + "\n  " + histories, e);
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
        boolean can = outsider || nodes.get(step.actor()).isUp();
        if (workerStopped && isLostToWorker(step)) {
            return false;
        }
        if (step.gives() && nodes.stream().anyMatch(Node::mayUploadClosed)) {
            return false; // it may be there later
        }
        if (!can || histories.any(model -> model.skips(step))) {
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

    /**
     * What the worker writes when it is resumed only the mount that sent it undoes; nobody does so of what the outsider sends. What the
     * outsider makes of the mode is gone with the file if that mount has the content.
     */
    private boolean isLostToWorker(Step step) {
        boolean outsider = step.actor() == Step.OUTSIDER;
        boolean isGuarded = nodes.stream().allMatch(Node::isUp) && step.kind() != Kind.CHMOD;
        return (outsider && step.kind() == Kind.CREATE) || ((outsider || step.replaces()) && !isGuarded);
    }

    private void work(boolean resumes) {
        if (resumes) {
            outside.resumeWorker(histories.models());
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
        for (int i = 0; i < nodes.size(); i++) {
            int mount = i;
            nodes.get(i).answeredBy(cluster);
            histories.map(model -> model.without(mount));
        }
        histories.map(Model::formatted);
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

    /** The other mount does something between two calls of this one's. */
    private void race(Step step, Node node, Step.Meanwhile meanwhile) {
        Step other = meanwhile.step().by(1 - step.actor());
        Node second = nodes.get(other.actor());
        boolean murky = histories.any(model -> model.skips(other));
        if (!second.isUp() || murky) {
            byMount(step.calm(), node);
            return;
        }
        List<Outcome> heard = new ArrayList<>();
        Histories before = histories.copy();
        boolean[] wrote = {false};
        Outcome outcome = executed(step, node, meanwhile, () -> {
            wrote[0] = node.hasAppended();
            heard.add(new Executor(second).attempt(other));
        });
        settle();
        if (heard.isEmpty()) {
            judge(step, outcome, unsettled);
            return;
        }
        node.noteContended(step, other);
        second.noteContended(other, step);
        boolean wasUnsettled = unsettled;
        boolean agrees = histories.agreeInAnyOrder(step, outcome, other, heard.get(0));
        if (wrote[0] && outcome.succeeds()) {
            histories.addWithoutOther(before, step);
            agrees = true;
        }
        pass(SETTLED);
        unsettled = wasUnsettled;
        if (!agrees) {
            throw new Violation("No order of the two explains " + outcome + " and " + heard.get(0));
        }
    }

    private static Outcome executed(Step step, Node node, Step.Meanwhile meanwhile, Runnable act) {
        StoreCall call = meanwhile.call();
        if (call == null) {
            node.atGap(meanwhile.nth(), act);
            Outcome outcome = new Executor(node).attempt(step);
            node.atGap(0, () -> {});
            return outcome;
        }
        StoreFaults.Fault moment =
                node.mount().faults().on(call).nth(meanwhile.nth()).before(act);
        Outcome outcome = new Executor(node).attempt(step);
        moment.remove();
        return outcome;
    }

    private void byMount(Step step, Node node) {
        if (step.meanwhile() != null) {
            race(step, node, step.meanwhile());
            return;
        }
        StoreFaults.Fault fault = befalls.during(step, node.mount());
        Crash crash = crashOf(step);
        if (crash != null) {
            node.killAfter(crash);
        }
        Outcome outcome = new Executor(node).attempt(step);
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

    /** How often a process was killed. */
    int kills() {
        return kills;
    }

    private void died(Step step, Node node, Crash crash, boolean answered) {
        kills++;
        if (!answered) {
            histories.spread(step, false);
        }
        node.died(crash);
        node.resent = answered || crash.next() != Next.KEPT ? null : step;
        if (crash.next() != Next.KEPT) {
            histories.mapEach(model -> {
                Model without = model.without(step.actor());
                return List.of(without, without.withoutAbandoned());
            });
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
            List<Model> before = List.copyOf(histories.models());
            histories.map(Model::withoutAbandoned);
            if (nodes.stream().anyMatch(other -> !other.isUp())) {
                histories.add(before); // there may be such of another one
            }
        }
        unsettled = workerStopped;
        observe();
    }

    /** It may have been done, as far as the program knows. */
    private void resend(Step step, Node node) {
        Outcome outcome = new Executor(node).attempt(step);
        if (step.kind() == Kind.CREATE && outcome.errno() == Errno.EEXIST) {
            if (!histories.any(model -> model.hasOpen(step))) {
                return; // it was there before
            }
            outcome = new Executor(node).attempt(step.as(Kind.OPEN)); // as an open does that is not exclusive
        }
        if (outcome.errno() == Errno.EIO && !unsettled && !histories.any(model -> model.isContended(step))) {
            throw new Violation("What was sent again to the next process fails");
        }
        if (step.opens() && outcome.errno() != 0) {
            failedAgain(step, outcome);
            return;
        }
        boolean done = outcome.succeeds();
        histories.map(model -> {
            Model after = model.skips(step) ? null : model.after(step);
            return after == null || !done ? model : after;
        });
        settle();
    }

    private void failedAgain(Step open, Outcome outcome) {
        if (!histories.any(model -> !model.has(open.path()))) {
            throw new Violation("An open that was sent again to the next process fails, errno " + outcome.errno());
        }
        histories.map(model -> model.withoutDescriptor(open));
    }

    /** As an administrator does, of a node that does not come back. */
    private void removeAbandoned() {
        Map<String, String> seen = outside.seen().contents();
        List<Model> agree = histories.models().stream()
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

    /** Which models agree with the answer? */
    private void judge(Step step, Outcome outcome, boolean faulty) {
        if (outcome.errno() != 0 && faulty) {
            histories.spread(step, true);
            unsettled = true;
            if (step.kind() == Kind.CLOSE || step.replaces()) {
                nodes.get(step.actor()).closeFailed();
            }
        } else if (!histories.agree(step, outcome)) {
            throw new Violation(
                    outcome.errno() == 0
                            ? "It succeeds, though it cannot, with '" + outcome.content() + "'"
                            : "It fails with errno " + outcome.errno());
        }
    }

    /** Which models agree with what others see? What a process left incomplete when it was killed its next one removes. */
    private void observe() {
        boolean down = nodes.stream().anyMatch(node -> !node.isUp());
        Seen seen = outside.seen();
        boolean settled = !unsettled && !down;
        String differs =
                histories.look(seen, !settled, settled && nodes.stream().noneMatch(Node::mayUploadClosed));
        if (differs != null) {
            throw new Violation("Others see that " + differs);
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
        outside.resumeWorker(histories.models());
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
        LastLook look = new LastLook(cluster, outside);
        for (int i = 0; i < nodes.size(); i++) {
            look.through(i, nodes.get(i));
        }
        nodes.forEach(Node::end);
        observe();
        if (program.writeType() == WriteType.CACHE_THROUGH || program.writeType() == WriteType.THROUGH) {
            look.hasContents();
        }
        checkLeftovers();
    }

    private void closeAll(int number, Node node) {
        for (int slot : List.copyOf(node.open().keySet())) {
            Step close = new Step(-1, Kind.CLOSE, number, "", "", slot, 0, 0, null, null, null);
            if (!histories.any(model -> model.skips(close))) {
                judge(close, new Executor(node).attempt(close), node.isContended(close));
                pass(MOMENT);
                observe();
            }
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
    }

    @Override
    public void close() {
        for (Node node : nodes) {
            node.mount().kill();
            node.end();
        }
    }
}
