"""Run by `make check`: result files, their comparison, and that the page tells nothing else."""

import copy
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import jsonschema
import latency_says
import pack
import publish
import report_alluxio
import results
from contenders import CONTENDERS
from delays import HERE as SERVERS
from delays import THERE, Delay, free_port
from groups import GROUPS, MANY, PARTS, visits
from parts import FAR_NAMES, Scale, datasets

HERE = Path(__file__).resolve().parent
SAMPLE = {
    "round": 1,
    "contender": "gateway",
    "part": "svhn",
    "load": "svhn, 8 readers",
    "value": 5.0,
    "unit": "files/s",
}
FACTS = {"kernel": "6", "cpus": 2, "cpu": "", "commit": "1234567", "date": "2026-01-01", "rounds": 1, "seconds": 1}


def of(*values: float, unit: str = "files/s") -> dict:
    samples = [{**SAMPLE, "round": number, "value": value, "unit": unit} for number, value in enumerate(values, 1)]
    return {"benchmark": "alluxio", "environment": FACTS, "samples": samples}


class Schema(unittest.TestCase):
    def validate(self, found: dict) -> None:
        jsonschema.validate(found, json.loads(results.SCHEMA.read_text()))

    def test_every_kept_file_fits_it(self):
        for path in publish.KEPT.rglob("*.json"):
            with self.subTest(path.name):
                self.assertEqual(path.stem, results.read(path)["benchmark"])

    def test_what_lacks_something_is_refused(self):
        self.validate(of(1))
        for missing in SAMPLE:
            broken = copy.deepcopy(of(1))
            del broken["samples"][0][missing]
            with self.subTest(missing), self.assertRaises(jsonschema.ValidationError):
                self.validate(broken)

    def test_every_group_has_a_name_in_it_and_a_section(self):
        schema, page = results.SCHEMA.read_text(), publish.PAGE.read_text()
        for name in ("core", *GROUPS):
            self.assertTrue(f'"{name}"' in schema and f"<!-- {name}: begin -->" in page, name)


class Compare(unittest.TestCase):
    def test_only_rounds_that_do_not_overlap_are_judged(self):
        self.assertIn("better", results.compare(of(10, 11), of(20, 21))[0])
        self.assertIn("worse", results.compare(of(20, 21), of(10, 11))[0])
        self.assertIn("overlap", results.compare(of(10, 20), of(15, 25))[0])

    def test_of_times_less_is_better(self):
        self.assertIn("better", results.compare(of(20, unit="ms"), of(10, unit="ms"))[0])


class Page(unittest.TestCase):
    def test_a_changed_figure_in_a_section_is_found(self):
        page = publish.PAGE.read_text()
        self.assertEqual([], publish.wrong_sections(page))
        for name in ("core", "16cpus/core"):
            begin = re.search(rf"<!-- {name}: begin -->\n", page).end()
            digit = re.compile(r"\d").search(page, begin)
            changed = page[: digit.start()] + str((int(digit[0]) + 1) % 10) + page[digit.end() :]
            with self.subTest(name):
                self.assertEqual(1, len(publish.wrong_sections(changed)))

    def test_a_figure_told_by_hand_is_found(self):
        self.assertEqual(1, len(publish.told_by_hand("x", "a\nreads 900 MB/s\n", [])))
        self.assertEqual([], publish.told_by_hand("x", "a\nreads 900 MB/s\n", ["900 MB/s"]))
        self.assertEqual([], publish.told_by_hand("x", "<!-- a: begin -->\n9 MB/s\n<!-- a: end -->\n", []))


class Targets(unittest.TestCase):
    def test_of_many_loads_those_that_miss_are_told_with_what_the_floor_has(self):
        seen = {"128 MiB, 1 KiB, 1 thread": (11.0, 1.0, 14.0), "128 MiB, 1 KiB, 4 threads": (9.0, 1.0, 9.5)}
        names = ("bypass-devfuse", "direct-devfuse", "tmpfs")
        samples = [
            {**SAMPLE, "load": load, "contender": name, "value": value, "unit": "MB/s"}
            for load, values in seen.items()
            for name, value in zip(names, values, strict=True)
        ]
        told = "\n".join(report_alluxio.table_of_targets(report_alluxio.medians(samples)))
        self.assertIn(
            "1 KiB: 2 loads, bypass, devfuse | FUSE, O_DIRECT, devfuse | 9.00 to 11.00 | ≥ 10 | 1 reach it", told
        )
        self.assertIn("4 threads, bypass, devfuse | FUSE, O_DIRECT, devfuse | 9.00 (tmpfs: 9.50) | ≥ 10 | **not", told)
        self.assertNotIn("1 thread, bypass, devfuse | FUSE, O_DIRECT", told)


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
    def test_round_trips_are_counted_by_what_they_add(self):
        seen = {"near: open": ("ms", 3.0, 43.0), "near: stat": ("µs", 5.0, 5.0), "far: read": ("MB/s", 900.0, 80.0)}
        samples = [
            {**SAMPLE, "load": f"{what}, {trip} ms", "value": value, "unit": unit}
            for what, (unit, *values) in seen.items()
            for trip, value in zip((0, 20), values, strict=True)
        ]
        told = latency_says.latency(report_alluxio.medians(samples), FACTS)[1].splitlines()
        self.assertEqual(["| | gateway |", "|---|---|", "| near: open | 2.00 |", "| near: stat | 0.00 |"], told)

    def test_each_round_trip_has_files_and_names_of_its_own(self):
        few = [
            each for each in datasets(Scale.quick()).values() if each.name.split("-")[0] in ("small", "ufs", "names")
        ]
        ids = [each.first_id + at for each in few for at in range(len(each.sizes))]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertTrue(all(len(each.sizes) == FAR_NAMES for each in few if each.name.startswith("names")))


class Package(unittest.TestCase):
    def test_what_is_measured_there_has_the_commit_of_here(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "packed.json").write_text('{"commit": "1234567"}')
            self.assertEqual("1234567", pack.commit_of(Path(folder)))

    def test_its_script_is_a_script_and_knows_the_groups(self):
        subprocess.run(["sh", "-n"], input=pack.RUN, text=True, check=True)
        told = subprocess.run(["sh", "-s"], input=pack.RUN, text=True, capture_output=True, check=False)
        self.assertNotEqual(0, told.returncode)
        self.assertIn("which: core, alluxio, figure15, train or shapes", told.stderr)


def may_mount() -> bool:
    return subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


@unittest.skipUnless(may_mount(), "only who may mount")
class Memory(unittest.TestCase):
    PROGRAM = """
from pathlib import Path
import sys, time
from bench_alluxio import end_as_by_hand
from memory import memory
end_as_by_hand()
with memory(Path(sys.argv[1]), "huge=within_size") as folder:
    print([line for line in open("/proc/mounts") if str(folder) in line], flush=True)
    time.sleep(100)
"""

    def test_it_is_gone_when_a_run_is_ended_and_nobody_else_saw_it(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with tempfile.TemporaryDirectory() as place, self.subTest(number):
                words = [sys.executable, "-c", self.PROGRAM, place]
                with subprocess.Popen(words, cwd=HERE, stdout=subprocess.PIPE, text=True) as run:
                    self.assertIn("huge=within_size", run.stdout.readline())
                    self.assertNotIn(place, Path("/proc/mounts").read_text())
                    run.send_signal(number)
                self.assertEqual(number == signal.SIGTERM, not os.listdir(place))


class Groups(unittest.TestCase):
    def test_everybody_named_is_there_and_has_something_to_do(self):
        known = {each.name: each for each in CONTENDERS}
        for group in GROUPS.values():
            for name in group.contenders:
                self.assertTrue(list(visits(group.parts, known[name])), name)

    def test_what_a_part_reads_is_there(self):
        made = {*datasets(Scale()), "listed", "million", "pictures", "records"}
        for part in PARTS.values():
            self.assertEqual(set(), set(part.reads) - made, part.name)

    def test_many_names_are_for_those_with_room_for_them(self):
        for each in CONTENDERS:
            self.assertEqual(each.name in MANY, PARTS["entries"].takes(each), each.name)
        self.assertEqual(
            [(False, ["entries"])],
            list(visits(GROUPS["scaling"].parts, next(each for each in CONTENDERS if each.name == MANY[0]))),
        )

    def test_fio_jobs_ask_for_what_they_are_given(self):
        given = (HERE / "shapes.py").read_text()
        for job in (HERE / "shapes").glob("*.fio"):
            for name in re.findall(r"\$\{(\w+)\}", job.read_text()):
                self.assertRegex(given, rf'"{name.lower()}"|\b{name.lower()}=', f"{job.name}: {name}")

    def test_parts_are_named_after_their_function(self):
        self.assertEqual(list(PARTS), [part.run.__name__ for part in PARTS.values()])


if __name__ == "__main__":
    unittest.main()
