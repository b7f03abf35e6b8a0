package io.posixgateway.alluxio.nodecache;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Those who may share an entry of the cache: volumes of the same Alluxio cluster, opened as the same user with the same identity, which is
 * every property below {@code alluxio.security.}. Alluxio decides by these what a volume may read, so one finds nothing that another one
 * was allowed to read and itself is not. All others have a subfolder, and entries, of their own. Within a tenant, a file is looked up by
 * what the master said at its open, and the kernel has checked its mode.
 *
 * @param id the first 8 bytes of a SHA-256 over all of that
 */
public record Tenant(long id) {
    private static final String IDENTITY = "alluxio.security.";

    /**
     * @param clusterId what no other Alluxio has, nor this one after it was formatted; not empty
     * @param user in Alluxio
     * @param properties of the client; those that say nothing of its identity are ignored
     */
    public static Tenant of(String clusterId, String user, Map<String, String> properties) {
        MessageDigest digest = sha256();
        put(digest, clusterId);
        put(digest, user);
        new TreeMap<>(properties).forEach((name, value) -> {
            if (name.startsWith(IDENTITY)) {
                put(digest, name);
                put(digest, value);
            }
        });
        return new Tenant(ByteBuffer.wrap(digest.digest()).getLong());
    }

    /** With its length before it, so that no two lists of texts are the same bytes. */
    private static void put(MessageDigest digest, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).flip());
        digest.update(bytes);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** The subfolder. */
    String folder() {
        return hex(id);
    }

    static String hex(long number) {
        return String.format("%016x", number);
    }
}
