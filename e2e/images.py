"""Makes a folder of images that can be told apart, and their checksums. Usage: images.py FOLDER IMAGES-PER-CLASS"""

import hashlib
import io
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

from PIL import Image

folder, count = sys.argv[1], int(sys.argv[2])
size = 40
patterns = {
    "rows": lambda x, y, at: (y + at) // 4 % 2,
    "columns": lambda x, y, at: (x + at) // 4 % 2,
    "checks": lambda x, y, at: ((x + at) // 4 + y // 4) % 2,
}


def make(name, number):
    """Writes an image; returns its line of the checksums."""
    chance = random.Random(f"{name}/{number}")
    at = chance.randrange(8)
    pixels = bytearray(chance.randbytes(size * size * 3))
    for i in range(size * size):
        pixels[3 * i] = pixels[3 * i] // 4 + (180 if patterns[name](i % size, i // size, at) else 0)
    content = io.BytesIO()
    Image.frombytes("RGB", (size, size), bytes(pixels)).save(content, "PNG")
    path = f"images/{name}/{number:05}.png"
    with open(f"{folder}/{path}", "wb") as file:
        file.write(content.getvalue())
    return f"{hashlib.sha256(content.getvalue()).hexdigest()}  {path}\n"


for name in patterns:
    os.makedirs(f"{folder}/images/{name}")
names = [name for name in patterns for _ in range(count)]
with open(f"{folder}/SHA256SUMS", "w", encoding="utf-8") as sums, ThreadPoolExecutor(8) as threads:
    sums.writelines(threads.map(make, names, list(range(count)) * len(patterns)))
print(f"made {len(names)} images")
