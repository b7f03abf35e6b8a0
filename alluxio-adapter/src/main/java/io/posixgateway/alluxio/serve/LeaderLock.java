package io.posixgateway.alluxio.serve;

import io.posixgateway.alluxio.journal.StateFolder;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Which of several processes serves the sessions of one keeper: the one that holds the lock of a file they share. The kernel
 * lets go of it when its holder ends, however it ends, and wakes the next one in the same moment. One thread at a time.
 */
final class LeaderLock implements AutoCloseable {
    private final FileChannel file;

    private LeaderLock(FileChannel file) {
        this.file = file;
    }

    /** @param path made if it is not there, and never removed */
    static LeaderLock of(Path path) throws IOException {
        Path folder = path.toAbsolutePath().getParent();
        try {
            if (folder != null) {
                Files.createDirectories(folder);
            }
            return new LeaderLock(StateFolder.open(path));
        } catch (AccessDeniedException e) { // its message is the path alone
            throw new IOException(
                    "The lock " + path
                            + " cannot be opened: permission denied, as for one of a gateway that ran as another user"
                            + (folder == null ? "" : StateFolder.adviceWhereDenied(folder)),
                    e);
        }
    }

    /** False: another process has it. */
    boolean tryTake() throws IOException {
        return file.tryLock() != null;
    }

    /** Waits until it is ours; an exception when {@link #close} comes first. */
    void take() throws IOException {
        file.lock();
    }

    /** Lets go of it. Idempotent. */
    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(LeaderLock.class)
                    .warn("Releasing the leader lock failed: {}", e.toString());
        }
    }
}
