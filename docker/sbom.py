"""Writes the bill of materials (CycloneDX 1.5) of an image's files to standard output.

sbom.py NAME VERSION ROOT    lists the jars and what is packed into them, the Java runtime, Go programs, and unpacked
                             Debian packages of the file system at ROOT
"""

import json
import pathlib
import re
import subprocess
import sys
import zipfile

REPOSITORY = pathlib.Path.home() / ".m2/repository"
# In a jar of ours, what Maven packed into it: not all libraries bring pages of Maven's along.
PACKED = "META-INF/packed"


def java_component(group, name, version):
    found = {"name": name, "version": version}
    return {"group": group, **found, "purl": f"pkg:maven/{group}/{name}@{version}"} if group else found


def group_of(name, version):
    """What some jars do not say: the group under which Maven has them."""
    found = REPOSITORY.glob(f"**/{name}/{version}/{name}-{version}.jar")
    return next((".".join(path.parents[2].relative_to(REPOSITORY).parts) for path in found), None)


def jar_components(path):
    """The jar, and what was packed into it, by what it says of itself; else by its file's name."""
    with zipfile.ZipFile(path) as jar:
        pages = [name for name in jar.namelist() if re.fullmatch(r"META-INF/maven/[^/]+/[^/]+/pom\.properties", name)]
        texts = [jar.read(name).decode() for name in pages]
        packed = jar.read(PACKED).decode() if PACKED in jar.namelist() else ""
    itself = False
    for text in texts:
        said = dict(
            line.strip().split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#")
        )
        group, name, version = said["groupId"], said["artifactId"], said["version"]
        itself = itself or path.stem == f"{name}-{version}"
        yield java_component(group, name, version)
    yield from netty_components(path, texts)
    for group, name, version in re.findall(r"^ +([\w.-]+):([\w.-]+):jar:(?:[\w-]+:)?([^:\s]+):", packed, re.M):
        yield java_component(group, name, version)
    if not itself and not packed and len(texts) != 1:
        name, version = (
            re.fullmatch(r"(.+?)-(\d.*)", path.stem).groups() if re.search(r"-\d", path.stem) else (path.stem, "")
        )
        yield java_component(group_of(name, version), name, version)


def netty_components(path, pages):
    """The Netty that gRPC packs: without Maven's pages, but with the page in which Netty itself says its version."""
    with zipfile.ZipFile(path) as jar:
        said = [
            name for name in jar.namelist() if re.fullmatch(r"META-INF/(\S+\.)?io\.netty\.versions\.properties", name)
        ]
        texts = [jar.read(name).decode() for name in said]
    for name, version in re.findall(r"^(netty-[\w-]+)\.version=(\S+)", "\n".join(texts), re.M):
        if not any(re.search(rf"^artifactId={name}\s", page, re.M) for page in pages):
            yield java_component("io.netty", name, version)


def java_runtime(root):
    release = root / "opt/jre/release"
    for version in re.findall(r'^JAVA_VERSION="(.+)"$', release.read_text(), re.M) if release.exists() else []:
        yield {"name": "openjdk", "version": version, "purl": f"pkg:generic/openjdk@{version}"}


def go_components(path):
    listing = subprocess.run(["go", "version", "-m", path], capture_output=True, text=True, check=True).stdout
    for version in re.findall(r": go(\d[\d.]*)", listing.splitlines()[0]):
        yield {"name": "stdlib", "version": version, "purl": f"pkg:golang/stdlib@{version}"}
    for name, version in re.findall(r"^\tdep\t(\S+)\t(\S+)", listing, re.M):
        yield {"name": name, "version": version, "purl": f"pkg:golang/{name}@{version}"}


def debian_components(root):
    """The image's build leaves the names of the packages it unpacked here."""
    listing = root / "usr/share/posix-gateway/packages"
    for line in listing.read_text().split() if listing.exists() else []:
        name, version, architecture = line.removesuffix(".deb").split("_")
        version = version.replace("%3a", ":")
        yield {"name": name, "version": version, "purl": f"pkg:deb/debian/{name}@{version}?arch={architecture}"}


def components(root):
    for jar in sorted(root.glob("opt/*/lib/*.jar")):
        if not jar.is_relative_to(root / "opt/jre"):
            yield from jar_components(jar)
    yield from java_runtime(root)
    for program in sorted(root.glob("posix-gateway-*")):
        yield from go_components(program)
    yield from debian_components(root)


def main(name, version, root):
    found = {json.dumps(one, sort_keys=True): {"type": "library", **one} for one in components(pathlib.Path(root))}
    if not found:
        raise SystemExit(f"sbom.py: nothing is found below {root}")
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "container", "name": name, "version": version}},
        "components": [found[key] for key in sorted(found)],
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
