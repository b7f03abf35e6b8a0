package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.journal.Journal.Kind;
import io.posixgateway.alluxio.journal.JournalFrame.Subject;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A list of work as versions before {@link Journal} keep it: a file for each process and kind, {there, entry} one after the other. This
 * version makes none. It takes off what is done in the same form, and removes the file once nothing is left in it, so a rollback before
 * that finds what is left. Guarded by its owner.
 */
final class OldList {
    private static final Pattern NAME = Pattern.compile("(hidden|renames|moves|directories)-.*");
    private static final Pattern WHOLE = Pattern.compile("[0-9a-f]{64}-.*");

    private final Path file;
    private final Kind kind;
    /** By the path that an entry is of. */
    private final Map<String, Item> left = new LinkedHashMap<>();

    private int wholeBytes;

    /** One entry. */
    record Item(Subject subject, List<String> texts) {
        String path() {
            return texts.get(0);
        }
    }

    private OldList(Path file, Kind kind) {
        this.file = file;
        this.kind = kind;
    }

    /** Is a file of this name one? */
    static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }

    /** Is a file of this name one of this kind? */
    static boolean isName(String name, Kind kind) {
        return isName(name) && name.startsWith(beginning(kind));
    }

    /**
     * The same, where lists of other Alluxios may lie, too. The oldest versions name them by 32 bits of the masters alone, in the order in
     * which these were given.
     */
    static boolean isName(String name, Kind kind, String cluster) {
        String whole = digest(inOrder(cluster)) + "-";
        return isOf(name, prefix(kind, inOrder(cluster)), whole) || isOf(name, prefix(kind, cluster), whole);
    }

    private static boolean isOf(String name, String prefix, String whole) {
        return isName(name)
                && name.startsWith(prefix)
                && (name.startsWith(whole, prefix.length())
                        || !WHOLE.matcher(name.substring(prefix.length())).matches());
    }

    private static String prefix(Kind kind, String cluster) {
        return beginning(kind) + Integer.toHexString(cluster.hashCode()) + "-";
    }

    /** Of a kind that those versions lack: of no list. */
    private static String beginning(Kind kind) {
        return switch (kind) {
            case HIDDEN -> "hidden-";
            case RENAME_OVER -> "renames-";
            case RENAME_FREE -> "moves-";
            case DIRECTORY_RENAME -> "directories-";
            case HEAD, REMOVAL, CREATION, STALE_WRITE -> "none-";
        };
    }

    private static String digest(String cluster) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(cluster.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** The same masters in another order are the same Alluxio. */
    static String inOrder(String cluster) {
        boolean isList = cluster.startsWith("[") && cluster.endsWith("]");
        return isList
                ? List.of(cluster.substring(1, cluster.length() - 1).split(", ", -1)).stream()
                        .sorted()
                        .toList()
                        .toString()
                : cluster;
    }

    /** What was not taken off; a last entry that is cut short was never answered. */
    static OldList of(Path file, Kind kind, byte[] bytes) throws IOException {
        OldList list = new OldList(file, kind);
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        try {
            while (true) {
                boolean there = in.readBoolean();
                Item item = list.read(in);
                if (there) {
                    list.left.put(item.path(), item);
                } else {
                    list.left.remove(item.path());
                }
                list.wholeBytes = bytes.length - in.available();
            }
        } catch (EOFException end) {
            return list;
        }
    }

    private Item read(DataInputStream in) throws IOException {
        long fileId = kind == Kind.DIRECTORY_RENAME ? 0 : in.readLong();
        long node = kind == Kind.HIDDEN ? in.readLong() : 0;
        Subject subject = new Subject(node, fileId);
        String path = in.readUTF();
        return new Item(subject, kind == Kind.HIDDEN ? List.of(path) : List.of(path, in.readUTF()));
    }

    private byte[] removal(Item item) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeBoolean(false);
        if (kind != Kind.DIRECTORY_RENAME) {
            out.writeLong(item.subject.fileId());
        }
        if (kind == Kind.HIDDEN) {
            out.writeLong(item.subject.node());
        }
        for (String text : item.texts) {
            out.writeUTF(text);
        }
        return bytes.toByteArray();
    }

    List<Item> left() {
        return List.copyOf(left.values());
    }

    /** It is done. */
    void remove(Item item) throws IOException {
        left.remove(item.path());
        if (left.isEmpty()) {
            Files.deleteIfExists(file);
            return;
        }
        byte[] bytes = removal(item);
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            try {
                open.seek(wholeBytes);
                open.write(bytes);
                open.setLength(wholeBytes + bytes.length);
                wholeBytes += bytes.length;
            } catch (IOException e) {
                open.setLength(wholeBytes);
                throw e;
            }
        }
    }
}
