"""Files are followed while another process appends to them; what is read must be what was written, byte for byte.

python3 follow.py DIRECTORY ROUNDS FILES [SECONDS]: ROUNDS files, FILES of them at the same time, or as many as fit into
SECONDS. The status is 0 if all were read right; the last line counts them.
"""

import json
import multiprocessing
import os
import sys
import time

LINES = 2000
WANTED = b"".join(b"%08d\n" % line for line in range(LINES))


def write(paths):
    """Appends a line to each file, again and again."""
    opened = [os.open(path, os.O_WRONLY | os.O_APPEND) for path in paths]
    for line in range(LINES):
        for descriptor in opened:
            os.write(descriptor, b"%08d\n" % line)
    for descriptor in opened:
        os.close(descriptor)


def read(path, descriptor, at, reopens):
    """What is behind the bytes read before, by the descriptor that stays open, or by another one each time."""
    if not reopens:
        return os.pread(descriptor, 65536, at)
    other = os.open(path, os.O_RDONLY)
    try:
        return os.pread(other, 65536, at)
    finally:
        os.close(other)


def follow(paths):
    """Reads the files until their writer is gone and all was read; the first difference of each, or None."""
    opened = [os.open(path, os.O_RDONLY | os.O_CREAT | os.O_TRUNC, 0o644) for path in paths]
    writer = multiprocessing.Process(target=write, args=(paths,))
    writer.start()
    read_so_far = [b""] * len(paths)
    left = set(range(len(paths)))
    while left:
        over = not writer.is_alive()  # asked first: what was written before is read after
        for i in sorted(left):
            more = read(paths[i], opened[i], len(read_so_far[i]), i % 2 == 1)
            read_so_far[i] += more
            if over and not more:
                left.remove(i)
    writer.join()
    for descriptor in opened:
        os.close(descriptor)
    return [difference(path, content) for path, content in zip(paths, read_so_far, strict=True)]


def difference(path, content):
    """None: there is none."""
    if content == WANTED:
        return None
    at = next((i for i in range(min(len(content), len(WANTED))) if content[i] != WANTED[i]), -1)
    with open(path, "rb") as file:
        again = "right" if file.read() == WANTED else "wrong, too"
    return (
        f"{path}: {len(content)} bytes of {len(WANTED)}, at {at} {content[max(0, at) :][:12]}; read anew it is {again}"
    )


def main():
    """As the module says."""
    root, rounds, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    end = time.monotonic() + float(sys.argv[4]) if len(sys.argv) > 4 else float("inf")
    paths = [os.path.join(root, f"followed-{i}") for i in range(files)]
    found, done = [], 0
    while done < rounds and time.monotonic() < end:
        found += filter(None, follow(paths))
        done += files
    for path in paths:
        os.unlink(path)
    print("\n".join(found[:10]))
    print(json.dumps({"followed": done, "wrong": len(found)}))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
