// bin/posix-gateway of the image, which has no shell: becomes the JVM, as
// alluxio-adapter/src/main/sh/posix-gateway does elsewhere, with the same variables: JAVA_HOME,
// POSIX_GATEWAY_HEAP, POSIX_GATEWAY_DIRECT, POSIX_GATEWAY_JAVA_OPTS. To `serve` it stays the
// parent, with POSIX_GATEWAY_STANDBY=true of two.
#include "supervise.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 4096 };

// What the JVM is given, and its end.
static char *command[ARGUMENTS_MAX + 1];
static int count;

static _Noreturn void fail(const char *why) {
    fprintf(stderr, "posix-gateway: %s\n", why);
    exit(1);
}

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : otherwise;
}

// The text lives until the JVM takes this process's place.
__attribute__((format(printf, 1, 2))) static char *text(const char *format, ...) {
    char *made = NULL;
    va_list values;
    va_start(values, format);
    int length = vasprintf(&made, format, values);
    va_end(values);
    if (length < 0) {
        fail("out of memory");
    }
    return made;
}

static void add(char *argument) {
    if (count == ARGUMENTS_MAX) {
        fail("too many arguments and JVM options");
    }
    command[count++] = argument;
}

// The folder above that of this program.
static const char *find_home(void) {
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    for (int level = 0; level < 2; level++) {
        char *slash = length > 0 ? strrchr(path, '/') : NULL;
        if (slash == NULL) {
            fail("cannot read the program's path from /proc/self/exe");
        }
        *slash = '\0';
    }
    return path;
}

// The same with one argument more; NULL: no standby is wanted.
static char **standby_command(void) {
    static char *standby[ARGUMENTS_MAX + 2];
    if (strcmp(setting("POSIX_GATEWAY_STANDBY", "false"), "true") != 0) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        standby[i] = command[i];
    }
    standby[count] = "--standby";
    return standby;
}

int main(int argc, char **argv) {
    const char *home = find_home();
    char *java = text("%s/bin/java", setting("JAVA_HOME", "/opt/jre"));
    char *archive = text("%s/lib/posix-gateway.jsa", home);
    add(java);
    add(text("@%s/lib/jvm.options", home));
    add(text("-Xmx%s", setting("POSIX_GATEWAY_HEAP", "1g")));
    add(text("-XX:MaxDirectMemorySize=%s", setting("POSIX_GATEWAY_DIRECT", "1g")));
    if (access(archive, R_OK) == 0) {
        add(text("-XX:SharedArchiveFile=%s", archive));
        add("-Xlog:disable");
        add("-Xlog:all=error:stderr");
    }
    char *rest = text("%s", setting("POSIX_GATEWAY_JAVA_OPTS", ""));
    for (char *option = strtok(rest, " \t\n"); option != NULL; option = strtok(NULL, " \t\n")) {
        add(option);
    }
    add("-cp");
    add(text("%s/lib/*", home));
    add("io.posixgateway.alluxio.cli.Main");
    for (int i = 1; i < argc; i++) {
        add(argv[i]);
    }
    // Java encodes file names and messages as the locale says; names on Linux are UTF-8 by habit.
    setenv("LC_ALL", "C.UTF-8", 1);
    if (argc > 1 && strcmp(argv[1], "serve") == 0) {
        supervise(command, standby_command());
    }
    execv(java, command);
    fprintf(stderr, "posix-gateway: %s cannot be started: ", java);
    perror(NULL);
    return 1;
}
