"""Asks the gateway what it must refuse, and harms it as well as it can; prints nothing but what went wrong.

    python3 peers.py SOCKET FILE OTHER

FILE is on a volume with bypass and not small, OTHER is a file elsewhere.
"""

import ctypes
import errno
import os
import socket
import struct
import sys
import time

MAGIC = 0x42574750
VERDICTS = "given same devices foreign not_reading not_complete small many not_local unsafe limited".split()
QUESTION = struct.pack("=IIQII", MAGIC, 1, 0, 128, 0)


def connect(path):
    """Waits for a place in the queue of those who want to connect."""
    for _ in range(2000):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(60)
        try:
            connection.connect(path)
            return connection
        except BlockingIOError:
            connection.close()
            time.sleep(0.01)
    raise AssertionError("nobody is let in any more")


def ask(path, fds, question=QUESTION):
    """The verdict and the descriptors that came; None: the gateway has hung up."""
    with connect(path) as connection:
        socket.send_fds(connection, [question], fds)
        answer, got, _, _ = socket.recv_fds(connection, 5000, 200)
        return (VERDICTS[struct.unpack_from("=II", answer)[1]], got) if answer else (None, got)


def expect(verdict, path, fds, question=QUESTION):
    for _ in range(100):
        got, given = ask(path, fds, question)
        if got != "limited":
            break
        time.sleep(0.1)
    assert got == verdict and not given, f"{got} with {len(given)} descriptors instead of {verdict}"


def refusals(path, file, other):
    """Everything but a file of the volume that was opened for reading."""
    expect("devices", path, [])
    for name in (other, "/dev/null", "/proc/self/status", path, "/"):
        expect("foreign", path, [os.open(name, os.O_PATH if name == path else os.O_RDONLY)])
    for one in (*os.pipe(), socket.socket().detach(), os.eventfd(0), os.memfd_create("x")):
        expect("foreign", path, [one])
    for flags in (os.O_PATH, os.O_RDWR, os.O_WRONLY):
        fd = os.open(file, flags)
        expect("not_reading", path, [fd])
        os.close(fd)
    time.sleep(0.2)
    expect("not_complete", path, [os.open(os.path.dirname(file), os.O_RDONLY)])
    expect("many", path, [os.open(file, os.O_RDONLY)], struct.pack("=IIQII", MAGIC, 1, 0, 0, 0))
    for garbage in (b"x", b"\xff" * 24, struct.pack("=IIQII", MAGIC, 2, 0, 128, 0), QUESTION * 2, os.urandom(4000)):
        expect("foreign", path, [os.open(file, os.O_RDONLY)], garbage)
        expect(None, path, [], garbage)


def given_for_reading_alone(path, file):
    """What is given cannot be opened again for writing, nor changed."""
    opened = os.open(file, os.O_RDONLY)
    for _ in range(200):
        verdict, given = ask(path, [opened])
        if verdict == "given":
            break
        time.sleep(0.05)
    assert verdict == "given" and os.pread(given[0], 100, 0) == os.pread(opened, 100, 0), verdict
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    again = {"x86_64": 257, "aarch64": 56}[os.uname().machine]
    for flags in (os.O_RDWR, os.O_WRONLY, os.O_WRONLY | os.O_TRUNC):
        assert syscall(again, -100, f"/proc/self/fd/{given[0]}".encode(), flags, 0) == -1, "opened for writing"
        assert ctypes.get_errno() == errno.EROFS, errno.errorcode[ctypes.get_errno()]
    for change in (lambda: os.fchmod(given[0], 0o777), lambda: os.utime(given[0])):
        try:
            change()
        except OSError as failure:
            assert failure.errno == errno.EROFS, failure
        else:
            raise AssertionError("it could be changed")


def flood(path, file):
    """Connections that ask nothing, many questions at once: others are answered meanwhile."""
    idle = [connect(path) for _ in range(200)]
    fd = os.open(file, os.O_RDONLY)
    verdicts = {ask(path, [fd])[0] for _ in range(300)}
    assert "given" in verdicts, verdicts
    asked, began = 0, time.monotonic()
    while time.monotonic() - began < 2:
        with connect(path) as connection:
            connection.send(QUESTION[: asked % 24 + 1])
        asked += 1
    for connection in idle:
        connection.close()
    expect("devices", path, [])


if __name__ == "__main__":
    where, inside, outside = sys.argv[1:]
    given_for_reading_alone(where, inside)
    refusals(where, inside, outside)
    flood(where, inside)
