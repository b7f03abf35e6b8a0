package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions.UnderStore;
import io.posixgateway.alluxio.gateway.FileSystemFactory;
import io.posixgateway.alluxio.gateway.ServiceException;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.session.FuseSession;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows the whole thing at work on one machine. */
@Command(
        name = "demo",
        description = {
            "Starts a real Alluxio (one master, one worker, on loopback), fills it with sample files, mounts it at"
                    + " MOUNTPOINT (default ./mnt), and removes it all on Ctrl-C.",
            "With --check: compares every byte with the under file system, writes through the mount, reads back with"
                    + " Alluxio's shell, and exits."
        },
        footer = {
            "",
            "Examples:",
            "  posix-gateway demo",
            "  posix-gateway demo --under-store s3",
            "  posix-gateway demo --under-store hdfs",
            "  posix-gateway demo --check -o transport=libfuse"
        })
final class DemoCommand implements Callable<Integer> {
    @Parameters(arity = "0..1", paramLabel = "MOUNTPOINT", description = "Where to mount; created if missing.")
    private @Nullable Path mountPoint;

    @Option(names = "--check", description = "Verify, clean up, and print the result in one line.")
    private boolean check;

    @Option(
            names = "--under-store",
            paramLabel = "local|s3|hdfs",
            defaultValue = "local",
            description =
                    "Alluxio's under file system: a folder, a bucket of a real S3 server on loopback (SeaweedFS, which"
                            + " make setup-s3 builds once), or a real HDFS on loopback (which make setup-hdfs downloads"
                            + " once). Default: ${DEFAULT-VALUE}.")
    private UnderStore underStore = UnderStore.LOCAL;

    @Mixin
    private MountFlags flags = new MountFlags();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        OptionValues options = flags.read(FileSystemFactory.OPTIONS);
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        Demo demo = new Demo(place());
        EndOnSignal signals = EndOnSignal.with("end-demo", demo::close);
        try (demo) {
            out.println("starting a real Alluxio, with about 1,000 sample files…");
            out.flush();
            EmbeddedAlluxio alluxio = demo.startAlluxio(underStore);
            FuseSession session = demo.mount(alluxio, options, flags);
            out.println(session.line());
            out.flush();
            if (check) {
                out.println(verify(alluxio, session));
            } else {
                out.println(advice(alluxio));
                out.flush();
                Demo.await(session);
            }
        } catch (ServiceException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
        signals.close();
        demo.checkUploaded();
        out.flush();
        return 0;
    }

    /** A check with no place given takes one of its own, so that it never meets another. */
    private Path place() throws IOException {
        if (mountPoint == null) {
            mountPoint = check
                    ? Path.of(
                            System.getProperty("java.io.tmpdir"),
                            "posix-gateway-demo-" + ProcessHandle.current().pid())
                    : Path.of("mnt");
        }
        return mountPoint;
    }

    private String verify(EmbeddedAlluxio alluxio, FuseSession session) throws IOException {
        Path mount = place();
        DemoCheck verification = new DemoCheck();
        verification.compare(alluxio.ufs(), mount);
        Path scratch = Files.createTempDirectory(alluxio.logs(), "check");
        verification.writeAndReadBack(mount, alluxio, scratch);
        return verification.bypassResult(session.transportName());
    }

    private String advice(EmbeddedAlluxio alluxio) throws IOException {
        String at = place().toString();
        return String.join(
                "\n",
                "",
                "Alluxio at " + alluxio.masters() + " is mounted at " + at + "; try in another terminal:",
                "  ls -l " + at + "/pictures/class-0",
                "  md5sum " + at + "/archives/*",
                "  cp -r " + at + "/pictures/class-1 " + at + "/copy && diff -r " + at + "/pictures/class-1 " + at
                        + "/copy",
                "Ctrl-C unmounts and removes everything.");
    }
}
