package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.FuseRequests;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
            outcome = execute(step);
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

    private Outcome execute(Step step) {
        MemoryMount mount = node.mount();
        switch (step.kind()) {
            case CREATE -> node.opened(step.slot(), mount.create(step.path()));
            case OPEN -> node.opened(step.slot(), mount.openToWrite(step.path()));
            case WRITE -> open(step).write(step.offset(), step.data().getBytes(StandardCharsets.ISO_8859_1));
            case TRUNCATE -> open(step).truncate(step.offset());
            case FSYNC -> open(step).fsync();
            case CLOSE -> close(step);
            case READ -> {
                return new Outcome(0, read(mount, step.path()));
            }
            case RENAME, RENAME_DIRECTORY -> mount.rename(step.path(), step.other());
            case UNLINK -> mount.unlink(step.path());
            case MKDIR -> mount.mkdir(step.path());
            case RMDIR -> mount.rmdir(step.path());
            case TRUNCATE_PATH -> mount.truncate(step.path(), step.offset());
            case APPEND -> append(mount, step);
            default -> {
                FuseNode file = mount.lookup(step.path());
                node.gap();
                return new Outcome(0, "", attributes(mount.requests(), file.id(), step));
            }
        }
        return new Outcome(0, "");
    }

    /** Changes them; returns those that are shown, if that is what is asked for. */
    private static Map<String, String> attributes(FuseRequests requests, long file, Step step) {
        String xattr = Program.XATTRS.get(step.slot());
        switch (step.kind()) {
            case CHMOD -> requests.chmod(file, step.mode());
            case CHOWN -> requests.chown(file, Integer.parseInt(step.value()));
            case UTIMENS -> requests.setModified(file, Duration.ofSeconds(Integer.parseInt(step.value())));
            case SETXATTR -> requests.setxattr(file, xattr, step.value());
            case REMOVEXATTR -> removeXattr(requests, file, xattr);
            case STAT -> {
                return shown(requests, file);
            }
            default -> throw new IllegalArgumentException(step.toString());
        }
        return Map.of();
    }

    /** If there is one. */
    private static void removeXattr(FuseRequests requests, long file, String name) {
        try {
            requests.removexattr(file, name);
        } catch (FuseFailure e) {
            if (e.errno() != Errno.ENODATA) {
                throw e;
            }
        }
    }

    private static Map<String, String> shown(FuseRequests requests, long file) {
        FuseRequests.Stated stated = requests.stat(file);
        List<String> names = requests.listxattr(file);
        Map<String, String> shown = new HashMap<>(FileAttributes.ofMode(stated.mode()));
        shown.put(FileAttributes.OWNER, String.valueOf(stated.uid()));
        shown.put(FileAttributes.MODIFIED, String.valueOf(stated.modified().getEpochSecond()));
        for (String xattr : Program.XATTRS) {
            shown.put(xattr, names.contains(xattr) ? requests.getxattr(file, xattr) : "");
        }
        return shown;
    }

    /** As the kernel does: where it believed the file to end when it looked it up. */
    private void append(MemoryMount mount, Step step) {
        node.appended(false);
        try (OpenFile file = openToAppend(mount, step.path())) {
            node.gap();
            node.appended(true); // it begins to read what the file has
            file.write(file.opened().node().lengthBytes(), step.data().getBytes(StandardCharsets.ISO_8859_1));
        }
    }

    /** Looks the path up once more where that is stale. */
    private OpenFile openToAppend(MemoryMount mount, String path) {
        int flags = Stat.O_WRONLY | Stat.O_APPEND;
        mount.requests().asProcess((int) ProcessHandle.current().pid());
        try (MemoryMount.Bound found = mount.bind(path)) {
            node.gap();
            return found.open(flags);
        } catch (FuseFailure e) {
            if (e.errno() != Errno.ESTALE) {
                throw e;
            }
        }
        try (MemoryMount.Bound found = mount.bind(path)) {
            return found.open(flags);
        }
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
