package io.posixgateway.alluxio.meta;

/**
 * A change of names in a directory by this mount, from before Alluxio is asked for it until what came of it is known here. For one
 * thread. One that fails says nothing: what it did all the same is found by the next look at the directory.
 */
public final class NameChange implements AutoCloseable {
    private final DirectoryTimes times;
    private final Inode directory;
    private final long beganNanos;

    NameChange(DirectoryTimes times, Inode directory, long beganNanos) {
        this.times = times;
        this.directory = directory;
        this.beganNanos = beganNanos;
        directory.dentries().changeBegins();
    }

    /**
     * A name was made.
     *
     * @param millis when, by the master's clock; 0: not known
     */
    public void made(long millis) {
        times.nameMade(directory, millis, beganNanos);
    }

    /**
     * Names were taken away, moved, or replaced.
     *
     * @param names how many more Alluxio has there, those that the gateway hides included
     */
    public void done(int names) {
        times.namesChanged(directory, names);
    }

    @Override
    public void close() {
        directory.dentries().changeEnds();
    }
}
