package io.posixgateway.alluxio.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the files may be: as one history says that agrees with all that was answered so far. Where an answer is missing there are several.
 * Not changed once it is made but by its own methods, which make another one.
 *
 * <p>A file is known by a number of its own, whatever its name. What others see of it is what was stored last: by a close or an fsync, or
 * before a rename.
 */
final class Model {
    /** In place of a file's number. */
    private static final int DIRECTORY = 0;
    /** As content that was seen: the file is not complete. */
    static final String INCOMPLETE = "\0incomplete";
    /** As content that was seen. */
    static final String IS_DIRECTORY = "\0directory";

    private final NavigableMap<String, Integer> names;
    /** Of a file that is made, and was never stored, there is none. */
    private final Map<Integer, String> stored;
    /** Contents that only their mount sees. */
    private final Map<Key, String> dirtyFiles;

    private final Map<Key, Integer> descriptors;
    private final AttributeModel attributes;

    /** Something of a mount: a descriptor, by its slot, or a dirty file, by its file. */
    record Key(int mount, int number) {}

    Model() {
        this(new TreeMap<>(), new HashMap<>(), new HashMap<>(), new HashMap<>(), new AttributeModel());
    }

    private Model(
            NavigableMap<String, Integer> names,
            Map<Integer, String> stored,
            Map<Key, String> dirtyFiles,
            Map<Key, Integer> descriptors,
            AttributeModel attributes) {
        this.names = names;
        this.stored = stored;
        this.dirtyFiles = dirtyFiles;
        this.descriptors = descriptors;
        this.attributes = attributes;
    }

    private Model copy() {
        return new Model(
                new TreeMap<>(names),
                new HashMap<>(stored),
                new HashMap<>(dirtyFiles),
                new HashMap<>(descriptors),
                attributes.copy());
    }

    Model withDirectory(String path) {
        Model next = copy();
        next.names.put(path, DIRECTORY);
        return next;
    }

    private static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }

    private boolean isDirectory(String path) {
        return path.equals("/") || Integer.valueOf(DIRECTORY).equals(names.get(path));
    }

    private boolean isFile(String path) {
        Integer file = names.get(path);
        return file != null && file != DIRECTORY;
    }

    private Map<String, Integer> below(String directory) {
        return names.subMap(directory + "/", directory + "0");
    }

    /** Has another one of these mounts the file open, or is it one that nobody completes any more? What comes of it then is not laid down. */
    private boolean isContended(int mount, String path) {
        Integer file = names.get(path);
        if (file == null || file == DIRECTORY) {
            return below(path).keySet().stream().anyMatch(name -> isContended(mount, name));
        }
        boolean others = descriptors.entrySet().stream()
                .anyMatch(
                        open -> open.getKey().mount != mount && open.getValue().equals(file));
        boolean mine = descriptors.entrySet().stream()
                .anyMatch(
                        open -> open.getKey().mount == mount && open.getValue().equals(file));
        return others || (!mine && !stored.containsKey(file));
    }

    /** Is it a file that is made, and that this one does not write? What comes of its attributes then is not laid down. */
    private boolean isIncomplete(int mount, String path) {
        Integer file = names.get(path);
        return file != null && file != DIRECTORY && !stored.containsKey(file) && !isOpen(mount, file);
    }

    /** Is there a file below that nobody completes any more? */
    private boolean isAbandoned(String directory) {
        return below(directory).values().stream()
                .anyMatch(file -> file != DIRECTORY && !stored.containsKey(file) && !descriptors.containsValue(file));
    }

    /** Does the step change, or read, what another mount has open? What comes of it then is not laid down. */
    boolean isContended(Step step) {
        return switch (step.kind()) {
            case WRITE, TRUNCATE, FSYNC, CLOSE -> false;
            case CHMOD, CHOWN, UTIMENS, SETXATTR, REMOVEXATTR, STAT -> isIncomplete(step.actor(), step.path());
            case RENAME, RENAME_DIRECTORY ->
                isContended(step.actor(), step.path()) || isContended(step.actor(), step.other());
            default -> isContended(step.actor(), step.path());
        };
    }

    /** Is this a step that the model says nothing of? */
    boolean skips(Step step) {
        Key slot = new Key(step.actor(), step.slot());
        return switch (step.kind()) {
            case CREATE -> descriptors.containsKey(slot) || isContended(step.actor(), step.path());
            case OPEN ->
                descriptors.containsKey(slot)
                        || isContended(step.actor(), step.path())
                        || isDirectory(step.path())
                        || isOpen(step.actor(), names.get(step.path()));
            case WRITE, TRUNCATE, FSYNC, CLOSE -> !descriptors.containsKey(slot);
            case READ -> isContended(step.actor(), step.path()) || isDirectory(step.path());
            case RENAME ->
                step.path().equals(step.other())
                        || isContended(step.actor(), step.path())
                        || isContended(step.actor(), step.other())
                        || isDirectory(step.path())
                        || isDirectory(step.other());
            case RENAME_DIRECTORY ->
                step.path().equals(step.other())
                        || isFile(step.path())
                        || isFile(step.other())
                        || isAbandoned(step.path())
                        || (step.other() + "/").startsWith(step.path() + "/")
                        || (step.path() + "/").startsWith(step.other() + "/");
            case UNLINK -> isContended(step.actor(), step.path()) || isDirectory(step.path());
            case MKDIR, RMDIR -> isContended(step.actor(), step.path()) || isFile(step.path());
            case CHMOD, CHOWN, UTIMENS, SETXATTR, STAT -> isContended(step) || isDirectory(step.path());
            case REMOVEXATTR -> isContended(step) || isDirectory(step.path()) || isUnknown(step);
            case TRUNCATE_PATH, APPEND ->
                isContended(step) || isDirectory(step.path()) || isOpen(step.actor(), names.get(step.path()));
            default -> false;
        };
    }

    /** Is it not known whether the mount, which has the file open, finds an attribute to remove? */
    private boolean isUnknown(Step step) {
        Integer file = names.get(step.path());
        if (file == null || !isOpen(step.actor(), file)) {
            return false;
        }
        String known = attributes.known(new Key(step.actor(), file), Program.XATTRS.get(step.slot()));
        return known == null || known.isEmpty();
    }

    /** Is what the step would open open? */
    boolean hasOpen(Step step) {
        return descriptors.containsKey(new Key(step.actor(), step.slot()));
    }

    private boolean isOpen(int mount, @Nullable Integer file) {
        return file != null
                && descriptors.entrySet().stream()
                        .anyMatch(open ->
                                open.getKey().mount == mount && open.getValue().equals(file));
    }

    /** What comes of it; null: it fails, and changes nothing. */
    @Nullable
    Model after(Step step) {
        Model next = copy();
        return next.does(step) ? next : null;
    }

    private boolean does(Step step) {
        Key slot = new Key(step.actor(), step.slot());
        return switch (step.kind()) {
            case CREATE -> create(step, slot);
            case OPEN -> isFile(step.path()) && put(slot, names.get(step.path()));
            case WRITE -> edit(slot, written(content(slot), step));
            case TRUNCATE -> edit(slot, cut(content(slot), step.offset()));
            case FSYNC -> store(step.actor(), file(slot));
            case CLOSE -> close(step, slot);
            case READ -> isFile(step.path());
            case RENAME -> rename(step);
            case RENAME_DIRECTORY -> renameDirectory(step.path(), step.other());
            case UNLINK -> isFile(step.path()) && names.remove(step.path()) != null;
            case MKDIR ->
                isDirectory(parent(step.path()))
                        && !names.containsKey(step.path())
                        && names.put(step.path(), DIRECTORY) == null;
            case CHMOD, CHOWN, UTIMENS, SETXATTR -> isFile(step.path()) && give(step);
            case REMOVEXATTR -> isFile(step.path()) && store(step.actor(), number(step.path())) && give(step);
            case TRUNCATE_PATH -> isFile(step.path()) && change(step, cut(here(step), step.offset()));
            case APPEND -> isFile(step.path()) && change(step, here(step) + step.data());
            case STAT -> isFile(step.path());
            case RMDIR -> isDirectory(step.path()) && below(step.path()).isEmpty() && names.remove(step.path()) != null;
            default -> true;
        };
    }

    private boolean put(Key slot, @Nullable Integer file) {
        if (file != null) {
            descriptors.put(slot, file);
        }
        return file != null;
    }

    private int number(String path) {
        Integer file = names.get(path);
        return file == null ? DIRECTORY : file;
    }

    private String here(Step step) {
        return content(step.actor(), number(step.path()));
    }

    /** Gives a file attributes, or takes one off it. */
    private boolean give(Step step) {
        int file = number(step.path());
        Key own = new Key(step.actor(), file);
        boolean later = dirtyFiles.containsKey(own) && step.kind() != Step.Kind.REMOVEXATTR;
        step.attributes().forEach((name, value) -> {
            if (later) {
                attributes.give(own, name, value);
            } else {
                attributes.give(file, name, value);
            }
        });
        return true;
    }

    /** By its path: others see it at once. */
    private boolean change(Step step, String content) {
        Key own = new Key(step.actor(), number(step.path()));
        dirtyFiles.put(own, content);
        attributes.wrote(own);
        store(step.actor(), own.number);
        dirtyFiles.remove(own);
        return true;
    }

    private boolean create(Step step, Key slot) {
        if (!isDirectory(parent(step.path())) || names.containsKey(step.path())) {
            return false;
        }
        int file = step.number() + 1;
        names.put(step.path(), file);
        attributes.made(file);
        if (step.actor() == Step.OUTSIDER) {
            stored.put(file, step.data());
            return true;
        }
        dirtyFiles.put(new Key(step.actor(), file), "");
        return put(slot, file);
    }

    private int file(Key slot) {
        Integer file = descriptors.get(slot);
        if (file == null) {
            throw new IllegalStateException("nothing is open in " + slot);
        }
        return file;
    }

    private String content(Key slot) {
        return content(slot.mount, file(slot));
    }

    private String content(int mount, int file) {
        String dirtyFile = dirtyFiles.get(new Key(mount, file));
        String seen = dirtyFile == null ? stored.get(file) : dirtyFile;
        return seen == null ? INCOMPLETE : seen;
    }

    private static String written(String before, Step step) {
        String all = cut(before, Math.max(before.length(), step.offset() + step.count()));
        return all.substring(0, step.offset()) + step.data() + all.substring(step.offset() + step.count());
    }

    private static String cut(String before, int length) {
        return before.length() >= length ? before.substring(0, length) : before + "\0".repeat(length - before.length());
    }

    private boolean edit(Key slot, String content) {
        Key own = new Key(slot.mount, file(slot));
        dirtyFiles.put(own, content);
        attributes.wrote(own);
        return true;
    }

    /** Others see what the mount has of it from now on, if it has a name. */
    private boolean store(int mount, int file) {
        String dirtyFile = dirtyFiles.get(new Key(mount, file));
        if (dirtyFile != null && names.containsValue(file)) {
            stored.put(file, dirtyFile);
            attributes.send(new Key(mount, file));
        }
        return true;
    }

    private boolean close(Step step, Key slot) {
        int file = file(slot);
        store(step.actor(), file);
        dirtyFiles.remove(new Key(step.actor(), file));
        descriptors.remove(slot);
        return true;
    }

    private boolean rename(Step step) {
        Integer file = names.get(step.path());
        if (file == null || !isDirectory(parent(step.other()))) {
            return false;
        }
        store(step.actor(), file);
        names.remove(step.path());
        names.put(step.other(), file);
        return true;
    }

    private boolean renameDirectory(String from, String to) {
        if (!isDirectory(from) || !isDirectory(parent(to)) || !below(to).isEmpty()) {
            return false;
        }
        Map<String, Integer> moved = new TreeMap<>(below(from));
        below(from).clear();
        names.remove(from);
        names.put(to, DIRECTORY);
        moved.forEach((name, file) -> names.put(to + name.substring(from.length()), file));
        return true;
    }

    /** All that may have come of a step whose answer is not known, or which failed. */
    List<Model> maybe(Step step, boolean ended) {
        Model after = after(step);
        List<Model> all = new ArrayList<>();
        if (step.kind() == Step.Kind.CLOSE && ended) {
            all.addAll(closed(step));
        } else {
            all.add(this);
        }
        if (after != null) {
            all.addAll(partly(step, ended));
        }
        if (after != null && !(step.opens() && ended)) {
            all.add(after);
        }
        return all;
    }

    /** What may have come of a part of it. */
    private List<Model> partly(Step step, boolean ended) {
        return switch (step.kind()) {
            case CLOSE, FSYNC -> List.of(contentStored(step, ended));
            case RENAME, REMOVEXATTR -> List.of(storedFirst(step));
            case RENAME_DIRECTORY -> {
                Model free = copy();
                free.names.remove(step.other()); // an empty one is removed first
                yield List.of(free);
            }
            default -> List.of();
        };
    }

    /** The content is stored, but of its attributes maybe none. */
    private Model contentStored(Step step, boolean ended) {
        Key slot = new Key(step.actor(), step.slot());
        Key own = new Key(step.actor(), file(slot));
        Model next = copy();
        String content = dirtyFiles.get(own);
        if (content != null && names.containsValue(own.number)) {
            next.stored.put(own.number, content);
        }
        if (step.kind() == Step.Kind.CLOSE && ended) {
            next.descriptors.remove(slot);
            next.dirtyFiles.remove(own);
            next.attributes.lose(own);
        }
        return next;
    }

    private Model storedFirst(Step step) {
        Model next = copy();
        next.store(step.actor(), number(step.path()));
        return next;
    }

    /** The descriptor is closed, and what was written may be lost, and with it a file that was never stored. */
    private List<Model> closed(Step step) {
        Key slot = new Key(step.actor(), step.slot());
        int file = file(slot);
        Model lost = copy();
        lost.descriptors.remove(slot);
        lost.dirtyFiles.remove(new Key(step.actor(), file));
        lost.attributes.lose(new Key(step.actor(), file));
        if (!stored.containsKey(file)) {
            lost.names.values().remove(file);
        }
        return List.of(lost);
    }

    /** The mount's programs are gone, with all that only the mount knew; files that were never stored go, too, sooner or later. */
    Model without(int mount) {
        Model next = copy();
        next.dirtyFiles.keySet().removeIf(key -> key.mount == mount);
        next.attributes.lose(mount);
        next.descriptors.keySet().removeIf(key -> key.mount == mount);
        return next;
    }

    /** What the step opened is not open. */
    Model withoutDescriptor(Step step) {
        Model next = copy();
        Integer file = next.descriptors.remove(new Key(step.actor(), step.slot()));
        if (file != null) {
            next.dirtyFiles.remove(new Key(step.actor(), file));
            next.attributes.lose(new Key(step.actor(), file));
        }
        return next;
    }

    /** Alluxio is another one, over the same under file system. */
    Model formatted() {
        Model next = withoutAbandoned();
        next.attributes.forget();
        return next;
    }

    /** Files that nobody has open, and that were never stored, are gone. */
    Model withoutAbandoned() {
        Model next = copy();
        next.names
                .values()
                .removeIf(file ->
                        file != DIRECTORY && !stored.containsKey(file) && !next.descriptors.containsValue(file));
        return next;
    }

    boolean has(String path) {
        return names.containsKey(path);
    }

    /** What the mount reads of a path; null: nothing that the model knows. */
    @Nullable
    String read(int mount, String path) {
        Integer file = names.get(path);
        return file == null || file == DIRECTORY ? null : content(mount, file);
    }

    /** May a mount show these attributes? */
    boolean shows(int mount, String path, Map<String, String> shown) {
        int file = number(path);
        FileAttributes expected = attributes.shown(new Key(mount, file), isOpen(mount, file));
        return expected.differs(shown) == null;
    }

    /** The same, as others see it: what may be one of several is what was seen. */
    Model narrowed(Seen seen) {
        Model next = copy();
        seen.attributes().forEach((path, all) -> next.attributes.narrow(number(path), all));
        return next;
    }

    /**
     * Null: others may see these attributes; else why not.
     */
    private @Nullable String differs(Seen seen) {
        for (Map.Entry<String, Map<String, String>> file : seen.attributes().entrySet()) {
            String differs = has(file.getKey()) ? attributes.differs(number(file.getKey()), file.getValue()) : null;
            if (differs != null) {
                return file.getKey() + ": " + differs;
            }
        }
        return null;
    }

    /** Null: this is what others may see, attributes included; else why not. */
    @Nullable
    String differs(Seen seen, boolean lenient) {
        String differs = differs(seen.contents(), lenient);
        return differs == null ? differs(seen) : differs;
    }

    /**
     * Null: this is what others may see; else why not.
     *
     * @param seen contents by path
     * @param lenient files that are not complete may be left for a while
     */
    @Nullable
    String differs(Map<String, String> seen, boolean lenient) {
        for (Map.Entry<String, Integer> name : names.entrySet()) {
            String expected = name.getValue() == DIRECTORY ? IS_DIRECTORY : stored.get(name.getValue());
            String there = seen.get(name.getKey());
            boolean fits = expected == null ? there == null || there.equals(INCOMPLETE) : expected.equals(there);
            if (!fits) {
                return name.getKey() + " is " + shown(there) + ", not " + shown(expected);
            }
        }
        for (Map.Entry<String, String> name : seen.entrySet()) {
            boolean known = names.containsKey(name.getKey());
            if (!known && !(lenient && name.getValue().equals(INCOMPLETE))) {
                return name.getKey() + " is there, " + shown(name.getValue());
            }
        }
        return null;
    }

    private static String shown(@Nullable String content) {
        return content == null ? "missing" : "'" + content.replace('\0', '_') + "'";
    }

    private List<Object> state() {
        return List.of(names, stored, dirtyFiles, descriptors, attributes);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Model model && state().equals(model.state());
    }

    @Override
    public int hashCode() {
        return state().hashCode();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        names.forEach((name, file) -> text.append(name)
                .append('=')
                .append(file == DIRECTORY ? "dir" : shown(stored.get(file)))
                .append(' '));
        return text.append("drafts ")
                .append(dirtyFiles.size())
                .append(", ")
                .append(attributes)
                .toString();
    }
}
