package io.posixgateway.alluxio.service;

import io.posixgateway.alluxio.options.OptionException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.ConsoleHandler;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Log lines on standard error: {@code time LEVEL [thread] logger: message}. Levels change while the process runs.
 *
 * <p>Any thread. Loggers whose level was set are kept, so that the setting is not lost with an unused logger.
 */
public final class Logging {
    private static final Map<String, Level> LEVELS = Map.of(
            "ERROR",
            Level.SEVERE,
            "WARN",
            Level.WARNING,
            "INFO",
            Level.INFO,
            "DEBUG",
            Level.FINE,
            "TRACE",
            Level.FINEST);
    private static final Map<String, Logger> KEPT = new ConcurrentHashMap<>();

    private Logging() {}

    /**
     * Puts our handler in the place of the JDK's; the Alluxio client, which warns of what is none of the
     * user's business, is heard from ERROR on, and from WARN on when more than INFO is wanted.
     */
    public static void setUp(String level) {
        Level checked = levelOf(level);
        LogManager.getLogManager().reset();
        Handler handler = new ConsoleHandler();
        handler.setFormatter(new Lines());
        handler.setLevel(Level.ALL);
        Logger.getLogger("").addHandler(handler);
        keep("", checked);
        keep("alluxio", checked.intValue() >= Level.INFO.intValue() ? Level.SEVERE : Level.WARNING);
    }

    /**
     * Sets the level of a logger and of those below it.
     *
     * @param logger "" is the root
     * @throws OptionException for a level that does not exist
     */
    public static void setLevel(String logger, String level) {
        keep(logger, levelOf(level));
    }

    private static void keep(String name, Level level) {
        KEPT.computeIfAbsent(name, Logger::getLogger).setLevel(level);
    }

    private static Level levelOf(String text) {
        Level level = LEVELS.get(text.toUpperCase(Locale.ROOT));
        if (level == null) {
            throw new OptionException(
                    "log level '" + text + "' is not known; it is one of ERROR, WARN, INFO, DEBUG, TRACE");
        }
        return level;
    }

    private static String nameOf(Level level) {
        int value = level.intValue();
        if (value >= Level.SEVERE.intValue()) {
            return "ERROR";
        } else if (value >= Level.WARNING.intValue()) {
            return "WARN ";
        } else if (value >= Level.INFO.intValue()) {
            return "INFO ";
        }
        return value >= Level.FINE.intValue() ? "DEBUG" : "TRACE";
    }

    private static final class Lines extends Formatter {
        @Override
        public String format(LogRecord entry) {
            String logger = String.valueOf(entry.getLoggerName());
            StringBuilder line = new StringBuilder(200)
                    .append(Instant.ofEpochMilli(entry.getMillis()).truncatedTo(ChronoUnit.MILLIS))
                    .append(' ')
                    .append(nameOf(entry.getLevel()))
                    .append(" [")
                    .append(Thread.currentThread().getName())
                    .append("] ")
                    .append(logger, logger.lastIndexOf('.') + 1, logger.length())
                    .append(": ")
                    .append(formatMessage(entry))
                    .append('\n');
            if (entry.getThrown() != null) {
                StringWriter stack = new StringWriter();
                entry.getThrown().printStackTrace(new PrintWriter(stack));
                line.append(stack);
            }
            return line.toString();
        }
    }
}
