package io.posixgateway.fuse.dispatch;

/** Decodes one kind of request, calls the file system, puts the reply. */
@FunctionalInterface
interface Operation {
    /**
     * @return bytes of the reply's body, a negative errno, or {@link
     *     io.posixgateway.fuse.spi.FileSystem#WOULD_WAIT}
     */
    int run(Call call);
}
