package io.posixgateway.alluxio.store;

/** The calls of a {@link MemoryStore}, of its sinks and its sources that reach a server: what is counted, and can fail. */
public enum StoreCall {
    STATUS,
    CONNECT,
    PATH_OF,
    LIST,
    COMPARED,
    LIST_COMPARED,
    CREATE,
    OVERWRITE,
    MAKE_DIRECTORY,
    DELETE,
    RENAME,
    CHANGE,
    REMOVE_XATTR,
    OPEN,
    LOCAL_BLOCK_FOLDER,
    USE,
    CAPACITY,
    DETAILS,
    LOAD,
    WRITE,
    COMPLETE,
    CANCEL,
    READ,
    CLUSTER_ID
}
