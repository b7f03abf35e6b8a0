package io.posixgateway.alluxio.mounted;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** What the adapter logs while this is open. */
public final class LogLines extends Handler implements AutoCloseable {
    private final Logger logger = Logger.getLogger("io.posixgateway.alluxio");
    private final List<String> lines = new CopyOnWriteArrayList<>();

    public LogLines() {
        setFormatter(new SimpleFormatter());
        logger.addHandler(this);
    }

    /** Is there a line with this in it? */
    public boolean anyWith(String text) {
        return lines.stream().anyMatch(line -> line.contains(text));
    }

    /** The lines with this in them. */
    public List<String> with(String text) {
        return lines.stream().filter(line -> line.contains(text)).toList();
    }

    @Override
    public void publish(LogRecord line) {
        lines.add(getFormatter().formatMessage(line));
    }

    @Override
    public void flush() {
        // Every line is there at once.
    }

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
