"""Data-parallel training by two processes, whose gradients are averaged by gloo, on records (the paper's Fig. 17).

python3 parallel.py FOLDER INDEX EPOCHS THREADS    prints as imagenet.py; THREADS load, half of them in each process
"""

import json
import os
import random
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy
import torch
import torchvision
from common import CheckedFiles, about, device, epoch, model_for, warm_up

RANKS, BATCH, CLASSES = 2, 25, 10
SHAPE = (3, 200, 200)


class Batches:
    """This process's half of the files, in an order drawn anew each epoch, read ahead by its threads."""

    def __init__(self, files: CheckedFiles, threads: int, rank: int):
        self.files = files
        self.pool = ThreadPoolExecutor(threads)
        self.ahead = max(2 * BATCH, 2 * threads)
        self.rank = rank
        self.draw = random.Random(7)  # the same in both

    def read(self, path: str) -> tuple[numpy.ndarray, int]:
        data = numpy.frombuffer(self.files.read(path), dtype=numpy.uint8).reshape(SHAPE)
        return data, int(path.rsplit("/", 2)[1][1:])

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        paths = self.files.paths()
        self.draw.shuffle(paths)
        paths = paths[self.rank :: RANKS]
        coming = deque(self.pool.submit(self.read, path) for path in paths[: self.ahead])
        left = iter(paths[self.ahead :])
        for _ in range(len(paths) // BATCH):
            batch = []
            for _ in range(BATCH):
                batch.append(coming.popleft().result())
                path = next(left, None)
                if path is not None:
                    coming.append(self.pool.submit(self.read, path))
            images = torch.from_numpy(numpy.stack([image for image, _ in batch]))
            yield images, torch.tensor([label for _, label in batch])


def train(rank: int, root: str, index: str, epochs: int, threads: int, folder: str) -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", f"file://{folder}/meet", rank=rank, world_size=RANKS)
    where = device()
    model = model_for(where, torchvision.models.resnet18, torch.nn.Conv2d(3, 16, 8, stride=8), CLASSES)
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loss_of = torch.nn.CrossEntropyLoss()

    def step(images: torch.Tensor, labels: torch.Tensor) -> None:
        loss = loss_of(model(images.to(where).float() / 255), labels.to(where))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()

    warm_up(where, step, torch.zeros(BATCH, *SHAPE, dtype=torch.uint8))
    batches = Batches(CheckedFiles(root, index), threads // RANKS, rank)
    seen = [epoch(batches, step) for _ in range(epochs)]
    with open(f"{folder}/{rank}", "w") as file:
        json.dump({**about(where), "epochs": seen}, file)


def main() -> int:
    root, index, epochs, threads = sys.argv[1:]
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory(prefix="pgw-parallel-") as folder:
        torch.multiprocessing.spawn(train, (root, index, int(epochs), int(threads), folder), nprocs=RANKS)
        ranks = []
        for rank in range(RANKS):
            with open(f"{folder}/{rank}") as file:
                ranks.append(json.load(file))
    together = [
        {
            "pictures": sum(each["pictures"] for each in seen),
            "steps": seen[0]["steps"],
            "seconds": max(each["seconds"] for each in seen),
            "waited": sum(each["waited"] for each in seen) / RANKS,
        }
        for seen in zip(*(each["epochs"] for each in ranks), strict=True)
    ]
    print(json.dumps({**ranks[0], "epochs": together}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
