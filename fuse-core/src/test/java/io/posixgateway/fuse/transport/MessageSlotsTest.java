package io.posixgateway.fuse.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.time.ManualClock;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that are parked take none of the slots, and a bounded piece of memory. */
class MessageSlotsTest {
    private static final int NO_FD = -1;
    private static final int MIB = 1 << 20;
    private static final int SMALL = 80;

    private final MessageSlots slots = new MessageSlots(2, MIB, new ManualClock());
    private final MessageSlot slot = Objects.requireNonNull(slots.take());
    private final DeviceWorker lane = new DeviceWorker(NO_FD, slot);

    @AfterEach
    void unmap() {
        slots.unmap();
    }

    private @Nullable Exchange park(int messageBytes, long unique) {
        return park(Opcode.GETATTR, messageBytes, unique);
    }

    private @Nullable Exchange park(Opcode opcode, int messageBytes, long unique) {
        begin(opcode, messageBytes, unique);
        return slot.park();
    }

    private void begin(Opcode opcode, int messageBytes, long unique) {
        slot.payload().putInt(Layouts.IN_HEADER_OPCODE, opcode.code());
        slot.payload().putLong(Layouts.IN_HEADER_UNIQUE, unique);
        slot.begin(lane, messageBytes);
    }

    @Test
    void park_manyRequests_takesNoSlotAndKeepsEach() throws InterruptedException {
        List<Exchange> parked = new ArrayList<>();
        for (long unique = 2; unique < 2000; unique += 2) {
            parked.add(Objects.requireNonNull(park(SMALL, unique)));
        }
        assertThat(lane.current).isSameAs(slot);
        assertThat(slots.awaitAnswered(0)).as("all are answered").isFalse();
        assertThat(slots.take()).as("the other slot").isNotNull();
        long unique = 2;
        for (Exchange each : parked) {
            assertThat(each.isParked()).isTrue();
            assertThat(each.header().getLong(each.headerAt() + Layouts.IN_HEADER_UNIQUE))
                    .isEqualTo(unique);
            assertThat(each.payloadBytes(0)).isEqualTo(SMALL - Exchange.HEADER_BYTES);
            each.reply(0, 0);
            unique += 2;
        }
        assertThat(slots.awaitAnswered(0)).isTrue();
    }

    /** The threads that read are not to be held up by what they handed over. */
    @Test
    void offload_whereNoSlotIsFree_isParked() throws InterruptedException {
        begin(Opcode.GETATTR, SMALL, 2);
        Exchange inSlot = Objects.requireNonNull(slot.offload());
        assertThat(inSlot).isSameAs(slot);
        MessageSlot last = lane.current;
        last.payload().putInt(Layouts.IN_HEADER_OPCODE, Opcode.GETATTR.code());
        last.begin(lane, SMALL);
        Exchange parked = Objects.requireNonNull(last.offload());
        assertThat(parked.isParked()).isTrue();
        assertThat(lane.current).isSameAs(last);
        parked.leave();
        inSlot.leave();
        assertThat(slots.awaitAnswered(0)).isTrue();
    }

    @Test
    void park_small_findsRoomBesideWrites() {
        List<Exchange> parked = new ArrayList<>();
        for (Exchange one = park(MIB, 2); one != null; one = park(MIB, 2)) {
            parked.add(one);
        }
        for (int i = 0; i < MessageSlots.SMALL_BYTES / 4096; i++) {
            parked.add(Objects.requireNonNull(park(SMALL, 4)));
        }
        parked.forEach(Exchange::leave);
    }

    /** Nobody hears that it failed, and the file would stay open. */
    @Test
    void park_release_findsRoomAlways() {
        List<Exchange> parked = new ArrayList<>();
        for (Exchange one = park(SMALL, 2); one != null; one = park(SMALL, 2)) {
            parked.add(one);
        }
        parked.add(Objects.requireNonNull(park(Opcode.RELEASE, SMALL, 4)));
        parked.forEach(Exchange::leave);
    }

    @Test
    void rest_afterABurst_givesBackWhatNobodyNeedsAnyMore() throws IOException {
        int count = 64;
        MessageSlots many = new MessageSlots(count, MIB, new ManualClock());
        List<MessageSlot> burst = new ArrayList<>();
        for (MessageSlot one = many.take(); one != null; one = many.take()) {
            for (int at = 0; at < one.capacity(); at += 4096) {
                one.payload().put(at, (byte) 1);
            }
            burst.add(one);
        }
        assertThat(burst).hasSize(count);
        MessageSlot kept = burst.remove(0);
        burst.forEach(many::give);
        long full = residentBytes();
        many.rest();
        MessageSlot warm = Objects.requireNonNull(many.take());
        assertThat(warm.payload().get(MIB)).as("of one used just now").isEqualTo((byte) 1);
        many.give(warm);
        many.rest();
        assertThat(residentBytes()).isLessThan(full - count / 2L * MIB);
        assertThat(kept.payload().get(MIB)).as("of one in use").isEqualTo((byte) 1);
        assertThat(burst.get(0).payload().get(0))
                .as("the pages that nearly all need")
                .isEqualTo((byte) 1);
        many.unmap();
    }

    private static long residentBytes() throws IOException {
        String statm = Files.readString(Path.of("/proc/self/statm"));
        return Long.parseLong(statm.split(" ", -1)[1]) * Native.pageBytes();
    }

    /** One tenant's requests do not take the memory of all. */
    @Test
    void park_ofManySessions_isBoundedForAllAndLeavesSomethingToEach() {
        ParkedMemory shared = new ParkedMemory(32L * MIB);
        MessageSlots greedy = new MessageSlots(1, MIB, new ManualClock(), shared);
        MessageSlots other = new MessageSlots(1, MIB, new ManualClock(), shared);
        List<Exchange> parked = new ArrayList<>();
        MessageSlot from = Objects.requireNonNull(greedy.take());
        from.payload().putInt(Layouts.IN_HEADER_OPCODE, Opcode.WRITE.code());
        from.begin(lane, MIB);
        for (Exchange one = from.park(); one != null; one = from.park()) {
            parked.add(one);
        }
        assertThat(parked).hasSizeBetween(20, 24);
        MessageSlot modest = Objects.requireNonNull(other.take());
        modest.payload().putInt(Layouts.IN_HEADER_OPCODE, Opcode.WRITE.code());
        modest.begin(lane, MIB);
        parked.add(Objects.requireNonNull(modest.park()));
        parked.forEach(Exchange::leave);
        assertThat(shared.take(24L * MIB, 24L * MIB, false))
                .as("all was given back")
                .isTrue();
        greedy.unmap();
        other.unmap();
    }

    @Test
    void park_mapsWhatMessageAndReplyNeed() {
        Exchange small = Objects.requireNonNull(park(SMALL, 2));
        assertThat(small.replyCapacity()).isBetween(4096, 2 * 4096);
        Exchange write = Objects.requireNonNull(park(MIB, 4));
        assertThat(write.payload().capacity()).isBetween(MIB, MIB + 8192);
        slot.payload().putInt(Exchange.HEADER_BYTES + Layouts.READ_IN_SIZE, 128 << 10);
        Exchange read = Objects.requireNonNull(park(Opcode.READ, SMALL, 6));
        assertThat(read.replyCapacity()).isBetween(128 << 10, (128 << 10) + 4096);
        slot.payload().putInt(Exchange.HEADER_BYTES + Layouts.READ_IN_SIZE, Integer.MAX_VALUE);
        Exchange most = Objects.requireNonNull(park(Opcode.READ, SMALL, 8));
        assertThat(most.replyCapacity()).isEqualTo(slot.replyCapacity());
        List.of(small, write, read, most).forEach(Exchange::leave);
    }

    @Test
    void park_moreThanTheMemoryForIt_isRefusedUntilOneIsAnswered() {
        List<Exchange> parked = new ArrayList<>();
        for (Exchange one = park(MIB, 2); one != null; one = park(MIB, 2)) {
            parked.add(one);
        }
        assertThat(parked).hasSizeBetween(32, 64);
        parked.remove(0).leave();
        parked.add(Objects.requireNonNull(park(MIB, 4)));
        assertThat(park(MIB, 6)).isNull();
        parked.add(Objects.requireNonNull(park(SMALL, 8), "a small one finds room"));
        parked.forEach(Exchange::leave);
    }
}
