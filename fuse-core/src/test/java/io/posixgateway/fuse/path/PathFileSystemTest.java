package io.posixgateway.fuse.path;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What an author's methods may rely on. */
class PathFileSystemTest {
    private int openFiles;

    /** Has a file that is gone as soon as it is made. */
    private final class Vanishing extends PathFileSystem<Closeable> {
        @Override
        protected void getattr(String path, Attributes attributes) throws IOException {
            throw new FileNotFoundException(path);
        }

        @Override
        protected void readdir(String path, Consumer<String> names) {}

        @Override
        protected Closeable open(String path, int flags) {
            openFiles++;
            return () -> openFiles--;
        }

        @Override
        protected Closeable create(String path, int mode, int flags) {
            return open(path, flags);
        }

        @Override
        protected int read(Closeable file, long offset, ByteBuffer into) {
            return 0;
        }
    }

    private record Asking() implements Request {
        @Override
        public long unique() {
            return 2;
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
            return true;
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
        public boolean interrupted() {
            return false;
        }

        @Override
        public boolean mayWait() {
            return true;
        }
    }

    /** Has three names, of which the one in the middle cannot be shown. */
    private static final class Listed extends PathFileSystem<Closeable> {
        @Override
        protected void getattr(String path, Attributes attributes) {
            if (path.equals("/b")) {
                throw new IllegalStateException("by test");
            }
        }

        @Override
        protected void readdir(String path, Consumer<String> names) {
            List.of("a", "b", "c").forEach(names);
        }

        @Override
        protected Closeable open(String path, int flags) {
            return () -> {};
        }

        @Override
        protected int read(Closeable file, long offset, ByteBuffer into) {
            return 0;
        }
    }

    /** As READDIRPLUS takes them. */
    private static final class Nodes implements DirectoryWriter {
        private final Map<String, Boolean> known = new LinkedHashMap<>();

        @Override
        public boolean plus() {
            return true;
        }

        @Override
        public boolean add(Name name, long nextOffset, long inode, int type) {
            known.put(name.toString(), false);
            return true;
        }

        @Override
        public boolean add(Name name, long nextOffset, Entry entry) {
            known.put(name.toString(), true);
            return true;
        }
    }

    @Test
    void readdir_whereOneNameCannotBeShown_showsTheOthers() {
        Listed files = new Listed();
        OpenReply opened = new OpenReply();
        assertThat(files.opendir(new Asking(), FileSystem.ROOT, 0, opened)).isZero();
        Nodes nodes = new Nodes();
        assertThat(files.readdir(new Asking(), FileSystem.ROOT, opened.handle, 2, nodes))
                .isZero();
        assertThat(nodes.known).isEqualTo(Map.of("a", true, "b", false, "c", true));
    }

    @Test
    void create_ofFileThatIsGoneBeforeItIsShown_releasesIt() {
        FileSystem.CreateReply reply = new FileSystem.CreateReply();
        assertThat(new Vanishing().create(new Asking(), FileSystem.ROOT, Name.of("f"), 0600, 0, reply))
                .isEqualTo(-Errno.ENOENT);
        assertThat(openFiles).isZero();
    }
}
