package io.posixgateway.fuse.mounted;

import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;

import io.posixgateway.fuse.conformance.ConformanceSuite;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.opentest4j.TestAbortedException;

/** Every operation with its exact error number, on the memory file system. */
class ConformanceIT {
    @TestFactory
    Stream<DynamicContainer> conformance() {
        return Stream.of(TransportChoice.LIBFUSE, TransportChoice.DEVFUSE, TransportChoice.URING)
                .map(transport -> dynamicContainer(transport.name(), over(transport)));
    }

    private static List<DynamicTest> over(TransportChoice transport) {
        try (MountedFileSystem mounted = MountedFileSystem.mount(new MemoryFileSystem(256 << 20), transport)) {
            return ConformanceSuite.run(mounted.root(), Map.of());
        } catch (TestAbortedException missing) {
            return List.of(DynamicTest.dynamicTest("available", () -> {
                throw missing;
            }));
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
