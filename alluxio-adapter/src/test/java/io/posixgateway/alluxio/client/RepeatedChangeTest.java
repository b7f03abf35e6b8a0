package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import alluxio.client.file.FileSystemContext;
import alluxio.grpc.CompleteFilePOptions;
import alluxio.grpc.CompleteFilePRequest;
import alluxio.grpc.CreateDirectoryPOptions;
import alluxio.grpc.CreateDirectoryPRequest;
import alluxio.grpc.DeletePOptions;
import alluxio.grpc.FileInfo;
import alluxio.grpc.SetAttributePRequest;
import alluxio.security.authorization.Mode;
import alluxio.shaded.client.com.google.protobuf.ByteString;
import alluxio.shaded.client.io.grpc.Status;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.OffsetClock;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import javax.security.auth.Subject;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A change is sent, nobody answers, and it is sent again: to a master that may have done it, or a part of it. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RepeatedChangeTest {
    private static final String PATH = "/path";
    private static final long ID = 7;
    private static final CreateDirectoryPOptions OURS = CreateDirectoryPOptions.newBuilder()
            .setMode(new Mode((short) 0755).toProto())
            .putXattr("owner", ByteString.copyFromUtf8("ours"))
            .build();

    private final FalseMaster server = new FalseMaster(true);
    private final FileSystemContext context;
    private final MasterClient master;
    private final FileSystemMaster files;
    private final DirectoryCreator directories;

    RepeatedChangeTest() throws IOException {
        StoreOptions options = new StoreOptions(
                server.address(), "", "THROUGH", true, Map.of("alluxio.security.authentication.type", "NOSASL"));
        context = FileSystemContext.create(new Subject(), ClientProperties.of(options));
        master = new MasterClient(context, 1, new OffsetClock());
        files = new FileSystemMaster(context, master);
        directories = new DirectoryCreator(files);
    }

    @AfterEach
    void end() throws IOException {
        master.close();
        context.close();
        server.close();
    }

    private void answers(Status... statuses) {
        server.answer(number -> statuses[number - 1]);
    }

    private <T> List<T> requests(Class<T> kind) {
        return server.requests.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    private static void fails(int errno, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.errno())
                .isEqualTo(errno));
    }

    private static FileInfo.Builder folder() {
        return FileInfo.newBuilder().setPath(PATH).setFolder(true).setCompleted(true);
    }

    private static FileInfo folder(String owner) {
        return folder().putXattr("owner", ByteString.copyFromUtf8(owner)).build();
    }

    /** The next leader has the entry of its parent's time alone. */
    @Test
    void mkdir_thatCountsAsDoneAndIsNot_isDoneAnew() throws Exception {
        answers(Status.UNAVAILABLE, Status.OK, Status.NOT_FOUND, Status.OK);
        directories.make(PATH, OURS);
        assertThat(requests(CreateDirectoryPRequest.class).stream()
                        .map(request -> request.getOptions().getCommonOptions().getOperationId())
                        .distinct())
                .hasSize(2);
        assertThat(server.requests).hasSize(4);
    }

    @Test
    void mkdir_thatCountsAsDoneAndIs_isDone() throws Exception {
        answers(Status.UNAVAILABLE, Status.OK, Status.OK);
        server.has(folder("ours"));
        directories.make(PATH, OURS);
        assertThat(server.requests).hasSize(3);
    }

    @Test
    void mkdir_thatCountsAsDone_ofAnothersDirectory_isRefused() {
        answers(Status.UNAVAILABLE, Status.OK, Status.OK);
        server.has(folder("others"));
        fails(Errno.EEXIST, () -> directories.make(PATH, OURS));
    }

    /** The former leader made it in the under file system, and its journal knew nothing of that. */
    @Test
    void mkdir_thatIsRefusedForWhatItMade_isDone() throws Exception {
        answers(Status.UNAVAILABLE, Status.ALREADY_EXISTS, Status.OK, Status.OK, Status.OK);
        server.has(folder().build());
        directories.make(PATH, OURS);
        assertThat(requests(SetAttributePRequest.class)).singleElement().satisfies(request -> assertThat(
                        request.getOptions().getXattrMap())
                .isEqualTo(OURS.getXattrMap()));
    }

    @Test
    void mkdir_thatIsRefusedForAnothersDirectory_isRefused() {
        answers(Status.UNAVAILABLE, Status.ALREADY_EXISTS, Status.OK);
        server.has(folder("ours"));
        fails(Errno.EEXIST, () -> directories.make(PATH, OURS));
        assertThat(requests(SetAttributePRequest.class)).isEmpty();
    }

    @Test
    void mkdir_thatIsRefusedAtOnce_isRefused() {
        answers(Status.ALREADY_EXISTS);
        fails(Errno.EEXIST, () -> directories.make(PATH, OURS));
        assertThat(server.requests).hasSize(1);
    }

    @Test
    void delete_thatFindsNothingWhenItIsSentAgain_isDone() throws Exception {
        answers(Status.UNAVAILABLE, Status.NOT_FOUND);
        files.delete(PATH, DeletePOptions.getDefaultInstance());
        assertThat(server.requests).hasSize(2);
    }

    /** The next leader has what was loaded for it alone; or another client has made what is there. */
    @Test
    void delete_thatCountsAsDoneAndIsNot_failsAndLeavesWhatIsThere() {
        answers(Status.UNAVAILABLE, Status.OK, Status.OK);
        fails(Errno.EIO, () -> files.delete(PATH, DeletePOptions.getDefaultInstance()));
        assertThat(server.requests).hasSize(3);
    }

    @Test
    void delete_thatCountsAsDoneAndIs_isDone() throws Exception {
        answers(Status.UNAVAILABLE, Status.OK, Status.NOT_FOUND);
        files.delete(PATH, DeletePOptions.getDefaultInstance());
        assertThat(server.requests).hasSize(3);
    }

    @Test
    void delete_thatFindsNothingAtOnce_isRefused() {
        answers(Status.NOT_FOUND);
        fails(Errno.ENOENT, () -> files.delete(PATH, DeletePOptions.getDefaultInstance()));
    }

    private void complete() throws IOException {
        files.complete(PATH, ID, CompleteFilePOptions.newBuilder());
    }

    private static FileInfo file(long id, boolean complete) {
        return FileInfo.newBuilder()
                .setPath(PATH)
                .setFileId(id)
                .setCompleted(complete)
                .build();
    }

    /** The next leader has the entry of its time alone: what was to be acknowledged would be lost. */
    @Test
    void completion_thatCountsAsDoneAndIsNot_isDoneAnew() throws Exception {
        answers(Status.UNAVAILABLE, Status.OK, Status.OK, Status.OK);
        server.has(file(ID, false));
        complete();
        assertThat(requests(CompleteFilePRequest.class).stream()
                        .map(request -> request.getOptions().getCommonOptions().getOperationId())
                        .distinct())
                .hasSize(2);
    }

    @Test
    void completion_thatIsRefusedOnceItIsDone_isDone() throws Exception {
        answers(Status.UNAVAILABLE, Status.FAILED_PRECONDITION, Status.OK);
        server.has(file(ID, true));
        complete();
        assertThat(server.requests).hasSize(3);
    }

    @Test
    void completion_ofWhatIsAnothersFileByNow_fails() {
        answers(Status.UNAVAILABLE, Status.OK, Status.OK);
        server.has(file(ID + 1, false));
        assertThatThrownBy(this::complete).isInstanceOf(IOException.class);
        assertThat(requests(CompleteFilePRequest.class)).hasSize(2);
    }
}
