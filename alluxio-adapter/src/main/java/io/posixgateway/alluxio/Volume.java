package io.posixgateway.alluxio;

import io.posixgateway.alluxio.cache.FactsReader;
import io.posixgateway.alluxio.cache.Freshness;
import io.posixgateway.alluxio.cache.KernelNotices;
import io.posixgateway.alluxio.cache.Metadata;
import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.data.BlockFiles;
import io.posixgateway.alluxio.data.BufferBudget;
import io.posixgateway.alluxio.data.FileReaders;
import io.posixgateway.alluxio.inode.Facts;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.alluxio.inode.InodeTable;
import io.posixgateway.alluxio.posix.Identities;
import io.posixgateway.alluxio.write.Drafts;
import io.posixgateway.alluxio.write.Publisher;
import io.posixgateway.alluxio.write.SpoolFolder;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Request;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The parts of one mounted volume, and what its operations have in common. Any thread. */
final class Volume {
    final AdapterOptions options;
    final Store store;
    final InodeTable table;
    final Freshness freshness;
    final FactsReader factsReader;
    final Identities identities;
    final KernelNotices notices = new KernelNotices();
    final Metadata metadata;
    final FileReaders readers;
    final Drafts drafts;
    final SpoolFolder spool;

    /** @param root what Alluxio says of the path that becomes the root */
    Volume(Store store, String rootPath, FileStatus root, AdapterOptions options, LongSupplier clock) {
        this.options = options;
        this.store = store;
        this.identities = Identities.ofHost();
        this.table = new InodeTable(rootPath, root.id(), options.cacheEntries());
        this.freshness = new Freshness(options.consistency(), options.metadataTtlNanos(), clock);
        this.factsReader = new FactsReader(identities, options.uid(), options.gid(), options.umask());
        this.metadata = new Metadata(store, table, freshness, factsReader, notices);
        BlockFiles blocks = new BlockFiles(options.shortCircuit() ? options.blockFiles() : 0);
        this.readers = new FileReaders(
                store, blocks, new BufferBudget(options.bufferBytes()), options.readAheadBytes(), clock);
        this.spool = new SpoolFolder(options.spoolFolder(), options.spoolBytes());
        Publisher publisher = new Publisher(store, metadata, table, factsReader);
        this.drafts = new Drafts(store, metadata, factsReader, spool, publisher);
    }

    /** The node; null: answer {@link #absent}. */
    @Nullable
    Inode find(Request request, long node) throws StoreException {
        Inode inode = table.get(node);
        if (inode != null || !request.mayWait()) {
            return inode;
        }
        return metadata.recover(node);
    }

    /** The answer where {@link #find} found nothing. */
    static int absent(Request request) {
        return request.mayWait() ? -Errno.ESTALE : FileSystem.WOULD_WAIT;
    }

    /** Shows a node's attributes as they are on this mount; 0 or WOULD_WAIT. */
    int show(Request request, Inode inode, Attributes attributes) throws StoreException {
        int drafted = drafts.show(inode, request.mayWait(), attributes);
        if (drafted == FileSystem.WOULD_WAIT) {
            return drafted;
        }
        if (drafted == 0) {
            attributes.validNanos = Math.max(0, freshness.leftNanos(freshness.nowNanos()));
        } else {
            Facts facts = metadata.known(inode);
            if (facts == null) {
                if (!request.mayWait()) {
                    return FileSystem.WOULD_WAIT;
                }
                facts = lastSeen(inode);
            }
            facts.show(inode.node(), attributes);
            attributes.validNanos = Math.max(0, freshness.leftNanos(facts.fetchedNanos()));
        }
        if (inode.unlinked()) {
            attributes.links = 0;
        }
        return 0;
    }

    /** What Alluxio says now; of a file that is gone but open, what it said last. */
    private Facts lastSeen(Inode inode) throws StoreException {
        Facts before = inode.facts();
        try {
            return metadata.refresh(inode);
        } catch (StoreException e) {
            if (e.errno() == Errno.ESTALE && before != null && inode.handles() > 0) {
                return before;
            }
            throw e;
        }
    }

    /** Answers with an entry, which counts as a lookup; 0 or WOULD_WAIT. */
    int enter(Request request, Inode inode, Entry entry) throws StoreException {
        int shown = show(request, inode, entry.attributes);
        if (shown == 0) {
            entry.node = inode.node();
            entry.validNanos = entry.attributes.validNanos;
            inode.lookedUp();
        }
        return shown;
    }
}
