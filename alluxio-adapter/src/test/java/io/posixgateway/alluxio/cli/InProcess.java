package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** Commands that ask a mount something over its socket, executed in this JVM: one of their own takes a while to start. */
final class InProcess {
    private InProcess() {}

    /** What it printed; fails when it ends with another exit code. */
    static String run(int exit, String... arguments) {
        StringWriter printed = new StringWriter();
        PrintWriter writer = new PrintWriter(printed);
        CommandLine command = Main.commandLine();
        command.setOut(writer);
        command.setErr(writer);
        int code = command.execute(arguments);
        writer.flush();
        assertThat(code).as("%s: %s", arguments[0], printed).isEqualTo(exit);
        return printed.toString();
    }
}
