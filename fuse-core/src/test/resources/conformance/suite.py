"""Runs the conformance cases in a directory and prints one line per case.

    python3 suite.py [--short] DIRECTORY [CASE...]

`ok NAME`, `skip NAME REASON` or `not-ok NAME REASON`; the exit status is 0 when every case could be run.
A case is a function that gets an empty directory of its own and raises what is wrong.
With `--short` every case runs, with fewer names in its directories: for a file system on which each new file is slow.
"""

import errno
import os
import shutil
import sys
import time

CASES = []
SHORT = False


class Skipped(Exception):
    """The case cannot be run here; says why."""


def case(function):
    """Makes a function a case; its name says what is promised."""
    CASES.append(function)
    return function


def equal(got, wanted, what=""):
    """Fails unless both are equal."""
    if got != wanted:
        raise AssertionError(f"{what or 'value'}: got {got!r}, wanted {wanted!r}")


def many(count):
    """So many names, or a fifth of them in the short form."""
    return count // 5 if SHORT else count


def fails(number, function, *arguments, **options):
    """Fails unless the call fails with this error number."""
    try:
        result = function(*arguments, **options)
    except OSError as error:
        if error.errno != number:
            raise AssertionError(f"{name_of(error.errno)} instead of {name_of(number)}") from error
        return
    raise AssertionError(f"gave {result!r} instead of {name_of(number)}")


def name_of(number):
    """ENOENT rather than 2."""
    return errno.errorcode.get(number, str(number))


def write(path, data=b""):
    """Makes or replaces a file."""
    with open(path, "wb") as file:
        file.write(data)
    return path


def read(path):
    """The bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


def times_moved_by(path, call, *arguments):
    """Which times of a file a call moves: of the content (m), of the last change (c), of the last access (a)."""
    before = os.lstat(path)
    time.sleep(0.02)
    call(*arguments)
    after = os.lstat(path)
    return "".join(of for of in "mca" if getattr(after, f"st_{of}time_ns") != getattr(before, f"st_{of}time_ns"))


def as_user(uid, gid, function, groups=()):
    """Runs a function as another user, in a child; what it raises is raised here."""
    if os.geteuid() != 0:
        raise Skipped("only root can become another user")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        verdict = b""
        try:
            os.setgroups(list(groups))
            os.setgid(gid)
            os.setuid(uid)
            function()
        except BaseException as failure:  # the parent raises it again
            verdict = (str(failure) or type(failure).__name__).encode()
        os.write(writer, verdict)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        verdict = pipe.read().decode()
    os.waitpid(child, 0)
    if verdict:
        raise AssertionError(f"as user {uid}: {verdict}")


def run(function, directory):
    """One case in a directory of its own; the line to print."""
    name = function.__name__
    try:
        os.mkdir(directory, 0o755)
        os.umask(0o022)
        function(directory)
        return f"ok {name}"
    except Skipped as reason:
        return f"skip {name} {reason}"
    except Exception as failure:
        reason = " ".join(f"{type(failure).__name__}: {failure}".split())
        return f"not-ok {name} {reason}"
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def main(arguments):
    global SHORT
    SHORT = arguments[0] == "--short"
    if SHORT:
        arguments = arguments[1:]
    root, chosen = arguments[0], set(arguments[1:])
    for function in CASES:
        if not chosen or function.__name__ in chosen:
            print(run(function, os.path.join(root, function.__name__)), flush=True)


if __name__ == "__main__":
    sys.modules["suite"] = sys.modules["__main__"]
    for module in ("cases_names", "cases_data", "cases_attributes"):
        __import__(module)
    main(sys.argv[1:])
