package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.options.OptionTable;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.session.MountFlag;
import io.posixgateway.fuse.session.SessionOptions.Feature;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the usual options of mount(8) make of a mount. */
class MountOptionsTest {
    private static OptionValues read(String text) {
        return FileSystemFactory.OPTIONS.read(OptionTable.split(List.of(text)));
    }

    private static Set<MountFlag> flags(String text) {
        return MountOptions.mounted(read(text), "source").flags();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rw                                         | NOSUID NODEV
            defaults,_netdev,nofail,noauto,user,auto   | NOSUID NODEV
            x-systemd.automount,x-a=b,comment=c        | NOSUID NODEV
            users,owner,uhelper=udisks2                | NOSUID NODEV
            suid                                       | NODEV
            dev                                        | NOSUID
            suid,dev,nosuid                            | NOSUID
            nosuid,suid,dev,exec,async,atime           | ''
            suid,dev,noexec                            | NOEXEC
            nosuid,nodev,noatime                       | NOSUID NODEV NOATIME
            nodiratime                                 | NOSUID NODEV NODIRATIME
            strictatime,sync,dirsync                   | NOSUID NODEV STRICTATIME SYNC DIRSYNC
            noatime,relatime                           | NOSUID NODEV
            """)
    void flags_areThoseOfMount(String options, String expected) {
        assertThat(flags(options))
                .isEqualTo(Stream.of(expected.split(" ", -1))
                        .filter(word -> !word.isEmpty())
                        .map(MountFlag::valueOf)
                        .collect(Collectors.toSet()));
    }

    @Test
    void rw_takesBackRo() {
        assertThat(MountOptions.mounted(read("ro"), "source").readOnly()).isTrue();
        assertThat(MountOptions.mounted(read("ro,rw"), "source").readOnly()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rw                                         | needs ro or consistency=immutable
            passthrough=on                             | needs ro or consistency=immutable
            passthrough=off                            | switched off
            ro,passthrough=off                         | switched off
            ro                                         |
            consistency=immutable                      |
            """)
    void passthrough_thatIsOff_saysWhy(String options, @Nullable String reason) {
        assertThat(MountOptions.mounted(read(options), "source").off().get(Feature.PASSTHROUGH))
                .isEqualTo(reason);
    }

    @ParameterizedTest
    @CsvSource({"sched_idle=off", "stand_back=off"})
    void schedIdle_isSwitchedOff_alsoByItsEarlierName(String option) {
        assertThat(MountOptions.mounted(read(option), "source").off()).containsKey(Feature.STAND_BACK);
    }

    @Test
    void keeper_isToldWhatDiffersFromTheSafeFlags() {
        assertThat(MountOptions.keeperWords(read("defaults"))).isEmpty();
        assertThat(MountOptions.keeperWords(read("suid,noexec,noatime")))
                .containsExactlyInAnyOrder("suid", "noexec", "noatime");
    }
}
