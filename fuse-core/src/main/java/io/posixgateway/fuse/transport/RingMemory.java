package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import java.util.function.Supplier;

/**
 * Where ring entries lie.
 *
 * @param address at which the kernel knows them, in every process that serves them
 * @param ownBytes to be unmapped with the transport; 0: somebody else does that
 * @param kept they outlive this process
 * @param taken an earlier process served them
 * @param files nodes of regular files that the kernel may know
 */
public record RingMemory(long address, long ownBytes, boolean kept, boolean taken, Supplier<long[]> files) {
    static RingMemory own(long bytes) {
        long address = Native.map(bytes);
        if (address < 0) {
            throw new OutOfMemoryError("no memory for the ring entries: " + bytes + " bytes");
        }
        return new RingMemory(address, bytes, false, false, () -> new long[0]);
    }

    /** Of a session that is kept. */
    public static RingMemory kept(long address, boolean taken, Supplier<long[]> files) {
        return new RingMemory(address, 0, true, taken, files);
    }

    void unmap() {
        if (ownBytes > 0) {
            Native.unmap(address, ownBytes);
        }
    }
}
