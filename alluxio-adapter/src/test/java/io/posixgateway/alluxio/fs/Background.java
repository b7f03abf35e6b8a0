package io.posixgateway.alluxio.fs;

/** What a file system does in the background, awaited. */
public final class Background {
    private Background() {}

    /** Until the directories are listed for which that was begun. */
    public static void listed(AlluxioFileSystem files) throws InterruptedException {
        files.volume.hot.settle();
    }
}
