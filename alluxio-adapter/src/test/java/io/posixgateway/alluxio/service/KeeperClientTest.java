package io.posixgateway.alluxio.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.time.Clock;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeeperClientTest {
    private static final int TIMEOUT_MILLIS = 1000;

    @Test
    void without_a_keeper_there_are_no_sessions_to_wait_for() throws Exception {
        KeeperClient none = new KeeperClient(Path.of(""), TIMEOUT_MILLIS, Clock.system());
        assertThat(none.list()).isEmpty();
        assertThatThrownBy(none::pid).isInstanceOf(KeeperException.class);
    }

    @Test
    void one_that_does_not_answer_yet_is_another_thing(@TempDir Path folder) {
        KeeperClient late = new KeeperClient(folder.resolve("keeper.sock"), TIMEOUT_MILLIS, Clock.system());
        assertThatThrownBy(late::list).isInstanceOf(KeeperException.class);
    }
}
