package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.store.StoreException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Some blocks that were looked for lately and are in no folder that is known: other workers have them, or one of this host has
 * them in another folder. Any thread; nothing waits, and to add one allocates nothing.
 */
final class UnlocatedBlocks {
    /** So few, as most are nowhere on this host, and each is a question. */
    static final int MAX = 16;

    /** By their ids; a later one takes the place of another. 0 marks an empty place. */
    private final AtomicLongArray places = new AtomicLongArray(MAX);

    /** Those on this host. */
    interface Workers {
        /** The folder of the block's file; null: none has it. Waits. */
        @Nullable
        Path folder(long blockId) throws StoreException;
    }

    void add(long blockId) {
        places.setOpaque((int) ((blockId * 0x9E3779B97F4A7C15L) >>> 60), blockId);
    }

    List<Long> takeAll() {
        List<Long> all = new ArrayList<>();
        for (int at = 0; at < MAX; at++) {
            long blockId = places.getAndSet(at, 0);
            if (blockId != 0) {
                all.add(blockId);
            }
        }
        return all;
    }
}
