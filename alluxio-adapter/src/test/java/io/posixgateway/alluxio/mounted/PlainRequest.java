package io.posixgateway.alluxio.mounted;

import io.posixgateway.fuse.spi.Request;

/** A request by root that nobody interrupts. */
public record PlainRequest(boolean mayWait) implements Request {
    @Override
    public long unique() {
        return 1;
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
        return 1;
    }

    @Override
    public int umask() {
        return 0;
    }

    @Override
    public boolean interrupted() {
        return false;
    }
}
