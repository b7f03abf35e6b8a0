package io.posixgateway.alluxio.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.time.ManualClock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PosixXattrTest {
    private static PosixXattr full() {
        PosixXattr extras = new PosixXattr();
        extras.present = PosixXattr.TYPE | PosixXattr.OWNER | PosixXattr.MODIFIED | PosixXattr.NUMBER;
        extras.number = 1L << 40;
        extras.type = Stat.S_IFLNK;
        extras.uid = 1234;
        extras.ownerThen = "alice";
        extras.modifiedSeconds = -5;
        extras.modifiedNanos = 999_999_999;
        extras.target = "a/\u00e9".getBytes(StandardCharsets.UTF_8);
        return extras;
    }

    @Test
    void whatIsWrittenIsReadAgain() {
        PosixXattr read = PosixXattr.decode(full().encode());
        assertThat(read).usingRecursiveComparison().isEqualTo(full());
        assertThat(read.ownerCounts("alice")).isTrue();
        assertThat(read.ownerCounts("bob")).isFalse();
        assertThat(read.groupCounts("alice")).isFalse();
    }

    @Test
    void whatIsTruncatedOrOfAnotherVersionCountsAsNothing() {
        byte[] bytes = full().encode();
        for (int length = 0; length < bytes.length; length++) {
            PosixXattr read = PosixXattr.decode(Arrays.copyOf(bytes, length));
            boolean allButTheNumber = length >= bytes.length - Long.BYTES;
            assertThat(read.present).isEqualTo(allButTheNumber ? full().present & ~PosixXattr.NUMBER : 0);
            assertThat(read.foreign).isFalse();
        }
        bytes[0] = 77;
        assertThat(PosixXattr.decode(bytes).present).isZero();
        assertThat(PosixXattr.decode(null).present).isZero();
    }

    /** It writes fields back that it knows, and all bits. */
    @Test
    void whatAnEarlierVersionWroteOverThisOneHasNoNumber() {
        byte[] bytes = full().encode();
        PosixXattr read = PosixXattr.decode(Arrays.copyOf(bytes, bytes.length - Long.BYTES));
        assertThat(read.has(PosixXattr.NUMBER)).isFalse();
        assertThat(read.has(PosixXattr.OWNER)).isTrue();
        assertThat(read.target).isEqualTo(full().target);
    }

    @Test
    void whatALaterVersionWroteIsToldFromNothing() {
        assertThat(PosixXattr.decode(null).foreign).isFalse();
        assertThat(PosixXattr.decode(new byte[0]).foreign).isFalse();
        assertThat(PosixXattr.decode(full().encode()).foreign).isFalse();
        PosixXattr later = PosixXattr.decode(new byte[] {2});
        assertThat(later.foreign).isTrue();
        assertThatThrownBy(later::encode).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void numbersOfUsersHave32Bits(@TempDir Path folder) throws Exception {
        Path passwd = Files.writeString(
                folder.resolve("passwd"),
                "far:x:4294967294:1::/:\nbeyond:x:4294967295:1::/:\nlong:x:10000000000:1::/:\n");
        IdMapper idMapper = new IdMapper(passwd, passwd, new ManualClock());
        assertThat(Integer.toUnsignedString(idMapper.gid("1000680000"))).isEqualTo("1000680000");
        assertThat(Integer.toUnsignedString(idMapper.uid("3000680000"))).isEqualTo("3000680000");
        assertThat(Integer.toUnsignedString(idMapper.uid("far"))).isEqualTo("4294967294");
        assertThat(idMapper.user((int) 4_294_967_294L)).isEqualTo("far");
        assertThat(idMapper.uid("4294967295")).isEqualTo(IdMapper.NOBODY);
        assertThat(idMapper.uid("beyond")).isEqualTo(IdMapper.NOBODY);
        assertThat(idMapper.uid("long")).isEqualTo(IdMapper.NOBODY);
    }

    @Test
    void identitiesFollowTheirFiles(@TempDir Path folder) throws Exception {
        ManualClock clock = new ManualClock();
        Path passwd = Files.writeString(folder.resolve("passwd"), "alice:x:1001:1001::/:/bin/sh\nbroken\n");
        Path group = Files.writeString(folder.resolve("group"), "staff:x:50:\n");
        IdMapper idMapper = new IdMapper(passwd, group, clock);
        assertThat(idMapper.uid("alice")).isEqualTo(1001);
        assertThat(idMapper.user(1001)).isEqualTo("alice");
        assertThat(idMapper.gid("staff")).isEqualTo(50);
        assertThat(idMapper.uid("4711")).isEqualTo(4711);
        assertThat(idMapper.uid("nobody-knows")).isEqualTo(IdMapper.NOBODY);
        Files.writeString(passwd, "alice:x:2002:2002::/:/bin/sh\n");
        Files.setLastModifiedTime(passwd, java.nio.file.attribute.FileTime.fromMillis(1000));
        assertThat(idMapper.uid("alice")).isEqualTo(1001);
        clock.advanceNanos(5_000_000_000L);
        assertThat(idMapper.uid("alice")).isEqualTo(2002);
    }
}
