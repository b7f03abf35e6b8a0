"""Run by `make check`: result files, their comparison, and that the page tells nothing else."""

import contextlib
import copy
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import bench_alluxio
import commits
import footprints
import jsonschema
import pack
import page
import publish
import report_alluxio
import report_scaling
import results
from contenders import CONTENDERS
from groups import FOR_SOME, GROUPS, MANY, NO_OPEN, PARTS, READ_ONLY, SIZED, visits
from machine import environment_of, machine
from master_parts import listening
from parts import Scale, datasets
from versions import KNOWN as KNOWN_PROGRAMS
from versions import versions_of

sys.path.insert(0, str(publish.ROOT / "fuse-core" / "bench"))
import bench_core  # noqa: E402
import report  # noqa: E402
from targets import TARGETS  # noqa: E402

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


CONTENDERS_BY_NAME = {each.name: each for each in CONTENDERS}


def of(*values: float, unit: str = "files/s") -> dict:
    samples = [{**SAMPLE, "round": number, "value": value, "unit": unit} for number, value in enumerate(values, 1)]
    return {"benchmark": "alluxio", "environment": FACTS, "samples": samples}


def rows(loads: dict[str, dict[str, float]]) -> dict:
    """One round of these."""
    each = [(load, name, value) for load, values in loads.items() for name, value in values.items()]
    return report_alluxio.medians(
        [{**SAMPLE, "load": load, "contender": name, "value": value} for load, name, value in each]
    )


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

    def test_what_a_run_tells_of_its_machine_fits_it(self):
        found = of(1)
        found["environment"] = {**FACTS, **environment_of(1.0), "versions": {"fio": "3.33"}}
        self.validate(found)
        found["environment"]["unheard"] = 1
        with self.assertRaises(jsonschema.ValidationError):
            self.validate(found)

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
        for unit in ("ms", "MB", "threads"):
            self.assertIn("better", results.compare(of(20, unit=unit), of(10, unit=unit))[0])


class Resume(unittest.TestCase):
    """A run that was cut short goes on where it ended."""

    def run_again(self, out: str, *more: str) -> bench_alluxio.Run:
        words = ["--quick", "--parts", "svhn", "--contenders", "tmpfs,gateway", "--out", out, *more]
        with contextlib.redirect_stdout(io.StringIO()):
            return bench_alluxio.Run(bench_alluxio.parsed(words))

    def left(self, run: bench_alluxio.Run) -> list[tuple[int, str]]:
        return [(number, contender.name) for number, contender, *_ in run.plan()]

    def cut_short(self, out: str) -> bench_alluxio.Run:
        run = self.run_again(out)
        self.assertEqual({(1, "tmpfs"), (1, "gateway")}, set(self.left(run)))
        run.samples.append(SAMPLE)
        run.keep()
        return run

    def test_what_is_there_is_not_measured_again(self):
        with tempfile.TemporaryDirectory() as out:
            self.cut_short(out)
            self.assertEqual([(1, "tmpfs")], self.left(self.run_again(out)))
            self.assertEqual(
                {(1, "tmpfs"), (2, "tmpfs"), (2, "gateway")}, set(self.left(self.run_again(out, "--rounds", "2")))
            )
            self.assertEqual(2, len(self.left(self.run_again(out, "--fresh"))))

    def test_what_was_measured_of_something_else_does_not_count(self):
        for what in ("commit", "kernel", "cpu"):
            with self.subTest(what), tempfile.TemporaryDirectory() as out:
                run = self.cut_short(out)
                run.facts[what] = "another"
                run.keep()
                self.assertEqual(2, len(self.left(self.run_again(out))))
                self.assertEqual([], self.run_again(out).samples)

    def test_it_stops_before_the_mount_that_would_take_longer(self):
        with tempfile.TemporaryDirectory() as out:
            run = self.run_again(out, "--minutes", "1")
            self.assertFalse(run.out_of_time(30))
            self.assertTrue(run.out_of_time(61))


class Page(unittest.TestCase):
    def test_a_changed_figure_in_a_section_is_found(self):
        page = publish.PAGE.read_text()
        before = publish.wrong_sections(page)
        for name in ("core", "16cpus/core"):
            begin = re.search(rf"<!-- {name}: begin -->\n", page).end()
            digit = re.compile(r"\d").search(page, begin)
            changed = page[: digit.start()] + str((int(digit[0]) + 1) % 10) + page[digit.end() :]
            with self.subTest(name):
                self.assertEqual(len(before) + 1, len(publish.wrong_sections(changed)))

    def test_so_is_one_in_what_follows_from_it_on_paper(self):
        text = publish.ON_PAPER.read_text()
        self.assertEqual([], publish.wrong_sections(text, publish.ON_PAPER))
        wrong = publish.wrong_sections(text.replace(" bytes of heap", " bytes of heaps"), publish.ON_PAPER)
        self.assertIn("scaling.md: section scaling does not say", wrong[0])

    def test_so_is_one_on_the_front_page(self):
        text = publish.FRONT.read_text()
        self.assertEqual([], publish.wrong_sections(text, publish.FRONT))
        wrong = publish.wrong_sections(text.replace(" files/s |", "0 files/s |", 1), publish.FRONT)
        self.assertIn("README.md: section alluxio does not say", wrong[0])

    def test_a_section_of_another_machine_says_of_which_code_it_is_where_that_differs(self):
        first = results.read(publish.KEPT / "core.json")
        self.assertEqual("", publish.beside(first))
        other = {**first, "environment": {**first["environment"], "commit": "1234567"}}
        told = publish.beside(other)
        self.assertIn(f"Of commit 1234567, not of {first['environment']['commit']}", told)

    def test_a_workload_is_one_table_of_medians_and_one_plot(self):
        for name in publish.kept_names():
            told = page.section(name, results.read(publish.KEPT / f"{name}.json"))
            with self.subTest(name):
                self.assertEqual((1, 1), (told.count("\n|---|"), told.count("![")))
                self.assertTrue(page.plot_of(name).exists())
        values = {**of(1, 3, 8), "benchmark": "alluxio"}
        values["samples"] = [{**sample, "load": "stat, 8 threads"} for sample in values["samples"]]
        self.assertIn("| stat, 8 threads | files/s | 3.00 |", page.section("alluxio", values))

    def test_a_section_without_a_result_is_refused(self):
        wrong = publish.wrong_sections("<!-- nothing: begin -->\n<!-- nothing: end -->\n", publish.ON_PAPER)
        self.assertIn("section nothing has no", wrong[0])

    def test_a_figure_told_by_hand_is_found(self):
        self.assertEqual(1, len(publish.told_by_hand("x", "a\nreads 900 MB/s\n", [])))
        self.assertEqual([], publish.told_by_hand("x", "a\nreads 900 MB/s\n", ["900 MB/s"]))
        self.assertEqual([], publish.told_by_hand("x", "<!-- a: begin -->\n9 MB/s\n<!-- a: end -->\n", []))

    def test_figures_are_speeds_times_memory_and_comparisons(self):
        for told in (
            "answers 5,000 calls/s",
            "takes 140 ns",
            "takes 3 µs more",
            "about 170 MB of memory",
            "is 2.5 times as fast",
            "reads twice as fast",
            "three times slower",
            "needs half the CPU time",
            "rounds differ fourfold",
        ):
            self.assertTrue(publish.told_by_hand("x", told, []), told)
        for said in (
            "files of 19 KB",
            "5 million × 200 bytes = 1,000 MB",
            "chunk.size.bytes=1MB",
            "asked four times",
            "waits 100 ms",
            "answered twice or never",
        ):
            self.assertEqual([], publish.told_by_hand("x", said, []), said)


class Commits(unittest.TestCase):
    """Of a repository with one commit."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "measured"
        self.git("init", "-q", str(self.root), at=Path(folder.name))
        self.git("commit", "-q", "--allow-empty", "-m", "First")
        self.commit = self.git("rev-parse", "--short", "HEAD")

    def git(self, *words: str, at: Path | None = None) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        command = ["git", "-C", str(at or self.root), *who, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def kept(self, name: str, commit: str) -> Path:
        result = {**of(1), "environment": {**FACTS, "commit": commit}}
        path = self.root / f"{name}.json"
        path.write_text(json.dumps(result))
        return path

    def test_a_result_whose_commit_is_not_in_the_history_is_named(self):
        files = [self.kept("lost", "abcdef0"), self.kept("found", self.commit)]
        wrong = commits.missing(files, set(), self.root)
        self.assertEqual(1, len(wrong))
        self.assertIn("lost.json: commit abcdef0, of which it is, is not in the history", wrong[0])

    def test_so_is_one_that_was_amended_away(self):
        files = [self.kept("amended", self.commit)]
        self.git("commit", "-q", "--amend", "--allow-empty", "-m", "Another")
        self.git("cat-file", "-e", f"{self.commit}^{{commit}}")
        self.assertEqual(1, len(commits.missing(files, set(), self.root)))

    def test_it_is_allowed_for_one_file_and_commit(self):
        files = [self.kept("lost", "abcdef0"), self.kept("other", "abcdef0"), self.kept("later", "abcdef1")]
        wrong = commits.missing(files, {("lost.json", "abcdef0"), ("later.json", "abcdef0")}, self.root)
        self.assertEqual(["later.json", "other.json"], [line.split(":")[0] for line in wrong])

    def test_each_that_is_allowed_is_kept_and_has_its_reason(self):
        for name, commit in commits.allowed():
            self.assertEqual(commit, results.read(commits.ROOT / name)["environment"]["commit"])
        for line in commits.ALLOWED.read_text().splitlines():
            self.assertTrue(line.startswith("#") or line.partition("\t")[2], line)

    def test_why_a_history_is_not_asked_is_said(self):
        shallow, nowhere = self.root.parent / "shallow", self.root.parent / "nowhere"
        self.git("commit", "-q", "--allow-empty", "-m", "Second")
        self.git("clone", "-q", "--depth", "1", f"file://{self.root}", str(shallow))
        nowhere.mkdir()
        self.assertEqual("", commits.why_not_asked(self.root))
        self.assertEqual("the clone is shallow", commits.why_not_asked(shallow))
        self.assertEqual(f"{nowhere} is no git repository", commits.why_not_asked(nowhere))


class Machine(unittest.TestCase):
    def test_older_results_tell_what_they_know(self):
        self.assertEqual("Linux 6, 2 CPUs (), commit 1234567, 2026-01-01", machine(FACTS))

    def test_memory_and_versions_are_told(self):
        facts = {**FACTS, "memory_gib": 23.5, "java": "17.0.1", "versions": {"fio": "3.33"}}
        self.assertIn("2 CPUs (), 23.5 GiB, JDK 17.0.1, fio 3.33, commit", machine(facts))

    def test_parts_that_run_fio_or_pytorch_say_so(self):
        uses = {part.name: part.uses for part in PARTS.values() if part.uses}
        self.assertEqual({"imagenet", "parallel", "mapped", *GROUPS["shapes"].parts}, set(uses))
        self.assertEqual(set(), {name for some in uses.values() for name in some} - set(KNOWN_PROGRAMS))
        self.assertRegex(versions_of(["fio", "fio"])["fio"], r"^\d+\.\d+")


class Core(unittest.TestCase):
    def test_big_files_are_read_and_written_by_all_numbers_of_threads(self):
        seen = {(point.mode, point.block, point.threads) for point in bench_core.points_of(quick=False)}
        wanted = {
            (mode, size << 10, n) for mode in ("read", "write") for size in (4, 128, 256) for n in (1, 8, 32, 128)
        }
        self.assertEqual(set(), wanted - seen)
        self.assertLessEqual({("read", 32768, 8), ("read", 32768, 64), ("read", 1 << 20, 32)}, seen)

    def test_the_paper_s_means_are_over_small_files(self):
        mean_of_32 = next(target for target in TARGETS if target.where == "mean of 4 and 128 KiB read by 32")
        self.assertTrue(mean_of_32.chosen(("reads", "read", 131072, 32)))
        self.assertFalse(mean_of_32.chosen(("reads", "read", 262144, 32)))

    def test_the_time_left_is_that_of_the_loads_left(self):
        said = io.StringIO()
        progress = bench_core.Progress(40)
        progress.began -= 60
        progress.told -= bench_core.SAY_S
        with contextlib.redirect_stdout(said):
            progress.tell(10, "here")
            progress.tell(10, "too early")
        self.assertRegex(said.getvalue(), r"^here: 10 of 40 loads, about 3\.\d min left\n$")

    def test_a_server_that_is_watched_is_told_by_the_most_that_was_seen_until_it_ended(self):
        looks = iter([{"threads": 4, "rss_mb": 9.0}, {"threads": 70, "rss_mb": 8.0}, {"threads": 2, "rss_mb": 3.0}])
        ended = threading.Event()

        def look() -> dict:
            seen = next(looks, None)
            if seen is None:
                ended.set()
                raise FileNotFoundError
            return seen

        with footprints.Watch(look) as watch:
            self.assertTrue(ended.wait(10))
        self.assertEqual({"threads": 70, "rss_mb": 9.0}, watch.most)

    def test_threads_are_told_as_of_after_the_load_where_nobody_looked_earlier(self):
        table = report_alluxio.medians([{**SAMPLE, "threads": 60, "rss_mb": 100.0}])
        told = report_alluxio.table_of_footprints(table, ["gateway"], {})
        self.assertIn("looked at after each load", told[0])
        told = report_alluxio.table_of_footprints(table, ["gateway"], {"footprints": "while each load ran"})
        self.assertIn("looked at while each load ran", told[0])

    def test_threads_are_the_most_that_were_seen_while_they_were_watched(self):
        watched = {"threads_over_time": [{"alive": 4}, {"alive": 9}, {"alive": 2}], "server_threads": 3}
        self.assertEqual(9, report.most_alive(watched))
        self.assertEqual(3, report.most_alive({"server_threads": 3}))


class Scaling(unittest.TestCase):
    def table(self, **values: float) -> dict:
        """Loads, their underscores as blanks, of the gateway; those of the master take 100 µs of it a call."""
        loads = {
            "tables alone: heap of each of 5,000,000 names": 200.0,
            "1 volumes: heap": 10.0,
            "101 volumes: heap": 160.0,
            "master: attributes of a file, 1 callers": 500.0,
            "master: attributes of a file, 8 callers": 4000.0,
            "master: a listing of 1,000 names, 8 callers": 80.0,
            **values,
        }
        samples = [
            {**SAMPLE, "load": load, "value": value, "unit": "calls/s", "master_cpu_us": 4e6 / value / 10}
            for load, value in loads.items()
        ]
        return report_alluxio.medians(samples)

    def test_arithmetic_on_paper_comes_from_what_was_measured(self):
        told = report_scaling.on_paper(self.table())
        self.assertIn("1,280,000 × 200 bytes = 256 MB", told)
        self.assertIn("a = 100 µs", told)
        self.assertIn("355,556 × a = 35.6", told)
        self.assertIn("l = 5,000 µs", told)
        self.assertIn("556 × l = 2.8", told)

    def test_what_was_not_measured_is_not_reckoned_with(self):
        told = report_scaling.on_paper({})
        self.assertIn("What a master answers was not measured.", told)
        self.assertNotIn("× a", told)

    def test_a_port_s_process_is_found(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.assertEqual(os.getpid(), listening(str(server.getsockname()[1])))


class Targets(unittest.TestCase):
    def test_what_a_group_measures_and_the_results_lack_is_told(self):
        group = GROUPS["train"]
        samples = [
            {**SAMPLE, "part": part, "contender": name}
            for part in group.parts
            for name in group.contenders
            if PARTS[part].takes(CONTENDERS_BY_NAME[name])
        ]
        self.assertEqual("", report_alluxio.not_measured(samples, "train"))
        some = [each for each in samples if each["part"] != "parallel" and each["contender"] != "gateway-devfuse"]
        told = report_alluxio.not_measured(some, "train")
        self.assertEqual(" Not measured yet: imagenet (gateway, transport=devfuse), parallel.", told)

    def test_a_target_is_told_for_each_transport_that_was_measured(self):
        values = {"gateway": 60.0, "gateway-devfuse": 40.0, "alluxiofuse": 1.0}
        samples = [
            {**SAMPLE, "load": "svhn, later epochs, 64 readers", "contender": name, "value": value, "threads": 60}
            for name, value in values.items()
        ]
        told = report_alluxio.table_of_targets(report_alluxio.medians(samples), {})
        load = "| svhn, later epochs, 64 readers"
        self.assertIn(f"{load} | AlluxioFuse 2.9.3 | 60.00 | ≥ 50 | reached |", told)
        self.assertIn(
            f"{load}, gateway, transport=devfuse | AlluxioFuse 2.9.3 | 40.00 | ≥ 50 | **not reached** |", told
        )
        self.assertEqual(2, sum("threads under 64 readers" in line for line in told))

    def test_of_many_loads_those_that_miss_are_told_with_what_the_floor_has(self):
        seen = {"128 MiB, 1 KiB, 1 thread": (11.0, 1.0, 14.0), "128 MiB, 1 KiB, 4 threads": (9.0, 1.0, 9.5)}
        names = ("bypass-devfuse", "direct-devfuse", "tmpfs")
        table = rows({load: dict(zip(names, values, strict=True)) for load, values in seen.items()})
        told = "\n".join(report_alluxio.table_of_targets(table, {}))
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

    def test_who_is_there_for_some_parts_takes_no_others(self):
        taken = {each.name: list(visits(list(PARTS), each)) for each in CONTENDERS if each.name in FOR_SOME}
        entries, readers = [(False, ["entries"])], [(False, ["readers"])]
        again = [(False, ["svhn", "coco", "metadata", "figure15", "imagenet", "parallel"])]
        local = [(False, ["svhn", "coco", "big", "mapped"])]
        some = {**dict.fromkeys(MANY, entries), **dict.fromkeys(SIZED, readers), NO_OPEN: again, READ_ONLY: local}
        self.assertEqual(some, taken)

    def test_fio_jobs_ask_for_what_they_are_given(self):
        given = (HERE / "shapes.py").read_text()
        for job in (HERE / "shapes").glob("*.fio"):
            for name in re.findall(r"\$\{(\w+)\}", job.read_text()):
                self.assertRegex(given, rf'"{name.lower()}"|\b{name.lower()}=', f"{job.name}: {name}")

    def test_programs_of_the_tests_that_parts_run_are_there(self):
        sources = HERE.parent / "src" / "test" / "java" / "io" / "posixgateway" / "alluxio"
        parts = "".join(part.read_text() for part in HERE.glob("*_parts.py"))
        names = re.findall(r'java_of_tests\(\w+, "([\w.]+)"', parts)
        self.assertTrue(names)
        for name in names:
            self.assertTrue((sources / f"{name.replace('.', '/')}.java").is_file(), name)

    def test_parts_are_named_after_their_function(self):
        self.assertEqual(list(PARTS), [part.run.__name__ for part in PARTS.values()])


if __name__ == "__main__":
    unittest.main()
