"""Round trips that take time: a program on the way to Alluxio's master and one before its worker (delay.c)."""

import random
import socket
import subprocess

from contenders import BUILT

HERE, THERE = "127.0.0.1", "127.0.0.2"  # where the servers listen, and where those listen who delay
PORTS = range(12_000, 20_000)  # those of embedded Alluxios and of the kernel lie above


def free_port() -> int:
    """Taken by nobody, on no address."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as tried:
            try:
                tried.bind(("0.0.0.0", port))
                return port
            except OSError:
                pass


class Delay:
    """A way from THERE to HERE at the same port; it ends with this process."""

    def __init__(self, port: int):
        self.process = subprocess.Popen(
            [BUILT / "delay", f"{THERE}:{port}", f"{HERE}:{port}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.await_answer()

    def await_answer(self) -> None:
        if self.process.stdout.readline() != "OK\n":
            raise RuntimeError(f"delay ended with {self.process.wait()}")

    def set(self, round_trip_ms: float) -> None:
        self.process.stdin.write(f"{round(round_trip_ms * 1000)}\n")
        self.process.stdin.flush()
        self.await_answer()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Delays:
    """Before the worker, whose port is chosen here, and, when it is there, before the master."""

    def __init__(self):
        self.worker_port = free_port()
        self.worker = Delay(self.worker_port)
        self.master: Delay | None = None

    def properties(self) -> list[str]:
        """Of the servers: the worker has the name of the way to it."""
        return [f"alluxio.worker.hostname={THERE}", f"alluxio.worker.rpc.port={self.worker_port}"]

    def lead_to(self, masters: str) -> str:
        """The address of the way to that master."""
        port = int(masters.rsplit(":", 1)[1])
        self.master = Delay(port)
        return f"{THERE}:{port}"

    def set(self, master_ms: float, worker_ms: float) -> None:
        self.master.set(master_ms)
        self.worker.set(worker_ms)

    def close(self) -> None:
        for each in filter(None, (self.worker, self.master)):
            each.close()
