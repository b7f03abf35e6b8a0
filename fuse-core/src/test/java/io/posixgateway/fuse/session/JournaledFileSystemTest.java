package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class JournaledFileSystemTest {
    private static final int RECORDS = 128;

    private final RequestJournal journal =
            new RequestJournal(ByteBuffer.allocateDirect(16 * RECORDS).order(ByteOrder.nativeOrder()));
    private int failures;
    private final FileSystem files = (FileSystem) Proxy.newProxyInstance(
            FileSystem.class.getClassLoader(), new Class<?>[] {FileSystem.class}, (proxy, method, arguments) -> {
                if (failures-- > 0) {
                    throw new LinkageError("nobody expects this");
                }
                return 0;
            });
    private final JournaledFileSystem journaled = new JournaledFileSystem(files, journal, node -> {});

    private int mkdir(long unique) {
        Request request = (Request) Proxy.newProxyInstance(
                Request.class.getClassLoader(),
                new Class<?>[] {Request.class},
                (proxy, method, arguments) -> method.getName().equals("unique") ? (Object) unique : (Object) false);
        return journaled.mkdir(request, FileSystem.ROOT, Name.of("new"), 0755, new Entry());
    }

    /** Else a change that its program makes after as many failures could be made twice, when this process is killed. */
    @Test
    void changesThatFailUnexpectedly_leaveRoomForThoseToCome() {
        failures = 2 * RECORDS;
        for (long unique = 2; failures > 0; unique += 2) {
            long failing = unique;
            assertThatThrownBy(() -> mkdir(failing)).isInstanceOf(LinkageError.class);
        }
        assertThat(mkdir(5000)).isZero();
        int record = journal.find(5000);
        assertThat(record).isNotEqualTo(RequestJournal.NONE);
        assertThat(journal.done(record)).isTrue();
    }
}
