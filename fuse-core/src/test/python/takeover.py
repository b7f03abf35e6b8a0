"""Keeps a FUSE session while its server ends again and again: ROUNDS SIGNAL TRANSPORT FOLDER MOUNT_POINT COMMAND...

Plays the keeper: mounts, holds the connection and the session memory, starts COMMAND as the server with both
descriptors, and sends it SIGNAL (KILL, or TERM for a planned end) at random moments under readers and writers of the
mount. Ends with status 0 when no call of theirs failed, none hangs, and what was written is there.

In the environment: READERS and WRITERS, how many (2 and 2); ONE_CPU, set when they are to share one; KERNEL_LACKS, what
the server's kernel is not to have (see old_kernel.c). Without resend, a kill may fail the calls that are in flight, one
for each thread of the load, by an error of the kernel's; nothing else.
"""

import ctypes
import errno
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

MS_NOSUID, MS_NODEV, MNT_DETACH = 2, 4, 2
LIBC = ctypes.CDLL(None, use_errno=True)
WAIT_SECONDS = 60
LACKS = os.environ.pop("KERNEL_LACKS", "")
# What the kernel says when it ends a request, and what it makes of that where it read ahead or copied.
ENDED = (errno.ECONNABORTED, errno.EIO)


def mount(target):
    fuse = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,default_permissions"
    if LIBC.mount(b"takeover", target.encode(), b"fuse.posix-gateway", MS_NOSUID | MS_NODEV, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    return fuse


class Load:
    """Threads that use the mount, and what went wrong for them."""

    def __init__(self, target):
        self.target = target
        self.stop = threading.Event()
        self.failures = []
        self.ended = 0
        self.calls = 0
        readers, writers = int(os.environ.get("READERS", "2")), int(os.environ.get("WRITERS", "2"))
        self.threads = [
            threading.Thread(target=self.run, args=(work, i), daemon=True)
            for i, work in enumerate([self.read] * readers + [self.change] * writers)
        ]

    def run(self, work, number):
        if "ONE_CPU" in os.environ:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        turn = 0
        while not self.stop.is_set():
            try:
                work(number, turn)
            except OSError as failure:
                if failure.errno in ENDED and "resend" in LACKS.split(","):
                    self.ended += 1
                else:
                    self.failures.append(f"{work.__name__} {turn}: {failure!r}")
            except Exception as failure:  # every failure is a finding
                self.failures.append(f"{work.__name__} {turn}: {failure!r}")
            turn += 1
            self.calls += 1

    def read(self, number, turn):
        with open(f"{self.target}/base", "rb", buffering=0) as file:
            content = file.read(65536)
        if content != b"x" * 65536:
            raise ValueError(f"read {len(content)} bytes, or wrong ones")

    def change(self, number, turn):
        name = f"{self.target}/w{number}-{turn}"
        os.mkdir(name + ".d")
        with open(name, "xb", buffering=0) as file:
            file.write(f"{number} {turn}".encode())
        os.rename(name, name + ".done")
        with open(name + ".done", "rb") as file:
            if file.read() != f"{number} {turn}".encode():
                raise ValueError("read back something else")
        os.unlink(name + ".done")
        os.rmdir(name + ".d")

    def finish(self):
        self.stop.set()
        deadline = time.monotonic() + WAIT_SECONDS
        for thread in self.threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return sum(thread.is_alive() for thread in self.threads)


def preloaded():
    """The server's environment, in which the kernel lacks what it is to lack."""
    if not LACKS:
        return dict(os.environ)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../c/old_kernel.c")
    library = os.path.join(tempfile.mkdtemp(dir=os.path.dirname(sys.argv[4])), "old_kernel.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return {**os.environ, "LD_PRELOAD": library, "KERNEL_LACKS": LACKS}


def start(command, transport, fuse, memory, target, takes, folder, environment):
    server = subprocess.Popen(
        [*command, str(fuse), str(memory), target, str(takes), folder, transport],
        pass_fds=(fuse, memory),
        stdout=subprocess.PIPE,
        env=environment,
    )
    line = server.stdout.readline().decode()
    if not line.startswith("serving transport " + transport):
        raise RuntimeError("the server did not begin: " + line)
    print(line.strip())
    return server


def trial(kills, signal_number, transport, folder, target, command, fuse):
    memory = os.memfd_create("session")
    os.ftruncate(memory, 1 << 20)
    environment = preloaded()
    server = start(command, transport, fuse, memory, target, 0, folder, environment)
    try:
        load = Load(target)
        for thread in load.threads:
            thread.start()
        for kill in range(kills):
            time.sleep(0.5 + random.random() / 2)
            began = time.monotonic()
            server.send_signal(signal_number)
            server.wait()
            ended = time.monotonic()
            server = start(command, transport, fuse, memory, target, kill + 1, folder, environment)
            print(f"ended in {ended - began:.3f} s, served again after {time.monotonic() - began:.3f} s")
        time.sleep(1)
        hanging = load.finish()
        left = os.listdir(folder)
    finally:
        server.kill()
        server.wait()
    print(f"ends {kills} transport {transport} calls {load.calls}")
    print(f"failed {len(load.failures)} ended {load.ended} hanging {hanging} left {left}")
    for failure in load.failures[:10]:
        print(failure)
    in_flight = kills * len(load.threads) if signal_number == signal.SIGKILL else 0
    sound = not load.failures and hanging == 0 and load.ended <= in_flight
    return 0 if sound and (left == ["base"] or load.ended > 0) and load.calls > 0 else 1


def main():
    seed = random.randrange(1 << 32)
    random.seed(seed)
    print("seed", seed)
    rounds, signal_number = int(sys.argv[1]), signal.Signals["SIG" + sys.argv[2]]
    transport, folder, target = sys.argv[3:6]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the mount is taken down
    with open(folder + "/base", "wb") as file:
        file.write(b"x" * 65536)
    fuse = mount(target)
    try:
        return trial(rounds, signal_number, transport, folder, target, sys.argv[6:], fuse)
    finally:
        LIBC.umount2(target.encode(), MNT_DETACH)
        os.close(fuse)


if __name__ == "__main__":
    try:
        status = main()
    except SystemExit as ended:
        status = ended.code
    sys.stdout.flush()
    os._exit(status)
