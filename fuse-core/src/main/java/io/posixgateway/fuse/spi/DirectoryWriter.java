package io.posixgateway.fuse.spi;

/** Takes the entries of one readdir reply, until it is full. */
public interface DirectoryWriter {
    /**
     * Does this reply carry entries with attributes (readdirplus)? Then {@link #add(Name, long, Entry)} is called, and each
     * entry it took counts as a lookup (but those for "." and "..", which carry node 0).
     */
    boolean plus();

    /**
     * Adds a plain entry.
     *
     * @param nextOffset what the next readdir gives as offset to go on behind this entry; never 0
     * @param inode the inode number to show
     * @param type the file type bits of the mode ({@code S_IFMT}); 0: unknown
     * @return false: no room, and nothing was added
     */
    boolean add(Name name, long nextOffset, long inode, int type);

    /** Adds an entry with attributes; {@code entry.node} 0 gives the kernel the name and type alone. As above otherwise. */
    boolean add(Name name, long nextOffset, Entry entry);
}
