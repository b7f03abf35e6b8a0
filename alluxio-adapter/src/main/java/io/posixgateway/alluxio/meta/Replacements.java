package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.spi.Name;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Names of a directory whose files are being replaced, and the last ones that were. Alluxio may list neither file for a moment, though the
 * name is never free. No matter of {@link Generation}: a listing that is newer than the change may lack the name. Guarded by its
 * {@link Dentries}.
 */
final class Replacements {
    private static final int MAX = 32;
    /** No listing takes longer. */
    private static final long LISTED_NANOS = 60_000_000_000L;

    private final Map<Name, Replacement> all = new HashMap<>(2);

    /**
     * A name whose file is being replaced, or was.
     *
     * @param by what is there afterwards
     * @param over is it done?
     * @param untilNanos when it was
     */
    private record Replacement(Inode by, boolean over, long untilNanos) {}

    void begin(Name name, Inode by) {
        all.put(name.copy(), new Replacement(by, false, 0));
    }

    void end(Name name, long nowNanos) {
        Replacement known = all.get(name);
        if (known == null) {
            return;
        }
        all.put(name.copy(), new Replacement(known.by, true, nowNanos));
        if (all.size() > MAX) {
            all.values().removeIf(one -> one.over && nowNanos - one.untilNanos > LISTED_NANOS);
        }
    }

    /** The names whose files were being replaced at this moment or later; some more. */
    List<Name> since(long nanos) {
        List<Name> names = new ArrayList<>();
        all.forEach((name, one) -> {
            if (!one.over || one.untilNanos - nanos >= 0) {
                names.add(name);
            }
        });
        return names;
    }

    /** What is about to have the name; null: it is not being replaced. */
    @Nullable
    Inode by(Name name) {
        Replacement one = all.get(name);
        return one == null || one.over ? null : one.by;
    }
}
