package io.posixgateway.alluxio.gateway;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import io.posixgateway.alluxio.gateway.KeeperClient.Session;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One response of the keeper: a line of JSON. One of another form, as of another version, is an error, and never anything else. */
final class KeeperResponse {
    private final JsonObject json;

    private KeeperResponse(JsonObject json) {
        this.json = json;
    }

    /**
     * What a session is taken with.
     *
     * @param device "major:minor" of the mount; null: not known
     * @param with names of the descriptors behind the two that always come
     */
    record Taken(
            String target,
            boolean readOnly,
            int takes,
            @Nullable String device,
            List<String> with) {}

    /** @throws KeeperException what the keeper said of a failure; "failed": it is no response */
    static KeeperResponse parse(String line) throws KeeperException {
        JsonObject json = read(line, text -> JsonParser.parseString(text).getAsJsonObject());
        boolean ok = read(json, said -> said.get("ok").getAsBoolean());
        if (!ok) {
            throw read(
                    json,
                    said -> new KeeperException(
                            said.get("code").getAsString(), said.get("error").getAsString()));
        }
        return new KeeperResponse(json);
    }

    List<Session> sessions() throws KeeperException {
        return read(json, said -> {
            List<Session> sessions = new ArrayList<>();
            for (JsonElement element : said.getAsJsonArray("list")) {
                JsonObject one = element.getAsJsonObject();
                sessions.add(new Session(
                        one.get("id").getAsString(),
                        one.get("target").getAsString(),
                        one.get("mounted").getAsBoolean(),
                        one.get("has_record").getAsBoolean(),
                        one.has("ended") && one.get("ended").getAsBoolean()));
            }
            return sessions;
        });
    }

    Taken taken() throws KeeperException {
        return read(json, said -> {
            List<String> with = new ArrayList<>();
            JsonArray names = said.has("with") ? said.getAsJsonArray("with") : new JsonArray();
            names.forEach(name -> with.add(name.getAsString()));
            return new Taken(
                    said.get("target").getAsString(),
                    said.get("read_only").getAsBoolean(),
                    Math.toIntExact(number(said, "takes")),
                    said.has("device") ? said.get("device").getAsString() : null,
                    with);
        });
    }

    long pid() throws KeeperException {
        return read(json, said -> number(said, "pid"));
    }

    int errno() throws KeeperException {
        return read(json, said -> Math.toIntExact(number(said, "errno")));
    }

    /** What was stored with a session; empty: nothing. */
    byte[] record() throws KeeperException {
        return read(json, said -> {
            JsonElement data = said.get("data");
            return data == null || data.isJsonNull()
                    ? new byte[0]
                    : Base64.getDecoder().decode(data.getAsString());
        });
    }

    /** By its digits: one with an exponent could take the memory of as many. */
    private static long number(JsonObject json, String name) {
        return Long.parseLong(json.get(name).getAsString());
    }

    /** All of these are thrown by Gson and the like for what is missing or of another kind. */
    private static <T, R> R read(T from, Function<T, R> reading) throws KeeperException {
        try {
            return reading.apply(from);
        } catch (JsonParseException
                | IllegalStateException
                | IllegalArgumentException
                | ArithmeticException
                | ClassCastException
                | NullPointerException
                | UnsupportedOperationException e) {
            throw new KeeperException(
                    KeeperException.FAILED,
                    "the keeper sent an invalid response (" + e.getMessage()
                            + "); start the posix-gateway-keeper of this version");
        }
    }
}
