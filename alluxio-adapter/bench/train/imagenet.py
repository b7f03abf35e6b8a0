"""Trains as PyTorch's ImageNet example does: ImageFolder, JPEG decoding, loader workers (the paper's Fig. 16).

python3 imagenet.py FOLDER INDEX EPOCHS    prints {"device": .., "accelerator": .., "epochs": [{"pictures": .., ..}]}
"""

import io
import json
import sys

import torch
import torchvision
from common import CheckedFiles, about, device, epoch, model_for, warm_up
from PIL import Image

BATCH, WORKERS, CLASSES = 32, 8, 10


def batches_of(root: str, index: str, pinned: bool) -> torch.utils.data.DataLoader:
    files = CheckedFiles(root, index)
    transforms = torchvision.transforms.Compose(
        [
            torchvision.transforms.RandomResizedCrop(224),
            torchvision.transforms.RandomHorizontalFlip(),
            torchvision.transforms.ToTensor(),
            torchvision.transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    )

    def decode(path: str) -> Image.Image:
        return Image.open(io.BytesIO(files.read(path))).convert("RGB")

    pictures = torchvision.datasets.ImageFolder(root, transforms, loader=decode)
    return torch.utils.data.DataLoader(
        pictures,
        BATCH,
        shuffle=True,
        num_workers=WORKERS,
        drop_last=True,
        persistent_workers=True,
        pin_memory=pinned,
    )


def main() -> int:
    root, index, epochs = sys.argv[1:]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    where = device()
    model = model_for(where, torchvision.models.resnet50, torch.nn.Conv2d(3, 16, 7, stride=4), CLASSES)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loss_of = torch.nn.CrossEntropyLoss()

    def step(images: torch.Tensor, labels: torch.Tensor) -> None:
        loss = loss_of(model(images.to(where)), labels.to(where))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()

    warm_up(where, step, torch.rand(BATCH, 3, 224, 224))
    batches = batches_of(root, index, where.type == "cuda")
    print(json.dumps({**about(where), "epochs": [epoch(batches, step) for _ in range(int(epochs))]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
