/*
 * Waking a thread out of a blocking system call by a signal whose handler does nothing.
 *
 * The signal is lost when it comes just before the call: who wakes sets a flag first and wakes
 * again until the thread has seen it.
 */
#ifndef PGW_WAKE_H
#define PGW_WAKE_H

/* Installs the handler, once per process. 0 or -errno. */
int pgw_wake_install(void);

/* The calling thread's number for pgw_wake_thread. */
int pgw_wake_self(void);

/* Makes a blocking call of that thread return EINTR. 0, or -ESRCH: it has ended. */
int pgw_wake_thread(int thread);

#endif
