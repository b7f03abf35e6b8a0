package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MetricsTextTest {
    @Test
    void series_of_one_volume_are_added_up_by_labels() {
        MetricsText text = new MetricsText("""
                # HELP posix_gateway_requests_total Requests
                posix_gateway_requests_total{op="read",volume="a"} 3.0
                posix_gateway_requests_total{op="open",volume="a"} 4.0
                posix_gateway_requests_total{op="read",volume="b"} 100.0
                jvm_memory_used_bytes{area="heap"} 1.5E7
                """, "a");
        assertThat(text.sum("requests_total")).isEqualTo(7);
        assertThat(text.sum("requests_total", "op=\"read\"")).isEqualTo(3);
        assertThat(text.sumOf("jvm_memory_used_bytes", "area=\"heap\"")).isEqualTo(15_000_000);
        assertThat(text.sum("absent")).isZero();
    }
}
