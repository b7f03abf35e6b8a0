package io.posixgateway.alluxio.simulation;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the attributes of the files of a {@link Model} may be, by a file's number. What a mount that wrote to the file was told to change it
 * may send at once, or with the content: until then others see the old or the new. A change by others stays unless that mount changed the
 * same. Changed by its own methods.
 */
final class AttributeModel {
    /** As others see them. */
    private final Map<Integer, FileAttributes> stored;
    /** What a mount has yet to send. */
    private final Map<Model.Key, FileAttributes> unsent;

    AttributeModel() {
        this(new HashMap<>(), new HashMap<>());
    }

    private AttributeModel(Map<Integer, FileAttributes> stored, Map<Model.Key, FileAttributes> unsent) {
        this.stored = stored;
        this.unsent = unsent;
    }

    AttributeModel copy() {
        return new AttributeModel(new HashMap<>(stored), new HashMap<>(unsent));
    }

    void made(int file) {
        stored.put(file, FileAttributes.ofNewFile());
    }

    private FileAttributes stored(int file) {
        return stored.getOrDefault(file, FileAttributes.NONE);
    }

    private FileAttributes unsent(Model.Key dirtyFile) {
        return unsent.getOrDefault(dirtyFile, FileAttributes.NONE);
    }

    /** A file is given an attribute by the mount that wrote to it. */
    void give(Model.Key dirtyFile, String name, String value) {
        unsent.put(dirtyFile, unsent(dirtyFile).with(name, value));
    }

    /** By whoever did not write to it. */
    void give(int file, String name, String value) {
        stored.put(file, stored(file).with(name, value));
        FileAttributes given = FileAttributes.NONE.with(name, value);
        unsent.replaceAll((key, own) -> key.number() == file && own.has(name) ? own.or(given) : own);
    }

    /** Its content is another one, so its time is no longer what a program set. */
    void wrote(Model.Key dirtyFile) {
        unsent.put(dirtyFile, unsent(dirtyFile).withAnything(FileAttributes.MODIFIED));
    }

    /** Others see what the mount has of it. */
    void send(Model.Key dirtyFile) {
        FileAttributes own = unsent.remove(dirtyFile);
        if (own != null) {
            stored.put(dirtyFile.number(), stored(dirtyFile.number()).under(own));
        }
    }

    /** What the mount has not sent it may have sent all the same. */
    void lose(Model.Key dirtyFile) {
        FileAttributes own = unsent.remove(dirtyFile);
        if (own != null) {
            stored.put(dirtyFile.number(), stored(dirtyFile.number()).or(own));
        }
    }

    /** The same of all that a mount has. */
    void lose(int mount) {
        Set.copyOf(unsent.keySet()).stream().filter(key -> key.mount() == mount).forEach(this::lose);
    }

    /** Alluxio, which alone had them, is another one. */
    void forget() {
        unsent.clear();
        stored.replaceAll((file, all) -> all.forgotten());
    }

    /** As others may see them. */
    private FileAttributes seen(int file) {
        FileAttributes all = stored(file);
        for (Map.Entry<Model.Key, FileAttributes> own : unsent.entrySet()) {
            all = own.getKey().number() == file ? all.or(own.getValue()) : all;
        }
        return all;
    }

    /**
     * What a mount may show.
     *
     * @param open it has the file open: what others change meanwhile it need not show yet
     */
    FileAttributes shown(Model.Key file, boolean open) {
        FileAttributes own = unsent(file);
        return open ? own : seen(file.number()).under(own);
    }

    /** What the mount made it; null: it may be one of several, or what others made it. */
    @Nullable
    String known(Model.Key dirtyFile, String name) {
        return unsent(dirtyFile).only(name);
    }

    /** Null: others may see these of a file; else why not. */
    @Nullable
    String differs(int file, Map<String, String> attributes) {
        return seen(file).differs(attributes);
    }

    /** What may be one of several is what was seen, unless more is to come. */
    void narrow(int file, Map<String, String> attributes) {
        boolean isSent = unsent.keySet().stream().noneMatch(key -> key.number() == file);
        if (isSent) {
            stored.put(file, stored(file).narrowed(attributes));
        }
    }

    private Map<String, Object> state() {
        return Map.of("stored", stored, "unsent", unsent);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AttributeModel model && state().equals(model.state());
    }

    @Override
    public int hashCode() {
        return state().hashCode();
    }

    @Override
    public String toString() {
        return new TreeMap<>(stored) + " unsent " + unsent;
    }
}
