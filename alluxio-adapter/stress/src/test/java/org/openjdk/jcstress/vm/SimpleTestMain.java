package org.openjdk.jcstress.vm;

import java.lang.management.ManagementFactory;

/**
 * In the place of jcstress's class of this name, by which it finds out what a JVM can do. Fails for biased locking, which is off by
 * default since JDK 15: so each race runs once, and not a second time with it.
 */
public final class SimpleTestMain {
    private SimpleTestMain() {}

    public static void main(String[] args) {
        if (ManagementFactory.getRuntimeMXBean().getInputArguments().contains("-XX:+UseBiasedLocking")) {
            System.exit(1);
        }
    }
}
