package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Dentries;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.Locations;
import io.posixgateway.alluxio.store.FileDetails;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;

/** Looks at one path for people: what is known of it, and how an open of it would be read. Waits for Alluxio. */
final class PathInspector {
    private final VolumeContext volume;

    PathInspector(VolumeContext volume) {
        this.volume = volume;
    }

    /** @param path below the volume's root */
    PathInfo of(String path) throws StoreException {
        boolean[] cached = {volume.metadata.known(volume.table.root()) != null};
        Locations.Walk walk = volume.metadata.locations().walk(path, (directory, part, last) -> {
            Name name = volume.table.names(directory).shown(part);
            Dentries.Dentry known = volume.metadata.known(directory, name);
            Inode child = volume.metadata.child(directory, name);
            cached[0] = known != null && child != null && volume.metadata.known(child) != null;
            return child;
        });
        Inode at = walk.found();
        if (at == null) {
            throw new StoreException(
                    Errno.ENOENT,
                    path + ": there is no '" + walk.rest().get(0)
                            + "' in Alluxio; check the path, or run posix-gateway sync if it is in the under file system",
                    null);
        }
        Attr attr = volume.metadata.attr(at);
        String alluxioPath = volume.metadata.pathOf(at);
        FileDetails details = volume.store.details(alluxioPath);
        PathInfo.Way way = way(at, attr, details);
        return new PathInfo(at.node(), alluxioPath, attr, details, at.handles(), cached[0], way);
    }

    private PathInfo.Way way(Inode inode, Attr attr, FileDetails details) {
        if (inode.isDirectory()) {
            return new PathInfo.Way("none", "it is a directory");
        }
        if (volume.dirtyFiles.has(inode)) {
            return new PathInfo.Way("spool", "it was changed here and is not uploaded yet");
        }
        if (!attr.raw().complete()) {
            return new PathInfo.Way("none", "another client is writing it; an open fails with EBUSY");
        }
        if (details.blocks().isEmpty()) {
            return new PathInfo.Way("none", "it has no data in Alluxio");
        }
        PathInfo.Way way = data(attr, details);
        boolean streams = way.name().equals("remote") || way.name().equals("ufs");
        return streams && volume.readers.isCached(FileOperations.extent(attr))
                ? new PathInfo.Way("cache", "all of it is in the data cache on this host")
                : way;
    }

    private PathInfo.Way data(Attr attr, FileDetails details) {
        if (!volume.readers.blocks().enabled()) {
            return stream(details, "short_circuit is off");
        }
        long missing = details.blocks().stream()
                .filter(block -> !volume.readers.blocks().has(block.id()))
                .count();
        String local = volume.passthrough.matches(FileOperations.extent(attr)) ? "passthrough" : "local";
        if (missing == 0) {
            return new PathInfo.Way(local, inFiles(details.blocks().size()));
        }
        boolean here = details.blocks().stream()
                .anyMatch(block -> block.places().stream().anyMatch(FileDetails.Place::here));
        if (here && !volume.readers.blocks().knowsFolders()) {
            return new PathInfo.Way(local, "a worker on this host has blocks of it; the first open looks up where");
        }
        return stream(
                details,
                missing + " of " + details.blocks().size() + " blocks are not in a file of a worker on this host");
    }

    private static String inFiles(int blocks) {
        String which = blocks == 1 ? "its block is a file" : "all " + blocks + " blocks are files";
        return which + " of a worker on this host";
    }

    private static PathInfo.Way stream(FileDetails details, String reason) {
        boolean anywhere =
                details.blocks().stream().anyMatch(block -> !block.places().isEmpty());
        return anywhere
                ? new PathInfo.Way("remote", reason + "; they are streamed from workers")
                : new PathInfo.Way(
                        "ufs", reason + ", nor of any other; a worker fetches them from the under file system");
    }
}
