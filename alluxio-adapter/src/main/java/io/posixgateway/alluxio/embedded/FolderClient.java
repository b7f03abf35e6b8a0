package io.posixgateway.alluxio.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A client of a local folder. */
record FolderClient(Path root) implements UnderStoreClient {
    @Override
    public void put(String path, byte[] content) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.write(file, content);
    }

    @Override
    public byte @Nullable [] get(String path) throws IOException {
        Path file = root.resolve(path);
        return Files.isRegularFile(file) ? Files.readAllBytes(file) : null;
    }

    @Override
    public void makeDirectory(String path) throws IOException {
        Files.createDirectories(root.resolve(path));
    }

    @Override
    public void delete(String path) throws IOException {
        Files.delete(root.resolve(path));
    }

    @Override
    public List<String> names(String directory) throws IOException {
        Path folder = root.resolve(directory);
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> names = Files.list(folder)) {
            return names.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
