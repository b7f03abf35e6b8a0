package io.posixgateway.alluxio.mounted;

import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.nio.file.Path;
import java.util.Map;

/** A mount that reads by way of the workers alone, as if they were on other hosts. */
final class FarMount {
    private FarMount() {}

    static MountedFileSystem of(TestDirectory directory, Path spool) throws Exception {
        Map<String, String> options = Map.of("short_circuit", "off", "spool", spool.toString());
        return MountedFileSystem.mount(
                AlluxioMount.open(
                        AlluxioOptions.ofUri(directory.uri()), AdapterOptions.of(AdapterOptions.TABLE.read(options))),
                TransportChoice.AUTO);
    }
}
