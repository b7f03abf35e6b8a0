package io.posixgateway.alluxio.client;

import alluxio.client.file.URIStatus;
import alluxio.underfs.Fingerprint;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The MD5 of a file's content, as Alluxio has it of an object store: the ETag of an object that was uploaded in one part. Other ETags,
 * of uploads in parts and of objects that the store encrypts with keys of its own, are no MD5, and no content has them. Immutable.
 */
final class ContentHash {
    private static final Pattern MD5 = Pattern.compile("[0-9a-fA-F]{32}");

    /** What a {@link Fingerprint} has for a tag that it lacks. */
    private static final String NO_TAG = "_";

    private final byte[] md5;

    private ContentHash(byte[] md5) {
        this.md5 = md5;
    }

    /** Null where Alluxio says none. */
    static @Nullable ContentHash of(URIStatus status) {
        String tag = tagOf(status);
        return MD5.matcher(tag).matches() ? new ContentHash(HexFormat.of().parseHex(tag)) : null;
    }

    /**
     * What the under file system says of the content: an ETag, or length and time of the last modification. Empty where Alluxio says
     * nothing.
     */
    static String tagOf(URIStatus status) {
        String fingerprint = status.getFileInfo().getUfsFingerprint();
        try {
            Fingerprint parsed = fingerprint == null ? null : Fingerprint.parse(fingerprint);
            String tag = parsed == null ? null : parsed.getTag(Fingerprint.Tag.CONTENT_HASH);
            return tag == null || tag.equals(NO_TAG) ? "" : tag;
        } catch (IllegalArgumentException laterVersion) {
            return "";
        }
    }

    /** True if this is the file's content: all of it, and nothing else. Leaves the buffer as it is. */
    boolean isOf(ByteBuffer content) {
        try {
            MessageDigest digest = MessageDigest.getInstance("MD5");
            digest.update(content.duplicate());
            return MessageDigest.isEqual(md5, digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java runtime has MD5", e);
        }
    }
}
