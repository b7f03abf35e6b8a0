package io.posixgateway.fuse.path;

import io.posixgateway.fuse.spi.Errno;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What is open, by the number that the kernel gives back. Any thread. */
final class HandleTable<T> {
    private final ConcurrentHashMap<Long, T> open = new ConcurrentHashMap<>();
    private final AtomicLong next = new AtomicLong(1);

    long add(T value) {
        long handle = next.getAndIncrement();
        open.put(handle, value);
        return handle;
    }

    T get(long handle) throws ErrnoException {
        return known(open.get(handle));
    }

    T remove(long handle) throws ErrnoException {
        return known(open.remove(handle));
    }

    private static <T> T known(@Nullable T value) throws ErrnoException {
        if (value == null) {
            throw new ErrnoException(Errno.EBADF);
        }
        return value;
    }
}
