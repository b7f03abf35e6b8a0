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

    private final byte[] md5;

    private ContentHash(byte[] md5) {
        this.md5 = md5;
    }

    /** Null where Alluxio says none. */
    static @Nullable ContentHash of(URIStatus status) {
        String fingerprint = status.getFileInfo().getUfsFingerprint();
        String tag = fingerprint == null ? null : tagOf(fingerprint);
        return tag != null && MD5.matcher(tag).matches()
                ? new ContentHash(HexFormat.of().parseHex(tag))
                : null;
    }

    private static @Nullable String tagOf(String fingerprint) {
        try {
            Fingerprint parsed = Fingerprint.parse(fingerprint);
            return parsed == null ? null : parsed.getTag(Fingerprint.Tag.CONTENT_HASH);
        } catch (IllegalArgumentException laterVersion) {
            return null;
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
