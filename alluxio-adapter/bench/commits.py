"""Is each commit that a kept result names in the history?"""

import subprocess
from pathlib import Path

from contenders import ROOT
from results import read

ALLOWED = ROOT / ".ci" / "commits-allowed"


def git(*words: str, root: Path) -> subprocess.CompletedProcess:
    return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False)


def why_not_asked(root: Path) -> str:
    """Why the history cannot be asked; empty: it can."""
    try:
        shallow = git("rev-parse", "--is-shallow-repository", root=root)
    except FileNotFoundError:
        return "git is not installed"
    if shallow.returncode != 0:
        return f"{root} is no git repository"
    return "the clone is shallow" if shallow.stdout.strip() == "true" else ""


def allowed() -> set[tuple[str, str]]:
    """Each line of the file: a result file and the commit it names, a tab, the reason."""
    lines = [line for line in ALLOWED.read_text().splitlines() if line and not line.startswith("#")]
    return {tuple(line.split("\t")[0].split()) for line in lines}


def in_history(commit: str, root: Path) -> bool:
    """Whether HEAD comes from it: one that was amended or rebased away is still among git's objects for a while."""
    return git("merge-base", "--is-ancestor", commit, "HEAD", root=root).returncode == 0


def missing(files: list[Path], excepted: set[tuple[str, str]], root: Path = ROOT) -> list[str]:
    """Result files whose commit is not in the history."""
    named = [(str(path.relative_to(root)), read(path)["environment"]["commit"]) for path in sorted(files)]
    return [
        f"{name}: commit {commit}, of which it is, is not in the history: measure again, from a commit that is pushed"
        for name, commit in named
        if (name, commit) not in excepted and not in_history(commit, root)
    ]


def wrong(files: list[Path]) -> list[str]:
    why = why_not_asked(ROOT)
    if why:
        print(f"skipped: whether the commits that result files name are in the history: {why}")
        return []
    return missing(files, allowed())
