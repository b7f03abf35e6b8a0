package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.LoadState;
import org.junit.jupiter.api.Test;

class LoaderTest {
    @Test
    void a_report_is_read_with_and_without_the_prefix_of_its_names() {
        assertThat(Loader.read("{\"mJobState\":\"RUNNING\",\"mLoadedByteCount\":5,\"mTotalByteCount\":9}"))
                .isEqualTo(new LoadState(false, 5, 9, 0, ""));
        assertThat(Loader.read("{\"jobState\":\"SUCCEEDED\",\"loadedByteCount\":9,\"totalByteCount\":null}"))
                .isEqualTo(new LoadState(true, 9, 0, 0, ""));
    }

    @Test
    void a_failed_load_says_why() {
        LoadState failed =
                Loader.read("{\"jobState\":\"FAILED\",\"failureReason\":\"no workers\",\"failedFileCount\":3}");
        assertThat(failed.done()).isTrue();
        assertThat(failed.failedFiles()).isEqualTo(3);
        assertThat(failed.failure()).contains("FAILED", "no workers");
    }

    @Test
    void of_an_exception_the_message_is_told_and_not_the_stack() {
        LoadState failed = Loader.read(
                "{\"mJobState\":\"FAILED\",\"mFailureReason\":"
                        + "{\"cause\":{\"detailMessage\":\"Path /a does not exist.\",\"stackTrace\":[{\"methodName\":\"b\"}]}}}");
        assertThat(failed.failure()).isEqualTo("Alluxio's load job ended with state FAILED: Path /a does not exist.");
    }
}
