package io.posixgateway.alluxio.harness;

import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a trial found: a line for the reader, and the same as JSON in {@code alluxio-adapter/target/fault/NAME.json}. */
public final class Report {
    private final String name;
    private final Map<String, Object> values = new LinkedHashMap<>();

    public Report(String name) {
        this.name = name;
        values.put("trial", name);
    }

    public Report with(String key, Object value) {
        values.put(key, value);
        return this;
    }

    /** Median, least and greatest of the times; of none, nothing. */
    public Report withMillis(String key, List<Long> millis) {
        if (millis.isEmpty()) {
            return this;
        }
        List<Long> sorted = new java.util.ArrayList<>(millis);
        Collections.sort(sorted);
        values.put(key + "_median_ms", sorted.get(sorted.size() / 2));
        values.put(key + "_min_ms", sorted.get(0));
        values.put(key + "_max_ms", sorted.get(sorted.size() - 1));
        return this;
    }

    public void tell() throws IOException {
        StringBuilder line = new StringBuilder("trial ").append(name).append(':');
        values.forEach((key, value) -> {
            if (!key.equals("trial")) {
                line.append(' ').append(key).append(' ').append(value);
            }
        });
        System.out.println(line);
        Path folder = Files.createDirectories(Built.root().resolve("alluxio-adapter/target/fault"));
        Files.writeString(
                folder.resolve(name + ".json"),
                new GsonBuilder().setPrettyPrinting().create().toJson(values) + "\n");
    }
}
