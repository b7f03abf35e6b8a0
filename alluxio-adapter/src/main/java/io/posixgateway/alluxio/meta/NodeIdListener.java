package io.posixgateway.alluxio.meta;

/** Hears of nodes whose file has another id than the one they began with. Must not wait. */
public interface NodeIdListener {
    /** Others replaced the file, or the directory is another one in Alluxio. */
    void moved(Inode inode, long fileId);

    /** The kernel knows the node no more. */
    void gone(long node);

    /** Is told, and does nothing. */
    NodeIdListener NOBODY = new NodeIdListener() {
        @Override
        public void moved(Inode inode, long fileId) {}

        @Override
        public void gone(long node) {}
    };
}
