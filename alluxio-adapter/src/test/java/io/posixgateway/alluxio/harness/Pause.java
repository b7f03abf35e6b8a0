package io.posixgateway.alluxio.harness;

import io.posixgateway.alluxio.embedded.ServerProcess;
import java.io.IOException;

/**
 * A server of Alluxio is stopped (SIGSTOP) until this ends: connections stay, answers do not come. Nothing is started at the
 * end: a child would close copies of files that are open here, which a server that is stopped may have to do.
 */
public final class Pause implements AutoCloseable {
    private final Process shell;

    private Pause(Process shell) {
        this.shell = shell;
    }

    /** Returns when it has stopped. */
    public static Pause of(ServerProcess server) throws IOException {
        String script = "kill -STOP $0 && echo stopped; read -r end; kill -CONT $0";
        Process shell = new ProcessBuilder("sh", "-c", script, Long.toString(server.pid()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (!"stopped".equals(shell.inputReader().readLine())) {
            throw new IOException(server.name() + " cannot be stopped");
        }
        return new Pause(shell);
    }

    /** The server continues; idempotent. */
    public void end() throws IOException {
        shell.getOutputStream().close();
        try {
            shell.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() throws IOException {
        end();
    }
}
