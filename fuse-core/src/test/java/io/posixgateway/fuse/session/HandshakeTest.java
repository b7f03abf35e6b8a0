package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.dispatch.MemoryExchange;
import io.posixgateway.fuse.dispatch.Message;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.testing.NullFileSystem;
import io.posixgateway.fuse.wire.Opcode;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is taken of what a kernel offers. */
class HandshakeTest {
    private static final long EVERYTHING = -1;
    private static final long BEFORE_6_9 = (1L << 38) - 1;

    private static Negotiated negotiate(FileSystem served, long offered) {
        return negotiate(served, offered, null);
    }

    private static Negotiated negotiate(FileSystem served, long offered, @Nullable Boolean resends) {
        return negotiate(SessionOptions.defaults(), served, offered, resends);
    }

    private static Negotiated negotiate(
            SessionOptions options, FileSystem served, long offered, @Nullable Boolean resends) {
        Handshake handshake = new Handshake(options, false, resends, 4096, served, outcome -> {});
        answer(handshake, offered);
        Negotiated outcome = handshake.negotiated();
        assertThat(outcome).isNotNull();
        return java.util.Objects.requireNonNull(outcome);
    }

    /** The exchange with the answer to INIT. */
    private static MemoryExchange answer(Handshake handshake, long offered) {
        MemoryExchange exchange = MemoryExchange.of(MemoryExchange.Shape.CONTIGUOUS, MemoryExchange.Offload.SAME);
        byte[] arguments = new Message()
                .int32(7)
                .int32(45)
                .int32(1 << 17)
                .int32((int) offered)
                .int32((int) (offered >>> 32))
                .raw(new byte[44])
                .done();
        exchange.ask(Opcode.INIT.code(), 2, 0, arguments, Message.NOTHING);
        assertThat(handshake.init(exchange)).isPositive();
        return exchange;
    }

    /** Also where a page is 64 KiB, as on some machines of arm64: a longer request would not fit into its slot. */
    @ParameterizedTest
    @ValueSource(ints = {4096, 16384, 65536})
    void theLargestRequestIsCountedInPagesOfThisMachine(int pageBytes) {
        SessionOptions options = SessionOptions.defaults();
        Handshake handshake = new Handshake(options, false, null, pageBytes, new NullFileSystem(1, 1), outcome -> {});
        MemoryExchange exchange = answer(handshake, EVERYTHING);
        int maxPages = exchange.reply().getShort(exchange.replyAt() + 28);
        assertThat(maxPages * pageBytes).isEqualTo(options.maxWriteBytes());
        assertThat(Mounter.maxRead(options.maxWriteBytes(), pageBytes))
                .isEqualTo(pageBytes == 4096 ? "" : ",max_read=1048576");
    }

    /** What the kernel did when it was asked counts more than what it offers. */
    @Test
    void requestsAreSentAgainWhereTheKernelWasFoundToDoIt() {
        FileSystem served = new NullFileSystem(1, 1);
        assertThat(negotiate(served, EVERYTHING, null).has(InitFeature.RESEND)).isTrue();
        assertThat(negotiate(served, BEFORE_6_9, null).has(InitFeature.RESEND)).isFalse();
        assertThat(negotiate(served, EVERYTHING, false).has(InitFeature.RESEND)).isFalse();
        assertThat(negotiate(served, BEFORE_6_9, true).has(InitFeature.RESEND)).isTrue();
    }

    /** Without default_permissions the kernel ends a session that asks for it. */
    @Test
    void idMappedMountsAreAllowedWhereTheyAreWantedAndTheKernelChecksPermissions() {
        FileSystem served = new NullFileSystem(1, 1);
        assertThat(negotiate(served, EVERYTHING).has(InitFeature.ALLOW_IDMAP)).isFalse();
        Map<SessionOptions.Feature, String> off = Map.of(SessionOptions.Feature.WRITEBACK_CACHE, "");
        assertThat(negotiate(options(true, off), served, EVERYTHING, null).has(InitFeature.ALLOW_IDMAP))
                .isTrue();
        assertThat(negotiate(options(false, off), served, EVERYTHING, null).has(InitFeature.ALLOW_IDMAP))
                .isFalse();
        assertThat(negotiate(options(true, off), served, BEFORE_6_9, null).has(InitFeature.ALLOW_IDMAP))
                .isFalse();
    }

    private static SessionOptions options(boolean defaultPermissions, Map<SessionOptions.Feature, String> off) {
        SessionOptions defaults = SessionOptions.defaults();
        return new SessionOptions(
                defaults.transport(),
                defaults.sourceName(),
                false,
                true,
                defaultPermissions,
                defaults.flags(),
                defaults.maxWriteBytes(),
                0,
                0,
                defaults.poolThreads(),
                0,
                false,
                false,
                off);
    }

    @Test
    void handlesAreThereWhereTheFileSystemFindsWhatTheKernelForgot() {
        Negotiated memory = negotiate(new MemoryFileSystem(1 << 20), EVERYTHING);
        assertThat(memory.has(InitFeature.EXPORT_SUPPORT)).isTrue();
        assertThat(memory.has(InitFeature.NO_EXPORT_SUPPORT)).isFalse();
        Negotiated none = negotiate(new NullFileSystem(1, 1), EVERYTHING);
        assertThat(none.has(InitFeature.EXPORT_SUPPORT)).isFalse();
        assertThat(none.has(InitFeature.NO_EXPORT_SUPPORT)).isTrue();
        Negotiated old = negotiate(new NullFileSystem(1, 1), BEFORE_6_9);
        assertThat(old.has(InitFeature.EXPORT_SUPPORT)).isFalse();
        assertThat(old.has(InitFeature.NO_EXPORT_SUPPORT)).isFalse();
    }
}
