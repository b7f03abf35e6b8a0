package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** An error says what was given, what is allowed or why it failed, and what to do. */
class WrongInputTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            mount hdfs://h/data /mnt | 'hdfs://h/data' | is not an Alluxio URI | give alluxio://HOST:PORT/PATH
            mount alluxio://h/data /mnt | 'h' | is not a master address | give HOST:PORT
            mount alluxio://h:1,h2:99999/data /mnt | 'h2:99999' | is not a master address | give HOST:PORT
            mount alluxio://[::1:1/data /mnt | '[::1:1' | is not a master address | give HOST:PORT
            mount alluxio://h:1/ /mnt -o colour=red | option 'colour' | give one of transport, ro | or leave it out
            mount alluxio://h:1/ /mnt -o metadata_tl=5 | option 'metadata_tl' | give one of transport, ro | did you mean metadata_ttl?
            mount alluxio://h:1/ /mnt -o max_threads=5000 | max_threads=5000 | is a number from 0 to 1024 | leave it out for 0
            mount alluxio://h:1/ /mnt -o metadata_ttl=-1 | metadata_ttl=-1 | is a time from 0s to 86400s | leave it out for 5s
            mount alluxio://h:1/ /mnt -o spool_size=1X | spool_size=1X | is a size from 1M to 1024T | leave it out for 64G
            mount alluxio://h:1/ /mnt -o ro=maybe | ro=maybe | is on or off | leave it out for off
            mount alluxio://h:1/ /mnt -o transport=pigeon | transport=pigeon | is one of auto, uring, devfuse | leave it out for auto
            mount alluxio://h:1/ /mnt -o umask=9 | umask=9 | is an octal number from 0 to 7777 | leave it out for 0
            mount alluxio://h:1/ /mnt -o attr_timeout=5 | option 'attr_timeout' | is replaced | by metadata_ttl
            mount alluxio://h:1/ /mnt --attr-cache=5 | option '--attr-cache' | is replaced | by metadata_ttl
            mount alluxio://h:1/ /mnt --colour=red | '--colour=red' | [--keeper[=SOCKET]] | mount --help explains each
            mount | ALLUXIO_URI | MOUNTPOINT | mount --help explains each
            mout | 'mout' | mount | --help lists the commands
            umount /mnt --log-level LOUD | 'LOUD' | is not known | one of ERROR, WARN, INFO, DEBUG, TRACE
            umount /mnt --log-format xml | 'xml' | is not known | text or json
            umount /proc | /proc | a mount of type proc, not of posix-gateway | unmount it with umount
            umount /proc/self | /proc/ | nothing is mounted at | give one of the mount points that 'mount -t fuse.posix-gateway' lists
            stats --interval 0 /mnt | --interval 0 | at least 1 second | give
            stats --count -1 /mnt | --count -1 | 0 for no limit | give a number of lines
            stats --count 1 /proc | /proc | not of posix-gateway | create one with
            info --socket /nowhere --volume v / | /nowhere | nothing listens | give --socket
            profile | neither a mount point nor --file is given | a mount point, or an access log | give one of them
            profile --file /nowhere | /nowhere | cannot be read | give a readable file with --file
            serve --http nonsense | --http nonsense | HOST:PORT | such as 127.0.0.1:9400
            serve --block-folders relative | 'relative' | DIR[:DIR...] | give
            serve --site-properties /nowhere | /nowhere | cannot be read | give a readable file
            """)
    void error_ofWrongInput_saysWhatWasGivenWhatIsAllowedAndWhatToDo(
            String command, String given, String allowed, String advice) {
        StringWriter err = new StringWriter();
        CommandLine program = Main.commandLine();
        program.setErr(new PrintWriter(err));
        program.setOut(new PrintWriter(new StringWriter()));
        assertThat(program.execute(command.split(" ", -1))).isNotZero();
        assertThat(err.toString()).contains(given).contains(allowed).contains(advice);
    }
}
