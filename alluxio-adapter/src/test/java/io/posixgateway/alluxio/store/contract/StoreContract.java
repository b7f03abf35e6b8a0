package io.posixgateway.alluxio.store.contract;

import io.posixgateway.alluxio.store.StoreException;
import org.junit.jupiter.api.Nested;

/**
 * What the gateway may expect of a {@link io.posixgateway.alluxio.store.Store}, and how it surprises. Runs against the store in
 * memory and against Alluxio itself, so that what tests on the first show is true of the second.
 */
public abstract class StoreContract {
    /** The same each time. */
    protected abstract StoreFixture fixture();

    @Nested
    class Names extends NamesContract {
        Names() throws StoreException {
            super(fixture());
        }
    }

    @Nested
    class Content extends ContentContract {
        Content() throws StoreException {
            super(fixture());
        }
    }

    @Nested
    class Listings extends ListingContract {
        Listings() throws StoreException {
            super(fixture());
        }
    }

    @Nested
    class Attributes extends AttributesContract {
        Attributes() throws StoreException {
            super(fixture());
        }
    }

    @Nested
    class Ufs extends UfsContract {
        Ufs() throws StoreException {
            super(fixture());
        }
    }

    @Nested
    class Overwriting extends OverwriteContract {
        Overwriting() throws StoreException {
            super(fixture());
        }
    }

    @Nested
    class Quirks extends QuirksContract {
        Quirks() throws StoreException {
            super(fixture());
        }
    }
}
