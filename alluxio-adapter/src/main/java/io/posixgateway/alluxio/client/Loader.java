package io.posixgateway.alluxio.client;

import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getGetJobProgressMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getStopJobMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getSubmitJobMethod;

import alluxio.grpc.GetJobProgressPRequest;
import alluxio.grpc.JobDescription;
import alluxio.grpc.JobProgressPOptions;
import alluxio.grpc.JobProgressReportFormat;
import alluxio.grpc.StopJobPRequest;
import alluxio.grpc.SubmitJobPRequest;
import alluxio.shaded.client.com.google.protobuf.ByteString;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.posixgateway.alluxio.store.LoadState;
import io.posixgateway.alluxio.store.StoreException;
import java.util.Locale;
import java.util.Map;

/** Alluxio's own load: the master has workers fetch what they lack of a path. One load per path is under way at a time. */
final class Loader {
    private static final JobProgressPOptions REPORT = JobProgressPOptions.newBuilder()
            .setVerbose(true)
            .setFormat(JobProgressReportFormat.JSON)
            .build();

    private final MasterClient master;

    Loader(MasterClient master) {
        this.master = master;
    }

    /** False: there is one already, which goes on. */
    boolean begin(String path) throws StoreException {
        FileSystemMaster.uri(path); // a question mark would end it
        SubmitJobPRequest.Builder request = SubmitJobPRequest.newBuilder();
        request.setRequestBody(ByteString.copyFrom(LoadRequest.bytes(path)));
        return master.send("load " + path, getSubmitJobMethod(), request.build())
                .hasJobId();
    }

    LoadState state(String path) throws StoreException {
        GetJobProgressPRequest.Builder request = GetJobProgressPRequest.newBuilder();
        request.setJobDescription(job(path)).setOptions(REPORT);
        return read(master.send("progress of the load of " + path, getGetJobProgressMethod(), request.build())
                .getProgressReport());
    }

    void stop(String path) throws StoreException {
        StopJobPRequest.Builder request = StopJobPRequest.newBuilder().setJobDescription(job(path));
        master.send("stop the load of " + path, getStopJobMethod(), request.build());
    }

    private static JobDescription job(String path) {
        return JobDescription.newBuilder().setPath(path).setType("load").build();
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
