"""Makes what is trained on: pictures as of ImageNet, in a folder for each class, or records as of CIFAR-10 made larger.

python3 pictures.py pictures|records FOLDER COUNT INDEX

The content follows from the number; INDEX gets the CRC-32 of each file by its path in FOLDER.
"""

import io
import json
import sys
import zlib
from multiprocessing import Pool
from pathlib import Path

import numpy
from PIL import Image

CLASSES = 10
WIDTH, HEIGHT = 500, 375  # ImageNet's mean size; some 110 KB as JPEG
RECORD = (3, 200, 200)  # 120,000 bytes, the mean of the files that the paper made of CIFAR-10


def picture(number: int) -> bytes:
    """Large shapes and some grain, so that decoding costs what it costs with photographs."""
    draw = numpy.random.default_rng(number)
    coarse = draw.integers(0, 256, (HEIGHT // 25, WIDTH // 25, 3), dtype=numpy.uint8)
    shapes = numpy.asarray(Image.fromarray(coarse).resize((WIDTH, HEIGHT), Image.BICUBIC), dtype=numpy.int16)
    grain = draw.integers(-24, 25, (HEIGHT, WIDTH, 1), dtype=numpy.int16)
    pixels = numpy.clip(shapes + grain, 0, 255).astype(numpy.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=92)
    return file.getvalue()


def record(number: int) -> bytes:
    return numpy.random.default_rng(number).integers(0, 256, RECORD, dtype=numpy.uint8).tobytes()


KINDS = {"pictures": (picture, "jpeg"), "records": (record, "raw")}


def make_one(job: tuple[str, str, int]) -> tuple[str, int]:
    kind, folder, number = job
    make, ending = KINDS[kind]
    data = make(number)
    name = f"c{number % CLASSES}/{number}.{ending}"
    (Path(folder) / name).write_bytes(data)
    return name, zlib.crc32(data)


def main() -> int:
    kind, folder, count, index = sys.argv[1:]
    for number in range(CLASSES):
        (Path(folder) / f"c{number}").mkdir(parents=True)
    with Pool() as pool:
        sums = dict(pool.map(make_one, [(kind, folder, number) for number in range(int(count))], chunksize=20))
    Path(index).write_text(json.dumps(sums))
    return 0


if __name__ == "__main__":
    sys.exit(main())
