package io.posixgateway.alluxio.gateway;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Takes secrets out of texts that leave the machine: the values behind names that sound like one, credentials in URLs, and
 * known values wherever they stand.
 */
public final class Redactor {
    /** What stands in the place of a secret. */
    public static final String REMOVED = "<removed>";

    private static final String NAMES =
            "password|passwd|passphrase|secret|token|credential|access[-_.]?key|private[-_.]?key"
                    + "|api[-_.]?key|authorization|sas[-_.]?key|account[-_.]?key";
    private static final Pattern SENSITIVE = Pattern.compile("(?i).*(" + NAMES + ").*");
    private static final Pattern ASSIGNED = Pattern.compile("(?i)([\\w.\\-]*(?:" + NAMES
            + ")[\\w.\\-]*\"?\\s*(?:=|:)\\s*(?:bearer\\s+|basic\\s+)?)(\"[^\"]*\"|'[^']*'|[^\\s,;\"'}\\]]+)");
    private static final Pattern IN_URL = Pattern.compile("://[^/@\\s:]+:[^/@\\s]+@");
    private static final int SHORTEST = 4;
    /** Values of settings such as alluxio.security.authentication.required, and of those that are not set. */
    private static final Set<String> NO_SECRETS = Set.of("true", "false", "null");

    private final List<String> known;

    /** @param settings names and values of which some may be secrets */
    public Redactor(Collection<Map<String, String>> settings) {
        known = settings.stream()
                .flatMap(map -> map.entrySet().stream())
                .filter(entry -> SENSITIVE.matcher(entry.getKey()).matches())
                .map(Map.Entry::getValue)
                .filter(value -> value.length() >= SHORTEST && !NO_SECRETS.contains(value))
                .distinct()
                .toList();
    }

    /** The text without them. */
    public String clean(String text) {
        String clean = text;
        for (String secret : known) {
            clean = clean.replace(secret, REMOVED);
        }
        clean = IN_URL.matcher(clean).replaceAll(Matcher.quoteReplacement("://" + REMOVED + "@"));
        return ASSIGNED.matcher(clean).replaceAll(found -> Matcher.quoteReplacement(found.group(1) + REMOVED));
    }
}
