package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RedactorTest {
    private final Redactor redactor = new Redactor(
            List.of(Map.of("aws.secretKey", "s3cr3t-value", "alluxio.user.block.size", "64MB", "token", "x")));

    @Test
    void values_behind_telling_names_are_removed_and_the_rest_stays() {
        assertThat(redactor.clean("alluxio.security.login.password=hunter2, alluxio.user.block.size=64MB"))
                .isEqualTo("alluxio.security.login.password=<removed>, alluxio.user.block.size=64MB");
        assertThat(redactor.clean("{\"accessKey\": \"AKIA123\", \"path\": \"/data\"}"))
                .doesNotContain("AKIA123")
                .contains("/data");
        assertThat(redactor.clean("Authorization: Bearer abc.def")).doesNotContain("abc.def");
    }

    @Test
    void known_values_are_removed_wherever_they_stand() {
        assertThat(redactor.clean("cannot sign with s3cr3t-value at /x")).isEqualTo("cannot sign with <removed> at /x");
    }

    @Test
    void valuesThatAreNoSecrets_behindSuchNames_stayInOtherTexts() {
        Redactor ofSwitches = new Redactor(List.of(Map.of("a.token.enabled", "true", "s3a.secretKey", "null")));
        assertThat(ofSwitches.clean("set streaming.upload.enabled=true; on null"))
                .isEqualTo("set streaming.upload.enabled=true; on null");
        assertThat(ofSwitches.clean("s3a.secretKey=null")).isEqualTo("s3a.secretKey=<removed>");
    }

    @Test
    void credentials_in_urls_are_removed() {
        assertThat(redactor.clean("s3://me:pass@bucket/x")).isEqualTo("s3://<removed>@bucket/x");
    }
}
