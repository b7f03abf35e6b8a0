package io.posixgateway.alluxio.fs;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Options that people know from AlluxioFuse and from JuiceFS, each with a sentence of what to do here. A name that ends in
 * {@code *} stands for all that begin so; one that begins with {@code --} is a flag of a command line.
 */
final class ForeignOptionHints {
    /** Of all that this table does not replace. */
    static final String SITE = "a client property: set it in alluxio-site.properties or with --property";

    private static final String NO_DISK_CACHE =
            "not needed: Alluxio's workers and the kernel cache data; there is no third copy on disk";
    private static final String WRITE_TYPE = "replaced by write_type";
    private static final String TTL = "replaced by metadata_ttl";
    private static final String CLIENT =
            "has no counterpart: the Alluxio client has its own properties for retries and timeouts";

    private ForeignOptionHints() {}

    static Map<String, String> all() {
        Map<String, String> hints = new LinkedHashMap<>();
        alluxioFuse(hints);
        alluxioClient(hints);
        juiceFs(hints);
        return hints;
    }

    private static void alluxioFuse(Map<String, String> hints) {
        hints.put("alluxio.fuse.auth.policy.class", "replaced by uid, gid and umask");
        hints.put("alluxio.fuse.cached.paths.max", "replaced by cache_entries");
        hints.put("alluxio.fuse.fs.name", "not needed: the first column of /proc/mounts names the Alluxio URI");
        hints.put("alluxio.fuse.jnifuse.libfuse.version", "replaced by transport");
        hints.put("alluxio.fuse.logging.threshold", "replaced by the histograms of request times in /metrics");
        hints.put("alluxio.fuse.mount.alluxio.path", "the path of the Alluxio URI that is mounted");
        hints.put("alluxio.fuse.mount.options", "replaced by -o");
        hints.put("alluxio.fuse.mount.point", "the mount point on the command line");
        hints.put("alluxio.fuse.umount.timeout", "replaced by the rules of posix-gateway umount (--help)");
        hints.put("alluxio.fuse.user.group.translation.enabled", "not needed: users and groups are always translated");
        hints.put("alluxio.fuse.web.enabled", "replaced by posix-gateway serve, which offers /metrics and /healthz");
        hints.put("alluxio.fuse.*", "an option of AlluxioFuse without a counterpart; leave it out");
    }

    private static void alluxioClient(Map<String, String> hints) {
        hints.put("alluxio.user.metadata.cache.enabled", "not needed: metadata is always cached; see consistency");
        hints.put("alluxio.user.metadata.cache.expiration.time", TTL);
        hints.put("alluxio.user.metadata.cache.max.size", "replaced by cache_entries");
        hints.put("alluxio.user.client.cache.*", NO_DISK_CACHE);
        hints.put("alluxio.user.file.writetype.default", WRITE_TYPE);
        hints.put("alluxio.user.short.circuit.enabled", "replaced by short_circuit");
        hints.put("alluxio.user.*", SITE);
        hints.put("alluxio.*", SITE);
    }

    private static void juiceFs(Map<String, String> hints) {
        for (String flag : new String[] {"--attr-cache", "--entry-cache", "--dir-entry-cache"}) {
            hints.put(flag, TTL);
        }
        hints.put("--open-cache", "replaced by consistency=ttl with metadata_ttl");
        hints.put("--writeback", "replaced by write_type=ASYNC_THROUGH or MUST_CACHE");
        hints.put("--read-only", "replaced by -o ro");
        hints.put("--subdir", "the path of the Alluxio URI that is mounted");
        hints.put("--background", "not needed: mount returns when the mount is ready; see --foreground");
        hints.put("-d", hints.get("--background"));
        hints.put("--log", "replaced by --log-file");
        hints.put("--metrics", "replaced by posix-gateway serve --http");
        hints.put("--enable-xattr", "not needed: extended attributes are always on");
        for (String flag : new String[] {"--cache-dir", "--cache-size", "--free-space-ratio", "--cache-partial-only"}) {
            hints.put(flag, NO_DISK_CACHE);
        }
        for (String flag : new String[] {"--io-retries", "--get-timeout", "--put-timeout", "--max-uploads"}) {
            hints.put(flag, CLIENT);
        }
    }
}
