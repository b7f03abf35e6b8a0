package io.posixgateway.alluxio.control;

import io.posixgateway.alluxio.control.proto.PathInfoReply;
import io.posixgateway.alluxio.fs.PathInfo;
import io.posixgateway.alluxio.journal.DirectoryRenameLog;
import io.posixgateway.alluxio.journal.SetAside;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.store.FileDetails;
import io.posixgateway.alluxio.store.RunningListings;
import io.posixgateway.alluxio.write.DirectoryRename;
import io.posixgateway.fuse.spi.Stat;
import java.util.List;

/** Puts what is known of a path into a message. */
final class PathInfoReplies {
    private PathInfoReplies() {}

    /**
     * What takes long.
     *
     * @param copies of objects that are renamed
     * @param renames of directories that have not ended
     */
    record Running(
            List<RunningListings.Listing> listings,
            List<RunningListings.Listing> copies,
            List<DirectoryRenameLog.Moving> renames) {}

    /**
     * @param aside of the whole volume: shown is what was at or below the path, or nobody knows where
     * @param running in flight, of the whole volume
     */
    static PathInfoReply.Builder of(PathInfo path, List<SetAside.Item> aside, Running running) {
        Attr attr = path.attr();
        FileDetails details = path.details();
        PathInfoReply.Builder reply = PathInfoReply.newBuilder()
                .setAlluxioPath(path.alluxioPath())
                .setNode(path.node())
                .setFileId(attr.raw().id())
                .setType(type(attr.mode()))
                .setMode(attr.mode() & 07777)
                .setUid(attr.uid())
                .setGid(attr.gid())
                .setLengthBytes(attr.lengthBytes())
                .setBlockBytes(attr.raw().blockBytes())
                .setChangedMs(attr.raw().modifiedMillis())
                .setUfsPath(details.ufsPath())
                .setInAlluxioPercent(details.inAlluxioPercent())
                .setOpenHandles(path.openHandles())
                .setCached(path.cached())
                .setReadPath(path.way().name())
                .setReason(path.way().reason());
        for (FileDetails.Block block : details.blocks()) {
            PathInfoReply.Block.Builder told =
                    PathInfoReply.Block.newBuilder().setId(block.id()).setLengthBytes(block.lengthBytes());
            for (FileDetails.Place place : block.places()) {
                told.addWorkers(place.host() + " (" + place.tier() + (place.here() ? ", this host)" : ")"));
            }
            reply.addBlocks(told);
        }
        add(reply, path.alluxioPath(), aside);
        running.listings.forEach(one -> reply.addListings(listing(one)));
        running.copies.forEach(one -> reply.addCopies(listing(one)));
        running.renames.forEach(one -> reply.addUnfinishedRenames(DirectoryRename.advice(one)));
        return reply;
    }

    private static PathInfoReply.Listing.Builder listing(RunningListings.Listing one) {
        return PathInfoReply.Listing.newBuilder()
                .setPath(one.path())
                .setSeconds(one.nanos() / 1_000_000_000L)
                .setCalls(one.calls());
    }

    private static void add(PathInfoReply.Builder reply, String path, List<SetAside.Item> aside) {
        String below = path.equals("/") ? "/" : path + "/";
        for (SetAside.Item item : aside) {
            if (item.path().isEmpty() || item.path().equals(path) || item.path().startsWith(below)) {
                reply.addSetAside(PathInfoReply.SetAside.newBuilder()
                        .setPath(item.path())
                        .setContent(item.content().toString())
                        .setBytes(item.bytes())
                        .setWhy(item.why()));
            }
        }
    }

    private static String type(int mode) {
        return switch (mode & Stat.S_IFMT) {
            case Stat.S_IFREG -> "file";
            case Stat.S_IFDIR -> "directory";
            case Stat.S_IFLNK -> "symlink";
            default -> "special file";
        };
    }
}
