package io.posixgateway.alluxio.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.time.Clock;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AlluxioMountTest {
    @Test
    void aStoreThatFailsUnexpectedlyIsClosed() {
        AtomicInteger closed = new AtomicInteger();
        Store failing = (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        closed.incrementAndGet();
                        return null;
                    }
                    throw new IllegalStateException(method.getName());
                });
        assertThrows(
                IllegalStateException.class,
                () -> AlluxioMount.open(failing, "/data", AdapterOptions.defaults(), Clock.system()));
        assertEquals(1, closed.get());
    }
}
