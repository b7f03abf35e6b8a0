#ifndef POSIX_GATEWAY_SUPERVISE_H
#define POSIX_GATEWAY_SUPERVISE_H

// Runs a program (its path and arguments, NULL at the end) as a child and does not return: it ends
// as the child ends. A child that was killed, crashed or ran out of memory is followed at once: by
// the standby, which runs beside it by the other command (NULL: there is none), or by a new start.
// One thread; called once.
_Noreturn void supervise(char **command, char **standby_command);

#endif
