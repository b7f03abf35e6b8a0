package io.posixgateway.alluxio.control;

import io.posixgateway.alluxio.PathFacts;
import io.posixgateway.alluxio.client.FileDetails;
import io.posixgateway.alluxio.client.RunningListings;
import io.posixgateway.alluxio.inode.Facts;
import io.posixgateway.alluxio.recovery.SetAside;
import io.posixgateway.fuse.spi.Stat;
import java.util.List;

/** Puts what is known of a path into a message. */
final class PathInfoReplies {
    private PathInfoReplies() {}

    /**
     * @param aside of the whole volume: shown is what was at or below the path, or nobody knows where
     * @param listings in flight, of the whole volume
     */
    static PathInfoReply of(PathFacts path, List<SetAside.Item> aside, List<RunningListings.Listing> listings) {
        Facts facts = path.facts();
        FileDetails details = path.details();
        PathInfoReply.Builder reply = PathInfoReply.newBuilder()
                .setAlluxioPath(path.alluxioPath())
                .setNode(path.node())
                .setFileId(facts.raw().id())
                .setType(type(facts.mode()))
                .setMode(facts.mode() & 07777)
                .setUid(facts.uid())
                .setGid(facts.gid())
                .setLengthBytes(facts.lengthBytes())
                .setBlockBytes(facts.raw().blockBytes())
                .setChangedMs(facts.raw().modifiedMillis())
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
        for (RunningListings.Listing listing : listings) {
            reply.addListings(PathInfoReply.Listing.newBuilder()
                    .setPath(listing.path())
                    .setSeconds(listing.nanos() / 1_000_000_000L)
                    .setCalls(listing.calls()));
        }
        return reply.build();
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
