package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PageTest {
    private static Store.Page page(boolean more, String... names) {
        return new Store.Page(Stream.of(names).map(PageTest::status).toList(), more);
    }

    private static FileStatus status(String name) {
        return new FileStatus(name.hashCode(), name, false, true, 1, 1, 0644, "root", "root", 0, 0, Map.of());
    }

    @Test
    void endsAtTheLastNameThatHasOneBehindIt() {
        assertThat(page(true, "a", "b", "c", "d").truncateAtStableCursor()).isEqualTo(page(true, "a", "b", "c"));
    }

    @Test
    void doesNotEndAtANameThatAFileIsJustTaking() {
        assertThat(page(true, "a", "b", "z", "d").truncateAtStableCursor()).isEqualTo(page(true, "a", "b"));
        assertThat(page(true, "a", "b", "c", "0", "e").truncateAtStableCursor()).isEqualTo(page(true, "a", "b"));
        assertThat(page(true, "a", "b", "c", "z").truncateAtStableCursor()).isEqualTo(page(true, "a", "b", "c"));
    }

    @Test
    void theLastPartOfAListingIsWhole() {
        assertThat(page(false, "a", "b", "c").truncateAtStableCursor()).isEqualTo(page(false, "a", "b", "c"));
        assertThat(page(false).truncateAtStableCursor()).isEqualTo(page(false));
    }

    @Test
    void whatHasNoNameBetweenItsNeighboursStaysSoThatAListingGoesOn() {
        assertThat(page(true, "a", "b").truncateAtStableCursor()).isEqualTo(page(true, "a", "b"));
        assertThat(page(true, "a").truncateAtStableCursor()).isEqualTo(page(true, "a"));
        assertThat(page(true, "c", "b", "a").truncateAtStableCursor()).isEqualTo(page(true, "c", "b", "a"));
    }
}
