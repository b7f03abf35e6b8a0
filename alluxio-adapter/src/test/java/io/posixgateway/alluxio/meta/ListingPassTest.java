package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.Name;
import org.junit.jupiter.api.Test;

class ListingPassTest {
    private final MemoryAccounting bytes = new MemoryAccounting(1 << 20);
    private final ListingPass.Room room = new ListingPass.Room(1);

    private Inode file(long number) {
        return new Inode(number, number, false, bytes);
    }

    private ListingPass pass() {
        ListingPass pass = new ListingPass(NameCodec.ESCAPED, room);
        pass.reached("m");
        return pass;
    }

    /** Whoever holds many directories open cannot fill the memory with what is renamed in them. */
    @Test
    void passes_togetherNoteNoMoreThanThereIsRoomFor() {
        ListingPass first = pass();
        Inode one = file(1);
        Inode two = file(2);
        first.named(one, Name.of("a"), Name.of("x"));
        assertThat(first.hasShown(one)).isTrue();
        ListingPass second = pass();
        second.named(two, Name.of("b"), Name.of("y"));
        assertThat(second.hasShown(two)).as("without room").isFalse();
        first.end();
        ListingPass third = pass();
        third.named(two, Name.of("b"), Name.of("y"));
        assertThat(third.hasShown(two)).as("with the room of the first").isTrue();
    }

    @Test
    void pass_withoutRoom_leavesNoFileOut() {
        ListingPass pass = pass();
        Inode first = file(1);
        Inode second = file(2);
        pass.named(first, null, Name.of("a"));
        pass.named(second, null, Name.of("b"));
        pass.named(second, Name.of("b"), Name.of("x"));
        assertThat(pass.hasShown(second))
                .as("made before its name came, and not shown")
                .isFalse();
    }
}
