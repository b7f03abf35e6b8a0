package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import java.nio.charset.StandardCharsets;

/** How long paths may be. The one place that knows. */
public final class PathLimit {
    /** Where nothing is known. */
    public static final int NONE = Integer.MAX_VALUE;

    /**
     * Most bytes of a path in an error that Alluxio's master answers. The text of an error, as in <em>Path "/a/b" does not exist.</em>,
     * travels in the trailers of the reply, where each character but printable ASCII without % and ~ takes three bytes for each of its
     * own. Trailers of more than 8192 bytes break the call (RST_STREAM, PROTOCOL_ERROR), so that a missing file would be an I/O
     * error. Trailers without the path take 213 bytes (measured on 2.9.3); the rest is spare.
     */
    private static final int MAX_ANSWERED_BYTES = 8192 - 292;

    /** PATH_MAX without its NUL, for a local folder as under file system. */
    private static final int LOCAL_BYTES = 4095;
    /** Keys of object stores, without the slash at the end of a directory. */
    private static final int KEY_BYTES = 1023;
    /** Of HDFS, which counts characters. */
    private static final int HDFS_BYTES = 8000;
    /** Room for a hidden name of the gateway, which any file's directory must have. */
    private static final int HIDDEN_NAME_BYTES = 48;
    /** No limit is near as long as a path is no longer. */
    private static final int SAFE_CHARS = 512;

    private PathLimit() {}

    /** Can the master answer that this path is missing? */
    public static boolean isAnswered(String path) {
        return path.length() <= SAFE_CHARS || answeredBytes(path) <= MAX_ANSWERED_BYTES;
    }

    private static int answeredBytes(String path) {
        int bytes = 0;
        for (byte b : path.getBytes(StandardCharsets.UTF_8)) {
            bytes += b < ' ' || b >= '~' || b == '%' ? 3 : 1;
        }
        return bytes;
    }

    /** Could the limits matter for one path where they do not for the other? */
    public static boolean isLonger(String path, String other) {
        return path.getBytes(StandardCharsets.UTF_8).length > other.getBytes(StandardCharsets.UTF_8).length
                || answeredBytes(path) > answeredBytes(other);
    }

    /** Is the path so short that no limit matters? */
    public static boolean isSafe(String path) {
        return path.length() <= SAFE_CHARS;
    }

    /**
     * May something be made at this path?
     *
     * @param longest what {@link Store#longestPath} says of its directory
     */
    public static boolean fits(String path, int longest) {
        int slash = path.lastIndexOf('/') + 1;
        int name = path.substring(slash).getBytes(StandardCharsets.UTF_8).length;
        int above = path.substring(0, slash).getBytes(StandardCharsets.UTF_8).length;
        boolean hiddenFits = answeredBytes(path.substring(0, slash)) + HIDDEN_NAME_BYTES <= MAX_ANSWERED_BYTES;
        return isAnswered(path)
                && hiddenFits
                && (longest == NONE || above + Math.max(name, HIDDEN_NAME_BYTES) <= longest);
    }

    /**
     * Most bytes of a path of Alluxio in a directory.
     *
     * @param path of the directory in Alluxio
     * @param ufsPath of the same in the under file system, such as {@code /data/dir} or {@code s3://bucket/dir}; empty: nowhere
     */
    public static int ofUfs(String path, String ufsPath) {
        UfsKind kind = UfsKind.of(ufsPath);
        if (ufsPath.isEmpty() || kind == UfsKind.OTHER) {
            return NONE;
        }
        int colon = ufsPath.indexOf("://");
        String inUfs = colon < 0 ? ufsPath : ufsPath.substring(colon + 3);
        int most = LOCAL_BYTES;
        if (kind == UfsKind.OBJECT_STORE) {
            most = KEY_BYTES;
            inUfs = inUfs.substring(inUfs.indexOf('/') + 1); // without the bucket
        } else if (kind == UfsKind.HDFS) {
            most = HDFS_BYTES;
            inUfs = inUfs.substring(Math.max(0, inUfs.indexOf('/'))); // without the name node
        }
        return most - inUfs.getBytes(StandardCharsets.UTF_8).length + path.getBytes(StandardCharsets.UTF_8).length;
    }

    /** The failure of what would need a longer path. */
    public static StoreException tooLong(String path) {
        return new StoreException(
                Errno.ENAMETOOLONG,
                "The path is longer than Alluxio or the under file system allows: "
                        + path.substring(0, Math.min(path.length(), Name.MAX_BYTES)) + "…",
                null);
    }
}
