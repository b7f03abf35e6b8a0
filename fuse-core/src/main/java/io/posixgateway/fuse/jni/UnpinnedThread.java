package io.posixgateway.fuse.jni;

/**
 * A daemon thread that may run on every CPU the process has. Others inherit the CPU of who starts them, which is a single one
 * where that is a queue's thread of the {@code uring} transport.
 */
public class UnpinnedThread extends Thread {
    public UnpinnedThread(Runnable task, String name) {
        super(task, name);
        setDaemon(true);
    }

    @Override
    public void run() {
        Native.unpin();
        super.run();
    }
}
