"""The bill of materials names what is in an image, and docs/dependencies.md the versions that are really used."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

import sbom

ROOT = pathlib.Path(__file__).resolve().parent.parent


def jar(folder, file, *coordinates):
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / file, "w") as archive:
        for group, name, version in coordinates:
            page = f"#made by Maven\ngroupId={group}\r\nartifactId={name}\r\nversion={version}\r\n"
            archive.writestr(f"META-INF/maven/{group}/{name}/pom.properties", page)


class TheBillOfMaterials(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.jars = self.root / "opt/gateway/lib"
        self.known, sbom.REPOSITORY = sbom.REPOSITORY, self.root / "repository"

    def tearDown(self):
        sbom.REPOSITORY = self.known

    def names(self):
        return [one.get("purl", one["name"]) for one in sbom.components(self.root)]

    def test_names_what_is_packed_into_a_jar(self):
        jar(self.jars, "client-2.9.jar", ("org.client", "client", "2.9"), ("io.net", "net-all", "4.1"))
        self.assertEqual(self.names(), ["pkg:maven/org.client/client@2.9", "pkg:maven/io.net/net-all@4.1"])

    def test_names_a_jar_that_says_only_what_it_packs(self):
        jar(self.jars, "packed-1.0.jar", ("a", "b", "1"), ("c", "d", "2"))
        self.assertEqual(self.names(), ["pkg:maven/a/b@1", "pkg:maven/c/d@2", "packed"])

    def test_names_the_netty_that_grpc_packs(self):
        jar(self.jars, "net-1.0.jar", ("io.net", "net", "1.0"))
        with zipfile.ZipFile(self.jars / "net-1.0.jar", "a") as archive:
            said = "#made by Maven\nnetty-common.version=4.1.124.Final\nnetty-common.repoStatus=clean\n"
            archive.writestr("META-INF/io.grpc.netty.shaded.io.netty.versions.properties", said)
        self.assertEqual(self.names(), ["pkg:maven/io.net/net@1.0", "pkg:maven/io.netty/netty-common@4.1.124.Final"])

    def test_names_netty_itself_once(self):
        jar(self.jars, "netty-common-4.1.jar", ("io.netty", "netty-common", "4.1"))
        with zipfile.ZipFile(self.jars / "netty-common-4.1.jar", "a") as archive:
            archive.writestr("META-INF/io.netty.versions.properties", "netty-common.version=4.1\n")
        self.assertEqual(self.names(), ["pkg:maven/io.netty/netty-common@4.1"])

    def test_finds_the_group_of_a_silent_jar_in_the_repository(self):
        jar(self.jars, "rpc-api-1.76.0.jar")
        jar(sbom.REPOSITORY / "io/rpc/rpc-api/1.76.0", "rpc-api-1.76.0.jar")
        self.assertEqual(self.names(), ["pkg:maven/io.rpc/rpc-api@1.76.0"])

    def test_names_the_runtime_and_not_its_parts(self):
        jar(self.root / "opt/jre/lib", "jrt-fs.jar")
        (self.root / "opt/jre/release").write_text('IMPLEMENTOR="Debian"\nJAVA_VERSION="17.0.17"\n')
        self.assertEqual(self.names(), ["pkg:generic/openjdk@17.0.17"])

    def test_names_debian_packages(self):
        folder = self.root / "usr/share/posix-gateway"
        folder.mkdir(parents=True)
        (folder / "packages").write_text("zlib1g_1%3a1.2.13_amd64.deb\n")
        self.assertEqual(self.names(), ["pkg:deb/debian/zlib1g@1:1.2.13?arch=amd64"])

    def test_refuses_an_empty_image(self):
        program = [sys.executable, sbom.__file__, "name", "1", self.root]
        self.assertIn("nothing is found", subprocess.run(program, capture_output=True, text=True).stderr)


class ThePageOfDependencies(unittest.TestCase):
    def test_has_the_versions_of_the_build(self):
        page = (ROOT / "docs/dependencies.md").read_text()
        for row in page.splitlines():
            for name in re.findall(r"`pom\.xml`, `(\w+\.version)`", row):
                self.assertIn(f"{self.said('pom.xml', f'<{name}>')} ", row, name)
        self.assertIn(
            f"| Gson | 2.8.9 | {self.said('alluxio-adapter/pom.xml', '<artifactId>gson</artifactId>')} |", page
        )
        self.assertIn(f"| library | Alluxio {self.said('pom.xml', '<alluxio.version>')} | here |", page)

    def said(self, file, after):
        """The first version in a file after a text."""
        return re.search(re.escape(after) + r"(?:\s*<version>)?([\d.]+)", (ROOT / file).read_text())[1]


if __name__ == "__main__":
    unittest.main()
