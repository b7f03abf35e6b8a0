package io.posixgateway.alluxio.options;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Options by name, and the names that other file systems use with what to write instead; of those, one that ends in
 * {@code *} stands for all that begin so. Immutable.
 */
public final class OptionTable {
    private static final int MAX_TYPOS = 2;

    private final Map<String, Option> options = new LinkedHashMap<>();
    private final Map<String, String> replaced;
    private final Map<String, String> words;
    private final Map<String, String> renamed;

    /** @param replaced names people know from elsewhere, with a sentence of what to do */
    public OptionTable(List<Option> options, Map<String, String> replaced) {
        this(options, replaced, Map.of(), Map.of());
    }

    /**
     * @param words other ways to write {@code name=value}, such as {@code nosuid} for {@code suid=off}; of nothing: taken and
     *     ignored. One that ends in {@code *} stands for all that begin so
     * @param renamed earlier names of these options, each with the name it has now; {@link #read} takes them, too
     */
    public OptionTable(
            List<Option> options,
            Map<String, String> replaced,
            Map<String, String> words,
            Map<String, String> renamed) {
        this.replaced = new LinkedHashMap<>(replaced);
        this.words = new LinkedHashMap<>(words);
        this.renamed = new LinkedHashMap<>(renamed);
        for (Option option : options) {
            if (this.options.put(option.name(), option) != null) {
                throw new IllegalStateException("option " + option.name() + " is declared twice");
            }
        }
    }

    /** A table with the options of both. */
    public OptionTable and(OptionTable other) {
        List<Option> all = new ArrayList<>(options.values());
        all.addAll(other.options.values());
        Map<String, String> hints = new LinkedHashMap<>(replaced);
        hints.putAll(other.replaced);
        Map<String, String> both = new LinkedHashMap<>(words);
        both.putAll(other.words);
        Map<String, String> names = new LinkedHashMap<>(renamed);
        names.putAll(other.renamed);
        return new OptionTable(all, hints, both, names);
    }

    public List<Option> options() {
        return List.copyOf(options.values());
    }

    /** @throws OptionException for a name or a value that is not allowed */
    public OptionValues read(Map<String, String> given) {
        Map<Option, String> values = new LinkedHashMap<>();
        given.forEach((name, value) -> {
            String meant = word(name);
            if (meant == null) {
                values.put(named(name), value);
            } else if (!meant.isEmpty()) {
                int equals = meant.indexOf('=');
                values.put(named(meant.substring(0, equals)), meant.substring(equals + 1));
            }
        });
        return OptionValues.checked(options, values);
    }

    /** For each option that is given by an earlier name: a sentence with the name it has now. */
    public List<String> renamedIn(Map<String, String> given) {
        return given.keySet().stream()
                .filter(renamed::containsKey)
                .map(name -> "option '" + name + "' was renamed to " + renamed.get(name) + "; use that name, because"
                        + " a later version rejects the old one")
                .toList();
    }

    /**
     * Reads what stands behind {@code -o}: {@code name=value} or {@code name} (on), split by commas. A later one wins.
     *
     * @return names with values, not yet checked; for {@link #read}
     */
    public static Map<String, String> split(List<String> texts) {
        Map<String, String> result = new LinkedHashMap<>();
        for (String text : texts) {
            for (String part : text.split(",", -1)) {
                int equals = part.indexOf('=');
                String name = (equals < 0 ? part : part.substring(0, equals)).trim();
                if (!name.isEmpty()) {
                    result.remove(name); // the later one stands behind what is between them, too
                    result.put(
                            name, equals < 0 ? "on" : part.substring(equals + 1).trim());
                }
            }
        }
        return result;
    }

    /** Those of the given names that are known, in whatever way. */
    public Map<String, String> known(Map<String, String> given) {
        Map<String, String> known = new LinkedHashMap<>(given);
        known.keySet().removeIf(name -> word(name) == null && !options.containsKey(renamed.getOrDefault(name, name)));
        return known;
    }

    /** What a word means, "" for nothing; null: it is none. */
    private @Nullable String word(String name) {
        String key = longest(words, name);
        return key == null ? null : words.get(key);
    }

    private Option named(String name) {
        Option option = options.get(renamed.getOrDefault(name, name));
        if (option != null) {
            return option;
        }
        String hint = hint(name);
        if (hint != null) {
            throw new OptionException("option '" + name + "' is " + hint);
        }
        String near = nearest(name);
        throw new OptionException("option '" + name + "' is not known; give one of "
                + String.join(", ", options.keySet()) + "; "
                + (near == null ? "or leave it out" : "did you mean " + near + "?"));
    }

    /** The known option that was probably meant: it differs by one or two letters; null: none does. */
    private @Nullable String nearest(String name) {
        String nearest = null;
        int least = MAX_TYPOS + 1;
        for (String known : options.keySet()) {
            int distance = distance(name, known);
            if (distance < least && distance < known.length() / 2) {
                nearest = known;
                least = distance;
            }
        }
        return nearest;
    }

    /** How many letters are to be put in, taken out or replaced to make one name of the other (Levenshtein). */
    private static int distance(String one, String other) {
        int[] row = new int[other.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[other.length()];
    }

    /** What to do instead of an option of another file system; null: it is not known. */
    public @Nullable String hint(String name) {
        String key = longest(replaced, name);
        return key == null ? null : replaced.get(key);
    }

    /** The key that is this name, or else the longest that stands for it. */
    private static @Nullable String longest(Map<String, String> table, String name) {
        if (table.containsKey(name)) {
            return name;
        }
        String longest = null;
        for (String known : table.keySet()) {
            boolean family = known.endsWith("*") && name.startsWith(known.substring(0, known.length() - 1));
            if (family && (longest == null || known.length() > longest.length())) {
                longest = known;
            }
        }
        return longest;
    }

    /** The table in Markdown. */
    public String markdown() {
        StringBuilder text = new StringBuilder("| option | allowed | default | what it does |\n|---|---|---|---|\n");
        for (Option option : options.values()) {
            String byDefault = option.defaultText().isEmpty() ? "–" : "`" + option.defaultText() + "`";
            text.append("| `" + option.name() + "` | " + option.values().allowed() + " | " + byDefault + " | "
                    + option.doc() + earlierNames(option) + " |\n");
        }
        return text.toString();
    }

    /** The table for programs that check the same: name, kind, bounds and what is allowed in words, with tabs between them. */
    public String tabSeparated() {
        StringBuilder text =
                new StringBuilder("# Generated by `make docs` from the options that the gateway declares.\n");
        for (Option option : options.values()) {
            text.append(option.name() + "\t" + option.values().bounds() + "\t"
                    + option.values().allowed() + "\n");
        }
        return text.toString();
    }

    private String earlierNames(Option option) {
        StringBuilder names = new StringBuilder();
        renamed.forEach(
                (earlier, name) -> names.append(name.equals(option.name()) ? " Earlier name: `" + earlier + "`." : ""));
        return names.toString();
    }

    /** The words in Markdown. */
    public String wordsMarkdown() {
        StringBuilder text = new StringBuilder("| word | meaning |\n|---|---|\n");
        words.forEach((word, meant) ->
                text.append("| `" + word + "` | " + (meant.isEmpty() ? "ignored" : "`" + meant + "`") + " |\n"));
        return text.toString();
    }

    /** What replaced the options of other file systems, in Markdown. */
    public String replacedMarkdown() {
        StringBuilder text = new StringBuilder("| option elsewhere | here |\n|---|---|\n");
        replaced.forEach((name, hint) -> text.append("| `" + name + "` | " + hint + " |\n"));
        return text.toString();
    }
}
