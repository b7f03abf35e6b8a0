package io.posixgateway.fuse.session;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** The {@link RequestJournal}: a record is one request's until that is done; whoever sees it done sees its result. */
public final class RequestJournalStress {
    private RequestJournalStress() {}

    private static ByteBuffer records(int count) {
        return ByteBuffer.allocateDirect(16 * count).order(ByteOrder.nativeOrder());
    }

    /** Two changes begin. */
    @JCStressTest
    @Outcome(id = "0, 0, 1", expect = Expect.ACCEPTABLE, desc = "Each has a record of its own, where it is found.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "They share one, or one is not found.")
    @State
    public static class TwoBegin {
        private final RequestJournal journal = new RequestJournal(records(2));
        private int one;
        private int other;

        @Actor
        public void one() {
            one = journal.begin(8, RequestJournal.NONE);
        }

        @Actor
        public void other() {
            other = journal.begin(10, RequestJournal.NONE);
        }

        @Arbiter
        public void end(III_Result r) {
            r.r1 = journal.find(8) - one;
            r.r2 = journal.find(10) - other;
            r.r3 = one != other ? 1 : 0;
        }
    }

    /** A change is done while it is looked for. */
    @JCStressTest
    @Outcome(
            id = {"0, 0", "1, -5"},
            expect = Expect.ACCEPTABLE,
            desc = "Under way, or done with its result.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Done with another result.")
    @State
    public static class LookWhileDone {
        private final RequestJournal journal = new RequestJournal(records(2));
        private final int record = journal.begin(8, RequestJournal.NONE);

        @Actor
        public void done() {
            journal.done(record, -5);
        }

        @Actor
        public void look(II_Result r) {
            if (journal.done(record)) {
                r.r1 = 1;
                r.r2 = journal.result(record);
            }
        }
    }
}
