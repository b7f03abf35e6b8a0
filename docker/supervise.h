#ifndef POSIX_GATEWAY_SUPERVISE_H
#define POSIX_GATEWAY_SUPERVISE_H

// Runs a program (its path and arguments, NULL at the end) as a child and does not return: it ends
// as the child ends. A child that was killed, crashed or ran out of memory is started anew at once.
// One thread; called once.
_Noreturn void supervise(char **command);

#endif
