package io.posixgateway.alluxio.gateway;

import com.google.gson.JsonObject;
import io.posixgateway.fuse.metrics.RemoteCalls;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.logging.Formatter;
import java.util.logging.LogRecord;

/**
 * A log entry as one JSON object on one line: time, level, thread, logger, message; volume and request where a request is
 * served; error, a stack, where something was thrown. On the thread that logs.
 */
final class JsonLines extends Formatter {
    @Override
    public String format(LogRecord entry) {
        JsonObject line = new JsonObject();
        line.addProperty("time", Instant.ofEpochMilli(entry.getMillis()).toString());
        line.addProperty("level", Logging.nameOf(entry.getLevel()).trim());
        line.addProperty("thread", Thread.currentThread().getName());
        line.addProperty("logger", entry.getLoggerName());
        line.addProperty("message", formatMessage(entry));
        String about = RemoteCalls.ofThread().about();
        int mark = about.lastIndexOf(" #");
        if (mark > 0) {
            line.addProperty("volume", about.substring(0, mark));
            line.addProperty("request", Long.parseLong(about.substring(mark + 2)));
        }
        if (entry.getThrown() != null) {
            StringWriter stack = new StringWriter();
            entry.getThrown().printStackTrace(new PrintWriter(stack));
            line.addProperty("error", stack.toString());
        }
        return line + "\n";
    }
}
