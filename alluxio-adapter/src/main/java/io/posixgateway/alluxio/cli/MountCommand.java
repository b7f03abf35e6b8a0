package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.gateway.BlockFolderRules;
import io.posixgateway.alluxio.gateway.FileSystemFactory;
import io.posixgateway.alluxio.gateway.KeeperException;
import io.posixgateway.alluxio.gateway.MountOptions;
import io.posixgateway.alluxio.gateway.ServiceException;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.time.Clock;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Mounts a path of an Alluxio. */
@Command(
        name = "mount",
        description = "Mounts an Alluxio path; returns when the mount is ready, and serves it in the background.",
        footer = {
            "",
            "Examples:",
            "  posix-gateway mount alluxio://master:19998/data /mnt/data",
            "  posix-gateway mount alluxio://m1:19998,m2:19998/data /mnt/data -o ro,consistency=immutable",
            "  posix-gateway mount alluxio://master:19998/data /mnt/data --keeper",
            "  posix-gateway mount /data /mnt/data --site-properties /etc/alluxio/alluxio-site.properties --foreground"
        })
final class MountCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "ALLUXIO_URI", description = "alluxio://HOST:PORT/PATH, or /PATH.")
    private String uri = "";

    @Parameters(index = "1", paramLabel = "MOUNTPOINT", description = "An existing folder.")
    private Path mountPoint = Path.of("");

    @Option(
            names = "--user",
            paramLabel = "NAME",
            defaultValue = "",
            description = "User in Alluxio; default: the user who runs this.")
    private String user = "";

    @Option(
            names = "--property",
            paramLabel = "NAME=VALUE",
            description = "A property of the Alluxio client, for example alluxio.user.block.size.bytes.default=16MB.")
    private Map<String, String> properties = new LinkedHashMap<>();

    @Option(
            names = "--site-properties",
            paramLabel = "FILE",
            description = "File with client settings, in the format of alluxio-site.properties.")
    private @Nullable Path siteProperties;

    @Option(
            names = "--keeper",
            paramLabel = "SOCKET",
            arity = "0..1",
            fallbackValue = PersistentMount.OWN,
            description =
                    "Let a keeper hold the mount, so that it outlives the process that serves it: programs wait, and"
                            + " continue when the same command is run again. Without SOCKET, a keeper is started for"
                            + " this mount alone. On kernels before 6.9, calls in flight when the process is killed"
                            + " fail with ECONNABORTED; later calls wait.")
    private String keeper = "";

    @Mixin
    private MountFlags flags = new MountFlags();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        AlluxioOptions place = place();
        OptionValues options = flags.read(FileSystemFactory.OPTIONS);
        String name = place.masters().isEmpty() ? place.path() : "alluxio://" + place.masters() + place.path();
        if (flags.checkOnly()) {
            return 0;
        }
        if (!Background.isChild()) { // its parent does so
            MasterProbe.begin(
                    place.masters(), Objects.requireNonNull(spec).commandLine().getErr());
        }
        if (!keeper.isEmpty()) {
            return kept(place, options, name);
        }
        return MountedSession.run(
                new MountedSession.Served(
                        name, () -> open(place, options), new SteeredMount(place, options, mountPoint, flags)::steer),
                mountPoint,
                MountOptions.mounted(options, name),
                flags,
                Objects.requireNonNull(spec).commandLine().getOut());
    }

    private int kept(AlluxioOptions place, OptionValues options, String name) {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        if (!flags.serveHere()) {
            return MountedSession.behind(name, mountPoint, flags, out);
        }
        try {
            PersistentMount mount = new PersistentMount(
                    keeper, MountTable.withoutLinks(mountPoint), flags.logFile(mountPoint), flags.bypass());
            Map<String, String> given = new LinkedHashMap<>(options.given());
            String spool = given.remove("spool");
            Path folder = spool == null ? null : Path.of(spool);
            String blocks = given.remove("block_folders");
            BlockFolderRules blockFolders = BlockFolderRules.all(blocks == null ? "" : blocks);
            FileSystemFactory source = new FileSystemFactory(siteProperties, folder, blockFolders, Clock.system())
                    .owning("cache_dir", given.remove("cache_dir"))
                    .owning("cache_dir_size", given.remove("cache_dir_size"));
            mount.serve(name, source, place, options, given);
            return 0;
        } catch (ServiceException | KeeperException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }

    private AlluxioOptions place() {
        try {
            AlluxioOptions of = AlluxioOptions.ofUri(uri);
            return new AlluxioOptions(of.masters(), of.path(), user, properties);
        } catch (IllegalArgumentException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }

    private FileSystem open(AlluxioOptions place, OptionValues options) {
        try {
            return new FileSystemFactory(siteProperties, null, Clock.system()).openToServe(place, options);
        } catch (ServiceException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }
}
