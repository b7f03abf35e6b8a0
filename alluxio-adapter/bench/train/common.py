"""What the training loops share: files that are checked as they are read, and the time of an epoch."""

import json
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import torch


class CheckedFiles:
    """Reads files of one folder; one whose bytes are not those that were written ends the run."""

    def __init__(self, root: str, index: str):
        self.root = root.rstrip("/")
        self.sums = json.loads(Path(index).read_text())

    def read(self, path: str) -> bytes:
        with open(path, "rb", buffering=0) as file:
            data = file.readall()
        if zlib.crc32(data) != self.sums[path[len(self.root) + 1 :]]:
            raise RuntimeError(f"{path}: {len(data)} bytes that were never written")
        return data

    def paths(self) -> list[str]:
        return [f"{self.root}/{name}" for name in self.sums]


def device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def about(where: torch.device) -> dict:
    """What was trained on."""
    return {"device": where.type, "accelerator": torch.cuda.get_device_name() if where.type == "cuda" else ""}


def model_for(where: torch.device, residual: Callable, first: torch.nn.Conv2d, classes: int) -> torch.nn.Module:
    """A residual network on an accelerator; a small one on CPUs, where a step must not hide what the data cost."""
    if where.type == "cuda":
        return residual(num_classes=classes).to(where)
    return torch.nn.Sequential(
        first,
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(4),
        torch.nn.Flatten(),
        torch.nn.Linear(16 * first.out_channels, classes),
    )


def warm_up(where: torch.device, step: Callable, batch: torch.Tensor) -> None:
    """The first steps on an accelerator load and choose its kernels; they belong to no epoch."""
    if where.type == "cuda":
        for _ in range(5):
            step(batch, torch.zeros(len(batch), dtype=torch.long))


def epoch(batches: Iterable, step: Callable) -> dict:
    """Runs one epoch: how many pictures and steps in how many seconds, and how many of them went into waiting."""
    waited, pictures, steps = 0.0, 0, 0
    began = asked = time.monotonic()
    for images, labels in batches:
        waited += time.monotonic() - asked
        step(images, labels)
        pictures += len(labels)
        steps += 1
        asked = time.monotonic()
    waited += time.monotonic() - asked
    return {"pictures": pictures, "steps": steps, "seconds": time.monotonic() - began, "waited": waited}
