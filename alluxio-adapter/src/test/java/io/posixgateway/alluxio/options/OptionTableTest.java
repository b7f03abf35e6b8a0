package io.posixgateway.alluxio.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OptionTableTest {
    private final OptionTable table = new OptionTable(
            List.of(
                    Option.oneOf("transport", "auto", "which way", "auto", "uring"),
                    Option.onOff("ro", false, "read-only"),
                    new Option("threads", new Option.Whole(1, 64), "8", "how many"),
                    new Option("umask", new Option.Octal(), "022", "bits taken off"),
                    new Option("buffer_size", new Option.Size(4096, 1L << 40), "64M", "memory"),
                    new Option("metadata_ttl", new Option.Time(0, 86_400), "30s", "age"),
                    new Option("ttl_of", new Option.TimesByPath(new Option.Time(0, 3600), 3), "", "age by path")),
            Map.of("attr_timeout", "replaced by metadata_ttl"),
            Map.of("rw", "ro=off", "defaults", "", "x-*", ""),
            Map.of("lanes", "threads"));

    @Test
    void texts_behind_o_are_split_and_the_later_one_wins() {
        assertThat(OptionTable.split(List.of("ro, threads=4", "threads=8,")))
                .containsExactly(Map.entry("ro", "on"), Map.entry("threads", "8"));
    }

    @Test
    void values_are_read_with_their_units_and_defaults_stand_where_none_is_given() {
        OptionValues values = table.read(Map.of("ro", "on", "buffer_size", "2g", "metadata_ttl", "5m", "umask", "077"));
        assertThat(values.on("ro")).isTrue();
        assertThat(values.bytes("buffer_size")).isEqualTo(2L << 30);
        assertThat(values.millis("metadata_ttl")).isEqualTo(300_000);
        assertThat(values.octal("umask")).isEqualTo(077);
        assertThat(values.number("threads")).isEqualTo(8);
        assertThat(values.text("transport")).isEqualTo("auto");
        assertThat(values.given("threads")).isFalse();
        assertThat(values.given("ro")).isTrue();
    }

    @Test
    void words_mean_values_or_nothing_and_the_later_one_wins() {
        OptionValues values = table.read(OptionTable.split(List.of("defaults,ro,x-systemd.automount,x-a=1")));
        assertThat(values.given()).containsExactly(Map.entry("ro", "on"));
        assertThat(table.read(OptionTable.split(List.of("rw,ro"))).on("ro")).isTrue();
        assertThat(table.read(OptionTable.split(List.of("ro,rw"))).on("ro")).isFalse();
        assertThat(table.read(OptionTable.split(List.of("ro,rw,ro"))).on("ro")).isTrue();
    }

    /** The CSI driver embeds it, and checks volumes as the gateway does. */
    @Test
    void tabSeparated_eachKind_hasItsBounds() {
        assertThat(table.tabSeparated().lines().skip(1).map(line -> line.substring(0, line.lastIndexOf('\t'))))
                .containsExactly(
                        "transport\tone-of\tauto uring",
                        "ro\tone-of\ton off",
                        "threads\tnumber\t1 64",
                        "umask\toctal\t0 7777",
                        "buffer_size\tbytes\t4096 1099511627776",
                        "metadata_ttl\tseconds\t0 86400",
                        "ttl_of\tseconds-by-path\t0 3600 3");
        assertThat(table.tabSeparated()).contains("\ta size from 4K to 1T (units K, M, G, T)\n");
    }

    @Test
    void what_is_known_is_told_from_what_is_not() {
        assertThat(table.known(OptionTable.split(List.of("rw,colour=red,threads=4,attr_timeout=1"))))
                .containsExactly(Map.entry("rw", "on"), Map.entry("threads", "4"));
    }

    @Test
    void an_unknown_name_is_refused_with_the_known_ones() {
        assertThatThrownBy(() -> table.read(Map.of("colour", "red")))
                .isInstanceOf(OptionException.class)
                .hasMessage("option 'colour' is not known; give one of transport, ro, threads, umask, buffer_size,"
                        + " metadata_ttl, ttl_of;"
                        + " or leave it out");
    }

    @Test
    void read_ofNameWithATypo_isRefusedWithTheNameThatWasMeant() {
        for (String given : List.of("metadata_tl", "metadatattl", "metdata_ttl_")) {
            assertThatThrownBy(() -> table.read(Map.of(given, "5")))
                    .hasMessageEndingWith("did you mean metadata_ttl?")
                    .hasMessageStartingWith("option '" + given + "' is not known; give one of transport");
        }
        assertThatThrownBy(() -> table.read(Map.of("rw1", ""))).hasMessageEndingWith("or leave it out");
    }

    @Test
    void read_ofAnEarlierName_setsTheOptionAndNamesItOnce() {
        Map<String, String> given = OptionTable.split(List.of("ro,lanes=4"));
        assertThat(table.read(given).given()).isEqualTo(Map.of("ro", "on", "threads", "4"));
        assertThat(table.known(given)).isEqualTo(given);
        assertThat(table.renamedIn(given))
                .containsExactly(
                        "option 'lanes' was renamed to threads; use that name, because a later version rejects the old one");
        assertThat(table.renamedIn(Map.of("threads", "4"))).isEmpty();
        assertThat(table.markdown()).contains("how many Earlier name: `lanes`.");
    }

    @Test
    void read_ofBothNames_takesTheLaterOne() {
        assertThat(table.read(OptionTable.split(List.of("lanes=4,threads=5"))).number("threads"))
                .isEqualTo(5);
        assertThat(table.read(OptionTable.split(List.of("threads=5,lanes=4"))).number("threads"))
                .isEqualTo(4);
    }

    @Test
    void a_name_from_elsewhere_is_refused_with_what_replaced_it() {
        assertThatThrownBy(() -> table.read(Map.of("attr_timeout", "5")))
                .hasMessage("option 'attr_timeout' is replaced by metadata_ttl");
    }

    @Test
    void a_value_that_is_not_allowed_is_refused_with_what_is() {
        refused(
                "transport",
                "pigeon",
                "option transport=pigeon is not allowed; transport is one of auto, uring; leave it out for auto");
        refused("ro", "maybe", "option ro=maybe is not allowed; ro is on or off; leave it out for off");
        refused(
                "threads",
                "65",
                "option threads=65 is not allowed; threads is a number from 1 to 64; leave it out for 8");
        refused(
                "umask",
                "9",
                "option umask=9 is not allowed; umask is an octal number from 0 to 7777; leave it out for 022");
        refused(
                "buffer_size",
                "1X",
                "option buffer_size=1X is not allowed; "
                        + "buffer_size is a size from 4K to 1T (units K, M, G, T); leave it out for 64M");
        refused(
                "buffer_size",
                "999999999999999T",
                "option buffer_size=999999999999999T is not allowed; "
                        + "buffer_size is a size from 4K to 1T (units K, M, G, T); leave it out for 64M");
        refused(
                "metadata_ttl",
                "-1",
                "option metadata_ttl=-1 is not allowed; "
                        + "metadata_ttl is a time from 0s to 86400s (units ms, s, m, h); leave it out for 30s");
    }

    @Test
    void times_by_path_are_read_and_a_path_may_hold_an_equals_sign() {
        assertThat(table.read(Map.of()).millisByPath("ttl_of")).isEmpty();
        OptionValues values = table.read(OptionTable.split(List.of("ro,ttl_of=/a=1h:/b/day=7=10ms:/...=0,threads=8")));
        assertThat(values.millisByPath("ttl_of")).isEqualTo(Map.of("/a", 3_600_000L, "/b/day=7", 10L, "/...", 0L));
    }

    @Test
    void times_by_path_that_are_not_allowed_are_refused() {
        for (String given : List.of(
                "",
                "on",
                "/a",
                "1h",
                "/=1s",
                "a=1s",
                "/a/=1s",
                "/a//b=1s",
                "/a/../b=1s",
                "/.=1s",
                "/a=",
                "/a=-1",
                "/a=2h",
                "/a=1s:",
                ":/a=1s",
                "/a=1s:b=1s",
                "/a=1s:/a=2s",
                "/a=1:/b=1:/c=1:/d=1")) {
            refused(
                    "ttl_of",
                    given,
                    "option ttl_of=" + given + " is not allowed; ttl_of is up to 3 pairs PATH=TIME,"
                            + " separated by colons, for example /data=1h:/data/new=0; each PATH once, absolute in"
                            + " the mount, without a colon, '.', '..' or a final slash; each TIME a time from 0s to"
                            + " 3600s (units ms, s, m, h)");
        }
    }

    private void refused(String name, String value, String message) {
        assertThatThrownBy(() -> table.read(Map.of(name, value)))
                .isInstanceOf(OptionException.class)
                .hasMessage(message);
    }
}
