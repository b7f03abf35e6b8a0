package io.posixgateway.alluxio.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** Files as of a small training set: many little pictures in classes, a few large archives. The same bytes every time. */
final class SampleDataset {
    private static final int CLASSES = 10;
    /** Tests of what is the same for any number give fewer. */
    private static final int PICTURES_PER_CLASS = Integer.getInteger("posixgateway.demo.pictures", 100);

    private static final int MEAN_PICTURE_BYTES = 19_000;
    private static final int ARCHIVES = 3;
    private static final int ARCHIVE_BYTES = 20 << 20;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final long SEED = 2_9_3;

    private SampleDataset() {}

    /** Writes it below a folder that exists. */
    static void write(Path folder) throws IOException {
        Random random = new Random(SEED);
        for (int i = 0; i < CLASSES; i++) {
            Path pictures = Files.createDirectories(folder.resolve("pictures").resolve("class-" + i));
            for (int k = 0; k < PICTURES_PER_CLASS; k++) {
                int bytes = MEAN_PICTURE_BYTES / 2 + random.nextInt(MEAN_PICTURE_BYTES);
                file(pictures.resolve(String.format("picture-%04d.jpg", k)), bytes, random);
            }
        }
        Path archives = Files.createDirectories(folder.resolve("archives"));
        for (int i = 0; i < ARCHIVES; i++) {
            file(archives.resolve("part-" + i + ".tar"), ARCHIVE_BYTES + i, random);
        }
        Files.writeString(
                folder.resolve("README.txt"),
                CLASSES * PICTURES_PER_CLASS + " small files in pictures/, " + ARCHIVES + " large ones in archives/\n");
    }

    private static void file(Path path, int bytes, Random random) throws IOException {
        byte[] chunk = new byte[CHUNK_BYTES];
        try (OutputStream out = Files.newOutputStream(path)) {
            for (int left = bytes; left > 0; left -= CHUNK_BYTES) {
                random.nextBytes(chunk);
                out.write(chunk, 0, Math.min(left, CHUNK_BYTES));
            }
        }
    }
}
