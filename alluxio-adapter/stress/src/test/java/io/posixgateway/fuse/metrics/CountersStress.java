package io.posixgateway.fuse.metrics;

import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** {@link RemoteCalls}: an interrupt never outlives its call. {@link SessionMetrics}: never fewer than no requests in flight. */
public final class CountersStress {
    private CountersStress() {}

    /** A call to the store ends while it is interrupted. */
    @JCStressTest
    @Outcome(
            id = {"false, false, false", "true, false, true"},
            expect = Expect.ACCEPTABLE,
            desc = "Both agree; nothing is left of it.")
    @Outcome(
            expect = Expect.FORBIDDEN,
            desc = "One believes what did not happen, or what the thread does next is interrupted.")
    @State
    public static class EndWhileInterrupted {
        private volatile RemoteCalls calls;

        @Actor
        public void call(ZZZ_Result r) {
            RemoteCalls own = new RemoteCalls(Thread.currentThread(), Clock.system());
            calls = own;
            own.begin();
            r.r1 = own.end();
            r.r2 = Thread.interrupted();
        }

        @Actor
        public void interrupt(ZZZ_Result r) {
            RemoteCalls others = calls;
            r.r3 = others != null && others.interrupt(0);
        }
    }

    /** Requests come and are answered while they are counted. */
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "None or more.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Fewer than none.")
    @State
    public static class InFlight {
        private static final SessionMetrics METRICS = new SessionMetrics(Clock.system(), 2);

        @Actor
        public void serve() {
            METRICS.requestBegan();
            METRICS.requestEnded(Opcode.READ, 0, 1);
        }

        @Actor
        public void look(I_Result r) {
            r.r1 = METRICS.inFlight() >= 0 ? 1 : 0;
        }
    }
}
