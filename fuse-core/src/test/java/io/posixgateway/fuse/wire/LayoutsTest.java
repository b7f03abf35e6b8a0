package io.posixgateway.fuse.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Holds every number of the wire package, and the error numbers, against the C headers. */
class LayoutsTest {
    /** Values of fields, not places. */
    private static final Set<String> VALUES = Set.of(
            "UNIQUE_RESEND",
            "FOPEN_PASSTHROUGH",
            "GETATTR_FH",
            "RELEASE_FLOCK_UNLOCK",
            "FSYNC_FDATASYNC",
            "LK_FLOCK",
            "OPEN_KILL_SUIDGID",
            "WRITE_CACHE",
            "WRITE_KILL_SUIDGID",
            "ATTR_OUT_DUMMY");

    private static Stream<Field> constants(Class<?> type) {
        return Arrays.stream(type.getFields())
                .filter(field -> Modifier.isStatic(field.getModifiers()))
                .filter(field -> !VALUES.contains(field.getName()));
    }

    @TestFactory
    Stream<DynamicTest> everySizeAndOffsetIsThatOfC() {
        return constants(Layouts.class)
                .map(field -> DynamicTest.dynamicTest(
                        field.getName(), () -> assertThat(field.getInt(null)).isEqualTo((int) inC(field.getName()))));
    }

    /** ATTR_OUT_ATTR_VALID is attr_out.attr_valid: the split that C knows. */
    private static long inC(String constant) {
        String name = constant.toLowerCase(Locale.ROOT);
        if (name.endsWith("_bytes")) {
            return Native.layout(name.substring(0, name.length() - "_bytes".length()));
        }
        for (int at = name.lastIndexOf('_'); at > 0; at = name.lastIndexOf('_', at - 1)) {
            long found = Native.layout(name.substring(0, at) + "." + name.substring(at + 1));
            if (found >= 0) {
                return found;
            }
        }
        throw new AssertionError("C knows no field for " + constant);
    }

    @TestFactory
    Stream<DynamicTest> everyErrorNumberIsThatOfC() {
        return constants(Errno.class)
                .map(field -> DynamicTest.dynamicTest(field.getName(), () -> assertThat(field.getInt(null))
                        .isEqualTo((int) Native.layout(field.getName()))));
    }

    @TestFactory
    Stream<DynamicTest> everyArgumentSizeIsThatOfC() {
        return Arrays.stream(Opcode.values())
                .filter(opcode -> opcode != Opcode.INIT)
                .filter(opcode -> Native.layout(opcode.label() + "_in") >= 0)
                .map(opcode -> DynamicTest.dynamicTest(opcode.name(), () -> assertThat(opcode.argumentBytes())
                        .isEqualTo((int) Native.layout(opcode.label() + "_in"))));
    }
}
