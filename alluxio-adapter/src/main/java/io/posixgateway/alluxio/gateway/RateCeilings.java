package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.alluxio.options.OptionValues;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Most that each volume of a process may ask for in a second, whatever its options say. Immutable.
 *
 * @param values of the options {@code bytes_per_second} and {@code requests_per_second}, where there is a ceiling
 */
public record RateCeilings(Map<String, String> values) {
    /** None. */
    public static final RateCeilings NONE = new RateCeilings(Map.of());

    private static final String BYTES = MountOptions.BYTES_PER_SECOND;
    private static final String REQUESTS = MountOptions.REQUESTS_PER_SECOND;

    /**
     * @param bytesPerSecond as the option says it; empty: no ceiling
     * @param requestsPerSecond likewise
     * @throws OptionException for what the option does not allow
     */
    public static RateCeilings of(String bytesPerSecond, String requestsPerSecond) {
        Map<String, String> values = new LinkedHashMap<>();
        if (!bytesPerSecond.isEmpty()) {
            values.put(BYTES, bytesPerSecond);
        }
        if (!requestsPerSecond.isEmpty()) {
            values.put(REQUESTS, requestsPerSecond);
        }
        FileSystemFactory.OPTIONS.read(values);
        return new RateCeilings(Map.copyOf(values));
    }

    /** The same options, with the ceiling in the place of a limit that is higher, or that is not there. */
    OptionValues over(OptionValues given) {
        OptionValues under = given;
        OptionValues ceilings = FileSystemFactory.OPTIONS.read(values);
        if (ceilings.given(BYTES) && (!given.given(BYTES) || given.bytes(BYTES) > ceilings.bytes(BYTES))) {
            under = under.with(BYTES, ceilings.text(BYTES));
        }
        if (ceilings.given(REQUESTS)
                && (!given.given(REQUESTS) || given.number(REQUESTS) > ceilings.number(REQUESTS))) {
            under = under.with(REQUESTS, ceilings.text(REQUESTS));
        }
        return under;
    }
}
