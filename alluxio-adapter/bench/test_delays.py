"""Run by `make check`: the delays of bench-latency."""

import os
import socket
import subprocess
import threading
import time
import unittest
from pathlib import Path

from delays import HERE as SERVERS
from delays import THERE, Delay, free_port
from parts import FAR_NAMES, Scale, datasets

HERE = Path(__file__).resolve().parent


class Echo:
    """A server that answers each connection by what it is sent."""

    def __init__(self, port: int):
        self.listener = socket.create_server((SERVERS, port))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    @staticmethod
    def answer(connection: socket.socket) -> None:
        with connection:
            while got := connection.recv(1 << 20):
                connection.sendall(got)


class Delays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run(["make", "-s", "-C", HERE, "target/delay"], check=True)
        port = free_port()
        cls.server = Echo(port)
        cls.delay = Delay(port)
        cls.addClassCleanup(cls.delay.close)
        cls.way = (THERE, port)

    def answered_after(self, connection: socket.socket, began: float = 0) -> float:
        began = began or time.monotonic()
        connection.sendall(b"?")
        self.assertEqual(b"?", connection.recv(1))
        return time.monotonic() - began

    def test_an_answer_takes_the_round_trip_and_a_new_connection_two(self):
        self.delay.set(100)
        began = time.monotonic()  # the delay of the connection runs while this thread may not
        with socket.create_connection(self.way) as connection:
            self.assertGreaterEqual(self.answered_after(connection, began), 0.2)
            self.assertGreaterEqual(self.answered_after(connection), 0.1)
            self.delay.set(0)
            self.assertLess(min(self.answered_after(connection) for _ in range(20)), 0.05)

    def test_all_bytes_come_through_in_order_and_nobody_waits_for_one_piece_after_the_other(self):
        self.delay.set(50)
        sent = os.urandom(16 << 20)
        with socket.create_connection(self.way) as connection:
            began = time.monotonic()
            writer = threading.Thread(target=connection.sendall, args=(sent,))
            writer.start()
            got = bytearray()
            while len(got) < len(sent):
                got += connection.recv(1 << 20)
            took = time.monotonic() - began
            writer.join()
            self.assertTrue(sent == got)
            self.assertLess(took, 0.05 * len(sent) / (64 << 10))
            connection.shutdown(socket.SHUT_WR)
            self.assertEqual(b"", connection.recv(1))
        self.delay.set(0)


class Latency(unittest.TestCase):
    def test_each_round_trip_has_files_and_names_of_its_own(self):
        few = [
            each for each in datasets(Scale.quick()).values() if each.name.split("-")[0] in ("small", "ufs", "names")
        ]
        ids = [each.first_id + at for each in few for at in range(len(each.sizes))]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertTrue(all(len(each.sizes) == FAR_NAMES for each in few if each.name.startswith("names")))


if __name__ == "__main__":
    unittest.main()
