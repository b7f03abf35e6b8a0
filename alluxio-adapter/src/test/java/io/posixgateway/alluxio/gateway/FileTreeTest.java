package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Set;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class FileTreeTest {
    private final MemoryFileSystem files = new MemoryFileSystem(64 << 20);
    private final FileTree tree = new FileTree(files, NameCodec.ESCAPED);

    private static void failsWith(int errno, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .asInstanceOf(InstanceOfAssertFactories.type(TreeException.class))
                .extracting(TreeException::errno)
                .isEqualTo(errno);
    }

    private void file(String folder, String name, int bytes) throws TreeException {
        tree.makeDirectory(folder, 0755);
        long node = FileSystem.ROOT;
        for (Name part : FileTree.names(folder, NameCodec.ESCAPED)) {
            var entry = new io.posixgateway.fuse.spi.Entry();
            assertThat(files.lookup(InternalRequest.INSTANCE, node, part, entry))
                    .isZero();
            node = entry.node;
        }
        var reply = new FileSystem.CreateReply();
        assertThat(files.create(InternalRequest.INSTANCE, node, Name.of(name), 0644, 2, reply))
                .isZero();
        ByteBuffer data = ByteBuffer.allocateDirect(bytes);
        assertThat(files.write(InternalRequest.INSTANCE, reply.entry.node, reply.open.handle, 0, data))
                .isEqualTo(bytes);
        files.release(InternalRequest.INSTANCE, reply.entry.node, reply.open.handle);
    }

    @Test
    void a_folder_is_made_with_those_above_it_and_once_only() throws TreeException {
        assertThat(tree.makeDirectory("/a/b/c", 0755)).isTrue();
        assertThat(tree.makeDirectory("/a/b/c", 0755)).isFalse();
        assertThat(tree.list("/a/b")).containsExactly(new FileTree.Child(Name.of("c"), true));
    }

    @Test
    void a_folder_below_a_file_cannot_be_made() throws TreeException {
        file("/a", "f", 10);
        failsWith(Errno.ENOTDIR, () -> tree.makeDirectory("/a/f/c", 0755));
    }

    @Test
    void a_folder_that_is_not_empty_goes_only_with_everything_in_it() throws TreeException {
        file("/a/b", "f", 10);
        failsWith(Errno.ENOTEMPTY, () -> tree.removeDirectory("/a", false, () -> {}));
        assertThat(tree.removeDirectory("/a", true, () -> {})).isTrue();
        assertThat(tree.removeDirectory("/a", true, () -> {})).isFalse();
        assertThat(tree.list("/")).isEmpty();
    }

    /** As two controllers do, each of which takes itself for the leader, or another client. */
    @Test
    void what_others_remove_meanwhile_leaves_the_rest_to_be_removed() throws TreeException {
        file("/a", "one", 1);
        file("/a", "two", 1);
        file("/a/b", "three", 1);
        file("/a/c", "four", 1);
        FileTree slower = new FileTree(alsoRemoving(Set.of("one", "b")), NameCodec.ESCAPED);
        assertThat(slower.removeDirectory("/a", true, () -> {})).isTrue();
        assertThat(tree.list("/")).isEmpty();
    }

    /** The file system, but that somebody else has just removed what is about to be removed. */
    private FileSystem alsoRemoving(Set<String> names) {
        return (FileSystem) Proxy.newProxyInstance(
                FileSystem.class.getClassLoader(), new Class<?>[] {FileSystem.class}, (self, method, arguments) -> {
                    if (method.getName().equals("unlink") && names.contains(arguments[2].toString())) {
                        assertThat(method.invoke(files, arguments)).isEqualTo(0);
                    }
                    if (method.getName().equals("lookup") && names.contains(arguments[2].toString())) {
                        tree.removeDirectory("/a/" + arguments[2], true, () -> {});
                    }
                    return method.invoke(files, arguments);
                });
    }

    @Test
    void a_rename_done_before_is_seen_as_done() throws TreeException {
        tree.makeDirectory("/a", 0755);
        assertThat(tree.rename("/a", "/b")).isTrue();
        assertThat(tree.rename("/a", "/b")).isFalse();
        failsWith(Errno.ENOENT, () -> tree.rename("/x", "/y"));
    }

    @Test
    void a_rename_never_replaces() throws TreeException {
        tree.makeDirectory("/a", 0755);
        tree.makeDirectory("/b", 0755);
        failsWith(Errno.EEXIST, () -> tree.rename("/a", "/b"));
    }

    @Test
    void paths_that_climb_or_do_not_begin_at_the_root_are_refused() {
        failsWith(Errno.EINVAL, () -> tree.list("a"));
        failsWith(Errno.EINVAL, () -> tree.list("/a/../b"));
        failsWith(Errno.EINVAL, () -> tree.list("/a/\0"));
        failsWith(Errno.EINVAL, () -> tree.removeDirectory("/", true, () -> {}));
    }

    @Test
    void a_walk_sees_every_entry_and_its_length() throws TreeException {
        file("/a", "one", 3_000_000);
        file("/a/b", "two", 5);
        long[] seen = new long[3];
        tree.walk("/a", (path, bytes, failed) -> {
            seen[0]++;
            seen[1] += bytes;
            seen[2] += failed ? 1 : 0;
            return true;
        });
        assertThat(seen).containsExactly(4, 3_000_005, 0);
    }

    @Test
    void a_walk_ends_when_told() throws TreeException {
        file("/a", "one", 1);
        file("/a", "two", 1);
        long[] seen = new long[1];
        tree.walk("/", (path, bytes, failed) -> ++seen[0] < 2);
        assertThat(seen).containsExactly(2);
    }
}
