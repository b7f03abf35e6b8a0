package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.spi.Name;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Names of a directory that this mount took away, the last ones. Alluxio may revive such a name when it loads the directory from the under
 * file system. No matter of {@link Generation}: a response that is newer than the removal has it, too, so the name is compared with the
 * under file system. Guarded by its {@link Dentries}.
 */
final class TakenNames {
    private static final int MAX = 64;

    private final Set<Name> names = new LinkedHashSet<>(2);

    void add(Name name) {
        names.add(name.copy());
        if (names.size() > MAX) {
            names.remove(names.iterator().next());
        }
    }

    void remove(Name name) {
        names.remove(name);
    }

    boolean has(Name name) {
        return names.contains(name);
    }
}
