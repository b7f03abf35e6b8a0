"""The check of versions finds an old library wherever it is, and an excuse that nobody needs."""

import pathlib
import tempfile
import unittest
import zipfile
from unittest import mock

import least_versions
from least_versions import Excuse, Row, Used

NETTY = Row("maven", "io.netty:netty-codec-http2", "4.1.136 4.2.16", "2026-11-28", "CVE-0: floods")
GO = Row("go", "golang.org/x/net", "0.56.0", "2026-11-28", "CVE-1")


def netty(version, place="a.jar"):
    return Used("maven", "io.netty:netty-codec-http2", version, place)


class LeastVersions(unittest.TestCase):
    def found(self, used, allowed=()):
        return list(least_versions.complaints(used, [NETTY, GO], list(allowed)))

    def test_versions_are_compared_within_their_line_of_releases(self):
        for version in "4.1.136.Final", "4.1.140.Final", "4.2.16.Final", "4.2.20.Final", "5.0.0.Alpha2":
            self.assertEqual([], self.found([netty(version)]), version)
        for version in "4.1.99.Final", "4.1.135.Final", "4.0.137.Final", "4.2.15.Final", "3.2.20":
            self.assertEqual(1, len(self.found([netty(version)])), version)

    def test_a_complaint_names_place_version_and_advisories(self):
        (text,) = self.found([netty("4.1.52.Final")])
        for part in "a.jar", "netty-codec-http2 4.1.52.Final", "4.1.136 or 4.2.16", "CVE-0: floods":
            self.assertIn(part, text)

    def test_an_old_go_module_and_a_replaced_one_are_found(self):
        listing = "posixgateway.io/csi\ngolang.org/x/net v0.55.0\n"
        self.assertEqual(1, len(self.found(least_versions.modules(listing, "go1.26.8"))))
        listing = "golang.org/x/net v0.62.0 => example.org/fork v0.1.0\n"
        self.assertEqual(1, len(self.found(least_versions.modules(listing, "go1.26.8"))))
        listing = "golang.org/x/net v0.62.0\n"
        self.assertEqual([], self.found(least_versions.modules(listing, "go1.26.8")))

    def test_an_old_go_itself_is_found(self):
        row = Row("go", "stdlib", "1.25.13 1.26.6", "2026-11-28", "CVE-2")
        used = list(least_versions.modules("", "go1.26.5"))
        self.assertEqual(1, len(list(least_versions.complaints(used, [row], []))))

    def test_an_excuse_holds_for_one_version_in_one_jar(self):
        excuse = Excuse("a.jar", "io.netty:netty-codec-http2", "4.1.52.Final", "unreachable")
        self.assertEqual([], self.found([netty("4.1.52.Final")], [excuse]))
        self.assertEqual(2, len(self.found([netty("4.1.53.Final")], [excuse])))
        self.assertEqual(2, len(self.found([netty("4.1.52.Final", "b.jar")], [excuse])))

    def test_an_excuse_that_is_not_needed_is_found(self):
        excuse = Excuse("a.jar", "io.netty:netty-codec-http2", "4.1.140.Final", "unreachable")
        self.assertEqual(1, len(self.found([netty("4.1.140.Final")], [excuse])))

    def test_what_is_packed_into_a_jar_is_found(self):
        page = "groupId=io.netty\nartifactId=netty-codec-http2\nversion=4.1.52.Final\n"
        with tempfile.TemporaryDirectory() as folder, mock.patch("sbom.REPOSITORY", pathlib.Path(folder, "none")):
            with zipfile.ZipFile(pathlib.Path(folder, "client-1.0.jar"), "w") as jar:
                jar.writestr("META-INF/maven/io.netty/netty-codec-http2/pom.properties", page)
            self.assertEqual(1, len(self.found(least_versions.packaged(pathlib.Path(folder)))))

    def test_each_row_of_the_list_has_a_day_and_ascending_versions(self):
        rows = least_versions.rows(least_versions.LEAST, Row)
        self.assertEqual(len(rows), len({row[:2] for row in rows}), "a library has two rows")
        for row in rows:
            self.assertRegex(row.checked, r"^20\d\d-\d\d-\d\d$", row.library)
            lines = [least_versions.numbers(version) for version in row.versions.split()]
            self.assertEqual(sorted(lines), lines, row.library)
            self.assertIn(row.ecosystem, ("maven", "go"))


if __name__ == "__main__":
    unittest.main()
