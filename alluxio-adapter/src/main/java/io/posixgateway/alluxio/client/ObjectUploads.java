package io.posixgateway.alluxio.client;

import alluxio.grpc.MountPointInfo;
import io.posixgateway.alluxio.store.UfsKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Where a worker keeps an object while a client writes it: unless it uploads the parts as they come, the whole of it lies in a folder
 * for temporary files until the client closes the file, on a disk that is often small.
 */
final class ObjectUploads {
    /** Of a worker, or of a mount point: whether objects of S3 are uploaded while they are written. */
    static final String STREAMING = "alluxio.underfs.s3.streaming.upload.enabled";
    /** Of a worker: the folders for what is not uploaded yet. */
    static final String FOLDERS = "alluxio.tmp.dirs";

    private static final Set<String> S3 = Set.of("s3", "s3a");

    private ObjectUploads() {}

    /**
     * What to do where there was no space to write a file; empty where its under file system (UFS) is no object store.
     *
     * @param ufsPath of the file, with its scheme
     */
    static String adviceWhenFull(String ufsPath) {
        if (UfsKind.of(ufsPath) != UfsKind.OBJECT_STORE) {
            return "";
        }
        String stream = isS3(ufsPath) ? ", or set " + STREAMING + "=true there" : "";
        return ". The worker keeps the whole object in its " + FOLDERS
                + " until it is uploaded, and that disk is probably full: free space there" + stream;
    }

    /**
     * One line for each mount point on S3 that uploads whole objects.
     *
     * @param mounts by path in Alluxio
     * @param cluster properties of the master, whose site file workers usually have, too
     */
    static List<String> advice(Map<String, MountPointInfo> mounts, Map<String, String> cluster) {
        List<String> lines = new ArrayList<>();
        mounts.forEach((path, mount) -> {
            String streaming = mount.getPropertiesOrDefault(STREAMING, cluster.getOrDefault(STREAMING, ""));
            if (isS3(mount.getUfsUri()) && !Boolean.parseBoolean(streaming)) {
                lines.add(path + " is on " + mount.getUfsUri() + ", and " + STREAMING
                        + " is off: a worker stores each object completely in " + FOLDERS + ""
                        + " (" + cluster.getOrDefault(FOLDERS, "its default")
                        + ") while it is written, and close fails with ENOSPC when that disk is full. Set " + STREAMING
                        + "=true for the workers, or give " + FOLDERS
                        + " a disk with space for all files that are written at the same time");
            }
        });
        return lines;
    }

    private static boolean isS3(String uri) {
        int colon = uri.indexOf("://");
        return colon > 0 && S3.contains(uri.substring(0, colon).toLowerCase(Locale.ROOT));
    }
}
