package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.nodecache.CacheVolume;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Memory in which the data cache gathers what is read: a part of that of the windows, so that they have most of it. Any thread. */
final class FillBuffers implements CacheVolume.Buffers {
    private static final int BUDGET_PART = 4;

    private final BufferBudget budget;
    private final AtomicLong usedBytes = new AtomicLong();

    FillBuffers(BufferBudget budget) {
        this.budget = budget;
    }

    @Override
    public @Nullable ByteBuffer take(int bytes) {
        int wanted = ChunkMemory.bytesFor(bytes);
        if (usedBytes.addAndGet(wanted) <= budget.totalBytes() / BUDGET_PART && budget.take(wanted)) {
            ByteBuffer memory = ChunkMemory.take(wanted);
            if (memory != null) {
                return memory;
            }
            budget.give(wanted);
        }
        usedBytes.addAndGet(-wanted);
        return null;
    }

    @Override
    public void give(ByteBuffer buffer) {
        usedBytes.addAndGet(-buffer.capacity());
        budget.give(buffer.capacity());
        ChunkMemory.give(buffer);
    }
}
