package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.control.proto.Cluster;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.gateway.BypassEndpoint;
import io.posixgateway.alluxio.gateway.ServedVolume;
import io.posixgateway.alluxio.gateway.WatchLimits;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.spi.FileSystem;
import java.nio.file.Path;

/**
 * What a mount of this process is of, for the commands that reach it at its {@link MountSocket}.
 *
 * @param place in Alluxio
 * @param mountPoint as it was given
 */
record SteeredMount(AlluxioOptions place, OptionValues options, Path mountPoint, MountFlags flags) {
    /** Takes orders from now on. */
    MountedSession.Steered steer(FileSystem files, FuseSession session) {
        Path target = MountTable.withoutLinks(mountPoint);
        AttachRequest request = AttachRequest.newBuilder()
                .setVolume(target.toString())
                .setCluster(Cluster.newBuilder()
                        .setMasters(place.masters())
                        .setUser(place.user())
                        .putAllProperties(place.properties()))
                .setAlluxioPath(place.path())
                .setReadOnly(options.on("ro"))
                .putAllOptions(options.given())
                .build();
        ServedVolume volume = ServedVolume.mounted(
                request, (AlluxioFileSystem) files, session, WatchLimits.of(options), flags.accessLogFile(target));
        BypassEndpoint bypass = flags.bypass();
        bypass.add(volume);
        return MountSocket.steer(volume, target, bypass);
    }
}
