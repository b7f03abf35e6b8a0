"""Run by `make check`: result files, their comparison, and that the page tells nothing else."""

import copy
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import jsonschema
import pack
import publish
import report_alluxio
import results
from contenders import CONTENDERS
from groups import GROUPS, PARTS, visits

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


class Groups(unittest.TestCase):
    def test_everybody_named_is_there_and_has_something_to_do(self):
        known = {each.name: each for each in CONTENDERS}
        for group in GROUPS.values():
            for name in group.contenders:
                self.assertTrue(list(visits(group.parts, known[name])), name)

    def test_fio_jobs_ask_for_what_they_are_given(self):
        given = (HERE / "shapes.py").read_text()
        for job in (HERE / "shapes").glob("*.fio"):
            for name in re.findall(r"\$\{(\w+)\}", job.read_text()):
                self.assertRegex(given, rf'"{name.lower()}"|\b{name.lower()}=', f"{job.name}: {name}")

    def test_parts_are_named_after_their_function(self):
        self.assertEqual(list(PARTS), [part.run.__name__ for part in PARTS.values()])


if __name__ == "__main__":
    unittest.main()
