package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.store.contract.ObjectStoreContract;
import io.posixgateway.alluxio.store.contract.StoreFixture;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The contract of object stores on Alluxio over a real S3 server. */
@EnabledIfSystemProperty(named = "pgw.under.store", matches = "s3", disabledReason = "of the long form: make s3-test")
class S3StoreContractIT extends ObjectStoreContract {
    private static final AlluxioStoreContractIT.AlluxioFixture FIXTURE = new AlluxioStoreContractIT.AlluxioFixture();

    @Override
    protected StoreFixture fixture() {
        return FIXTURE;
    }

    /** A worker would let him write: nobody but a superuser may give the file its owner again. */
    @Test
    void overwrite_byUserWhoIsNoSuperuser_isNoWay() throws Exception {
        AlluxioOptions as = new AlluxioOptions(SharedAlluxio.running().masters(), "/", "someone", Map.of());
        String folder = SharedAlluxio.folder();
        try (Store someone = AlluxioMount.connect(as, SharedAlluxio.options(Map.of()));
                Store root = AlluxioMount.connect(SharedAlluxio.at("/"), SharedAlluxio.options(Map.of()))) {
            StoreWriter own = someone.create(folder + "/own", 0666, Map.of(), UUID.randomUUID());
            own.complete();
            assertThat(someone.overwrite(folder + "/own", own.fileId())).isNull();
            assertThat(root.overwrite(folder + "/own", own.fileId()))
                    .as("whose group the master does not know")
                    .isNull();
            StoreWriter others = root.create(folder + "/others", 0644, Map.of(), UUID.randomUUID());
            others.complete();
            assertThat(someone.overwrite(folder + "/others", others.fileId())).isNull();
            assertThat(root.overwrite(folder + "/others", others.fileId())).isNotNull();
        }
    }

    @AfterAll
    static void disconnect() {
        FIXTURE.close();
    }
}
