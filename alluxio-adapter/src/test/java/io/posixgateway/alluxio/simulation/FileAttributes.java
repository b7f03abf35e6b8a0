package io.posixgateway.alluxio.simulation;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What some attributes of a file may be. Not changed once it is made.
 *
 * @param values by name, sorted; none: it may be anything
 */
record FileAttributes(Map<String, Set<String>> values) {
    static final String PERMISSIONS = "mode";
    static final String SPECIAL = "special";
    static final String OWNER = "uid";
    static final String MODIFIED = "mtime";
    static final Set<String> ANYTHING = Set.of();
    static final FileAttributes NONE = new FileAttributes(Map.of());

    static FileAttributes ofNewFile() {
        FileAttributes made = NONE.with(PERMISSIONS, Set.of("644"))
                .with(SPECIAL, Set.of("0"))
                .with(OWNER, ANYTHING)
                .with(MODIFIED, ANYTHING);
        for (String xattr : Program.XATTRS) {
            made = made.with(xattr, Set.of(""));
        }
        return made;
    }

    static Map<String, String> ofMode(int mode) {
        return Map.of(PERMISSIONS, Integer.toOctalString(mode & 0777), SPECIAL, Integer.toOctalString(mode & 07000));
    }

    private FileAttributes with(String name, Set<String> value) {
        Map<String, Set<String>> next = new TreeMap<>(values);
        next.put(name, value);
        return new FileAttributes(next);
    }

    /** It is this. */
    FileAttributes with(String name, String value) {
        return with(name, Set.of(value));
    }

    FileAttributes withAnything(String name) {
        return with(name, ANYTHING);
    }

    /** Each may be anything. */
    FileAttributes forgotten() {
        FileAttributes next = this;
        for (String name : values.keySet()) {
            next = next.withAnything(name);
        }
        return next;
    }

    /** What the other has counts in place of this. */
    FileAttributes under(FileAttributes other) {
        Map<String, Set<String>> next = new TreeMap<>(values);
        next.putAll(other.values);
        return new FileAttributes(next);
    }

    /** What the other has may be so, too. */
    FileAttributes or(FileAttributes other) {
        FileAttributes next = this;
        for (Map.Entry<String, Set<String>> more : other.values.entrySet()) {
            Set<String> own = values.getOrDefault(more.getKey(), more.getValue());
            next = next.with(more.getKey(), either(own, more.getValue()));
        }
        return next;
    }

    private static Set<String> either(Set<String> one, Set<String> other) {
        if (one.isEmpty() || other.isEmpty()) {
            return ANYTHING;
        }
        Set<String> both = new TreeSet<>(one);
        both.addAll(other);
        return both;
    }

    boolean has(String name) {
        return values.containsKey(name);
    }

    /** Is it known to be something, and what? Null: there is more than one value that it may have. */
    @Nullable
    String only(String name) {
        Set<String> possible = values.getOrDefault(name, ANYTHING);
        return possible.size() == 1 ? possible.iterator().next() : null;
    }

    /** Null: they may be these; else which is not. */
    @Nullable
    String differs(Map<String, String> seen) {
        for (Map.Entry<String, Set<String>> mine : values.entrySet()) {
            String there = seen.get(mine.getKey());
            if (there != null && !mine.getValue().isEmpty() && !mine.getValue().contains(there)) {
                return mine.getKey() + " is '" + there + "', not of " + mine.getValue();
            }
        }
        return null;
    }

    /** What may be one of several is what was seen. */
    FileAttributes narrowed(Map<String, String> seen) {
        FileAttributes next = this;
        for (Map.Entry<String, Set<String>> mine : values.entrySet()) {
            String there = seen.get(mine.getKey());
            if (there != null && mine.getValue().contains(there)) {
                next = next.with(mine.getKey(), there);
            }
        }
        return next;
    }
}
