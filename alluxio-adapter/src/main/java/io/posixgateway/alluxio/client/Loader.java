package io.posixgateway.alluxio.client;

import alluxio.client.file.FileSystem;
import alluxio.client.file.FileSystemContext;
import alluxio.grpc.JobProgressReportFormat;
import alluxio.job.JobDescription;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;

/** Alluxio's own load: the master has workers fetch what they lack of a path. One load per path is under way at a time. */
final class Loader {
    private static final String TYPE = "load";

    private final FileSystemContext context;
    private final FileSystem files;

    Loader(FileSystemContext context, FileSystem files) {
        this.context = context;
        this.files = files;
    }

    /** False: there is one already, which goes on. */
    boolean begin(String path) throws IOException {
        try (LoadClient client = new LoadClient(context.getMasterClientContext())) {
            return client.load(path);
        }
    }

    LoadState state(String path) {
        return read(files.getJobProgress(description(path), JobProgressReportFormat.JSON, true));
    }

    void stop(String path) {
        files.stopJob(description(path));
    }

    private static JobDescription description(String path) {
        return JobDescription.newBuilder().setPath(path).setType(TYPE).build();
    }

    /** The report's names begin with an m in some releases. */
    static LoadState read(String report) {
        JsonObject fields = JsonParser.parseString(report).getAsJsonObject();
        String state = text(fields, "jobstate").toUpperCase(Locale.ROOT);
        boolean failed = state.equals("FAILED") || state.equals("STOPPED");
        String reason = text(fields, "failurereason");
        return new LoadState(
                failed || state.equals("SUCCEEDED"),
                number(fields, "loadedbytecount"),
                number(fields, "totalbytecount"),
                number(fields, "failedfilecount"),
                failed ? "Alluxio's load job ended with state " + state + (reason.isEmpty() ? "" : ": " + reason) : "");
    }

    private static String text(JsonObject fields, String name) {
        for (Map.Entry<String, JsonElement> field : fields.entrySet()) {
            String key = field.getKey().toLowerCase(Locale.ROOT);
            if ((key.equals(name) || key.equals("m" + name))
                    && !field.getValue().isJsonNull()) {
                return text(field.getValue());
            }
        }
        return "";
    }

    /** Of an exception with all its causes and stacks, the first message. */
    private static String text(JsonElement value) {
        if (value.isJsonPrimitive()) {
            return value.getAsString();
        }
        String message = "";
        if (value.isJsonObject()) {
            JsonObject exception = value.getAsJsonObject();
            message = text(exception, "detailmessage");
            if (message.isEmpty() && exception.has("cause")) {
                message = text(exception.get("cause"));
            }
        }
        return message.isEmpty() ? value.toString() : message;
    }

    private static long number(JsonObject fields, String name) {
        String text = text(fields, name);
        try {
            return text.isEmpty() ? 0 : (long) Double.parseDouble(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
