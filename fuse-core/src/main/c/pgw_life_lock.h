/*
 * A lock on a file that excludes every other one on it, in whichever process, and that is released
 * at the moment its process is killed. A thread of that process may still wait in the kernel then,
 * for a disk or for an answer, and keeps all else of the process open meanwhile.
 *
 * So the lock belongs to a thread that has a table of descriptors of its own, with the lock's alone
 * in it, and that never waits in the kernel for anybody: it ends whenever the process is killed,
 * and the kernel closes its table then. Each other thread has been killed by that time, too: it may
 * finish the one system call that it is in, and no more.
 *
 * Before Linux 5.9 the lock is in the table of all threads, and released when the last one ends.
 *
 * Record locks (fcntl(2)) of earlier versions and these exclude each other.
 */
#ifndef PGW_LIFE_LOCK_H
#define PGW_LIFE_LOCK_H

struct pgw_life_lock;

/*
 * Takes the lock of a file that is there and can be written, without waiting; no link is followed.
 * 0: gives the lock, to be released by pgw_life_lock_release. -EAGAIN: somebody else has it.
 */
int pgw_life_lock_file(const char *path, struct pgw_life_lock **lock);

/* The same of an open file, whose descriptor others may share: it stays the caller's. */
int pgw_life_lock_opened(int fd, struct pgw_life_lock **lock);

/* Returns when it is released. */
void pgw_life_lock_release(struct pgw_life_lock *lock);

#endif
