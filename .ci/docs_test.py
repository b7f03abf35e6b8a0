"""Each check of the docs can fail."""

import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import proofs
import texts

import docs
from docs import Page


class Checks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names = docs.Names()

    def test_a_link_to_a_page_or_heading_that_is_missing_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "b.md").write_text("# One `two`, three\n")
            page = Page("a.md", "[x](b.md#one-two-three) [y](b.md#four) [z](c.md) [w](https://example.org)\n")
            self.assertEqual(2, len(list(docs.broken_links(page, root))))

    def test_a_version_that_differs_from_the_others_is_found(self):
        files = {
            "pom.xml": "<version>0.2.0</version>\n<dependency><version>9</version></dependency>",
            "charts/posix-gateway/Chart.yaml": "version: 0.2.0\nappVersion: 0.2.0\n",
            "CHANGELOG.md": "## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n## [0.1.0] - 2026-11-27\n",
        }
        changes = [
            ("pom.xml", "0.2.0", "0.3.0"),
            ("CHANGELOG.md", "[0.2.0]", "[0.3.0]"),
            ("CHANGELOG.md", " - 2026", " 2026"),
        ]
        changes += [("charts/posix-gateway/Chart.yaml", "appVersion: 0.2.0", "appVersion: 0.3.0")]
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "charts/posix-gateway").mkdir(parents=True)
            for name, text in files.items():
                (root / name).write_text(text)
            subprocess.run(["git", "init", "-q", folder], check=True)
            subprocess.run(["git", "-C", folder, "add", "-A"], check=True)
            self.assertEqual([], list(docs.differing_versions(root)))
            for name, old, new in changes:
                (root / name).write_text(files[name].replace(old, new))
                self.assertEqual(1, len(list(docs.differing_versions(root))), (name, new))
                (root / name).write_text(files[name])

    def test_a_table_of_requests_that_differs_from_what_was_measured_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "docs").mkdir()
            measured = root / docs.REQUESTS
            measured.parent.mkdir(parents=True)
            measured.write_text('[{"operation": "`stat`", "GET": 0, "all": 0}]')
            table = "| of 1 KiB, in a directory that this mount knows | GET, HEAD | all |\n|---|---|---|\n"
            table += "| `stat` | 0 | 0 |\n"
            page = root / "docs/semantics.md"
            page.write_text(f"<!-- S3 requests: of S3CallsIT -->\n{table}<!-- end -->\n")
            self.assertEqual([], list(docs.differing_requests(root)))
            page.write_text(page.read_text().replace("| 0 |\n", "| 1 |\n"))
            self.assertEqual(1, len(list(docs.differing_requests(root))))

    def test_a_sentence_of_26_words_is_found_in_text_and_tables(self):
        for text in ("word " * 26 + ".", "| a | " + "word " * 26 + "|", "* " + "word " * 26):
            self.assertEqual(1, len(list(docs.long_sentences(Page("a.md", text)))), text)
        for text in ("word " * 25 + ". Next.", "`" + "word " * 30 + "`", "```sh\n" + "word " * 30 + "\n```"):
            self.assertEqual([], list(docs.long_sentences(Page("a.md", text))), text)

    def test_a_house_word_is_found_but_not_in_code(self):
        words = docs.glossary()
        self.assertEqual(1, len(list(docs.house_words(Page("a.md", "The contender wins."), words))))
        self.assertEqual([], list(docs.house_words(Page("a.md", "`contender` wins."), words)))

    def test_a_house_word_in_a_text_of_the_code_is_found_with_its_line(self):
        source = """// what goes on here
LOG.warn("the upload of {} has"
        + " failed; it is tried again"); /* under way */
String name = "stranger";
String option = "stand_back";
String metric = "requests_handed_over_again";
"""
        found = list(docs.house_words_in_code(texts.literals("a/src/main/A.java", source), docs.glossary()))
        self.assertEqual(
            [
                "a/src/main/A.java:2: 'tried again': the glossary says retry, retries",
                "a/src/main/A.java:6: 'handed over': the glossary says offloaded",
            ],
            found,
        )

    def test_the_terms_of_csi_are_words_of_the_driver(self):
        source = 'errors.New("volume %s is still published at %s")'
        for name, found in (("csi/internal/driver/a.go", 0), ("alluxio-adapter/src/main/A.java", 1)):
            words = docs.house_words_in_code(texts.literals(name, source), docs.glossary())
            self.assertEqual(found, len(list(words)), name)

    def test_titles_of_dashboards_are_texts(self):
        node = {"panels": [{"title": "Requests under way", "id": 1, "targets": [{"legendFormat": "made {{node}}"}]}]}
        self.assertEqual(["Requests under way", "made {{node}}"], [one.text for one in texts.titles("a.json", node)])

    def test_a_name_that_the_sources_lack_is_found(self):
        for text in (
            "`posix_gateway_nothing_total`",
            "`no_such_option=1`",
            "`PosixGatewayNothing`",
            "`node.gateway.nothing=1`",
            "`ENOTHING`",
            "`make nothing-of-the-kind`",
            "`posix-gateway mount --no-such-flag`",
        ):
            self.assertEqual(1, len(list(docs.unknown_names(Page("a.md", text), self.names))), text)
        known = (
            "`posix_gateway_ready` `metadata_ttl=5s` `PosixGatewayNotReady` `ENOENT` `node.gateway.standby` `make test`"
        )
        self.assertEqual([], list(docs.unknown_names(Page("a.md", known), self.names)))

    def test_a_class_or_file_that_the_tree_lacks_is_found_in_pages_on_the_code(self):
        with tempfile.TemporaryDirectory() as folder:
            root, files = Path(folder), ["a/meta/Inode.java", "b/pgw_uring.c"]
            (root / "a/meta").mkdir(parents=True)
            (root / files[0]).write_text("class Inode { long see() {} }")
            for text in ("`Dentries`", "`read/Inode`", "`Inode.hear`", "`pgw_ring.c`", "`csi/pgw_uring.c`"):
                page = Page("docs/design/a.md", f"\n{text}\n")
                found = list(docs.missing_classes(page, files, root))
                self.assertEqual([True], [one.startswith("docs/design/a.md:2: ") for one in found], text)
                self.assertEqual([], list(docs.missing_classes(Page("docs/operations.md", text), files, root)))
            known = (
                "`Inode` `meta/Inode` `Inode.see` `Inode.see()` `pgw_uring.c` `b/pgw_uring.c` `EIO` `FETCHING` `close`"
            )
            self.assertEqual([], list(docs.missing_classes(Page("docs/design/a.md", known), files, root)))

    def test_an_error_text_that_nothing_prints_is_found(self):
        self.assertEqual(
            [], list(docs.unknown_texts(Page("a.md", "> `option '…' is not known; give one of …`\n"), self.names))
        )
        self.assertEqual(1, len(list(docs.unknown_texts(Page("a.md", "> `nothing prints just this`\n"), self.names))))

    def test_an_error_text_that_only_a_test_has_is_found(self):
        page = Page("a.md", "> `interrupted at 0% of 586K in Alluxio, 3 entries`\n")
        self.assertIn("interrupted at 0% of 586K in Alluxio, 3 entries", self.names.text)
        self.assertEqual(1, len(list(docs.unknown_texts(page, self.names))))

    def test_ten_questions_are_answered_within_two_clicks_from_the_readme(self):
        first = set(docs.LINK.findall((docs.ROOT / "README.md").read_text()))
        for page, anchor in (
            ("troubleshooting", "stale-data"),
            ("troubleshooting", "memory"),
            ("troubleshooting", "eio"),
            ("troubleshooting", "slow-ls"),
            ("troubleshooting", "pods"),
            ("operations", "upgrade"),
            ("troubleshooting", "checkpoints"),
            ("troubleshooting", "permissions"),
            ("troubleshooting", "old-kernels"),
            ("troubleshooting", "s3-costs"),
        ):
            text = (docs.ROOT / f"docs/{page}.md").read_text()
            self.assertIn(f"docs/{page}.md", first, anchor)
            self.assertIn(anchor, docs.anchors(text))
            self.assertTrue(page == "operations" or f"(#{anchor})" in text, anchor)

    def test_a_command_that_no_test_runs_is_found(self):
        page = Page("docs/quickstart-host.md", "```sh\nmake nothing\nkubectl get pods\ntrue\n```\n")
        said = list(docs.commands_not_run(page))
        self.assertEqual(2, len(said), said)

    def test_what_is_generated_is_left_out(self):
        page = Page("a.md", "<!-- x: begin -->\n" + "word " * 30 + "\n<!-- x: end -->\n")
        self.assertEqual([], list(docs.long_sentences(page)))


class Make(unittest.TestCase):
    def test_help_lists_at_most_20_targets(self):
        listed = subprocess.run(
            ["make", "-s", "help"], cwd=docs.ROOT, check=True, capture_output=True, text=True
        ).stdout
        self.assertLessEqual(len(listed.splitlines()), 20, listed)
        self.assertIn("bench ", listed)


class Proofs(unittest.TestCase):
    def test_a_line_without_a_proof_and_a_proof_without_a_test_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "semantics.md"
            page.write_text("| a | proof |\n|---|---|\n| x | |\n| y | [proof](semantics-proofs.md#y) |\n")
            with mock.patch.object(proofs, "PAGE", page):
                self.assertEqual(2, len(proofs.wrong({"y": ["nothing"]}, {})))


if __name__ == "__main__":
    unittest.main()
