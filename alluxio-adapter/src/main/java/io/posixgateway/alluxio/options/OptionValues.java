package io.posixgateway.alluxio.options;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checked values of a table's options, the defaults where none was given. Immutable. */
public final class OptionValues {
    private static final Pattern WITH_UNIT = Pattern.compile("(\\d{1,15})\\s*([a-zA-Z]*)");
    private static final Map<String, Long> SIZE_UNITS =
            Map.of("", 1L, "k", 1L << 10, "m", 1L << 20, "g", 1L << 30, "t", 1L << 40);
    private static final Map<String, Long> MILLIS =
            Map.of("", 1000L, "ms", 1L, "s", 1000L, "m", 60_000L, "h", 3_600_000L);
    private static final Pattern PATH = Pattern.compile("(/(?!\\.{1,2}(/|$))[^/]+){1,100}");

    private final Map<String, Option> options;
    private final Map<String, String> given;

    private OptionValues(Map<String, Option> options, Map<String, String> given) {
        this.options = options;
        this.given = given;
    }

    static OptionValues checked(Map<String, Option> options, Map<Option, String> values) {
        Map<String, String> given = new LinkedHashMap<>();
        values.forEach((option, text) -> {
            if (!allows(option.values(), text)) {
                throw new OptionException("option " + option.name() + "=" + text + " is not allowed; " + option.name()
                        + " is " + option.values().allowed()
                        + (option.defaultText().isEmpty() ? "" : "; leave it out for " + option.defaultText()));
            }
            given.put(option.name(), text);
        });
        return new OptionValues(options, given);
    }

    private static boolean allows(Option.Values values, String text) {
        if (values instanceof Option.OneOf oneOf) {
            return oneOf.words().contains(text);
        } else if (values instanceof Option.Switch) {
            return text.equals("on") || text.equals("off");
        } else if (values instanceof Option.Whole range) {
            return text.matches("\\d{1,18}") && within(Long.parseLong(text), range.least(), range.most());
        } else if (values instanceof Option.Octal) {
            return text.matches("[0-7]{1,5}") && Integer.parseInt(text, 8) <= 07777;
        } else if (values instanceof Option.Size size) {
            return within(scaled(text, SIZE_UNITS), size.leastBytes(), size.mostBytes());
        } else if (values instanceof Option.Time time) {
            return isTime(text, time);
        } else if (values instanceof Option.TimesByPath times) {
            return areTimesByPath(text, times);
        }
        return true;
    }

    private static boolean isTime(String text, Option.Time time) {
        return within(scaled(text, MILLIS), time.leastSeconds() * 1000, time.mostSeconds() * 1000);
    }

    private static boolean areTimesByPath(String text, Option.TimesByPath times) {
        String[] parts = text.split(":", -1);
        Set<String> paths = new HashSet<>();
        for (String part : parts) {
            String path = pathOf(part);
            String time = part.substring(part.lastIndexOf('=') + 1);
            if (!PATH.matcher(path).matches() || !paths.add(path) || !isTime(time, times.each())) {
                return false;
            }
        }
        return parts.length <= times.most();
    }

    private static String pathOf(String part) {
        return part.substring(0, Math.max(0, part.lastIndexOf('=')));
    }

    private static boolean within(long value, long least, long most) {
        return value >= least && value <= most;
    }

    /** -1: not of this form. */
    private static long scaled(String text, Map<String, Long> units) {
        Matcher matcher = WITH_UNIT.matcher(text);
        if (!matcher.matches()) {
            return -1;
        }
        Long unit = units.get(matcher.group(2).toLowerCase(Locale.ROOT));
        long number = Long.parseLong(matcher.group(1));
        return unit == null || number > Long.MAX_VALUE / unit ? -1 : number * unit;
    }

    /** The same, with one more value given. */
    public OptionValues with(String name, String text) {
        Map<Option, String> values = new LinkedHashMap<>();
        given.forEach((other, value) -> values.put(declared(other), value));
        values.put(declared(name), text);
        return checked(options, values);
    }

    /** Is there such an option in the table? */
    public boolean declares(String name) {
        return options.containsKey(name);
    }

    /** Those that were given. */
    public Map<String, String> given() {
        return Map.copyOf(given);
    }

    /** Was it given? If not, getters answer the default. */
    public boolean given(String name) {
        return given.containsKey(declared(name).name());
    }

    public String text(String name) {
        Option option = declared(name);
        return given.getOrDefault(name, option.defaultText());
    }

    public boolean on(String name) {
        return text(name).equals("on");
    }

    public long number(String name) {
        return Long.parseLong(text(name));
    }

    public int octal(String name) {
        return Integer.parseInt(text(name), 8);
    }

    public long bytes(String name) {
        return scaled(text(name), SIZE_UNITS);
    }

    public long millis(String name) {
        return scaled(text(name), MILLIS);
    }

    /** By path as given. */
    public Map<String, Long> millisByPath(String name) {
        Map<String, Long> all = new LinkedHashMap<>();
        String text = text(name);
        for (String part : text.isEmpty() ? new String[0] : text.split(":", -1)) {
            all.put(pathOf(part), scaled(part.substring(part.lastIndexOf('=') + 1), MILLIS));
        }
        return all;
    }

    private Option declared(String name) {
        Option option = options.get(name);
        if (option == null) {
            throw new IllegalStateException("option " + name + " is not declared");
        }
        return option;
    }
}
