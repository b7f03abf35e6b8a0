package io.posixgateway.alluxio.simulation;

import java.util.Map;

/**
 * What others see, by path; of what is hidden nothing.
 *
 * @param contents as a {@link Model} has them
 * @param attributes of complete files, by their names
 */
record Seen(Map<String, String> contents, Map<String, Map<String, String>> attributes) {}
