package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.journal.Journal.Entry;
import io.posixgateway.alluxio.journal.Journal.Kind;
import io.posixgateway.alluxio.journal.JournalFrame.Subject;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What one process has left to do in Alluxio: the records of one kind in a {@link VolumeJournal}. Guarded by its own monitor. */
public abstract class JournalList<E> {
    private static final Logger LOG = LoggerFactory.getLogger(JournalList.class);

    private final VolumeJournal journal;
    private final Kind kind;
    private final Map<String, Held<E>> present = new LinkedHashMap<>();

    /** @param isOld see {@link Entry} */
    private record Held<E>(E entry, long id, boolean isOld) {}

    /** As id: it is recorded nowhere. */
    private static final long NOWHERE = 0;

    /** What an entry is about. */
    abstract Subject subject(E entry);

    /** What the record says of it; the first one is different for each entry of a list. */
    abstract List<String> texts(E entry);

    /** @param texts as many as {@link #texts} has */
    abstract E entry(Subject subject, List<String> texts);

    JournalList(VolumeJournal journal, Kind kind) {
        this.journal = journal;
        this.kind = kind;
    }

    /** Where it is kept. */
    public Path folder() {
        return journal.folder();
    }

    private String key(E entry) {
        return texts(entry).get(0);
    }

    /** Before it is begun. Returns false, and logs, if it cannot be recorded: then the next process does not learn of it. */
    public synchronized boolean add(E entry) {
        Held<E> before = present.get(key(entry));
        if (before != null && before.id != NOWHERE && before.entry.equals(entry)) {
            return true;
        }
        try {
            hold(entry, before == null ? NOWHERE : before.id);
            hold(entry, journal.add(kind, subject(entry), texts(entry)));
            if (before != null) {
                journal.remove(before.id);
            }
            return true;
        } catch (IOException e) {
            LOG.warn("Writing the journal in {} failed: {}", folder(), e.toString());
            return false;
        }
    }

    private void hold(E entry, long id) {
        present.put(key(entry), new Held<>(entry, id, false));
    }

    /** It is done, or was not begun. */
    public void remove(E entry) {
        remove(key(entry));
    }

    /** The same of the entry with this key. */
    public synchronized void remove(String key) {
        Held<E> held = present.remove(key);
        if (held != null) {
            forget(held.id);
        }
    }

    private void forget(long id) {
        try {
            journal.remove(id);
        } catch (ClosedChannelException late) {
            LOG.debug("The next process finds out that record {} is done", id);
        } catch (IOException e) {
            LOG.warn("Writing the journal in {} failed: {}", folder(), e.toString());
        }
    }

    /** Those that stand in the list now. */
    public synchronized List<E> present() {
        return present.values().stream().map(Held::entry).toList();
    }

    /** Does one of this key stand in the list now? */
    public synchronized boolean has(String key) {
        return present.containsKey(key);
    }

    /** Has another version, which knows nothing of it, served the volume since it was recorded? */
    public synchronized boolean isOld(E entry) {
        Held<E> held = present.get(key(entry));
        return held != null && held.isOld;
    }

    /** Takes over what processes left that are no more; returns it. */
    public List<E> inherit() {
        return hold(journal.take(kind));
    }

    private synchronized List<E> hold(List<Entry> all) {
        List<E> inherited = new ArrayList<>();
        for (Entry left : all) {
            try {
                E entry = entry(left.subject(), left.texts());
                remove(key(entry));
                present.put(key(entry), new Held<>(entry, left.id(), left.isOld()));
                inherited.add(entry);
            } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
                LOG.error("A record of kind {} in the journal of {} is incomplete and is skipped", kind, folder());
            }
        }
        return inherited;
    }
}
