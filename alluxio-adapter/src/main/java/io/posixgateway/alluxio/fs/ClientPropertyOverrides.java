package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.client.SiteProperties;
import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.alluxio.options.OptionValues;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What properties of Alluxio's client say of what is an option of a mount here. Immutable. */
public final class ClientPropertyOverrides {
    private static final Logger LOG = LoggerFactory.getLogger(ClientPropertyOverrides.class);
    private static final String WRITE_TYPE = "alluxio.user.file.writetype.default";
    private static final String SHORT_CIRCUIT = "alluxio.user.short.circuit.enabled";
    /** Properties that count where these options are not given. */
    private static final Map<String, String> OPTIONS = Map.of(WRITE_TYPE, "write_type", SHORT_CIRCUIT, "short_circuit");

    private final Map<String, String> properties;

    /** @param given over those that Alluxio's client finds by itself */
    public ClientPropertyOverrides(Map<String, String> given) {
        properties = new TreeMap<>(SiteProperties.properties());
        properties.putAll(given);
    }

    /**
     * The values, and where none was given, what the properties say.
     *
     * @throws OptionException a property has a value that the option does not allow
     */
    public OptionValues under(OptionValues values) {
        OptionValues all = values;
        for (Map.Entry<String, String> one : OPTIONS.entrySet()) {
            if (counts(one.getKey(), values)) {
                all = with(all, one.getValue(), one.getKey());
            }
        }
        return all;
    }

    /** Is it the property that says what the option does? */
    private boolean counts(String property, OptionValues values) {
        String option = OPTIONS.get(property);
        return option != null && properties.containsKey(property) && !values.given(option);
    }

    private OptionValues with(OptionValues values, String option, String property) {
        String said = String.valueOf(properties.get(property)).trim();
        try {
            return values.with(option, word(property, said));
        } catch (OptionException e) {
            throw new OptionException("property " + property + "=" + said + ": " + e.getMessage());
        }
    }

    /** As the option says it. */
    private static String word(String property, String said) {
        if (property.equals(WRITE_TYPE)) {
            return said.toUpperCase(Locale.ROOT);
        }
        return switch (said.toLowerCase(Locale.ROOT)) {
            case "true" -> "on";
            case "false" -> "off";
            default -> said;
        };
    }

    /** Logs which of them do nothing because options of the gateway stand in their place. */
    public void tell(OptionValues values) {
        for (String property : properties.keySet()) {
            String instead = instead(property);
            if (instead != null && !counts(property, values)) {
                LOG.info("Property {} has no effect here; it is {}", property, instead);
            }
        }
    }

    /** Null: it is Alluxio's client that heeds it, or nobody that we know. */
    private static @Nullable String instead(String property) {
        String hint = AdapterOptions.TABLE.hint(property);
        return ForeignOptionHints.SITE.equals(hint) ? null : hint;
    }
}
