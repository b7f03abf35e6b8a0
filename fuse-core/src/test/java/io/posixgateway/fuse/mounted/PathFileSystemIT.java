package io.posixgateway.fuse.mounted;

import io.posixgateway.fuse.conformance.ConformanceSuite;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** A writable file system by paths keeps the conformance suite, but for what paths alone cannot say. */
class PathFileSystemIT {
    /** The cases that do not hold, by the reason why. */
    private static final Map<String, List<String>> EXCEPTIONS = Map.ofEntries(
            Map.entry(
                    "renames have no flags", List.of("rename_noreplace_refuses_what_exists", "rename_exchange_swaps")),
            Map.entry(
                    "one path a file: no hard links",
                    List.of("a_hard_link_is_the_same_file", "rename_between_links_of_one_file_does_nothing")),
            Map.entry(
                    "regular files, folders and links only",
                    List.of("special_files_keep_their_kind", "a_fifo_carries_bytes")),
            Map.entry("names are text", List.of("names_need_not_be_utf8")),
            Map.entry(
                    "what has no path any more has no attributes",
                    List.of(
                            "a_removed_directory_takes_no_names",
                            "a_removed_file_lives_while_it_is_open",
                            "a_name_can_be_made_again_while_the_old_file_is_open")),
            Map.entry(
                    "everything belongs to the one who mounts",
                    List.of(
                            "a_sticky_directory_protects_names",
                            "what_a_user_makes_is_theirs",
                            "a_set_group_id_directory_gives_its_group",
                            "chown_sets_owner_and_group_by_number",
                            "chown_does_not_follow_when_told")),
            Map.entry(
                    "space is not told or managed",
                    List.of(
                            "a_sparse_file_holds_only_its_data",
                            "holes_and_data_are_found",
                            "fallocate_grows_and_keeps",
                            "fallocate_moves_the_times_whatever_it_does",
                            "fallocate_punches_holes",
                            "fallocate_zeroes_a_range",
                            "statfs_tells_space_and_name_length")),
            Map.entry(
                    "the mirror keeps one time",
                    List.of(
                            "times_are_kept_to_the_nanosecond",
                            "times_of_links_and_directories_are_set",
                            "chmod_moves_the_change_time",
                            "chown_of_neither_owner_nor_group_moves_the_change_time",
                            "truncation_to_the_length_of_the_file_moves_its_times",
                            "names_do_not_move_the_access_time_of_their_directory")),
            Map.entry(
                    "no extended attributes",
                    List.of(
                            "extended_attributes_are_kept",
                            "trusted_attributes_are_listed_for_root_alone",
                            "extended_attributes_are_created_or_replaced_as_asked",
                            "extended_attributes_may_be_long")));

    @TestFactory
    List<DynamicTest> conformance(@TempDir Path local) throws Exception {
        Files.setPosixFilePermissions(local, PosixFilePermissions.fromString("rwxr-xr-x"));
        try (MountedFileSystem mounted = MountedFileSystem.mount(new MirrorFileSystem(local), TransportChoice.AUTO)) {
            return ConformanceSuite.run(mounted.root(), exceptions());
        }
    }

    private static Map<String, String> exceptions() {
        Map<String, String> byCase = new HashMap<>();
        EXCEPTIONS.forEach((reason, cases) -> cases.forEach(name -> byCase.put(name, reason)));
        return byCase;
    }
}
