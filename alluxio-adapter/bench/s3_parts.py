"""Small files on an object store: made, replaced, and read for the first time."""

import os
import time

from parts import Site, check_created, created

OLD_ID, NEW_ID, BYTES, WRITERS, READERS = 5_100_000, 5_200_000, 19_000, 8, 8
LONG_S = 600  # more than the files take


def s3_create(site: Site) -> None:
    created(site, "S3: create 19 KB, 8 writers")


def s3_replace(site: Site) -> None:
    """Each file is emptied by its open, and written anew; as later epochs: of a mount that has done it before."""
    count = site.scale.bucket_files
    folder = site.mount.root / f"replaced-{site.mount.contender.name}-{site.round}-{time.time_ns()}"
    os.mkdir(folder)
    site.load("create", folder, OLD_ID, BYTES, WRITERS, LONG_S, count)
    for first_id in (OLD_ID, NEW_ID):
        before = site.cpu()
        seen = site.load("replace", folder, first_id, BYTES, WRITERS, count)
    site.keep("S3: replace 19 KB, 8 writers", seen["done"] / seen["seconds"], "files/s")
    site.keep_cpu("S3: replace 19 KB, 8 writers", before, seen["done"], "file")
    check_created(site, folder, NEW_ID, count)


def s3_read(site: Site) -> None:
    """Objects that no worker has a block of, and that nobody has read."""
    data = site.sets["bucket"]
    place = [site.mount.root / site.bucket("bucket").name, data.first_id, site.work / "bucket.sizes"]
    row, before = f"S3: 19 KB, first epoch, {READERS} readers", site.cpu()
    site.files(row, "epochs", *place, READERS, 1, 0)
    site.keep_cpu(row, before, site.scale.bucket_files, "file")
    site.load("check", *place, 4)
