package io.posixgateway.fuse.path;

import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that the kernel knows, and the paths that lead to them now.
 *
 * <p>A node keeps its parent and its own name, so that renaming a directory moves all below it at once. A node leaves when
 * the kernel has forgotten it and no known node is below it. Guarded by its monitor, which is never held while the author's
 * methods run.
 */
final class PathNodes {
    private final Map<Long, Node> byId = new HashMap<>();
    private long nextId = FileSystem.ROOT + 1;

    private static final class Node {
        final long id;
        final Map<Name, Node> children = new HashMap<>();
        long lookups;
        /** Null: the root, or a node whose name is gone. */
        @Nullable
        Node parent;

        Name name;

        Node(long id, @Nullable Node parent, Name name) {
            this.id = id;
            this.parent = parent;
            this.name = name;
        }
    }

    PathNodes() {
        byId.put(FileSystem.ROOT, new Node(FileSystem.ROOT, null, new Name()));
    }

    /** The path from the root, beginning with a slash; null: the name is gone. */
    synchronized @Nullable String pathOf(long id) {
        Node node = byId.get(id);
        StringBuilder path = new StringBuilder();
        while (node != null && node.id != FileSystem.ROOT) {
            path.insert(0, "/" + node.name);
            node = node.parent;
        }
        return node == null ? null : path.isEmpty() ? "/" : path.toString();
    }

    /** The id of a name that exists; the kernel knows it once more. 0: the directory is gone. */
    synchronized long enter(long parentId, Name name) {
        Node parent = byId.get(parentId);
        if (parent == null) {
            return 0;
        }
        Node node = parent.children.get(name);
        if (node == null) {
            node = new Node(nextId++, parent, name.copy());
            byId.put(node.id, node);
            parent.children.put(node.name, node);
        }
        node.lookups++;
        return node.id;
    }

    synchronized void forget(long id, long lookups) {
        Node node = byId.get(id);
        if (node != null && id != FileSystem.ROOT) {
            node.lookups -= lookups;
            leaveIfUnused(node);
        }
    }

    private void leaveIfUnused(Node node) {
        Node at = node;
        while (at.id != FileSystem.ROOT && at.lookups <= 0 && at.children.isEmpty()) {
            byId.remove(at.id);
            Node above = at.parent;
            if (above == null) {
                return;
            }
            above.children.remove(at.name);
            at = above;
        }
    }

    /** The name was removed: what the kernel still knows of it has no path any more. */
    synchronized void removed(long parentId, Name name) {
        Node parent = byId.get(parentId);
        Node node = parent == null ? null : parent.children.remove(name);
        if (node != null) {
            node.parent = null;
            leaveIfUnused(node);
        }
    }

    synchronized void renamed(long parentId, Name name, long newParentId, Name newName) {
        Node parent = byId.get(parentId);
        Node newParent = byId.get(newParentId);
        if (parent == null || newParent == null) {
            return;
        }
        removed(newParentId, newName);
        Node node = parent.children.remove(name);
        if (node != null) {
            node.parent = newParent;
            node.name = newName.copy();
            newParent.children.put(node.name, node);
        }
    }
}
