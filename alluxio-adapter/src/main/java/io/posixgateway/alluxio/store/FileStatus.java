package io.posixgateway.alluxio.store;

import java.util.Map;

/**
 * What Alluxio knows of a path at one moment.
 *
 * @param id Alluxio's file id: stable over renames, never used again
 * @param mode permission bits only
 * @param complete false while another client writes the file
 * @param lengthBytes of a directory: the number of names in it, those that the gateway hides included
 * @param xattrs extended attributes as Alluxio holds them
 * @param createdSeconds when Alluxio made the file, since the epoch; 0: not known
 * @param storeNames the names that its under file system (UFS) takes
 */
public record FileStatus(
        long id,
        String name,
        boolean directory,
        boolean complete,
        long lengthBytes,
        long blockBytes,
        int mode,
        String owner,
        String group,
        long modifiedMillis,
        long accessedMillis,
        Map<String, byte[]> xattrs,
        int createdSeconds,
        StoreNames storeNames) {
    /** One of which is not known when it was made. */
    public FileStatus(
            long id,
            String name,
            boolean directory,
            boolean complete,
            long lengthBytes,
            long blockBytes,
            int mode,
            String owner,
            String group,
            long modifiedMillis,
            long accessedMillis,
            Map<String, byte[]> xattrs) {
        this(
                id,
                name,
                directory,
                complete,
                lengthBytes,
                blockBytes,
                mode,
                owner,
                group,
                modifiedMillis,
                accessedMillis,
                xattrs,
                0);
    }

    /** One of which nobody asks where it is. */
    public FileStatus(
            long id,
            String name,
            boolean directory,
            boolean complete,
            long lengthBytes,
            long blockBytes,
            int mode,
            String owner,
            String group,
            long modifiedMillis,
            long accessedMillis,
            Map<String, byte[]> xattrs,
            int createdSeconds) {
        this(
                id,
                name,
                directory,
                complete,
                lengthBytes,
                blockBytes,
                mode,
                owner,
                group,
                modifiedMillis,
                accessedMillis,
                xattrs,
                createdSeconds,
                StoreNames.ALL);
    }

    /** The same with other permissions and attributes. */
    public FileStatus with(int otherMode, Map<String, byte[]> otherXattrs) {
        return new FileStatus(
                id,
                name,
                directory,
                complete,
                lengthBytes,
                blockBytes,
                otherMode,
                owner,
                group,
                modifiedMillis,
                accessedMillis,
                otherXattrs,
                createdSeconds,
                storeNames);
    }

    /** The same, modified then. */
    public FileStatus modified(long millis) {
        return new FileStatus(
                id,
                name,
                directory,
                complete,
                lengthBytes,
                blockBytes,
                mode,
                owner,
                group,
                millis,
                accessedMillis,
                xattrs,
                createdSeconds,
                storeNames);
    }

    /** Of a directory: the same with so many names in it. */
    public FileStatus withNames(long names) {
        return new FileStatus(
                id,
                name,
                directory,
                complete,
                names,
                blockBytes,
                mode,
                owner,
                group,
                modifiedMillis,
                accessedMillis,
                xattrs,
                createdSeconds,
                storeNames);
    }

    /** Since the epoch, as stat(2) shows it where no program has set it. */
    public long shownAccessMillis() {
        return shownAccessMillis(directory, createdSeconds, accessedMillis);
    }

    /** Alluxio moves that of a directory with every change of its names, which is no access: it is shown as of its creation. */
    public static long shownAccessMillis(boolean directory, int createdSeconds, long accessedMillis) {
        boolean moves = directory && createdSeconds != 0;
        return moves ? Integer.toUnsignedLong(createdSeconds) * 1000 : accessedMillis;
    }

    /** The same, cut into blocks of this length. */
    public FileStatus cut(long otherBlockBytes) {
        return new FileStatus(
                id,
                name,
                directory,
                complete,
                lengthBytes,
                otherBlockBytes,
                mode,
                owner,
                group,
                modifiedMillis,
                accessedMillis,
                xattrs,
                createdSeconds,
                storeNames);
    }

    /** The same, made by Alluxio then. */
    public FileStatus created(int seconds) {
        return new FileStatus(
                id,
                name,
                directory,
                complete,
                lengthBytes,
                blockBytes,
                mode,
                owner,
                group,
                modifiedMillis,
                accessedMillis,
                xattrs,
                seconds,
                storeNames);
    }

    /** The same with the content of another file. */
    public FileStatus withContent(long otherId, long otherLengthBytes) {
        return new FileStatus(
                otherId,
                name,
                directory,
                true,
                otherLengthBytes,
                blockBytes,
                mode,
                owner,
                group,
                modifiedMillis,
                accessedMillis,
                xattrs,
                0,
                storeNames);
    }
}
