package io.posixgateway.fuse.spi;

/**
 * The answer to a lookup or to making something: a node and what is known of it.
 *
 * <p>Each answered entry with a node other than 0 raises the kernel's lookup count of that node by one, until
 * {@link FileSystem#forget} takes it back.
 */
public final class Entry {
    /** The node's id; 1 is the root; 0 in a lookup: the name does not exist, and the kernel may remember that. */
    public long node;
    /** Tells two uses of one node id apart; 0 where ids are never used again. */
    public long generation;
    /** How long the kernel may believe that the name leads to this node (or to none), in nanoseconds. */
    public long validNanos;

    public final Attributes attributes = new Attributes();

    /** Puts every field to zero. */
    public void clear() {
        node = 0;
        generation = 0;
        validNanos = 0;
        attributes.clear();
    }
}
