package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.read.TrustedFolders;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Where the volumes of one process may read block files. Who asks for a volume may name masters of their own, and whose workers
 * then say where block files are: only the administrator says which folders these may be.
 */
public final class BlockFolderRules {
    private static final String OF = "=/";
    private static final String WHICHEVER = "*";

    /** By masters; empty: those of the process itself. */
    private final Map<String, String> folders;

    private final String others;

    private BlockFolderRules(Map<String, String> folders, String others) {
        this.folders = folders;
        this.others = others;
    }

    /** One for all: as the option {@code block_folders} says. */
    public static BlockFolderRules all(String option) {
        return new BlockFolderRules(Map.of(), option);
    }

    /**
     * As an administrator gave them.
     *
     * @param given each as {@code DIR[:DIR...]}, for volumes that name no masters, or {@code MASTERS=DIR[:DIR...]}, for those
     *     that name exactly these, or whichever ones ({@code *}); all others read no block files
     * @throws IllegalArgumentException one cannot be read
     */
    public static BlockFolderRules of(List<String> given) {
        Map<String, String> folders = new HashMap<>();
        for (String each : given) {
            int at = each.startsWith("/") ? -1 : each.indexOf(OF);
            String masters = at < 0 ? "" : each.substring(0, at);
            String option = each.substring(at + 1);
            TrustedFolders.of(option);
            if (option.isEmpty() || folders.put(masters, option) != null) {
                throw new IllegalArgumentException("'" + each + "' is empty, or given twice for the same masters");
            }
        }
        return new BlockFolderRules(Map.copyOf(folders), folders.getOrDefault(WHICHEVER, TrustedFolders.NONE));
    }

    /** The option {@code block_folders} of a volume that names these masters, or none (empty). */
    String option(String masters) {
        return folders.getOrDefault(masters, others);
    }
}
