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

    def test_names_what_maven_packed_into_our_jar(self):
        jar(self.jars, "client-renamed.jar", ("org.client", "client", "2.9"))
        with zipfile.ZipFile(self.jars / "client-renamed.jar", "a") as archive:
            lines = [
                "io.rpc:rpc-core:jar:1.82.4:runtime -- module io.rpc",
                "io.net:net:jar:linux-x86_64:4.1.Final:compile",
            ]
            archive.writestr("META-INF/packed", "\nThe following files:\n" + "".join(f"   {line}\n" for line in lines))
        self.assertEqual(
            self.names(),
            ["pkg:maven/org.client/client@2.9", "pkg:maven/io.rpc/rpc-core@1.82.4", "pkg:maven/io.net/net@4.1.Final"],
        )

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


class TheJarOfAlluxiosClient(unittest.TestCase):
    def setUp(self):
        (self.jar,) = (ROOT / "alluxio-adapter/target/dist/lib").glob("alluxio-client-*.jar")

    def test_says_what_is_packed_into_it(self):
        pom = (ROOT / "alluxio-adapter/alluxio-client/pom.xml").read_text()
        names = {one.get("purl") for one in sbom.jar_components(self.jar)}
        for library, version in ("io.grpc/grpc-netty", "grpc"), ("io.netty/netty-codec-http2", "netty"):
            self.assertIn(f"pkg:maven/{library}@{re.search(f'<{version}.version>(.+)<', pom)[1]}", names)

    def test_is_at_most_40_mb(self):
        self.assertLessEqual(self.jar.stat().st_size, 40_000_000)


class ThePageOfDependencies(unittest.TestCase):
    def test_has_the_versions_of_the_build(self):
        page = (ROOT / "docs/dependencies.md").read_text()
        client, own = "alluxio-adapter/alluxio-client/pom.xml", "pom.xml"
        self.assertIn(f"| library | Alluxio {self.said(client, '<alluxio.client.version>')} | its client here |", page)
        for library, name in (
            ("gRPC", "grpc"),
            ("Netty", "netty"),
            ("Protocol Buffers", "protobuf"),
            ("Jackson", "jackson"),
        ):
            row = self.row(page, library)
            self.assertEqual(self.said(client, f"<{name}.version>"), row[2], library)
        for library, name in ("gRPC", "grpc"), ("Protocol Buffers", "protobuf"), ("SLF4J", "slf4j"):
            self.assertEqual(self.said(own, f"<{name}.version>"), self.row(page, library)[3], library)
        gson = self.said("alluxio-adapter/pom.xml", "<artifactId>gson</artifactId>")
        self.assertEqual(gson, self.row(page, "Gson")[3])
        zookeeper = self.said(client, "<artifactId>zookeeper</artifactId>")
        self.assertEqual(zookeeper, self.row(page, "ZooKeeper")[2])

    def row(self, page, library):
        return next(
            [cell.strip() for cell in line.split("|")[1:]]
            for line in page.splitlines()
            if line.startswith(f"| {library} |")
        )

    def said(self, file, after):
        """The first version in a file after a text."""
        return re.search(re.escape(after) + r"(?:\s*<version>)?([\d.]*\d)", (ROOT / file).read_text())[1]


if __name__ == "__main__":
    unittest.main()
