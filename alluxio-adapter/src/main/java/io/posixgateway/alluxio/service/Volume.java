package io.posixgateway.alluxio.service;

import io.posixgateway.alluxio.AlluxioFileSystem;
import io.posixgateway.alluxio.control.AttachRequest;
import io.posixgateway.fuse.session.FuseSession;

/** A volume that is being served. Immutable; closing is the business of {@link Volumes}. */
public final class Volume {
    private final AttachRequest request;
    private final AlluxioFileSystem files;
    private final FuseSession session;
    private final Capacity capacity;
    private final int takeovers;

    Volume(AttachRequest request, AlluxioFileSystem files, FuseSession session, Capacity capacity, int takeovers) {
        this.request = request;
        this.files = files;
        this.session = session;
        this.capacity = capacity;
        this.takeovers = takeovers;
    }

    /** What it was attached with. */
    public AttachRequest request() {
        return request;
    }

    public String name() {
        return request.getVolume();
    }

    public FuseSession session() {
        return session;
    }

    /** Stops serving; changed files that are open stay as they are for the next process. */
    void leaveToNext() {
        files.leaveToNext();
        session.close();
    }

    /** How many processes served it before this one. */
    public int takeovers() {
        return takeovers;
    }

    /** What the file system holds and has read. */
    public AlluxioFileSystem.Counts counts() {
        return files.counts();
    }

    /** Forgets what is cached at and below the path; entries forgotten. */
    public long invalidate(String path) {
        return files.invalidate(path);
    }

    /** How full it is, and whether it answers; at once. */
    public VolumeStats stats() {
        VolumeStats known = capacity.now();
        return session.ended()
                ? new VolumeStats(
                        known.capacityBytes(),
                        known.usedBytes(),
                        known.availableBytes(),
                        known.ageMillis(),
                        "the mount has ended; detach the volume and stage it again")
                : known;
    }

    /** Asks for the attributes of everything at and below the path, reads the files if wanted; as long as that takes. */
    public void warm(String path, boolean data, WalkProgress progress) throws ServiceException {
        try {
            new FileTree(files).walk(path, data, progress);
        } catch (TreeException e) {
            throw Directories.failure(e);
        }
    }
}
