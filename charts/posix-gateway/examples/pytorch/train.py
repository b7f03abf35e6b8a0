"""Trains a small CNN on a folder of images and keeps a checkpoint, from which it resumes when started again.

Alone or as one of several processes (a PyTorchJob sets WORLD_SIZE, RANK, MASTER_ADDR and MASTER_PORT).
"""

import argparse
import hashlib
import io
import os
import time

import torch
from PIL import Image
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torchvision import transforms
from torchvision.datasets import ImageFolder


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", required=True, help="folder with one folder of images per class")
    parser.add_argument("--sums", help="file of sha256sum for the images: every image is checked whenever it is read")
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument(
        "--epochs", type=int, default=3, help="when this many are done, those of the checkpoint included"
    )
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


class Reader:
    """Reads an image, and holds it against its checksum where there is one."""

    def __init__(self, images, sums):
        self.sums = {}
        base = os.path.dirname(images)
        for line in open(sums, encoding="utf-8") if sums else ():
            checksum, name = line.split(maxsplit=1)
            self.sums[os.path.join(base, name.strip())] = checksum

    def __call__(self, path):
        with open(path, "rb") as file:
            content = file.read()
        if self.sums and hashlib.sha256(content).hexdigest() != self.sums[path]:
            raise ValueError(f"{path} has other bytes than were written")
        return Image.open(io.BytesIO(content)).convert("RGB")


def network(classes):
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(256, classes),
    )


def save(path, state):
    """Writes beside the old checkpoint and renames, so that there is a whole one at every moment."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    with open(path + ".new", "wb") as file:
        file.write(buffer.getvalue())
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".new", path)
    return hashlib.sha256(buffer.getvalue()).hexdigest()


def load(path):
    with open(path, "rb") as file:
        content = file.read()
    return torch.load(io.BytesIO(content)), hashlib.sha256(content).hexdigest()


def main():
    options = arguments()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    if processes > 1:
        distributed.init_process_group("gloo")
    first = processes == 1 or distributed.get_rank() == 0
    shape = transforms.Compose([transforms.Resize((32, 32)), transforms.ToTensor()])
    data = ImageFolder(options.images, shape, loader=Reader(options.images, options.sums))
    sampler = DistributedSampler(data) if processes > 1 else None
    loader = DataLoader(data, options.batch, shuffle=sampler is None, sampler=sampler, num_workers=options.workers)
    model = network(len(data.classes))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    done = 0
    if os.path.exists(options.checkpoint):
        state, checksum = load(options.checkpoint)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        done = state["epochs"]
        print(f"resumed after {done} epochs from {checksum}", flush=True)
    trained = DistributedDataParallel(model) if processes > 1 else model
    loss_of = nn.CrossEntropyLoss()
    print(f"{len(data)} images of {len(data.classes)} classes", flush=True)
    for epoch in range(done + 1, options.epochs + 1):
        if sampler:
            sampler.set_epoch(epoch)
        total, steps, longest, begin = 0.0, 0, 0.0, time.monotonic()
        last = begin
        for images, classes in loader:
            loss = loss_of(trained(images), classes)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            now = time.monotonic()
            longest, last = max(longest, now - last), now
            total, steps = total + loss.item(), steps + 1
        seconds = time.monotonic() - begin
        print(
            f"epoch {epoch} loss {total / steps:.4f} steps {steps} seconds {seconds:.1f} longest step {longest:.2f}",
            flush=True,
        )
        if first:
            checksum = save(
                options.checkpoint, {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epochs": epoch}
            )
            print(f"checkpoint {checksum}", flush=True)
    print("trained", flush=True)


if __name__ == "__main__":
    main()
