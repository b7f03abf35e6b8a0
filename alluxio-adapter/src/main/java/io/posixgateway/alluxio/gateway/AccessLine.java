package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.dispatch.RequestRecord;
import io.posixgateway.fuse.spi.Errno;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A request in one line, in the form of JuiceFS's access log:
 *
 * <pre>2026.11.21 22:40:01.123456 [uid:0,gid:0,pid:42] read (17,65536,0,3): OK (65536) &lt;0.000123&gt;</pre>
 *
 * <p>Users and groups that the kernel does not tell are {@code -}.
 *
 * <p>In the first brackets: the node, then bytes, offset and handle of a transfer, or the names, where a backslash, control characters and
 * bytes that are no UTF-8 are written as {@code \\xXX}. Times are UTC.
 */
final class AccessLine {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy.MM.dd HH:mm:ss.SSSSSS", Locale.ROOT)
            .withZone(ZoneOffset.UTC);
    private static final Map<Integer, String> ERRNOS = errnos();

    /** The kernel does not tell, as of most requests of a volume that can be mounted id-mapped. */
    private static final int UNKNOWN = -1;

    private AccessLine() {}

    static String of(RequestRecord record) {
        StringBuilder line = new StringBuilder(120);
        Instant at = Instant.ofEpochSecond(record.endedMicros() / 1_000_000, record.endedMicros() % 1_000_000 * 1000);
        TIME.formatTo(at, line);
        line.append(" [uid:")
                .append(id(record.uid()))
                .append(",gid:")
                .append(id(record.gid()))
                .append(",pid:")
                .append(record.pid())
                .append("] ")
                .append(record.opcode().label())
                .append(" (")
                .append(record.node());
        if (record.offset() >= 0) {
            line.append(',')
                    .append(record.bytes())
                    .append(',')
                    .append(record.offset())
                    .append(',')
                    .append(record.handle());
        } else if (!record.name().isEmpty()) {
            line.append(',').append(record.name());
        }
        line.append("): ");
        appendResult(line, record.result());
        long micros = record.nanos() / 1000;
        return line.append(" <")
                .append(micros / 1_000_000)
                .append('.')
                .append(String.valueOf(1_000_000 + micros % 1_000_000), 1, 7)
                .append('>')
                .toString();
    }

    private static String id(int userOrGroup) {
        return userOrGroup == UNKNOWN ? "-" : Integer.toUnsignedString(userOrGroup);
    }

    private static void appendResult(StringBuilder line, int result) {
        if (result < 0) {
            line.append(ERRNOS.getOrDefault(-result, "errno " + -result));
            return;
        }
        line.append("OK");
        if (result > 0) {
            line.append(" (").append(result).append(')');
        }
    }

    private static Map<Integer, String> errnos() {
        Map<Integer, String> names = new TreeMap<>();
        for (Field field : Errno.class.getFields()) {
            try {
                if (Modifier.isStatic(field.getModifiers()) && field.getType() == int.class) {
                    names.putIfAbsent(field.getInt(null), field.getName());
                }
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
        return names;
    }
}
