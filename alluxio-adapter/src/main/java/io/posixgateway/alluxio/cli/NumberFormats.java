package io.posixgateway.alluxio.cli;

import java.util.Locale;

/** How numbers are shown to people. */
final class NumberFormats {
    private NumberFormats() {}

    static String size(double bytes) {
        String units = " KMGT";
        int unit = 0;
        double value = bytes;
        while (value >= 1024 && unit < units.length() - 1) {
            value /= 1024;
            unit++;
        }
        return unit == 0
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, value < 10 ? "%.1f%c" : "%.0f%c", value, units.charAt(unit));
    }
}
