package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.posixgateway.fuse.metrics.RemoteCalls;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class JsonLinesTest {
    private static JsonObject line(LogRecord entry) {
        String line = new JsonLines().format(entry);
        assertThat(line.indexOf('\n')).isEqualTo(line.length() - 1);
        return JsonParser.parseString(line).getAsJsonObject();
    }

    @Test
    void a_line_tells_the_volume_and_the_request_it_is_about() {
        LogRecord entry = new LogRecord(Level.WARNING, "two\nlines");
        entry.setThrown(new IllegalStateException("why"));
        RemoteCalls.ofThread().serve("vol-1", 17, 0);
        JsonObject line = line(entry);
        RemoteCalls.ofThread().serve("", 0, 0);
        assertThat(line.get("message").getAsString()).isEqualTo("two\nlines");
        assertThat(line.get("level").getAsString()).isEqualTo("WARN");
        assertThat(line.get("volume").getAsString()).isEqualTo("vol-1");
        assertThat(line.get("request").getAsLong()).isEqualTo(17);
        assertThat(line.get("error").getAsString()).contains("IllegalStateException: why");
        assertThat(line(new LogRecord(Level.INFO, "x")).has("volume")).isFalse();
    }
}
