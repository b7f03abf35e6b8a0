package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** In a JVM of its own, with the heap of a small gateway. */
class SpareHeapTest {
    private static final int HEAP_MIB = 256;

    /** Fills its heap, uses a third of that no more, here and there, and prints what is in use before and after. */
    static final class Filled {
        private static final int KEPT = 3;

        private Filled() {}

        public static void main(String[] words) {
            byte[][] pieces = new byte[HEAP_MIB * 8 / 10 * 8192][];
            for (int i = 0; i < pieces.length; i++) {
                pieces[i] = new byte[104];
            }
            for (int i = 0; i < pieces.length; i++) {
                pieces[i] = i % KEPT == 0 ? pieces[i] : null;
            }
            SpareHeap.giveBack();
            Runtime now = Runtime.getRuntime();
            System.out.println((now.totalMemory() >> 20) + " " + ((now.totalMemory() - now.freeMemory()) >> 20) + " "
                    + pieces[0].length);
        }
    }

    private static String run(String... options) throws IOException, InterruptedException {
        ProcessBuilder java = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString());
        java.command().addAll(List.of(options));
        java.command().addAll(List.of("-cp", System.getProperty("java.class.path"), Filled.class.getName()));
        Process process = java.redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return said.strip();
    }

    @Test
    void giveBack_ofWhatIsScatteredOverTheHeap_makesTheHeapSmaller() throws Exception {
        String[] mebibytes = run("-Xmx" + HEAP_MIB + "m", "-XX:+UseG1GC", "-XX:+ExplicitGCInvokesConcurrent")
                .split(" ", -1);
        assertThat(Integer.parseInt(mebibytes[1])).as("in use").isLessThan(HEAP_MIB / 2);
        assertThat(Integer.parseInt(mebibytes[0])).as("the heap").isLessThan(HEAP_MIB * 3 / 4);
    }
}
