package io.posixgateway.alluxio.store;

import java.util.Locale;
import java.util.Set;

/** The kinds of under file systems (UFS), as far as they differ for what is done here. */
public enum UfsKind {
    /** A folder of the masters and workers: rename(2) replaces a file, and moves a directory in one step. */
    LOCAL,
    /** Files are copied and deleted to be renamed, a directory is a prefix of keys, and nothing is replaced by a rename. */
    OBJECT_STORE,
    /** A directory moves in one step, but no rename replaces a file; and no name has a colon. */
    HDFS,
    /** What is like HDFS, as far as is known, but for names. */
    OTHER;

    private static final Set<String> OBJECT_STORES =
            Set.of("s3", "s3a", "gs", "gcs", "oss", "cos", "cosn", "obs", "kodo", "swift");

    /** @param uri of the UFS, or of a path in it: {@code /data/dir}, {@code s3://bucket/dir} */
    public static UfsKind of(String uri) {
        int colon = uri.indexOf("://");
        String scheme = colon < 0 ? "file" : uri.substring(0, colon).toLowerCase(Locale.ROOT);
        if (scheme.equals("file")) {
            return LOCAL;
        }
        if (scheme.equals("hdfs")) {
            return HDFS;
        }
        return OBJECT_STORES.contains(scheme) ? OBJECT_STORE : OTHER;
    }

    /** The names that it takes. */
    public StoreNames names() {
        return switch (this) {
            case OBJECT_STORE -> StoreNames.LISTED_AS_XML;
            case HDFS -> StoreNames.WITHOUT_COLON;
            case LOCAL, OTHER -> StoreNames.ALL;
        };
    }
}
