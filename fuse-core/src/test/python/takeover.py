"""Keeps a FUSE session while its server ends again and again: ROUNDS SIGNAL TRANSPORT FOLDER MOUNT_POINT COMMAND...

Plays the keeper: mounts, holds the connection and the session memory, starts COMMAND as the server with both
descriptors, and sends it SIGNAL (KILL, or TERM for a planned end) at random moments under readers and writers of the
mount. Ends with status 0 when no call of theirs failed, none hangs, and what was written is there.

In the environment: READERS and WRITERS, how many (2 and 2); ONE_CPU, set when they are to share one; KERNEL_LACKS, what
the server's kernel is not to have (see old_kernel.c); KEEPER, the program that mounts and holds the session instead.

Where the kernel sends no requests again, a kill may fail the calls that are in flight, one for each thread of the load,
by an error of the kernel's; nothing else. Where it does, no call may fail, or DYING of them (0) at each kill: a thread
that is killed while the kernel hands it a request can fail that one.
"""

import ctypes
import errno
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

MS_NOSUID, MS_NODEV, MNT_DETACH = 2, 4, 2
LIBC = ctypes.CDLL(None, use_errno=True)
WAIT_SECONDS = 60
LACKS = os.environ.pop("KERNEL_LACKS", "")
KEEPER = os.environ.pop("KEEPER", "")
DYING = int(os.environ.pop("DYING", "0"))
MEMORY_BYTES = 1 << 20
# What the kernel says when it ends a request, and what it makes of that where it read ahead or copied.
ENDED = (errno.ECONNABORTED, errno.EIO)


class HeldHere:
    """This program mounts and holds the session; each server gets the same descriptors."""

    def __init__(self, target, _):
        self.target = target
        self.fuse = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.fuse},rootmode=40000,user_id=0,group_id=0,default_permissions"
        kind = b"fuse.posix-gateway"
        if LIBC.mount(b"takeover", target.encode(), kind, MS_NOSUID | MS_NODEV, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), "mount")
        self.memory = os.memfd_create("session")
        os.ftruncate(self.memory, MEMORY_BYTES)
        self.takes = -1

    def take(self):
        """Descriptors for a server, and how often the session was taken before."""
        self.takes += 1
        return [self.fuse, self.memory], self.takes

    def given(self, descriptors):
        """The server has them."""

    def end(self):
        LIBC.umount2(self.target.encode(), MNT_DETACH)
        os.close(self.fuse)


class HeldByKeeper:
    """The keeper mounts and holds the session; each server gets a descriptor of its own besides."""

    def __init__(self, target, folder):
        self.target = target
        self.socket = os.path.join(os.path.dirname(folder), "keeper.sock")
        self.process = subprocess.Popen([KEEPER, "--socket", self.socket])
        deadline = time.monotonic() + WAIT_SECONDS
        while not os.path.exists(self.socket) and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        kept = {"source": "takeover", "fstype": "fuse.posix-gateway", "memory_bytes": MEMORY_BYTES}
        try:
            self.ask("mount", target=target, default_permissions=True, **kept)
        except BaseException:
            self.process.kill()
            raise

    def ask(self, operation, **fields):
        """(answer, descriptors)"""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.socket)
            connection.sendall(json.dumps({"op": operation, "id": "takeover", **fields}).encode() + b"\n")
            line, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, 16)
            while not line.endswith(b"\n"):
                line += connection.recv(1 << 16) or b"\n"
        answer = json.loads(line)
        if not answer["ok"]:
            raise RuntimeError(f"the keeper refuses {operation}: {answer['error']}")
        return answer, descriptors

    def take(self):
        answer, descriptors = self.ask("take", clone=True)
        return descriptors, answer["takes"]

    def given(self, descriptors):
        for descriptor in descriptors:
            os.close(descriptor)

    def end(self):
        try:
            self.ask("unmount", force=True)
        finally:
            self.process.terminate()
            self.process.wait()
            LIBC.umount2(self.target.encode(), MNT_DETACH)


class Load:
    """Threads that use the mount, and what went wrong for them.

    They are those of a process of its own. Who starts servers must have nothing open there: a child closes its copies,
    and would wait for the server that it is to be.
    """

    def __init__(self, target):
        self.target = target
        self.stop = threading.Event()
        self.failures = []
        self.ended = []
        self.calls = 0
        readers, writers = int(os.environ.get("READERS", "2")), int(os.environ.get("WRITERS", "2"))
        self.threads = [
            threading.Thread(target=self.run, args=(work, i), daemon=True)
            for i, work in enumerate([self.read] * readers + [self.change] * writers)
        ]
        self.done = [0] * len(self.threads)

    @staticmethod
    def main(target):
        """Until there is a line to read, or nobody who could write one; prints what became of it, as JSON."""
        load = Load(target)
        for thread in load.threads:
            thread.start()
        sys.stdin.readline()
        hanging = load.finish()
        result = {"failures": load.failures, "ended": load.ended, "calls": load.calls, "done": load.done}
        print(json.dumps({**result, "hanging": hanging}), flush=True)
        os._exit(0)

    def run(self, work, number):
        if "ONE_CPU" in os.environ:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        turn = 0
        while not self.stop.is_set():
            try:
                work(number, turn)
                self.done[number] += 1
            except OSError as failure:
                of_kernel = self.ended if failure.errno in ENDED else self.failures
                of_kernel.append(f"{work.__name__} {turn}: {failure!r}")
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
        """Once each thread got something done since now; how many hang."""
        deadline = time.monotonic() + WAIT_SECONDS
        before = list(self.done)
        while not all(now > then for now, then in zip(self.done, before, strict=True)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.stop.set()
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


def start(command, transport, folder, held, environment):
    """The server, and whether the kernel will send again what it leaves."""
    descriptors, takes = held.take()
    connection, memory, *own = map(str, descriptors)
    server = subprocess.Popen(
        [*command, connection, memory, held.target, str(takes), folder, transport, *own[:1]],
        pass_fds=descriptors,
        stdout=subprocess.PIPE,
        env=environment,
    )
    held.given(descriptors)
    line = server.stdout.readline().decode()
    if not line.startswith("serving transport " + transport):
        raise RuntimeError("the server did not begin: " + line)
    print(line.strip())
    return server, " takeover clone" not in line


def trial(kills, signal_number, transport, folder, command, held):
    environment = preloaded()
    server, resends = start(command, transport, folder, held, environment)
    words = [sys.executable, __file__, "load", held.target]
    load = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        for _ in range(kills):
            time.sleep(0.5 + random.random() / 2)
            began = time.monotonic()
            server.send_signal(signal_number)
            server.wait()
            ended = time.monotonic()
            server, resends = start(command, transport, folder, held, environment)
            print(f"ended in {ended - began:.3f} s, served again after {time.monotonic() - began:.3f} s")
        load.stdin.close()
        result = json.loads(load.stdout.readline())
        left = os.listdir(folder)
    finally:
        load.kill()
        server.kill()
        server.wait()
    return judge(kills if signal_number == signal.SIGKILL else 0, resends, result, left)


def judge(kills, resends, result, left):
    """The status to end with, by what the load says and what is left of its files."""
    failures, ended, done = result["failures"], result["ended"], result["done"]
    hanging = result["hanging"]
    print(f"calls {result['calls']} failed {len(failures)} ended {len(ended)} hanging {hanging} left {len(left)}")
    for failure in (failures + ended)[:20]:
        print(failure)
    in_flight = kills * (DYING if resends else len(done))
    sound = not failures and hanging == 0 and len(ended) <= in_flight and min(done) > 0
    return 0 if sound and (left == ["base"] or ended) else 1


def main():
    seed = random.randrange(1 << 32)
    random.seed(seed)
    print("seed", seed)
    rounds, signal_number = int(sys.argv[1]), signal.Signals["SIG" + sys.argv[2]]
    transport, folder, target = sys.argv[3:6]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the mount is taken down
    with open(folder + "/base", "wb") as file:
        file.write(b"x" * 65536)
    held = (HeldByKeeper if KEEPER else HeldHere)(target, folder)
    try:
        return trial(rounds, signal_number, transport, folder, sys.argv[6:], held)
    finally:
        held.end()


if __name__ == "__main__":
    if sys.argv[1] == "load":
        Load.main(sys.argv[2])
    try:
        status = main()
    except SystemExit as ended:
        status = ended.code
    sys.stdout.flush()
    os._exit(status)
