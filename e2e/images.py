"""Makes a folder of images that can be told apart, and their checksums. Usage: images.py FOLDER IMAGES-PER-CLASS"""

import hashlib
import io
import os
import random
import sys

from PIL import Image

folder, count = sys.argv[1], int(sys.argv[2])
size = 40
patterns = {
    "rows": lambda x, y, at: (y + at) // 4 % 2,
    "columns": lambda x, y, at: (x + at) // 4 % 2,
    "checks": lambda x, y, at: ((x + at) // 4 + y // 4) % 2,
}
chance = random.Random(1)
with open(f"{folder}/SHA256SUMS", "w", encoding="utf-8") as sums:
    for name, pattern in patterns.items():
        os.makedirs(f"{folder}/images/{name}")
        for number in range(count):
            at = chance.randrange(8)
            pixels = bytearray(chance.randbytes(size * size * 3))
            for i in range(size * size):
                pixels[3 * i] = pixels[3 * i] // 4 + (180 if pattern(i % size, i // size, at) else 0)
            content = io.BytesIO()
            Image.frombytes("RGB", (size, size), bytes(pixels)).save(content, "PNG")
            path = f"images/{name}/{number:05}.png"
            with open(f"{folder}/{path}", "wb") as file:
                file.write(content.getvalue())
            sums.write(f"{hashlib.sha256(content.getvalue()).hexdigest()}  {path}\n")
print(f"made {count * len(patterns)} images")
