package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Maps the names of a mount, which are bytes, to the names that Alluxio stores, which are text, and back. Immutable.
 *
 * <p>Alluxio 2.9 stores every text without a slash but for two characters: it reads a backslash as a slash, and drops a question
 * mark with all that follows. A name with one of these, or that is no UTF-8, is stored as {@link #MARK} and the name with each
 * such byte, and each percent sign, as {@code %XX}. Every other name is stored as it is.
 *
 * <p>The two maps are inverse to each other on all names of a mount and on all names that Alluxio can address, so two names never
 * meet: a stored text is taken for an escaped name only if escaping that name gives exactly this text, and a name that is such a
 * text itself is escaped once more. Anything else that begins with the mark is a name as any other.
 *
 * <p>Object stores list their keys as XML 1.0, which has no control characters but tab, line feed and carriage return, and neither
 * U+FFFE nor U+FFFF: Alluxio would be told of another key. HDFS refuses names with a colon, in whatever is asked of it. In their directories
 * names with these are escaped, too; see {@link #in}.
 */
public final class NameCodec {
    /** Begins an escaped name. */
    public static final String MARK = "%pgw%";

    /** Names of files: all can be stored. */
    public static final NameCodec ESCAPED = new NameCodec("?\\", true, false);
    /** Names of files that Alluxio cannot store are refused, and nothing is read as an escape. */
    public static final NameCodec STRICT = new NameCodec("?\\", false, false);
    /** Names of extended attributes, which Alluxio stores as long as they are text. */
    public static final NameCodec XATTRS = new NameCodec("", true, false);

    private static final NameCodec LISTED_ESCAPED = new NameCodec("?\\", true, true);
    private static final NameCodec LISTED_STRICT = new NameCodec("?\\", false, true);
    private static final NameCodec COLON_ESCAPED = new NameCodec("?\\:", true, false);
    private static final NameCodec COLON_STRICT = new NameCodec("?\\:", false, false);

    private static final String HEX = "0123456789ABCDEF";
    private static final int LONGEST_SAFE = (Name.MAX_BYTES - MARK.length()) / 3;

    private final String unstorable;
    private final boolean escapes;
    /** Are names listed as XML? */
    private final boolean listed;

    /** @param unstorable characters of ASCII that Alluxio, or the under file system, does not store */
    private NameCodec(String unstorable, boolean escapes, boolean listed) {
        this.unstorable = unstorable;
        this.escapes = escapes;
        this.listed = listed;
    }

    /** The same in directories whose under file system takes these names. */
    public NameCodec in(StoreNames store) {
        return switch (store) {
            case ALL -> this;
            case LISTED_AS_XML -> escapes ? LISTED_ESCAPED : LISTED_STRICT;
            case WITHOUT_COLON -> escapes ? COLON_ESCAPED : COLON_STRICT;
        };
    }

    /** Returns false for text with a character that no request to Alluxio can carry: its path would be read as another one. */
    public static boolean isAddressable(String stored) {
        return stored.indexOf('?') < 0 && stored.indexOf('\\') < 0;
    }

    /** Returns false for names that Alluxio lists but nobody here could ask for, as no name is stored as they are. */
    public boolean isReachable(String stored) {
        boolean carried = true;
        for (int i = 0; i < stored.length() && carried; i++) {
            char character = stored.charAt(i);
            carried = unstorable.indexOf(character) < 0 && (!listed || isXml(character));
        }
        return carried;
    }

    private static boolean isXml(char character) {
        boolean control = character < ' ' && character != '\t' && character != '\n' && character != '\r';
        return !control && character != '\uFFFE' && character != '\uFFFF';
    }

    /** Returns true for names that may be stored, or shown, in another way in some under file systems than in others. */
    public static boolean dependsOnStore(Name name) {
        boolean differs = startsWithMark(name);
        for (int at = 0; at < name.length() && !differs; at++) {
            differs = name.at(at) == ':' || !isXml(name, at);
        }
        return differs;
    }

    /** Has XML 1.0 the character that begins here? */
    private static boolean isXml(Name name, int at) {
        byte first = name.at(at);
        if (first >= 0) {
            return first >= ' ' || first == '\t' || first == '\n' || first == '\r';
        }
        boolean last = first == (byte) 0xEF && at + 2 < name.length() && name.at(at + 1) == (byte) 0xBF;
        return !last || name.at(at + 2) < (byte) 0xBE; // U+FFFE, U+FFFF
    }

    /**
     * The negative errno for a name that cannot be stored: ENAMETOOLONG, and EINVAL where nothing is escaped; or 0. Allocates only
     * where the name begins with the mark.
     */
    public int refusal(Name name) {
        if (name.length() > Name.MAX_BYTES) {
            return -Errno.ENAMETOOLONG;
        }
        if (!escapes) {
            return isStorable(name) ? 0 : -Errno.EINVAL;
        }
        boolean fits = name.length() <= LONGEST_SAFE || storedBytes(name) <= Name.MAX_BYTES;
        return fits ? 0 : -Errno.ENAMETOOLONG;
    }

    private int storedBytes(Name name) {
        if (isStoredAsItIs(name)) {
            return name.length();
        }
        int bytes = MARK.length();
        for (int at = 0; at < name.length(); ) {
            int count = unescapedBytes(name, at);
            bytes += count == 0 ? 3 : count;
            at += Math.max(1, count);
        }
        return bytes;
    }

    /** The text that Alluxio stores for a name. */
    public String stored(Name name) {
        return isStoredAsItIs(name) ? name.toString() : escaped(name);
    }

    /** The same for a name of these bytes. */
    public String stored(byte[] name) {
        for (byte b : name) {
            if (b < ' ' || b == '%' || unstorable.indexOf(b) >= 0) {
                return stored(Name.of(name));
            }
        }
        return new String(name, StandardCharsets.US_ASCII);
    }

    /** The name that is stored as this text. */
    public Name shown(String stored) {
        Name escaped = escapes && stored.startsWith(MARK) ? unescaped(stored) : null;
        return escaped == null ? Name.of(stored) : escaped;
    }

    /**
     * The stored form of a path that people wrote: names as the mount shows them or as Alluxio stores them. Both mean the same, but
     * for a name that was escaped more than once: that is written as Alluxio stores it.
     */
    public String storedPath(String path) {
        if (isReachable(path)) {
            return path;
        }
        StringBuilder stored = new StringBuilder();
        String separator = "";
        for (String part : path.split("/", -1)) {
            stored.append(separator).append(stored(shown(part)));
            separator = "/";
        }
        return stored.toString();
    }

    private boolean isStoredAsItIs(Name name) {
        return !escapes || (isStorable(name) && !isEscaped(name));
    }

    /** Is the name, which can be stored, what another name is stored as? */
    private boolean isEscaped(Name name) {
        return startsWithMark(name) && unescaped(name.toString()) != null;
    }

    /** And goes on. */
    private static boolean startsWithMark(Name name) {
        if (name.length() <= MARK.length()) {
            return false;
        }
        for (int i = 0; i < MARK.length(); i++) {
            if (name.at(i) != MARK.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private boolean isStorable(Name name) {
        for (int at = 0; at < name.length(); ) {
            int count = storable(name, at);
            if (count == 0) {
                return false;
            }
            at += count;
        }
        return true;
    }

    /** The bytes of the character here if it can be stored, or 0. */
    private int storable(Name name, int at) {
        boolean can = unstorable.indexOf(name.at(at)) < 0 && (!listed || isXml(name, at));
        return can ? name.characterBytes(at) : 0;
    }

    /** The bytes of the character here that an escaped name has unchanged, or 0. */
    private int unescapedBytes(Name name, int at) {
        return name.at(at) == '%' ? 0 : storable(name, at);
    }

    private String escaped(Name name) {
        StringBuilder text = new StringBuilder(MARK);
        byte[] bytes = name.toBytes();
        for (int at = 0; at < bytes.length; ) {
            int count = unescapedBytes(name, at);
            if (count == 0) {
                text.append('%').append(HEX.charAt((bytes[at] >> 4) & 15)).append(HEX.charAt(bytes[at] & 15));
                at++;
            } else {
                text.append(new String(bytes, at, count, StandardCharsets.UTF_8));
                at += count;
            }
        }
        return text.toString();
    }

    /** The name that is escaped as this text; null: none is. */
    private @Nullable Name unescaped(String text) {
        byte[] bytes = text.substring(MARK.length()).getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream plain = new ByteArrayOutputStream(bytes.length);
        for (int at = 0; at < bytes.length; at++) {
            int next = bytes[at];
            if (next == '%') {
                boolean whole = at + 2 < bytes.length;
                int high = whole ? HEX.indexOf(bytes[at + 1]) : -1;
                int low = whole ? HEX.indexOf(bytes[at + 2]) : -1;
                next = high < 0 || low < 0 ? 0 : (high << 4) | low;
                at += 2;
            }
            if (next == 0 || next == '/') {
                return null; // in no name
            }
            plain.write(next);
        }
        Name name = Name.of(plain.toByteArray());
        boolean own = !isStoredAsItIs(name) && escaped(name).equals(text);
        return own ? name : null;
    }
}
