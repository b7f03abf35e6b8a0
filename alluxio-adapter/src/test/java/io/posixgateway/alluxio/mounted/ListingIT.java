package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A directory that changes while it is read from Alluxio. It is longer than the pages it is read in. All else is in {@code
 * DirectoryHandleTest}.
 */
class ListingIT {
    private static final int FILES = 2500;
    private static final int MAX_IN_A_REPLY = 37;
    private static final Request WAITING = new PlainRequest(true);
    /** Names are believed for long, so that what is seen is not what a new look brought. */
    private static final Map<String, String> OPTIONS = Map.of("metadata_ttl", "1h");

    private String folder = "";
    private AlluxioFileSystem files;

    /** Takes a few entries at a time, as they come. */
    private static final class Reply implements DirectoryWriter {
        final List<String> names = new ArrayList<>();
        final List<Long> offsets = new ArrayList<>();
        private int room = MAX_IN_A_REPLY;

        @Override
        public boolean plus() {
            return false;
        }

        @Override
        public boolean add(Name name, long nextOffset, long inode, int type) {
            if (room-- <= 0) {
                return false;
            }
            names.add(name.toString());
            offsets.add(nextOffset);
            return true;
        }

        @Override
        public boolean add(Name name, long nextOffset, Entry entry) {
            return add(name, nextOffset, entry.node, 0);
        }

        long last(long before) {
            return offsets.isEmpty() ? before : offsets.get(offsets.size() - 1);
        }

        void more() {
            room = MAX_IN_A_REPLY;
        }
    }

    @BeforeEach
    void makeFiles() throws Exception {
        folder = SharedAlluxio.folder();
        for (int i = 0; i < FILES; i++) {
            Files.createFile(ufs(i));
        }
        files = SharedAlluxio.open(folder, OPTIONS);
    }

    @AfterEach
    void close() {
        files.close();
    }

    private Path ufs(int number) throws IOException {
        return SharedAlluxio.ufs(folder).resolve(name(number));
    }

    private static String name(int number) {
        return "f%05d".formatted(number);
    }

    private static long open(FileSystem files) {
        OpenReply reply = new OpenReply();
        assertThat(files.opendir(WAITING, FileSystem.ROOT, 0, reply)).isZero();
        return reply.handle;
    }

    /** Reads until so many names are there, or to the end; returns the offset behind the last. */
    private static long read(FileSystem files, long handle, long from, int most, Reply into) {
        long offset = from;
        while (into.names.size() < most) {
            int before = into.names.size();
            into.more();
            assertThat(files.readdir(WAITING, FileSystem.ROOT, handle, offset, into))
                    .isZero();
            if (into.names.size() == before) {
                return offset;
            }
            offset = into.last(offset);
        }
        return offset;
    }

    private void assertComplete(List<String> names, List<String> changed) {
        List<String> expected = new ArrayList<>(List.of(".", ".."));
        for (int i = 0; i < FILES; i++) {
            expected.add(name(i));
        }
        expected.removeAll(changed);
        List<String> seen = new ArrayList<>(names);
        seen.removeAll(changed);
        assertThat(seen).containsExactlyElementsOf(expected);
    }

    @Test
    void namesThatStayAreSeenOnceWhileOthersComeAndGo() {
        long handle = open(files);
        Reply reply = new Reply();
        long offset = read(files, handle, 0, 1200, reply);
        List<String> changed = new ArrayList<>();
        for (int i = 3; i < FILES; i += 100) {
            assertThat(files.unlink(WAITING, FileSystem.ROOT, Name.of(name(i)))).isZero();
            changed.add(name(i));
            String fresh = name(i) + "-new";
            assertThat(files.mkdir(WAITING, FileSystem.ROOT, Name.of(fresh), 0755, new Entry()))
                    .isZero();
            changed.add(fresh);
        }
        read(files, handle, offset, Integer.MAX_VALUE, reply);
        assertComplete(reply.names, changed);
    }
}
