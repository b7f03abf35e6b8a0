package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.NativeLoader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small process that unmounts when this one has died without doing so. It holds the end of a pipe, and looks whether the
 * mount is still ours when the pipe ends, or when this process is dying and cannot finish.
 */
final class MountGuard implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MountGuard.class);

    private final Process process;

    private MountGuard(Process process) {
        this.process = process;
    }

    static MountGuard start(Mounter.Mounted mounted) throws MountException {
        try {
            Path program = NativeLoader.extract("pgw-mount-guard");
            try {
                String self = Long.toString(ProcessHandle.current().pid());
                return new MountGuard(
                        new ProcessBuilder(program.toString(), mounted.target().toString(), mounted.device(), self)
                                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                                .redirectError(ProcessBuilder.Redirect.DISCARD)
                                .start());
            } finally {
                Files.deleteIfExists(program);
            }
        } catch (IOException e) {
            throw new MountException(
                    "the mount guard could not be started (" + e.getMessage() + ")",
                    "give a folder that is not mounted noexec with -Djava.io.tmpdir=DIR, or mount without the guard");
        }
    }

    /** Ends the guard; what is still mounted as ours is unmounted by it. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                LOG.warn("the mount guard, process {}, did not end", process.pid());
            }
        } catch (IOException e) {
            LOG.warn("the mount guard's pipe could not be closed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
