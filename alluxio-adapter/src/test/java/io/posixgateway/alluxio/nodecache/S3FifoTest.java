package io.posixgateway.alluxio.nodecache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class S3FifoTest {
    private static final int ROOM = 400;
    private static final Tenant TENANT = new Tenant(1);

    /** A cache of virtual files of one piece each. */
    private static final class VirtualCache {
        private final S3Fifo order = new S3Fifo();
        private final Map<Integer, Piece> there = new HashMap<>();
        private final long limitBytes = (long) ROOM * CacheKey.PIECE_BYTES;
        private long mostBytes;

        boolean isHit(int file) {
            Piece piece = there.get(file);
            if (piece != null) {
                order.accessed(piece);
                return true;
            }
            List<Piece> victims = new ArrayList<>();
            while (order.bytes() + CacheKey.PIECE_BYTES > limitBytes) {
                if (!order.evict(victims)) {
                    return false;
                }
            }
            victims.forEach(victim -> there.remove((int) victim.file.fileId()));
            Piece made = new Piece(new CacheKey(TENANT, file, CacheKey.PIECE_BYTES, 0), 0, 0, true);
            there.put(file, made);
            order.add(made, limitBytes, false);
            mostBytes = Math.max(mostBytes, order.bytes());
            return false;
        }

        double epoch(List<Integer> files) {
            long hits = files.stream().filter(this::isHit).count();
            return (double) hits / files.size();
        }
    }

    private static List<Integer> files(int from, int count) {
        List<Integer> files = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            files.add(from + i);
        }
        return files;
    }

    /** Of the epochs after the first ones, in which it may still change what stays. */
    private static double ratio(VirtualCache cache, List<Integer> files, boolean shuffled) {
        Random random = new Random(7);
        double sum = 0;
        int epochs = 10;
        for (int i = 0; i < 2 + epochs; i++) {
            if (shuffled) {
                Collections.shuffle(files, random);
            }
            double ratio = cache.epoch(files);
            sum += i < 2 ? 0 : ratio;
        }
        return sum / epochs;
    }

    @ParameterizedTest
    @CsvSource({
        "1.1,false",
        "1.1,true",
        "1.5,false",
        "1.5,true",
        "2,false",
        "2,true",
        "3,false",
        "3,true",
        "6,false",
        "6,true"
    })
    void epochsOfDataLargerThanTheCache_hitWhatStays(double times, boolean shuffled) {
        int count = (int) (times * ROOM);

        double ratio = ratio(new VirtualCache(), files(1, count), shuffled);

        assertThat(ratio).isGreaterThanOrEqualTo(0.9 * ROOM / count);
    }

    @ParameterizedTest
    @CsvSource({"0.8,9", "1.5,8", "2,7"})
    void otherData_takesThePlaceOfWhatNobodyReadsAnyMore(double times, int epochs) {
        VirtualCache cache = new VirtualCache();
        ratio(cache, files(1, 2 * ROOM), true);
        int count = (int) (times * ROOM);
        List<Integer> others = files(1_000_000, count);
        double last = 0;

        for (int i = 0; i < epochs; i++) {
            last = cache.epoch(others);
        }

        assertThat(last).isGreaterThanOrEqualTo(0.8 * Math.min(1, (double) ROOM / count));
    }

    @Test
    void oneScanOfOtherData_leavesWhatIsReadOften() {
        VirtualCache cache = new VirtualCache();
        List<Integer> hot = files(1, ROOM / 2);
        for (int i = 0; i < 4; i++) {
            cache.epoch(hot);
        }

        cache.epoch(files(1_000_000, 3 * ROOM));

        assertThat(cache.epoch(hot)).isGreaterThan(0.9);
    }

    @Test
    void openPiece_stays_howeverLongNobodyReadsIt() {
        VirtualCache cache = new VirtualCache();
        cache.epoch(files(1, ROOM));
        Piece open = Objects.requireNonNull(cache.there.get(1));
        open.pins++;

        for (int i = 1; i <= 10; i++) {
            cache.epoch(files(i * 1_000_000, 2 * ROOM));
        }

        assertThat(cache.there.get(1)).isSameAs(open);
        assertThat(cache.there).doesNotContainKey(2);
    }

    @Test
    void evict_whereAllAreOpen_isFalse_andOpenOnesCount() {
        VirtualCache cache = new VirtualCache();
        cache.epoch(files(1, ROOM));
        cache.there.values().forEach(piece -> piece.pins++);

        assertThat(cache.order.evict(new ArrayList<>())).isFalse();
        Objects.requireNonNull(cache.there.get(5)).pins--;
        List<Piece> victims = new ArrayList<>();
        assertThat(cache.order.evict(victims)).isTrue();

        assertThat(victims).extracting(piece -> piece.file.fileId()).containsExactly(5L);
        assertThat(cache.mostBytes).isEqualTo(cache.limitBytes);
    }
}
