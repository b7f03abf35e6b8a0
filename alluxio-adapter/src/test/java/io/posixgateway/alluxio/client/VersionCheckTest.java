package io.posixgateway.alluxio.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import alluxio.client.file.URIStatus;
import alluxio.wire.FileInfo;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which reads from the under file system are followed by a comparison. */
class VersionCheckTest {
    private static final int BLOCK = 100;
    private static final int LENGTH = 250;
    private static final String FINGERPRINT = "TYPE|FILE UFS|s3 OWNER|nobody GROUP|nobody MODE|448 ";

    private int comparisons;
    private boolean replaced;
    private boolean moved;
    private final VersionCheck check = new VersionCheck(BLOCK, LENGTH, null, this::compare);

    private boolean compare() throws StoreException {
        comparisons++;
        if (replaced) {
            throw new StoreException(Errno.ESTALE, "replaced", null);
        }
        return !moved;
    }

    private void reads(long offset, int count, int expected) throws StoreException {
        comparisons = 0;
        assertThat(check.streamed(offset, ByteBuffer.allocate(count), false)).isEqualTo(!moved);
        assertThat(comparisons).as("after %d bytes at %d", count, offset).isEqualTo(expected);
    }

    @Test
    void aBlockIsComparedWhereItsReadBeginsAndAtItsEnd() throws StoreException {
        reads(0, 10, 1);
        reads(10, 10, 0);
        reads(20, 70, 0);
        reads(90, 10, 1);
        reads(100, 10, 1);
        reads(110, 95, 1);
        reads(205, 10, 0);
        reads(215, LENGTH - 215, 1);
    }

    @Test
    void aReadThatDoesNotContinueTheLastIsCompared() throws StoreException {
        reads(10, 10, 1);
        reads(30, 10, 1);
        reads(40, 10, 0);
        reads(40, 10, 1);
    }

    @Test
    void aReadThatAnotherCallContinuedIsCompared() throws StoreException {
        reads(0, 10, 1);
        comparisons = 0;
        assertThat(check.streamed(10, ByteBuffer.allocate(10), true)).isTrue();
        assertThat(comparisons).isEqualTo(1);
        reads(20, 10, 0);
    }

    @Test
    void whatWasReadByThePathThatAnotherFileMayHaveIsNotOfTheFile() throws StoreException {
        moved = true;
        reads(0, 10, 1);
        reads(10, 10, 1);
        assertThat(check.pread(10, ByteBuffer.allocate(10))).isFalse();
    }

    @Test
    void afterAReplacementEachReadIsCompared() {
        replaced = true;
        for (int offset = 10; offset < 40; offset += 10) {
            int at = offset;
            assertThatThrownBy(() -> check.streamed(at, ByteBuffer.allocate(10), false))
                    .hasMessage("replaced");
        }
        assertThat(comparisons).isEqualTo(3);
    }

    /** Of a file of which Alluxio has this fingerprint. */
    private VersionCheck checkOf(String content, String fingerprint) {
        FileInfo file = new FileInfo().setUfsFingerprint(fingerprint);
        return new VersionCheck(BLOCK, content.length(), ContentHash.of(new URIStatus(file)), this::compare);
    }

    private static ByteBuffer bytes(String content) {
        return ByteBuffer.wrap(content.getBytes(US_ASCII));
    }

    @Test
    void aFileThatIsReadWholeAndHasTheHashThatAlluxioKnowsIsNotCompared() throws StoreException {
        VersionCheck known = checkOf("hello", FINGERPRINT + "CONTENT_HASH|5D41402abc4b2a76b9719d911017c592");
        known.streamed(0, bytes("hello"), false);
        known.pread(0, bytes("hello"));
        assertThat(comparisons).isZero();
    }

    @Test
    void anotherContentOfTheSameLengthIsCompared() {
        replaced = true;
        VersionCheck known = checkOf("hello", FINGERPRINT + "CONTENT_HASH|5d41402abc4b2a76b9719d911017c592");
        assertThatThrownBy(() -> known.streamed(0, bytes("other"), false)).hasMessage("replaced");
        assertThatThrownBy(() -> known.pread(0, bytes("other"))).hasMessage("replaced");
    }

    @Test
    void aPartOfTheFileIsCompared() throws StoreException {
        VersionCheck known = checkOf("hello, world", FINGERPRINT + "CONTENT_HASH|5d41402abc4b2a76b9719d911017c592");
        known.streamed(0, bytes("hello"), false);
        known.pread(7, bytes("hello"));
        assertThat(comparisons).isEqualTo(2);
    }

    /** The whole came by another GET than the part before it. */
    @Test
    void aPartBehindOneThatWasReadBeforeTheWholeIsCompared() throws StoreException {
        VersionCheck known = checkOf("hello", FINGERPRINT + "CONTENT_HASH|5d41402abc4b2a76b9719d911017c592");
        known.streamed(0, bytes("hel"), false);
        known.streamed(0, bytes("hello"), false);
        comparisons = 0;
        known.streamed(3, bytes("l"), false);
        assertThat(comparisons).isEqualTo(1);
    }

    @Test
    void whatIsNoMd5SaysNothingOfTheContent() throws StoreException {
        for (String fingerprint : List.of(
                "",
                "no fingerprint",
                "LATER_TAG|x",
                FINGERPRINT.strip(),
                FINGERPRINT + "CONTENT_HASH|5d41402abc4b2a76b9719d911017c592-2",
                FINGERPRINT + "CONTENT_HASH|XUFAKrxLKna5cZ2REBfFkg==")) {
            comparisons = 0;
            checkOf("hello", fingerprint).streamed(0, bytes("hello"), false);
            assertThat(comparisons).as(fingerprint).isEqualTo(1);
        }
    }
}
