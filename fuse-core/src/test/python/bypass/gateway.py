"""A gateway for tests of the bypass library alone: files of a tmpfs, whose blocks lie beside them.

    python3 gateway.py FOLDER SOCKET

FOLDER holds files, and `blocks/NAME.0`, `blocks/NAME.1`, …, the same bytes cut up. It is on a tmpfs, whose major device
number is 0 as that of FUSE. Answers as the real one does, and prints what it answered, one letter a question.
"""

import array
import contextlib
import os
import socket
import struct
import sys

MAGIC, GIVEN, SAME, DEVICES_ARE, NOT_COMPLETE = 0x42574750, 0, 1, 2, 5


def blocks_by_inode(folder):
    """The blocks of each file, as it is now."""
    known = {}
    for name in os.listdir(folder):
        blocks = []
        while os.path.exists(block := os.path.join(folder, "blocks", f"{name}.{len(blocks)}")):
            blocks.append(block)
        known[os.stat(os.path.join(folder, name)).st_ino] = blocks
    return known


def answer(connection, folder, known):
    data, proofs, _, _ = socket.recv_fds(connection, 24, 1)
    _, _, content, most, _ = struct.unpack("=IIQII", data)
    if not proofs:
        head = struct.pack("=IIQQQII", MAGIC, DEVICES_ARE, 0, 0, 0, 0, 1)
        connection.send(head + struct.pack("=IIQ", os.minor(os.stat(folder).st_dev), 0, 1))
        return "d"
    status = os.fstat(proofs[0])
    os.close(proofs[0])
    blocks = known.get(status.st_ino, [])
    if not 0 < len(blocks) <= most:
        connection.send(struct.pack("=IIQQQII", MAGIC, NOT_COMPLETE, 0, 0, 0, 0, 0))
        return "n"
    if content == status.st_ino:
        connection.send(struct.pack("=IIQQQII", MAGIC, SAME, 0, 0, 0, 0, 0))
        return "s"
    sizes = [os.path.getsize(block) for block in blocks]
    fds = [os.open(block, os.O_RDONLY) for block in blocks]
    head = struct.pack("=IIQQQII", MAGIC, GIVEN, status.st_ino, sum(sizes), sizes[0], len(fds), 0)
    connection.sendmsg([head], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    for fd in fds:
        os.close(fd)
    return "g"


def main(folder, path):
    known = blocks_by_inode(folder)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(path + ".new")
    server.listen(64)
    os.rename(path + ".new", path)  # there once it can be connected to
    while True:
        connection, _ = server.accept()
        with connection, contextlib.suppress(BrokenPipeError):  # who ends does not wait for its answer
            print(answer(connection, folder, known), end="", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
