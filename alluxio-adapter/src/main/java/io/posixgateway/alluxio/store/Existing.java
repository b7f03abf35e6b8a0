package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.spi.Errno;
import org.jspecify.annotations.Nullable;

/** Tells what is not there from what cannot be known. Any thread. */
public final class Existing {
    private Existing() {}

    /** A question to Alluxio. */
    public interface Question<T> {
        T ask() throws StoreException;
    }

    /** The answer; null: nothing is there. */
    public static <T> @Nullable T orNull(Question<T> question) throws StoreException {
        try {
            return question.ask();
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL) {
                return null;
            }
            throw e;
        }
    }
}
