package io.posixgateway.alluxio.journal;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The errno behind a failure of a local file. Java keeps only the C library's text of it, which depends on the language of the
 * process; so that is compared with the text that this very library has for each errno, and with nothing else, such as the
 * name of a file. Any thread.
 */
public final class DiskErrno {
    private static final int EDQUOT = 122;

    private DiskErrno() {}

    /** The errno to give to a program: ENOSPC, EFBIG, EROFS, EACCES, ENOENT, or EIO where it is none of these. */
    public static int of(IOException failure) {
        if (failure instanceof NoSuchFileException) {
            return Errno.ENOENT;
        }
        if (failure instanceof AccessDeniedException) {
            return Errno.EACCES;
        }
        String text = text(failure);
        if (isOf(text, Errno.ENOSPC) || isOf(text, EDQUOT)) {
            return Errno.ENOSPC;
        }
        return isOf(text, Errno.EFBIG) ? Errno.EFBIG : isOf(text, Errno.EROFS) ? Errno.EROFS : Errno.EIO;
    }

    /** Is there no room left on the disk? */
    public static boolean isFull(IOException failure) {
        return of(failure) == Errno.ENOSPC;
    }

    /** Can nothing be written on the disk for now: it is full, or read-only, as an error has made it? */
    public static boolean takesNothing(IOException failure) {
        int errno = of(failure);
        return errno == Errno.ENOSPC || errno == Errno.EROFS;
    }

    /** Does the process, or the system, have too many files open, or too little memory, which says nothing of the disk? */
    public static boolean lacksDescriptors(IOException failure) {
        String text = text(failure);
        return isOf(text, Errno.EMFILE) || isOf(text, Errno.ENFILE) || isOf(text, Errno.ENOMEM);
    }

    private static @Nullable String text(IOException failure) {
        String text = failure instanceof FileSystemException file ? file.getReason() : failure.getMessage();
        return failure instanceof FileNotFoundException && text != null ? inParentheses(text) : text;
    }

    /** The end of what java.io says: "path (text)". */
    private static String inParentheses(String text) {
        int open = text.lastIndexOf(" (");
        return open < 0 || !text.endsWith(")") ? text : text.substring(open + 2, text.length() - 1);
    }

    private static boolean isOf(@Nullable String text, int errno) {
        return Objects.equals(text, Native.errorText(-errno));
    }
}
