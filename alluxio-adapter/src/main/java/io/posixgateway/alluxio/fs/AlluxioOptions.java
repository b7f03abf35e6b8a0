package io.posixgateway.alluxio.fs;

import java.util.Map;

/**
 * Which Alluxio, as whom, and which path of it.
 *
 * @param masters "host:port[,host:port…]"; empty: as alluxio-site.properties says
 * @param path absolute path in Alluxio that becomes the root
 * @param user the user in Alluxio; empty: the one this process runs as
 * @param properties client properties, over those of alluxio-site.properties; masters and user that are given count before them
 */
public record AlluxioOptions(String masters, String path, String user, Map<String, String> properties) {
    private static final String SCHEME = "alluxio://";
    private static final int MAX_PORT = 65_535;

    /**
     * @param uri {@code alluxio://host:port[,host:port…]/path}, or just {@code /path}
     * @throws IllegalArgumentException with a sentence for the user
     */
    public static AlluxioOptions ofUri(String uri) {
        if (uri.startsWith("/")) {
            return new AlluxioOptions("", normal(uri), "", Map.of());
        }
        if (!uri.startsWith(SCHEME)) {
            throw new IllegalArgumentException("'" + uri
                    + "' is not an Alluxio URI; give alluxio://HOST:PORT/PATH, or /PATH with alluxio-site.properties");
        }
        String rest = uri.substring(SCHEME.length());
        int slash = rest.indexOf('/');
        String masters = slash < 0 ? rest : rest.substring(0, slash);
        for (String master : masters.isEmpty() ? new String[0] : masters.split(",", -1)) {
            if (!isAddress(master)) {
                throw new IllegalArgumentException("'" + master + "' in '" + uri
                        + "' is not a master address; give HOST:PORT, for example 10.0.0.1:19998");
            }
        }
        return new AlluxioOptions(masters, normal(slash < 0 ? "/" : rest.substring(slash)), "", Map.of());
    }

    private static boolean isAddress(String master) {
        return master.matches("([^:\\s\\[\\]]+|\\[[0-9a-fA-F:.]+]):\\d{1,5}")
                && Integer.parseInt(master.substring(master.lastIndexOf(':') + 1)) <= MAX_PORT;
    }

    private static String normal(String path) {
        String single = path.replaceAll("/+", "/");
        return single.length() > 1 && single.endsWith("/") ? single.substring(0, single.length() - 1) : single;
    }
}
