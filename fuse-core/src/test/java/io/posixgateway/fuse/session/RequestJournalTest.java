package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** What one process writes into the journal, the next one finds. */
class RequestJournalTest {
    private final ByteBuffer memory = ByteBuffer.allocateDirect(16 * 128).order(ByteOrder.nativeOrder());
    private final RequestJournal first = new RequestJournal(memory);

    @Test
    void aRequestThatNobodyBeganIsNotFound() {
        assertThat(first.find(2)).isEqualTo(RequestJournal.NONE);
    }

    @Test
    void theNextProcessTellsBegunFromDoneAndSeesTheResult() {
        first.begin(2, RequestJournal.NONE);
        first.done(first.begin(4, RequestJournal.NONE), -17);
        RequestJournal second = new RequestJournal(memory);
        assertThat(second.done(second.find(2))).isFalse();
        assertThat(second.done(second.find(4))).isTrue();
        assertThat(second.result(second.find(4))).isEqualTo(-17);
    }

    @Test
    void whatHadNoEffectIsForgottenUnlessAnEarlierProcessBeganIt() {
        first.cancel(first.begin(2, RequestJournal.NONE), RequestJournal.NONE);
        assertThat(first.find(2)).isEqualTo(RequestJournal.NONE);
        first.begin(4, RequestJournal.NONE);
        RequestJournal second = new RequestJournal(memory);
        int before = second.find(4);
        assertThat(second.begin(4, before)).isEqualTo(before);
        second.cancel(before, before);
        assertThat(second.find(4)).isEqualTo(before);
        assertThat(second.done(before)).isFalse();
    }

    @Test
    void recordsInFlightAreNeverOverwrittenAndTheOldestDoneOnesAre() {
        int inFlight = first.begin(2, RequestJournal.NONE);
        for (long unique = 4; unique < 2000; unique += 2) {
            int record = first.begin(unique, RequestJournal.NONE);
            assertThat(record).isNotEqualTo(inFlight);
            first.done(record, 0);
        }
        assertThat(first.find(2)).isEqualTo(inFlight);
        assertThat(first.find(4)).isEqualTo(RequestJournal.NONE);
        assertThat(first.find(1998)).isNotEqualTo(RequestJournal.NONE);
    }

    /** It is interrupted, and its program gets the answer of the next process. */
    @Test
    void done_afterLeaving_keepsAFailureAsBegunAndASuccessAsDone() {
        int failed = first.begin(2, RequestJournal.NONE);
        int made = first.begin(4, RequestJournal.NONE);
        first.leave();
        first.done(failed, -4);
        first.done(made, 0);
        RequestJournal second = new RequestJournal(memory);
        assertThat(second.find(2)).isNotEqualTo(RequestJournal.NONE);
        assertThat(second.done(second.find(2))).isFalse();
        assertThat(second.done(second.find(4))).isTrue();
    }

    @Test
    void done_afterClosing_writesNothing() {
        int record = first.begin(2, RequestJournal.NONE);
        first.close();
        first.done(record, 0);
        assertThat(first.begin(4, RequestJournal.NONE)).isEqualTo(RequestJournal.NONE);
        RequestJournal second = new RequestJournal(memory);
        assertThat(second.done(second.find(2))).isFalse();
        assertThat(second.find(4)).isEqualTo(RequestJournal.NONE);
    }

    @Test
    void theNextProcessBeginsBehindTheNewestRecord() {
        for (long unique = 2; unique <= 20; unique += 2) {
            first.done(first.begin(unique, RequestJournal.NONE), 0);
        }
        RequestJournal second = new RequestJournal(memory);
        second.done(second.begin(22, RequestJournal.NONE), 0);
        for (long unique = 2; unique <= 22; unique += 2) {
            assertThat(second.find(unique)).isNotEqualTo(RequestJournal.NONE);
        }
    }
}
