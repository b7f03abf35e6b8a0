"""A write is held up on its way to the file system; what others do meanwhile must not lose its bytes in the page cache.

python3 overlap.py FILE read|stat|open: the file is made. The file system holds back each WRITE from the making of the
directory FILE.gate until its removal.
"""

import mmap
import os
import sys
import threading
import time

BYTES = 4096
LIMIT_SECONDS = 60


def filled(letter):
    return letter * BYTES


def meanwhile(what, path, reader):
    """Each of these makes the kernel ask the file system about the file."""
    if what == "read":
        os.pread(reader, BYTES, 0)
    elif what == "stat":
        os.fstat(reader)
    elif what == "open":
        os.close(os.open(path, os.O_RDONLY))
    else:
        sys.exit(f"{what} is none of read, stat, open")


def await_byte(mapped, wanted):
    """The write has come as far as the page cache."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while mapped[:1] != wanted:
        if time.monotonic() > deadline:
            sys.exit("the write does not begin")
        time.sleep(0.001)


def main():
    path, what = sys.argv[1:3]
    writer = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    os.pwrite(writer, filled(b"a"), 0)
    reader = os.open(path, os.O_RDONLY)
    mapped = mmap.mmap(reader, BYTES, prot=mmap.PROT_READ)
    assert mapped[:] == filled(b"a") == os.pread(reader, BYTES, 0)
    os.pwrite(writer, filled(b"b"), 0)
    os.mkdir(path + ".gate")
    thread = threading.Thread(target=os.pwrite, args=(writer, filled(b"c"), 0))
    thread.start()
    await_byte(mapped, b"c")
    meanwhile(what, path, reader)
    before = mapped[:1]
    os.rmdir(path + ".gate")
    thread.join()
    seen = mapped[:1]
    assert mapped[:] == filled(b"c"), f"the mapping shows {seen} after the write of c was over, and {before} before"
    assert os.pread(reader, BYTES, 0) == filled(b"c"), "what is read is not what was written"


if __name__ == "__main__":
    main()
