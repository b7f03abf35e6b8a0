package io.posixgateway.alluxio.client;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A {@link CancellableCall}: an interrupt never outlives the call that it was meant for. */
public final class CancellableCallStress {
    private CancellableCallStress() {}

    /** A call ends while it is given up. */
    @JCStressTest
    @Outcome(
            id = {"false, false", "true, false"},
            expect = Expect.ACCEPTABLE,
            desc = "Given up or not, nothing is left of it.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "What the thread does next is interrupted.")
    @State
    public static class EndWhileGivenUp {
        private final CancellableCall call = new CancellableCall();

        @Actor
        public void call(ZZ_Result r) {
            call.begin(true);
            r.r1 = call.end();
            r.r2 = Thread.interrupted();
        }

        @Actor
        public void giveUp() {
            call.giveUp(false);
        }
    }
}
