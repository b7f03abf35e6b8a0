"""Makes the table of docs/security.md: what each container of the chart may do, and why, as the templates say it.

    privileges.py write|check CHART PAGE HELM

`check` ends with 1 when the page is not up to date, or when a container has a privilege without a reason beside it.
"""

import pathlib
import re
import subprocess
import sys

import yaml

BEGIN, END = "<!-- privileges: begin -->", "<!-- privileges: end -->"
# The first values make every container there can be; the second show what an option adds to the gateway.
RENDERED = {
    "": ["node.gateway.bypass=true", "node.gateway.dataCache.hostPath=/mnt/nvme0/cache", "sidecars.enabled=true"],
    "with `node.gateway.uringProfile`": ["node.gateway.uringProfile=true"],
    "with `node.gateway.passthrough`": ["node.gateway.passthrough=true"],
}
CONTAINER = re.compile(r"^(?P<indent> +)- name: (?P<name>\S+)$")


def render(chart, helm, values):
    sets = [word for value in values for word in ("--set", value)]
    command = [helm, "template", "trial", chart, "--kube-version", "1.34.0", *sets]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def reasons(document):
    """Container to the comments at the head of its securityContext."""
    found, container, lines = {}, None, document.splitlines()
    for at, line in enumerate(lines):
        if (match := CONTAINER.match(line)) and at + 1 < len(lines) and lines[at + 1].strip().startswith("image:"):
            container = match["name"]
        elif container and line.strip() == "securityContext:":
            comments = []
            for below in lines[at + 1 :]:
                if below.strip().startswith("#"):
                    comments.append(below.strip("# "))
                elif not re.match(r"^ +(runAs|allow|readOnly|privileged|capabilities|drop|- |add)", below):
                    break
            found[container] = " ".join(comments)
    return found


def row(component, container, pod, why, note):
    own = {**(pod.get("securityContext") or {}), **(container.get("securityContext") or {})}
    added = (own.get("capabilities") or {}).get("add") or []
    privilege = "privileged" if own.get("privileged") else ", ".join(f"CAP_{name}" for name in added) or "none"
    user = str(own.get("runAsUser", 0)) if own.get("runAsUser") or own.get("runAsNonRoot") else "root"
    if privilege != "none" and not why:
        sys.exit(f"{component}/{container['name']} has {privilege}: say why at the head of its securityContext")
    root = "read-only" if own.get("readOnlyRootFilesystem") else "writable"
    profile = "none" if own.get("privileged") else (own.get("seccompProfile") or {}).get("type", "none")
    name = container["name"] + (f" {note}" if note else "")
    return f"| {component} | {name} | {user} | {privilege} | {root} | {profile} | {why} |"


def rows(chart, helm):
    seen = set()
    for note, values in RENDERED.items():
        for text in render(chart, helm, values).split("\n---\n"):
            made = yaml.safe_load(text)
            if not made or made["kind"] not in ("DaemonSet", "Deployment"):
                continue
            pod, why = made["spec"]["template"]["spec"], reasons(text)
            component = made["metadata"]["labels"]["app.kubernetes.io/component"]
            for container in [*pod.get("initContainers", []), *pod["containers"]]:
                if note and container["name"] not in ("gateway", "seccomp-profile") or note and component != "node":
                    continue
                line = row(component, container, pod, why.get(container["name"], ""), note)
                if line not in seen:
                    seen.add(line)
                    yield line


def main(action, chart, page, helm):
    head = "| pod | container | user | privilege | root file system | seccomp | why |\n|---|---|---|---|---|---|---|\n"
    table = head + "\n".join(rows(chart, helm)) + "\n"
    path = pathlib.Path(page)
    text = path.read_text()
    before, rest = text.split(BEGIN)
    wanted = f"{before}{BEGIN}\n{table}{END}{rest.split(END)[1]}"
    if action == "write":
        path.write_text(wanted)
    elif wanted != text:
        sys.exit(f"{page} does not say what the chart's containers may do: run make charts-docs")


if __name__ == "__main__":
    main(*sys.argv[1:])
