package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an administrator is told of the kernel. */
class RequestTimeoutTest {
    @ParameterizedTest
    @CsvSource({"0,false", "5,true", "59,true", "60,false", "none,false"})
    void aRequestTimeoutThatATakeoverMayExceedIsNamed(String seconds, boolean named, @TempDir Path folder)
            throws IOException {
        Path setting = Files.writeString(folder.resolve("timeout"), seconds + "\n");
        assertThat(RequestTimeout.warning(setting).contains(seconds + "s")).isEqualTo(named);
        assertThat(RequestTimeout.warning(folder.resolve("missing"))).isEmpty();
    }
}
