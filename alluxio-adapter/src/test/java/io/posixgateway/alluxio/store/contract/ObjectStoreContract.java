package io.posixgateway.alluxio.store.contract;

import io.posixgateway.alluxio.store.StoreException;
import org.junit.jupiter.api.Nested;

/** What the gateway may expect of a {@link io.posixgateway.alluxio.store.Store} over an object store beside {@link StoreContract}. */
public abstract class ObjectStoreContract {
    /** The same each time. */
    protected abstract StoreFixture fixture();

    @Nested
    class Overwriting extends OverwriteContract {
        Overwriting() throws StoreException {
            super(fixture());
        }
    }
}
