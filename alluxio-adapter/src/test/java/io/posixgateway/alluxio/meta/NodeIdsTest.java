package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.spi.FileSystem;
import org.junit.jupiter.api.Test;

class NodeIdsTest {
    private static final long FILE = (5L << 24) | 0xFFFFFF;

    private static NodeIds startedAt(int now, int first) {
        NodeIds ids = new NodeIds();
        ids.startAt(now, first);
        return ids;
    }

    @Test
    void node_ofTheFirstAlluxio_isNeverForeign() {
        NodeIds ids = startedAt(3, -1);
        assertThat(ids.of(FILE)).isEqualTo(NodeIds.plain(FILE));
        assertThat(ids.isForeign(ids.of(FILE))).isFalse();
        assertThat(ids.isForeign(ids.split(FILE, 4))).isFalse();
    }

    @Test
    void node_ofBefore_isForeign_afterAnotherAlluxioAnswered() {
        NodeIds ids = startedAt(3, -1);
        long own = ids.of(FILE);
        long split = ids.split(FILE, 1);
        ids.beginAnew();
        assertThat(ids.isForeign(own)).isTrue();
        assertThat(ids.isForeign(split)).isTrue();
        assertThat(ids.of(FILE)).isNotIn(own, split);
        assertThat(NodeIds.fileId(ids.of(FILE))).isEqualTo(FILE);
        assertThat(ids.isForeign(ids.of(FILE))).isFalse();
        assertThat(ids.isForeign(ids.split(FILE, 7))).isFalse();
        assertThat(ids.isForeign(FileSystem.ROOT)).isFalse();
    }

    @Test
    void nextProcess_knowsWhichNodesAreForeign() {
        NodeIds before = startedAt(6, -1);
        long foreign = before.of(FILE);
        int began = before.beginAnew();
        NodeIds next = startedAt(began + 1, before.began());
        assertThat(next.isForeign(foreign)).isTrue();
        assertThat(next.isForeign(before.of(FILE))).isFalse();
        assertThat(next.isForeign(before.split(FILE, 3))).isFalse();
        assertThat(next.of(FILE)).isEqualTo(before.of(FILE));
    }

    @Test
    void node_ofTheAlluxioBefore_staysForeign_howeverManyProcessesServedSince() {
        NodeIds ids = startedAt(0, -1);
        ids.beginAnew();
        long before = ids.of(FILE);
        int began = ids.beginAnew();
        for (int process = began; process < began + 40; process++) {
            NodeIds next = startedAt(process, began);
            assertThat(next.isForeign(before)).as("process %s", process).isTrue();
            assertThat(next.isForeign(next.of(FILE))).isFalse();
            assertThat(next.isForeign(next.split(FILE, 1))).isFalse();
        }
    }

    /** Eight processes after the one before was the first to answer. */
    @Test
    void node_ofTheAlluxioBefore_isForeign_whateverTheGenerationItBeganWith() {
        for (int processes = 1; processes < 20; processes++) {
            NodeIds first = startedAt(0, -1);
            int began = first.beginAnew();
            long before = first.of(FILE);
            NodeIds later = startedAt(began + processes, began);
            later.beginAnew();
            assertThat(later.isForeign(before))
                    .as("after %s processes", processes)
                    .isTrue();
            assertThat(later.of(FILE)).isNotEqualTo(before);
        }
    }

    @Test
    void nodes_ofTwoFormats_areToldApart() {
        NodeIds ids = startedAt(0, -1);
        ids.beginAnew();
        long second = ids.of(FILE);
        ids.beginAnew();
        assertThat(ids.isForeign(second)).isTrue();
        assertThat(ids.of(FILE)).isNotEqualTo(second).isPositive();
    }

    /** A full disk kept the count of generations from being stored, but not the one that began. */
    @Test
    void node_isNotForeign_whereTheCountOfGenerationsIsBehind() {
        NodeIds ids = startedAt(5, 6);
        assertThat(ids.isForeign(ids.of(FILE))).isFalse();
        assertThat(ids.isForeign(ids.split(FILE, 2))).isFalse();
        assertThat(ids.isForeign(NodeIds.plain(FILE))).isTrue();
    }
}
