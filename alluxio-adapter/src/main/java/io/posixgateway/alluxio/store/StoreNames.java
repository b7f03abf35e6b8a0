package io.posixgateway.alluxio.store;

/** Which names an under file system (UFS) takes, of those that Alluxio takes. */
public enum StoreNames {
    /** All, or nothing is known. */
    ALL,
    /** Those that XML can carry: an object store lists its keys as such. */
    LISTED_AS_XML,
    /** Those without a colon: HDFS. */
    WITHOUT_COLON
}
