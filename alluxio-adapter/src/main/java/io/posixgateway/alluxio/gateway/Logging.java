package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
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
 * Log lines on standard error: {@code time LEVEL [thread volume #request] logger: message}, or JSON. Levels change while the
 * process runs.
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

    private static final Recent RECENT = new Recent();
    private static volatile boolean json;

    private Logging() {}

    /** The last lines, and the last warnings and errors, which may be older. */
    public static String recent() {
        return RECENT.text();
    }

    /**
     * Puts our handler in the place of the JDK's; the Alluxio client, which warns of what is none of the
     * user's business, is heard from ERROR on, and from WARN on when more than INFO is wanted.
     */
    public static void setUp(String level) {
        Level checked = levelOf(level);
        LogManager.getLogManager().reset();
        Handler handler = new ConsoleHandler();
        handler.setFormatter(new Formats());
        handler.setLevel(Level.ALL);
        Logger.getLogger("").addHandler(handler);
        Logger.getLogger("").addHandler(RECENT);
        keep("", checked);
        keep("alluxio", checked.intValue() >= Level.INFO.intValue() ? Level.SEVERE : Level.WARNING);
    }

    /**
     * Chooses how lines look from now on.
     *
     * @param format text or json
     * @throws OptionException for another
     */
    public static void setFormat(String format) {
        if (!format.equals("text") && !format.equals("json")) {
            throw new OptionException("log format '" + format + "' is not known; give text or json");
        }
        json = format.equals("json");
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
                    "log level '" + text + "' is not known; give one of ERROR, WARN, INFO, DEBUG, TRACE");
        }
        return level;
    }

    static String nameOf(Level level) {
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

    /** Keeps the last lines. Guarded by this. */
    private static final class Recent extends Handler {
        private static final int LINES = 500;
        private static final int WARNINGS = 200;

        private final Deque<String> lines = new ArrayDeque<>();
        private final Deque<String> warnings = new ArrayDeque<>();

        Recent() {
            setFormatter(new Lines());
        }

        @Override
        public synchronized void publish(LogRecord entry) {
            String line = getFormatter().format(entry);
            keep(lines, line, LINES);
            if (entry.getLevel().intValue() >= Level.WARNING.intValue()) {
                keep(warnings, line, WARNINGS);
            }
        }

        private static void keep(Deque<String> kept, String line, int most) {
            kept.addLast(line);
            if (kept.size() > most) {
                kept.removeFirst();
            }
        }

        synchronized String text() {
            return "The last warnings and errors:\n" + String.join("", warnings) + "\nThe last lines:\n"
                    + String.join("", lines);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    /** As chosen. */
    private static final class Formats extends Formatter {
        private final Formatter lines = new Lines();
        private final Formatter objects = new JsonLines();

        @Override
        public String format(LogRecord entry) {
            return (json ? objects : lines).format(entry);
        }
    }

    /** A message may hold names, which may hold anything: what follows the first line is indented, so it passes for no other entry. */
    static String printable(String message) {
        if (message.codePoints().noneMatch(Logging::isControl)) {
            return message;
        }
        StringBuilder text = new StringBuilder(message.length() + 40);
        message.codePoints().forEach(c -> {
            if (!isControl(c)) {
                text.appendCodePoint(c);
            } else {
                text.append(c == '\n' ? "\n    " : String.format(Locale.ROOT, "\\u%04X", c));
            }
        });
        return text.toString();
    }

    private static boolean isControl(int character) {
        int type = Character.getType(character);
        return type == Character.CONTROL || type == Character.LINE_SEPARATOR || type == Character.PARAGRAPH_SEPARATOR;
    }

    private static final class Lines extends Formatter {
        @Override
        public String format(LogRecord entry) {
            String logger = String.valueOf(entry.getLoggerName());
            String about = RemoteCalls.ofThread().about();
            StringBuilder line = new StringBuilder(200)
                    .append(Instant.ofEpochMilli(entry.getMillis()).truncatedTo(ChronoUnit.MILLIS))
                    .append(' ')
                    .append(nameOf(entry.getLevel()))
                    .append(" [")
                    .append(Thread.currentThread().getName())
                    .append(about.isEmpty() ? "" : " " + about)
                    .append("] ")
                    .append(logger, logger.lastIndexOf('.') + 1, logger.length())
                    .append(": ")
                    .append(printable(formatMessage(entry)))
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
