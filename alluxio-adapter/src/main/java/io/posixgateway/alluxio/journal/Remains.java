package io.posixgateway.alluxio.journal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a volume that ends leaves in its folder. Content that is not in Alluxio, the record of such content, and a list of what is left
 * to do there stay, and are named; everything else is of no use to anybody and goes. The caller holds the folder.
 */
final class Remains {
    private static final Pattern SPOOL = Pattern.compile("spool-\\d+");
    /** So many a message names. */
    private static final int MAX_NAMED = 3;

    private final Path folder;
    private final Set<String> others;

    /** @param others names of files that are the caller's to remove, and are no remains */
    Remains(Path folder, Set<String> others) {
        this.folder = folder;
        this.others = others;
    }

    /** Does the next session act by this file? It is of one Alluxio alone, then. */
    static boolean isRecord(Path file) {
        return file.toString().endsWith(DirtyFileRecord.SUFFIX) || VolumeJournal.isOne(file);
    }

    /** Removes what holds nothing; says in half a sentence what stays, or nothing where nothing does. */
    String clear() throws IOException {
        SortedMap<String, Long> kept = new TreeMap<>();
        for (Path file : list(folder)) {
            if (others.contains(file.getFileName().toString())) {
                continue;
            }
            if (!file.endsWith(SetAside.FOLDER) && isOfNoUse(file)) {
                Files.deleteIfExists(file);
            } else if (Files.isRegularFile(file)) {
                kept.put(folder.relativize(file).toString(), Files.size(file));
            }
        }
        Path aside = folder.resolve(SetAside.FOLDER);
        if (Files.isDirectory(aside) && list(aside).isEmpty()) {
            Files.delete(aside);
        } else if (Files.isDirectory(aside)) {
            for (Path file : list(aside)) {
                kept.put(folder.relativize(file).toString(), Files.size(file));
            }
        }
        return describe(kept);
    }

    private static String describe(SortedMap<String, Long> kept) {
        if (kept.isEmpty()) {
            return "";
        }
        long bytes = kept.values().stream().mapToLong(Long::longValue).sum();
        String some = kept.keySet().stream().limit(MAX_NAMED).collect(Collectors.joining(", "));
        return kept.size() + " files with " + bytes + " bytes (" + some + (kept.size() > MAX_NAMED ? ", …)" : ")");
    }

    private boolean isOfNoUse(Path file) throws IOException {
        String name = file.getFileName().toString();
        if (name.endsWith(DirtyFileRecord.SUFFIX + DirtyFileRecord.FRESH)) {
            return true; // it never counted
        }
        if (name.endsWith(Origin.SUFFIX)) {
            return !isThere(name.substring(0, name.length() - Origin.SUFFIX.length()) + DirtyFileRecord.SUFFIX);
        }
        if (SPOOL.matcher(name).matches()) {
            return Files.size(file) == 0 && !isThere(name + DirtyFileRecord.SUFFIX);
        }
        return VolumeJournal.isOne(file) && Files.size(file) == 0;
    }

    private boolean isThere(String name) {
        return Files.exists(folder.resolve(name));
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }
}
