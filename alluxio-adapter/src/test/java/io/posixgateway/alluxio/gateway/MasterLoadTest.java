package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.gateway.MasterLoad.End;
import io.posixgateway.alluxio.gateway.MasterLoad.Patience;
import io.posixgateway.alluxio.store.LoadState;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a master may answer; that a real one loads is in LoaderIT and ObservabilityIT. */
class MasterLoadTest {
    private static final LoadState BEGUN = new LoadState(false, 0, 0, 0, "");
    private static final LoadState HALF = new LoadState(false, 5, 10, 0, "");
    private static final LoadState DONE = new LoadState(true, 10, 10, 0, "");

    /** What the master answers, each once but for the last: a boolean to a load, a state, or a failure. */
    private final Deque<Object> answers = new ArrayDeque<>();

    private final StoreException away = new StoreException(Errno.EIO, "the master is away", null);
    private final List<String> asked = new ArrayList<>();
    private final List<LoadState> told = new ArrayList<>();
    private final ManualClock clock = ManualClock.advancedByWaits();
    private boolean wanted = true;

    private Object answer(String what) throws StoreException {
        asked.add(what);
        Object answer = answers.size() > 1 ? answers.remove() : answers.element();
        if (answer instanceof StoreException failure) {
            throw failure;
        }
        return answer;
    }

    private End run(Object... all) throws Exception {
        answers.addAll(List.of(all));
        Store store = (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (self, method, arguments) -> {
                    if (method.getName().equals("stopLoad")) {
                        asked.add("stopLoad");
                        return null;
                    }
                    return answer(method.getName());
                });
        Warmup.Progress progress = new Warmup.Progress() {
            @Override
            public boolean entry(long bytes, long warmBytes, boolean failed) {
                throw new AssertionError("no metadata is read here");
            }

            @Override
            public boolean loading(LoadState state) {
                told.add(state);
                return wanted;
            }
        };
        return new MasterLoad(store, "/a", progress, Patience.USUAL, clock).run();
    }

    @Test
    void a_load_is_followed_to_its_end() throws Exception {
        assertThat(run(true, BEGUN, HALF, DONE)).isEqualTo(End.LOADED);
        assertThat(told).containsExactly(BEGUN, HALF, DONE);
        assertThat(asked).containsExactly("load", "loadState", "loadState", "loadState");
    }

    @Test
    void after_a_load_that_was_joined_comes_one_of_our_own() throws Exception {
        assertThat(run(false, HALF, DONE, true, BEGUN, DONE)).isEqualTo(End.LOADED);
        assertThat(told).containsExactly(HALF, BEGUN, DONE);
        assertThat(asked).containsExactly("load", "loadState", "loadState", "load", "loadState", "loadState");
    }

    @Test
    void loads_that_are_always_those_of_others_have_us_read() throws Exception {
        assertThat(run(false, DONE, false, DONE, false, DONE)).isEqualTo(End.FAILED);
        assertThat(asked).hasSize(6);
    }

    @Test
    void a_master_that_takes_no_load_has_us_read() throws Exception {
        assertThat(run(away)).isEqualTo(End.FAILED);
        assertThat(asked).containsExactly("load");
    }

    @Test
    void a_load_that_fails_has_us_read() throws Exception {
        assertThat(run(true, BEGUN, new LoadState(true, 5, 10, 1, "no workers")))
                .isEqualTo(End.FAILED);
        assertThat(told).as("how it failed is not progress").containsExactly(BEGUN);
    }

    @Test
    void a_master_that_is_away_for_a_moment_is_waited_for() throws Exception {
        assertThat(run(true, HALF, away, away, DONE)).isEqualTo(End.LOADED);
    }

    @Test
    void a_master_that_stays_away_has_us_read() throws Exception {
        assertThat(run(true, HALF, away)).isEqualTo(End.FAILED);
        assertThat(asked).endsWith("stopLoad");
    }

    @Test
    void a_load_that_does_not_go_on_is_stopped_and_has_us_read() throws Exception {
        assertThat(run(true, HALF)).isEqualTo(End.FAILED);
        assertThat(asked).endsWith("stopLoad");
    }

    @Test
    void who_goes_stops_his_own_load_and_no_others() throws Exception {
        wanted = false;
        assertThat(run(true, HALF)).isEqualTo(End.LEFT);
        assertThat(asked).containsExactly("load", "loadState", "stopLoad");
        asked.clear();
        answers.clear();
        assertThat(run(false, HALF)).isEqualTo(End.LEFT);
        assertThat(asked).containsExactly("load", "loadState");
    }
}
