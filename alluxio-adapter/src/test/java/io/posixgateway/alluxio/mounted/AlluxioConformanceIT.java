package io.posixgateway.alluxio.mounted;

import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.ConformanceSuite;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.opentest4j.TestAbortedException;

/** Every operation with its exact error number, on Alluxio, over each transport. */
class AlluxioConformanceIT {
    /** What Alluxio cannot do, each answered with an error rather than a false success. */
    static Map<String, String> exceptions() {
        String links = "Alluxio has no hard links: EPERM or EOPNOTSUPP";
        Map<String, String> known = new LinkedHashMap<>();
        known.put("a_hard_link_is_the_same_file", links);
        known.put("a_file_without_a_name_can_be_given_one", links);
        known.put("rename_between_links_of_one_file_does_nothing", links);
        known.put("a_directory_counts_its_subdirectories", "Alluxio does not count them; a directory shows 1 link");
        known.put("rename_exchange_swaps", "Alluxio cannot swap two names in one step: EINVAL");
        known.put(
                "a_sparse_file_holds_only_its_data",
                "Alluxio has no holes: none makes a file longer than spool_size, EFBIG");
        known.put("holes_and_data_are_found", "Alluxio has no holes: all is data");
        return known;
    }

    @TestFactory
    Stream<DynamicContainer> conformance() {
        return Stream.of(TransportChoice.LIBFUSE, TransportChoice.DEVFUSE, TransportChoice.URING)
                .map(transport -> dynamicContainer(transport.name(), over(transport)));
    }

    /** Whole over one transport; over the others with fewer names, as each new file takes a call to the master. */
    private static List<DynamicTest> over(TransportChoice transport) {
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(SharedAlluxio.open(SharedAlluxio.folder(), Map.of()), transport)) {
            return transport == TransportChoice.LIBFUSE
                    ? ConformanceSuite.run(mounted.root(), exceptions())
                    : ConformanceSuite.runShort(mounted.root(), exceptions());
        } catch (TestAbortedException missing) {
            return List.of(dynamicTest("available", () -> {
                throw missing;
            }));
        } catch (IOException | StoreException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
