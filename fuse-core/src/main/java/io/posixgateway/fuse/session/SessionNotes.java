package io.posixgateway.fuse.session;

/**
 * What a persistent session remembers of those who served it, for the next one, who looks before it serves. It lies in the session
 * memory, so it ends with the session, and no disk has to take it. A gateway of an earlier version leaves it as it is. One thread.
 */
public final class SessionNotes implements AutoCloseable {
    private final SessionMemory memory;

    private SessionNotes(SessionMemory memory) {
        this.memory = memory;
    }

    /** @param kept stays the caller's, and open until {@link #close} */
    public static SessionNotes of(PersistentSession kept) throws MountException {
        return new SessionNotes(SessionMemory.open(kept.memoryFd()));
    }

    /**
     * May the kernel know nodes and handles of an earlier process? Not before one has answered its first request, and not while each call
     * was answered with an error. That the session was taken does not say it: who took it may have ended before.
     */
    public boolean servedBefore() {
        // An earlier version that served it since does not know the word, but has noted files.
        return memory.negotiated() != null && (!memory.onlyRefused() || memory.files().length > 0);
    }

    /** From now on each call is answered with an error, until {@link #serves}. */
    public void refuses() {
        memory.onlyRefusedIs(!servedBefore());
    }

    /** Calls are answered from now on, and what was left from before the session does not count any more. */
    public void serves() {
        memory.onlyRefusedIs(false);
    }

    /** The id of the folder in which the session's state is; 0: nobody has said it. */
    public long folder() {
        return memory.folder();
    }

    /** For whoever serves the session next. */
    public void folderIs(long id) {
        memory.folderIs(id);
    }

    /** Did whoever began to serve last have a claim? A gateway of an earlier version has none, and leaves the note as it was. */
    public boolean claimed() {
        return memory.claimed();
    }

    /** Of whoever begins to serve. */
    public void claimedIs(boolean is) {
        memory.claimedIs(is);
    }

    @Override
    public void close() {
        memory.unmap();
    }
}
