package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.dispatch.RequestRecord;
import io.posixgateway.fuse.wire.Opcode;
import org.junit.jupiter.api.Test;

class AccessLineTest {
    private static final long MICROS = 1_763_764_801_123_456L;

    @Test
    void a_transfer_has_size_offset_and_handle() {
        assertThat(AccessLine.of(
                        new RequestRecord(MICROS, Opcode.READ, 17, 1, 2, 42, "", 4096, 65536, 3, 65536, 123_456)))
                .isEqualTo(
                        "2025.11.21 22:40:01.123456 [uid:1,gid:2,pid:42] read (17,65536,4096,3): OK (65536) <0.000123>");
    }

    @Test
    void who_the_kernel_does_not_tell_is_a_dash() {
        assertThat(AccessLine.of(new RequestRecord(MICROS, Opcode.READ, 17, -1, -1, 42, "", 0, 0, 3, 0, 1000)))
                .contains(" [uid:-,gid:-,pid:42] ");
    }

    @Test
    void a_name_and_an_error_are_shown() {
        assertThat(AccessLine.of(
                        new RequestRecord(MICROS, Opcode.LOOKUP, 1, 0, 0, 9, "a\\x0Ab", -1, -1, 0, -2, 2_000_001_000L)))
                .endsWith("lookup (1,a\\x0Ab): ENOENT <2.000001>");
    }

    @Test
    void a_queue_takes_what_it_can_and_counts_the_rest() {
        AccessQueue queue = new AccessQueue(2);
        RequestRecord record = new RequestRecord(0, Opcode.READ, 1, 0, 0, 0, "", 0, 0, 0, 0, 0);
        for (int i = 0; i < 5; i++) {
            queue.offer(record);
        }
        assertThat(queue.dropped()).isEqualTo(3);
        assertThat(queue.poll()).isEqualTo(record);
        queue.offer(record);
        assertThat(queue.dropped()).isEqualTo(3);
    }
}
