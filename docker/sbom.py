"""Writes the bill of materials (CycloneDX 1.5) of an image's files to standard output.

sbom.py NAME VERSION ROOT    lists the jars, Go programs and unpacked Debian packages of the file system at ROOT
"""

import json
import pathlib
import re
import subprocess
import sys
import zipfile


def jar_component(path):
    """Group, name and version by what the jar says of itself, else by its file's name."""
    with zipfile.ZipFile(path) as jar:
        pages = [name for name in jar.namelist() if re.fullmatch(r"META-INF/maven/[^/]+/[^/]+/pom\.properties", name)]
        for page in pages if len(pages) == 1 else []:
            text = jar.read(page).decode()
            said = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
            group, name, version = said["groupId"], said["artifactId"], said["version"]
            return {"group": group, "name": name, "version": version, "purl": f"pkg:maven/{group}/{name}@{version}"}
    name, version = (
        re.fullmatch(r"(.+?)-(\d.*)", path.stem).groups() if re.search(r"-\d", path.stem) else (path.stem, "")
    )
    return {"name": name, "version": version}


def go_components(path):
    listing = subprocess.run(["go", "version", "-m", path], capture_output=True, text=True, check=True).stdout
    for kind, name, version in re.findall(r"^\t(dep|=>)\t(\S+)\t(\S+)", listing, re.M):
        if kind == "dep":
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
        yield jar_component(jar)
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
