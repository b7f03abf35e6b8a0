package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Does the steps of one mount. For one thread. */
final class Executor {
    /** No call takes longer. */
    private static final Duration LONGEST_CALL = Duration.ofMinutes(5);

    private final Node node;

    Executor(Node node) {
        this.node = node;
    }

    /** @throws Violation it hangs, or what fails is no request */
    Outcome attempt(Step step) {
        long beganNanos = node.turns().nanos();
        Outcome outcome;
        try {
            outcome = new Outcome(0, execute(step));
        } catch (FuseFailure e) {
            outcome = new Outcome(e.errno(), "");
        } catch (IllegalStateException | AssertionError e) {
            throw new Violation("The mount hangs, or worse: " + e.getMessage(), e);
        }
        Duration took = Duration.ofNanos(node.turns().nanos() - beganNanos);
        if (took.compareTo(LONGEST_CALL) > 0) {
            throw new Violation("It took " + took);
        }
        return outcome;
    }

    /** Returns what was read. */
    private String execute(Step step) {
        MemoryMount mount = node.mount();
        switch (step.kind()) {
            case CREATE -> node.opened(step.slot(), mount.create(step.path()));
            case OPEN -> node.opened(step.slot(), mount.openToWrite(step.path()));
            case WRITE -> open(step).write(step.offset(), step.data().getBytes(StandardCharsets.ISO_8859_1));
            case TRUNCATE -> open(step).truncate(step.offset());
            case FSYNC -> open(step).fsync();
            case CLOSE -> close(step);
            case READ -> {
                return read(mount, step.path());
            }
            case RENAME, RENAME_DIRECTORY -> mount.rename(step.path(), step.other());
            case UNLINK -> mount.unlink(step.path());
            case MKDIR -> mount.mkdir(step.path());
            case RMDIR -> mount.rmdir(step.path());
            default -> throw new IllegalArgumentException(step.toString());
        }
        return "";
    }

    private static String read(MemoryMount mount, String path) {
        try (OpenFile file = mount.open(path)) {
            return new String(file.readAll(), StandardCharsets.ISO_8859_1);
        }
    }

    private OpenFile open(Step step) {
        OpenFile file = node.open().get(step.slot());
        if (file == null) {
            throw new IllegalStateException("nothing is open in " + step);
        }
        return file;
    }

    /** The descriptor is closed whatever that answers, unless the process is killed meanwhile. */
    private void close(Step step) {
        OpenFile file = open(step);
        try {
            file.close();
        } finally {
            if (!node.mount().isDead()) {
                node.open().remove(step.slot());
            }
        }
    }
}
