"""NumPy maps and PyTorch's loaders over a folder, with forked and spawned workers; prints sums.

python3 loader.py FOLDER
"""

import os
import sys

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

ARRAYS, ROWS, COLUMNS = 6, 400, 500


class Rows(Dataset):
    """Rows of mapped arrays and of arrays that are read by each worker for itself."""

    def __init__(self, folder):
        self.paths = [os.path.join(folder, f"array-{number}.npy") for number in range(ARRAYS)]
        self.mapped = [numpy.load(path, mmap_mode="r") for path in self.paths]
        self.opened = [open(path, "rb", buffering=0) for path in self.paths]

    def __getstate__(self):
        return {"paths": self.paths, "mapped": None, "opened": None}  # what is open does not go to spawned workers

    def __len__(self):
        return ARRAYS * ROWS

    def __getitem__(self, index):
        number, row = divmod(index, ROWS)
        whole = numpy.load(self.paths[number])[row]
        if self.mapped:
            assert (self.mapped[number][row] == whole).all()
            begin = os.fstat(self.opened[number].fileno()).st_size - ROWS * COLUMNS * 4
            read = os.pread(self.opened[number].fileno(), COLUMNS * 4, begin + row * COLUMNS * 4)
            assert (numpy.frombuffer(read, numpy.float32) == whole).all()
        return torch.from_numpy(whole.copy())


def main(folder):
    if not os.path.exists(os.path.join(folder, "array-0.npy")):
        for number in range(ARRAYS):
            values = numpy.random.default_rng(number).random((ROWS, COLUMNS), numpy.float32)
            numpy.save(os.path.join(folder, f"array-{number}.npy"), values)
        return
    for context in ("fork", "spawn"):
        loader = DataLoader(Rows(folder), batch_size=100, num_workers=2, multiprocessing_context=context)
        print(context, sum(float(batch.double().sum()) for batch in loader), flush=True)
    mapped = numpy.memmap(os.path.join(folder, "array-0.npy"), dtype=numpy.uint8, mode="r")
    print(int(mapped.astype(numpy.uint64).sum()), mapped.shape)


if __name__ == "__main__":
    main(sys.argv[1])
