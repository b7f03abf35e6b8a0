package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.journal.VolumeJournal;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records of an earlier process, whose kernel session goes on, that this process cannot go on with: they are damaged, of another
 * version, or their content cannot be had. Any thread; never waits.
 *
 * <p>What their writers wrote is in the spool alone. To answer as if it had never been written would make their next fsync a lie,
 * so calls on the content of these files fail with EIO. Records and spool files stay as they are for a process that understands
 * them; when the session ends they are set aside. Where the node of a record is not known, it may be any that a program of the
 * earlier process has open and that has no record of its own.
 */
public final class Withheld {
    private static final Logger LOG = LoggerFactory.getLogger(Withheld.class);

    private final SpoolFolder folder;
    private final Map<Long, Entry> byNode = new ConcurrentHashMap<>();
    private final Set<Entry> ofUnknownNodes = ConcurrentHashMap.newKeySet();

    Withheld(SpoolFolder folder) {
        this.folder = folder;
    }

    /**
     * What is withheld.
     *
     * @param record null: none of a changed file
     * @param why after a colon, or "as"
     */
    private record Entry(@Nullable Path record, String why) {}

    /** What newer versions recorded in the volume's journal, where it stays, and this one must not ignore. */
    public void add(VolumeJournal journal, InodeTable table) {
        String why =
                journal.path() + " has a record of a newer version on this file, which this version must not ignore:"
                        + " let a gateway of that version take over";
        for (DirtyFileRecord.Ids ids : journal.withheld()) {
            Inode known = table.known(ids.fileId());
            long node = ids.node() != 0
                    ? ids.node()
                    : known != null ? known.node() : table.ids().of(ids.fileId());
            if (ids.node() != 0 || ids.fileId() != 0) {
                byNode.putIfAbsent(node, new Entry(null, why));
            }
        }
    }

    /** @param node 0: not known */
    void add(long node, Path record, String why) {
        LOG.error(
                "Content of an earlier process stays in {}, and calls on its file fail with EIO: {}. Let a gateway of"
                        + " the version that wrote it take over, or unmount: then it is set aside",
                record,
                why);
        Entry entry = new Entry(record, why);
        if (node == 0 || byNode.putIfAbsent(node, entry) != null) {
            ofUnknownNodes.add(entry);
        }
    }

    /** Is nothing withheld? */
    public boolean isEmpty() {
        return byNode.isEmpty() && ofUnknownNodes.isEmpty();
    }

    /** Is, or may, the content of this node be withheld? */
    public boolean concerns(long node) {
        return byNode.containsKey(node) || !ofUnknownNodes.isEmpty();
    }

    /**
     * Before the content of a node is used.
     *
     * @param unknownCounts is it used by a handle of the earlier process, and has no dirty file?
     * @throws StoreException EIO: its content is withheld, or may be
     */
    public void check(long node, boolean unknownCounts) throws StoreException {
        if (isEmpty()) {
            return;
        }
        Entry entry = byNode.get(node);
        if (entry == null && unknownCounts) {
            entry = ofUnknownNodes.stream().findAny().orElse(null);
        }
        if (entry != null) {
            Path record = entry.record;
            String where = record == null
                    ? ""
                    : "The written content is in " + SpoolFolder.spoolOf(record)
                            + ", where this process cannot continue with it: ";
            throw new StoreException(Errno.EIO, where + entry.why, null);
        }
    }

    /** The kernel has forgotten the node: nobody has it open. */
    public void forgotten(long node) {
        Entry entry = byNode.get(node);
        if (entry != null && entry.record != null && byNode.remove(node, entry)) {
            setAside(entry);
        }
    }

    /** The session ends. */
    void close() {
        byNode.values().forEach(this::setAside);
        byNode.clear();
        ofUnknownNodes.forEach(this::setAside);
        ofUnknownNodes.clear();
    }

    private void setAside(Entry entry) {
        Path record = entry.record;
        try {
            if (record != null) {
                folder.setAside(record, "", entry.why);
            }
        } catch (StoreException e) {
            LOG.error("{} was not moved: {}", record, e.getMessage());
        }
    }
}
