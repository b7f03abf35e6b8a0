package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.control.proto.AttachRequest;
import java.io.IOException;
import java.util.List;

/** What the control API steers: the service of a node with many volumes, or a process with one mount. Any thread. */
public interface Gateway {
    String version();

    /** Is everything served that is to be? */
    boolean ready();

    /** Those served now. */
    List<ServedVolume> all();

    /** @throws ServiceException NOT_FOUND */
    ServedVolume named(String name) throws ServiceException;

    /** Serves a session of the keeper; the same request again gives the same answer. */
    ServedVolume attach(AttachRequest request) throws ServiceException;

    /** Stops serving and forgets; nothing there is success. */
    void detach(String name) throws ServiceException;

    /** Leaves the volumes to the next process and ends this one; how many there were. */
    int drain() throws ServiceException;

    /** Questions at the bypass socket about files of others, or more than allowed. */
    long bypassStrangers();

    /** Volumes served here, out of a keeper's sessions, that no keeper holds: they end with this process. */
    int unkeptSessions();

    /** How many sessions of the keeper answer EIO to every call, as they cannot be served. */
    int refusedSessions();

    /** What its volumes share of the process's memory. */
    MemoryCounts memory();

    /** All metrics in Prometheus's text format. */
    String metrics() throws IOException;
}
