package io.posixgateway.alluxio.client;

import alluxio.conf.AlluxioProperties;
import alluxio.conf.Configuration;
import alluxio.conf.PropertyKey;
import java.util.Map;
import java.util.TreeMap;

/** The alluxio-site.properties that Alluxio's client finds by itself. Any thread. */
public final class SiteProperties {
    private SiteProperties() {}

    /** Does Alluxio's client know a property of this name? */
    public static boolean isKnown(String name) {
        return PropertyKey.isValid(name) && PropertyKey.fromString(name).isBuiltIn();
    }

    /** What it says, by name, and what properties of the JVM say in its place. */
    public static Map<String, String> properties() {
        AlluxioProperties all = Configuration.copyProperties();
        Map<String, String> found = new TreeMap<>();
        for (PropertyKey key : all.userKeySet()) {
            found.put(key.getName(), String.valueOf(all.get(key)));
        }
        return found;
    }
}
