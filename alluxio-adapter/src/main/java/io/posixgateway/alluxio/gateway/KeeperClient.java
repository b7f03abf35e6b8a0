package io.posixgateway.alluxio.gateway;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.posixgateway.alluxio.journal.StateFolder;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.session.PersistentSession;
import io.posixgateway.fuse.session.SessionOptions;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Talks to the keeper: one connection for each question, one line of JSON each way, file descriptors with the answer.
 *
 * <p>Any thread; every call but {@link #notify} blocks for at most the time-out. A connection that ends without an answer (the keeper is being
 * replaced by its successor) is tried once more: all questions may be repeated.
 */
public final class KeeperClient implements Takeover.Kept {
    private static final int MAX_TAKEN_FDS = 4;
    private static final int CHUNK_BYTES = 32 << 10;

    /** What is sent, and what comes, piece by piece. */
    private static final ThreadLocal<ByteBuffer> CHUNK =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(CHUNK_BYTES));

    private static final int WITHOUT_END = 0;
    private static final int LONGEST_ANSWER_BYTES = 64 << 20;

    private final Path socket;
    private final int timeoutMillis;
    private final Clock clock;

    /**
     * @param socket empty: there is no keeper, which holds no sessions, and every question but for these fails
     * @param timeoutMillis most that a call takes
     */
    public KeeperClient(Path socket, int timeoutMillis, Clock clock) {
        this.clock = clock;
        this.socket = socket;
        this.timeoutMillis = timeoutMillis;
    }

    /** By which nothing is asked: it shows when the keeper that is there now ends. */
    KeeperWatch.Connection connect(long nanos) {
        boolean none = socket.toString().isEmpty();
        int connection = none || !isBelieved()
                ? -1
                : Native.connectUnix(Native.pathBytes(socket.toString()), (int) TimeUnit.NANOSECONDS.toMillis(nanos));
        return new KeeperWatch.Connection() {
            @Override
            public boolean awaitEnd() {
                if (none) {
                    clock.pause(nanos);
                    return false;
                }
                return connection < 0 || Native.receive(connection, CHUNK.get(), new int[0]) != -Errno.EAGAIN;
            }

            @Override
            public void close() {
                if (connection >= 0) {
                    Native.close(connection);
                }
            }
        };
    }

    /**
     * A session as the keeper lists it.
     *
     * @param ended its connection was aborted: nobody can serve it any more
     */
    public record Session(String id, String target, boolean mounted, boolean hasRecord, boolean ended) {}

    /** The sessions it holds. */
    @Override
    public List<Session> list() throws KeeperException {
        return socket.toString().isEmpty()
                ? new ArrayList<>()
                : ask(question("list", null), new int[0]).sessions();
    }

    /**
     * What to mount.
     *
     * @param id of the session
     * @param target absolute path of a folder
     * @param source first column of /proc/mounts
     * @param flags as {@link MountOptions#keeperWords} gives them
     */
    public record Mount(
            String id,
            String target,
            String source,
            boolean readOnly,
            boolean allowOther,
            boolean defaultPermissions,
            List<String> flags) {}

    /** Mounts, or finds it mounted. */
    public void mount(Mount mount) throws KeeperException {
        JsonObject question = question("mount", mount.id());
        question.addProperty("target", mount.target());
        question.addProperty("source", mount.source());
        question.addProperty("read_only", mount.readOnly());
        question.addProperty("allow_other", mount.allowOther());
        question.addProperty("default_permissions", mount.defaultPermissions());
        if (Native.pageBytes() > 4096) {
            // A kernel that knows no max_pages would ask for more at once than a reply has room for.
            question.addProperty("max_read", SessionOptions.defaults().maxWriteBytes());
        }
        JsonArray flags = new JsonArray();
        mount.flags().forEach(flags::add);
        question.add("flags", flags);
        ask(question, new int[0]);
    }

    /** Unmounts and forgets the session; nothing there is success. */
    public void unmount(String id) throws KeeperException {
        ask(question("unmount", id), new int[0]);
    }

    /** The same at once, whoever uses the mount or waits for an answer: all their calls fail, now and later. */
    void abort(String id) throws KeeperException {
        JsonObject question = question("unmount", id);
        question.addProperty("force", true);
        ask(question, new int[0]);
    }

    /** The keeper's process. */
    public long pid() throws KeeperException {
        return ask(question("info", null), new int[0]).pid();
    }

    /** Duplicates of the session's descriptors, which the caller owns. */
    public PersistentSession take(String id) throws KeeperException {
        int[] fds = new int[MAX_TAKEN_FDS];
        JsonObject question = question("take", id);
        question.addProperty("clone", true);
        try {
            return session(id, ask(question, fds).taken(), fds);
        } catch (KeeperException e) {
            closeAll(fds);
            throw e;
        }
    }

    /** @throws KeeperException one of its descriptors is missing; those that came are still the caller's */
    PersistentSession session(String id, KeeperResponse.Taken taken, int[] fds) throws KeeperException {
        String device = taken.device();
        return new PersistentSession(
                sent(id, 0, fds),
                with(id, taken, "clone", fds),
                with(id, taken, "lock", fds),
                sent(id, 1, fds),
                taken.target(),
                taken.readOnly(),
                taken.takes(),
                device,
                new KeeperNotifier(this, id, device == null ? "" : device, clock),
                null);
    }

    /** The descriptor of this name, behind the two that always come; -1: the keeper has none of that name. */
    private int with(String id, KeeperResponse.Taken taken, String name, int[] fds) throws KeeperException {
        int at = taken.with().indexOf(name);
        return at < 0 ? -1 : sent(id, at + 2, fds);
    }

    /** One that the keeper says it sent: a session without it would be served with less than the keeper counts on. */
    private int sent(String id, int at, int[] fds) throws KeeperException {
        if (at >= fds.length || fds[at] < 0) {
            throw new KeeperException(
                    KeeperException.FAILED,
                    "the keeper at " + socket + " did not send each descriptor of session " + id
                            + "; start the posix-gateway-keeper of this version");
        }
        return fds[at];
    }

    /**
     * Gives it a session that this process serves and that an earlier keeper made; one that it has is left as it is.
     *
     * @param record what is stored with the session
     * @throws KeeperException "invalid": it does not know how
     */
    void adopt(String id, PersistentSession kept, byte[] record) throws KeeperException {
        JsonObject question = question("adopt", id);
        question.addProperty("target", kept.target());
        question.addProperty("device", kept.device());
        question.addProperty("read_only", kept.readOnly());
        question.addProperty("takes", kept.takes() + 1);
        question.addProperty("data", Base64.getEncoder().encodeToString(record));
        giveAndAsk(question, kept.fuseFd(), kept.memoryFd());
    }

    /**
     * Has it write notifications to the kernel, and waits as long as that takes.
     *
     * @param device "major:minor" of the mount they are for; empty: any
     * @param notifications as the kernel reads them, one behind the other
     * @return 0 or the kernel's errno of the last one
     */
    int notify(String id, String device, byte[] notifications) throws KeeperException {
        JsonObject question = question("notify", id);
        question.addProperty("device", device);
        question.addProperty("data", Base64.getEncoder().encodeToString(notifications));
        return ask(question, new int[0], WITHOUT_END).errno();
    }

    /** What was stored with the session; empty: nothing. */
    @Override
    public byte[] record(String id) throws KeeperException {
        return ask(question("record", id), new int[0]).record();
    }

    /** Stores what the next gateway needs to serve the session again; empty deletes. */
    public void store(String id, byte[] data) throws KeeperException {
        JsonObject question = question("record", id);
        question.addProperty("data", Base64.getEncoder().encodeToString(data));
        ask(question, new int[0]);
    }

    private static JsonObject question(String operation, @Nullable String id) {
        JsonObject question = new JsonObject();
        question.addProperty("op", operation);
        if (id != null) {
            question.addProperty("id", id);
        }
        return question;
    }

    private KeeperResponse ask(JsonObject question, int[] fds) throws KeeperException {
        return ask(question, fds, timeoutMillis);
    }

    private KeeperResponse ask(JsonObject question, int[] fds, int millis) throws KeeperException {
        try {
            return askOnce(question, fds, millis);
        } catch (KeeperException e) {
            if (!e.code().equals(KeeperException.UNAVAILABLE)) {
                throw e;
            }
            return askOnce(question, fds, millis);
        }
    }

    /** Descriptors go with the question, and stay the caller's. */
    private void giveAndAsk(JsonObject question, int... given) throws KeeperException {
        askOnce(question, new int[0], timeoutMillis, given);
    }

    private KeeperResponse askOnce(JsonObject question, int[] fds, int millis, int... given) throws KeeperException {
        Arrays.fill(fds, -1);
        checkOwner();
        int connection = Native.connectUnix(Native.pathBytes(socket.toString()), millis);
        if (connection < 0) {
            throw unavailable("cannot be reached (" + Native.errorText(connection) + "); start posix-gateway-keeper");
        }
        try {
            send(connection, question + "\n", given);
            return KeeperResponse.parse(receiveLine(connection, fds));
        } catch (KeeperException e) {
            closeAll(fds);
            throw e;
        } finally {
            Native.close(connection);
        }
    }

    /** Whoever may put a socket there says which sessions are served, and of what. */
    private void checkOwner() throws KeeperException {
        try {
            StateFolder.checkAbove(socket);
        } catch (StateFolder.NotTrusted e) {
            throw new KeeperException("failed", "the socket of the keeper is not trusted: " + e.getMessage());
        } catch (IOException gone) {
            return; // there is nothing to believe
        }
        if (!isBelieved()) {
            throw new KeeperException(
                    "failed",
                    "the socket " + socket + " of the keeper belongs neither to root nor to the user of this process,"
                            + " so it is not trusted; remove it and start posix-gateway-keeper");
        }
    }

    private boolean isBelieved() {
        try {
            return StateFolder.isOfRootOrOurs(socket);
        } catch (IOException gone) {
            return true; // there is nothing to believe
        }
    }

    private void send(int connection, String line, int... given) throws KeeperException {
        byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
        ByteBuffer chunk = CHUNK.get();
        int at = 0;
        while (at < bytes.length) {
            int count = Math.min(CHUNK_BYTES, bytes.length - at);
            chunk.put(0, bytes, at, count);
            int result = at == 0 && given.length > 0
                    ? Native.sendWithFds(connection, chunk, count, given)
                    : Native.send(connection, chunk, count);
            if (result < 0) {
                throw unavailable("does not accept requests (" + Native.errorText(result) + "); see its log");
            }
            at += result > 0 ? result : count; // 0: all were sent
        }
    }

    /** The descriptors come with the first byte. */
    private String receiveLine(int connection, int[] fds) throws KeeperException {
        ByteBuffer chunk = CHUNK.get();
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int[] wanted = fds;
        while (line.size() < LONGEST_ANSWER_BYTES) {
            int count = Native.receive(connection, chunk, wanted);
            wanted = new int[0];
            if (count == -Errno.EMFILE) {
                throw new KeeperException(
                        KeeperException.FAILED,
                        "the keeper at " + socket + " sent descriptors for which this process has no room ("
                                + Native.errorText(count) + "); raise its limit of open files (LimitNOFILE of a unit)");
            }
            if (count <= 0) {
                throw unavailable(whyNoResponse(count));
            }
            byte[] bytes = new byte[count];
            chunk.get(0, bytes);
            line.write(bytes, 0, count);
            if (bytes[count - 1] == '\n') {
                return line.toString(StandardCharsets.UTF_8);
            }
        }
        throw unavailable("sends a response that is too long; start the posix-gateway-keeper of this version there");
    }

    private static String whyNoResponse(int result) {
        return result == 0
                ? "closed the connection without a response; see its log"
                : "does not answer (" + Native.errorText(result) + "); check whether it is stopped or overloaded";
    }

    private KeeperException unavailable(String what) {
        return new KeeperException(KeeperException.UNAVAILABLE, "the keeper at " + socket + " " + what);
    }

    private static void closeAll(int[] fds) {
        for (int i = 0; i < fds.length; i++) {
            if (fds[i] >= 0) {
                Native.close(fds[i]);
                fds[i] = -1;
            }
        }
    }
}
