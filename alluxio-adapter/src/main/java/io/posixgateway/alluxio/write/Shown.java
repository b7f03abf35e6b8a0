package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttributeEdit;
import io.posixgateway.fuse.spi.Attributes;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What others see of a dirty file. Immutable.
 *
 * @param written when the content was last written, if that counts
 * @param changed when that was, or the attributes were changed later
 */
record Shown(
        Attr attr,
        long lengthBytes,
        @Nullable Instant written,
        @Nullable Instant changed) {

    static Shown of(Attr attr, long lengthBytes, @Nullable Instant written) {
        Instant before = written == null ? null : AttributeEdit.changed(attr.raw());
        boolean later = written != null && before != null && before.isAfter(written);
        return new Shown(attr, lengthBytes, written, later ? before : written);
    }

    boolean is(Attr now, long nowBytes, @Nullable Instant nowWritten) {
        return attr == now && lengthBytes == nowBytes && Objects.equals(written, nowWritten);
    }

    /** @param number the inode's */
    void fill(long number, Attributes attributes) {
        attr.show(number, attributes);
        attributes.sizeBytes = lengthBytes;
        attributes.blocks = (lengthBytes + 511) / 512;
        if (written != null && changed != null) {
            attributes.modifySeconds = written.getEpochSecond();
            attributes.modifyNanos = written.getNano();
            attributes.changeSeconds = changed.getEpochSecond();
            attributes.changeNanos = changed.getNano();
        }
    }
}
