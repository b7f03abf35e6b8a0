/* The library is loaded: before the program begins, and after some other libraries have. */
#include "adopt.h"
#include "ask.h"
#include "next.h"
#include "table.h"

#include <pthread.h>
#include <stdlib.h>

#define SOCKET_VARIABLE "POSIX_GATEWAY_BYPASS"
#define SOCKET_DEFAULT "/run/posix-gateway/bypass/socket"

__attribute__((constructor)) static void start(void) {
    const char *socket_path = secure_getenv(SOCKET_VARIABLE);
    pgw_table_forked();
    pgw_next_find_all();
    if (pgw_ask_begin(socket_path == NULL ? SOCKET_DEFAULT : socket_path)) {
        pgw_table_make_room();
    }
    pthread_atfork(NULL, NULL, pgw_table_forked);
    pgw_adopt_inherited();
}
