package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.spi.Request;

/** A request that the gateway itself makes, past the kernel; it may wait. Holds nothing, so one serves all. */
final class InternalRequest implements Request {
    static final InternalRequest INSTANCE = new InternalRequest();

    private InternalRequest() {}

    @Override
    public long unique() {
        return 0;
    }

    @Override
    public boolean resent() {
        return false;
    }

    @Override
    public int uid() {
        return 0;
    }

    @Override
    public int gid() {
        return 0;
    }

    @Override
    public boolean inGroup(int group) {
        return group == 0;
    }

    @Override
    public boolean killsPrivileges() {
        return false;
    }

    @Override
    public int pid() {
        return 0;
    }

    @Override
    public int umask() {
        return 0;
    }

    @Override
    public boolean mayWait() {
        return true;
    }

    @Override
    public boolean interrupted() {
        return false;
    }
}
