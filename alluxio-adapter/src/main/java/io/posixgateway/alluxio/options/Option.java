package io.posixgateway.alluxio.options;

import java.util.List;
import java.util.Locale;

/**
 * One option.
 *
 * @param name as users write it
 * @param values what it may hold
 * @param defaultText the value when it is not given, in the form users write; empty: decided at run time, as the doc says
 * @param doc one or two sentences
 */
public record Option(String name, Values values, String defaultText, String doc) {
    /** The values an option may hold. */
    public sealed interface Values permits OneOf, Switch, Whole, Octal, Size, Time, TimesByPath, Text {
        /** For people: what is allowed. */
        String allowed();

        /** For programs that check the same: the kind, a tab, and its bounds or words with blanks between them. */
        String bounds();
    }

    /** One of some words. */
    public record OneOf(List<String> words) implements Values {
        @Override
        public String allowed() {
            return "one of " + String.join(", ", words);
        }

        @Override
        public String bounds() {
            return "one-of\t" + String.join(" ", words);
        }
    }

    /** On or off; the bare name means on. */
    public record Switch() implements Values {
        @Override
        public String allowed() {
            return "on or off";
        }

        @Override
        public String bounds() {
            return "one-of\ton off";
        }
    }

    /** A whole number. */
    public record Whole(long least, long most) implements Values {
        @Override
        public String allowed() {
            return "a number from " + least + " to " + most;
        }

        @Override
        public String bounds() {
            return "number\t" + least + " " + most;
        }
    }

    /** Permission bits, written in octal. */
    public record Octal() implements Values {
        @Override
        public String allowed() {
            return "an octal number from 0 to 7777";
        }

        @Override
        public String bounds() {
            return "octal\t0 7777";
        }
    }

    /** Bytes, with the units K, M, G, T of 1024. */
    public record Size(long leastBytes, long mostBytes) implements Values {
        @Override
        public String allowed() {
            return "a size from " + sizeText(leastBytes) + " to " + sizeText(mostBytes) + " (units K, M, G, T)";
        }

        @Override
        public String bounds() {
            return "bytes\t" + leastBytes + " " + mostBytes;
        }
    }

    /** A time; a bare number is seconds, or with a unit: ms, s, m, h. */
    public record Time(long leastSeconds, long mostSeconds) implements Values {
        @Override
        public String allowed() {
            return "a time from " + leastSeconds + "s to " + mostSeconds + "s (units ms, s, m, h)";
        }

        @Override
        public String bounds() {
            return "seconds\t" + leastSeconds + " " + mostSeconds;
        }
    }

    /** Times for paths of the mount, and what is below them. */
    public record TimesByPath(Time each, int most) implements Values {
        @Override
        public String allowed() {
            return "up to " + most
                    + " pairs PATH=TIME, separated by colons, for example /data=1h:/data/new=0; each PATH once,"
                    + " absolute in the mount, without a colon, '.', '..' or a final slash; each TIME"
                    + " " + each.allowed();
        }

        @Override
        public String bounds() {
            return "seconds-by-path\t" + each.leastSeconds() + " " + each.mostSeconds() + " " + most;
        }
    }

    /** Any text without a comma. */
    public record Text(String allowed) implements Values {
        @Override
        public String bounds() {
            return "text\t";
        }
    }

    public static Option oneOf(String name, String defaultText, String doc, String... words) {
        return new Option(name, new OneOf(List.of(words)), defaultText, doc);
    }

    /** On or off. */
    public static Option onOff(String name, boolean byDefault, String doc) {
        return new Option(name, new Switch(), byDefault ? "on" : "off", doc);
    }

    static String sizeText(long bytes) {
        String units = " KMGT";
        int unit = 0;
        long value = bytes;
        while (unit < 4 && value != 0 && value % 1024 == 0) {
            value /= 1024;
            unit++;
        }
        return unit == 0 ? String.valueOf(value) : String.format(Locale.ROOT, "%d%c", value, units.charAt(unit));
    }
}
