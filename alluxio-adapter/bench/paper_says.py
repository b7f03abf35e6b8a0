"""For each figure: what the paper saw, what is seen here, why they differ. Only the papers' figures are typed."""

import statistics

from alluxio_says import alluxio
from latency_says import latency
from scaling_says import scaling
from shapes import LOAD
from targets_alluxio import FLOOR, NO_OPEN, Verdict, ours_in, ratio, ratios_by_round, verdicts

JNR, PLAIN, DEFAULT = "alluxio-jnr", "alluxiofuse", "alluxiofuse-default"
EPOCHS = ("first epoch", "later epochs")
MANY_CPUS = 8
FAR_BELOW = 0.75


def ratios(table: dict, loads: list[str], one: str, other: str) -> list[float]:
    """Of those loads that both have; one == "ours": the gateway."""
    rows = [table[load] for load in loads if load in table]
    found = [ratio(row, ours_in(row) if one == "ours" else one, other) for row in rows]
    return [value for value in found if value is not None]


def times(values: list[float]) -> str:
    """The mean and the greatest."""
    return (
        f"{statistics.mean(values):.2f} times in the mean and {max(values):.2f} at most" if values else "not measured"
    )


def fallen(table: dict) -> str:
    """Where more readers read less over io_uring, and no round of theirs as much as any of fewer."""
    few, more = (table.get(f"svhn, {count} readers", {}).get("gateway-uring") for count in (8, 32))
    if not (few and more) or more["high"] >= few["low"]:
        return ""
    return (
        "By 32 readers the gateway over io_uring reads "
        f"{more['median'] / few['median']:.2f} of what it does by 8; why was not looked into."
    )


def opened_by_the_kernel(table: dict) -> str:
    """What is left to tmpfs where the gateway is not asked at opens; nothing if that was not measured."""
    found = ratios(table, list(table), NO_OPEN, FLOOR)
    if not found:
        return ""
    return (
        f"Mounted with `no_open` the gateway is asked for nothing that the kernel has pages of: it reads "
        f"{min(found):.2f} to {max(found):.2f} of what the same files on tmpfs give."
    )


def outliers(table: dict) -> str:
    """Points at which all rounds with `no_open` are far below those of fewer and of more readers."""
    loads, told = [load for load, row in table.items() if NO_OPEN in row], []
    for before, load, after in zip(loads, loads[1:], loads[2:], strict=False):
        cells = [table[each][NO_OPEN] for each in (before, load, after)]
        alike = len({each.split(", ")[0] for each in (before, load, after)}) == 1
        beside = min(cells[0]["median"], cells[2]["median"])
        if alike and cells[1]["high"] < FAR_BELOW * min(cells[0]["low"], cells[2]["low"]):
            told.append(f"{load} ({cells[1]['median'] / beside:.2f})")
    if not told:
        return ""
    return (
        "With `no_open` some points are far below both beside them, which are of fewer and of more readers (÷ the "
        f"lesser of them): {', '.join(told)}. As the gateway is asked for nothing there, they are the machine's and "
        "not the gateway's; that its other mounts are low at such a point, too, need have no other reason."
    )


def figure15(table: dict, facts: dict) -> list[str]:
    said = []
    for name, paper in (("svhn", "2.71 times in the mean, 7.94 at most"), ("coco", "1.90 and 3.90")):
        loads = [load for load in table if load.startswith(f"{name}, ")]
        jni, ours, plain = (
            times(ratios(table, loads, *pair)) for pair in ((PLAIN, JNR), ("ours", JNR), ("ours", PLAIN))
        )
        default = ratios(table, loads, "ours", DEFAULT)
        said.append(
            f"**Figure 15, {name.upper()}.** In the paper Alluxio on JNI-FUSE reads faster than on JNR-FUSE: {paper}. "
            f"Here AlluxioFuse 2.9.3, which is that JNI-FUSE, does so {jni}; the gateway is ahead of Alluxio on "
            f"JNR-FUSE {ours}, of AlluxioFuse {plain}"
            + (f", of AlluxioFuse with its own defaults {times(default)}." if default else ".")
        )
    many = facts["cpus"] >= MANY_CPUS
    said.append(
        "The paper had 40 CPUs, on which JNR-FUSE's threads stand in each other's way from 16 readers on; "
        + (
            "whether they do here was not looked into. "
            if many
            else "few CPUs are full before that, which may be why the peers are closer here: that was not measured. "
        )
        + "The gateway answers an open from memory and leaves the pages of an unchanged file in the kernel; the peers "
        "run with direct I/O, as in the paper, but for AlluxioFuse tuned, or with its own defaults. What each of these "
        "has in the gateway's lead was not measured."
    )
    said += filter(None, (opened_by_the_kernel(table), outliers(table), fallen(table)))
    if many:
        said.append(
            "The gateway's threads are counted with those of the JVM and of Alluxio's client, which make more of them "
            "on more CPUs."
        )
    return said


def shares(table: dict, name: str) -> str:
    """The share of the wait of each in both kinds of epochs."""
    told = []
    labels = {JNR: "JNR-FUSE", PLAIN: "AlluxioFuse", "gateway-uring": "the gateway", "tmpfs": "tmpfs"}
    for contender, label in labels.items():
        rows = [table.get(f"{name}, {which}: share of the wait", {}) for which in EPOCHS]
        if all(contender in row for row in rows):
            first, later = (row[contender]["median"] for row in rows)
            told.append(f"{label} {first:.1f} % and {later:.1f} %")
    return "; ".join(told)


def waits(table: dict, name: str) -> str:
    """The wait itself beside that on tmpfs: its share differs less, as a longer wait makes a longer step."""
    found = ratios(table, [f"{name}, {which}: wait for data in a step" for which in EPOCHS], "ours", "tmpfs")
    return f" The gateway's itself is {found[0]:.2f} and {found[-1]:.2f} times as long as tmpfs'." if found else ""


def trained(table: dict, name: str, title: str, paper: str) -> str:
    loads = [f"{name}, {which}: speed" for which in EPOCHS]
    jni, ours, plain = (ratios(table, loads, *pair) for pair in ((PLAIN, JNR), ("ours", JNR), ("ours", PLAIN)))
    if not (jni and ours and plain):
        return f"**{title}.** {paper} Not measured here with all of them."
    return (
        f"**{title}.** {paper} Here, in the first epoch and in later ones: AlluxioFuse trains {jni[0]:.2f} and "
        f"{jni[-1]:.2f} times as fast as Alluxio on JNR-FUSE, the gateway {ours[0]:.2f} and {ours[-1]:.2f} times; "
        f"the gateway {plain[0]:.2f} and {plain[-1]:.2f} times as fast as AlluxioFuse. "
        f"The wait takes of a step: {shares(table, name)}.{waits(table, name)}"
    )


ON_CPUS = (
    "The paper trained on GPUs beside 48 CPUs. Where no accelerator is, decoding, training and file system share the "
    "CPUs: the model is small, so that a step does not hide the wait, and the decoding, a part of the wait, is the "
    "same for all, tmpfs included."
)
ON_AN_ACCELERATOR = (
    "The paper trained on GPUs beside 48 CPUs, with Alluxio on other hosts; here the worker is on the same one. Figure "
    "16 trains ResNet-50, Figure 17 ResNet-18 by two processes on one accelerator, whose gradients gloo averages on "
    "the CPUs. The loaders fetch ahead and keep up with the accelerator, on tmpfs as on every mount: no contender "
    "waits for most of a step, where the paper's gain is looked for, and little wait is left to win but in the first "
    "epoch of Figure 16, in which every open is cold. The wait is a few milliseconds of a step; between mounts of "
    "Figure 17 the time of the step itself differs by more."
)


HOROVOD = (
    "The paper's Figure 17 trains with Horovod; here PyTorch's own data-parallel training does, over gloo, by which "
    "Horovod, too, averages gradients where there is no MPI or NCCL. Horovod 0.28.1, its last, does not build with "
    "Debian's PyTorch, which is installed without its C++ headers (`torch/extension.h`). What is compared, how files "
    "come to the loaders, has no part in it."
)


RECORDS = (
    "A record of Figure 17 is 120,000 random bytes, the mean length of the files that the paper made of CIFAR-10: they "
    "are read, not decoded."
)


def of_kind(table: dict, kind: str) -> list[Verdict]:
    """Those of training whose row is of this kind."""
    return [verdict for verdict in verdicts(table) if verdict.load.endswith(f": {kind}")]


def missed(table: dict) -> list[str]:
    """Whose share of the wait misses its target, and what may be why."""
    seen = of_kind(table, "share of the wait")
    missing = [verdict for verdict in seen if not verdict.reached()]
    if not missing:
        return ["The targets of the wait are reached by all."]
    loads = [
        verdict.load.removesuffix(": share of the wait") + (f" ({verdict.whose()})" if verdict.whose() else "")
        for verdict in missing
    ]
    without = {verdict.load: verdict.reached() for verdict in seen if verdict.ours == NO_OPEN}
    told = (
        f"The target of the wait is missed by: {'; '.join(dict.fromkeys(loads))}. A file costs an OPEN and a RELEASE, "
        "in the first epoch a READ, too, on CPUs that the loaders and the training have as well."
    )
    if all(without.get(verdict.load, False) for verdict in missing):
        return [f"{told} With `no_open` the gateway is asked for neither, and each of these loads reaches its target."]
    return [f"{told} That this is why is a supposition, and was not measured."]


def slower(table: dict) -> list[str]:
    """Who misses the target of the speed, and what is the most that a file system could reach."""
    told = []
    seen = [verdict for verdict in of_kind(table, "speed") if not verdict.reached()]
    for load in dict.fromkeys(verdict.load for verdict in seen):
        row, name = table[load], load.removesuffix(": speed")
        most, shares = ratio(row, FLOOR, PLAIN), table[f"{name}: share of the wait"]
        if most is None or FLOOR not in shares:
            continue
        ours = [verdict for verdict in seen if verdict.load == load]
        who = []
        for each in ours:
            rounds = ratios_by_round(row, each.ours, PLAIN)
            who.append(f"{each.whose()} {each.ratio:.2f} (single rounds {min(rounds):.2f} to {max(rounds):.2f})")
        of_most = [ratio(row, each.ours, FLOOR) for each in ours]
        told.append(
            f"The target of the speed, {ours[0].target.wanted()}, is missed in {name}: {'; '.join(who)}. It is the "
            "paper's, where the slower of the two waits 88.1 % of a step and the faster one 55.6 %. Here AlluxioFuse "
            f"waits {shares[PLAIN]['median']:.1f} %, and the decoding is in it, which all pay: tmpfs waits "
            f"{shares[FLOOR]['median']:.1f} % and trains {most:.2f} times as fast as AlluxioFuse. A file system can do "
            f"little more; the gateway trains {min(of_most):.2f} to {max(of_most):.2f} times as fast as tmpfs."
        )
    return told


def train(table: dict, facts: dict) -> list[str]:
    return [
        trained(
            table,
            "pictures",
            "Figure 16",
            "In the paper a step of ImageNet training waits for data 88.1 % of its time with JNR-FUSE and 55.6 % with "
            "JNI-FUSE, which trains 1.73 times as fast.",
        ),
        trained(
            table,
            "2 processes, 8 threads",
            "Figure 17, 8 threads",
            "In the paper the wait is 14.1 % with JNR-FUSE, 7.0 % with JNI-FUSE, the training 1.06 times as fast.",
        ),
        trained(
            table,
            "2 processes, 32 threads",
            "Figure 17, 32 threads",
            "In the paper the wait is 59.0 % with JNR-FUSE, 11.1 % with JNI-FUSE, the training 1.50 times as fast.",
        ),
        HOROVOD,
        RECORDS,
        ON_AN_ACCELERATOR if facts.get("accelerator") else ON_CPUS,
        *missed(table),
        *slower(table),
    ]


def span(table: dict, start: str, unit: str) -> str:
    """The gateway's ratios to AlluxioFuse in these loads, from the least to the greatest."""
    loads = [load for load, row in table.items() if load.startswith(start) and row.get(PLAIN, {}).get("unit") == unit]
    found = ratios(table, loads, "ours", PLAIN)
    if not found:
        return "not measured:"
    each = [value for load in loads for value in ratios_by_round(table[load], ours_in(table[load]), PLAIN)]
    return f"{min(found):.2f} to {max(found):.1f} times (single rounds {min(each):.2f} to {max(each):.1f})"


def fastest(table: dict) -> str:
    """By how many threads FUSE alone carries most over io_uring, and how much with the most threads."""
    values = {load: row["null-uring"]["median"] for load, row in table.items() if "null-uring" in row}
    if not values:
        return ""
    best, last = max(values, key=lambda load: values[load]), list(values)[-1]
    return (
        f" FUSE alone carries most over io_uring with {best.split(', ')[-1]}, and with {last.split(', ')[-1]} "
        f"{values[last] / values[best]:.2f} of that; why was not looked into."
    )


def amplified(table: dict) -> str:
    """Of random reads of 4 KiB from a worker."""
    told = []
    for how in ("buffered", "direct"):
        row = table.get(f"random 4 KiB, {how}, not on this host", {})
        if "gateway" in row and PLAIN in row:
            ours, plain = (row[name]["fetched_per_byte"] for name in ("gateway", PLAIN))
            told.append(f"{ours:,.1f} bytes ({how}; AlluxioFuse {plain:,.0f})")
    if not told:
        return ""
    return f"Of 4 KiB at random from a worker the gateway fetches {' and '.join(told)} for each byte that is read. "


def most_fetched(table: dict) -> str:
    """Of larger random reads: where the gateway fetches most for each byte that is read."""
    found = {
        load: row["gateway"]["fetched_per_byte"]
        for load, row in table.items()
        if load.startswith("random") and "random 4 KiB" not in load and "fetched_per_byte" in row.get("gateway", {})
    }
    if not found:
        return ""
    most = max(found, key=lambda load: found[load])
    return f"Of larger reads it fetches at most {found[most]:.1f} ({most}). "


def spent(table: dict) -> str:
    """What a GiB that is read in sequence costs whom: how much of the difference is the kernel's pages."""
    told = []
    for who in ("the mount's server", "Alluxio's servers", LOAD):
        row = next((row for load, row in table.items() if load.endswith(f"CPU time a GiB of {who}")), {})
        if "gateway" in row and PLAIN in row:
            ours, plain = (row[name]["median"] / 1000 for name in ("gateway", PLAIN))
            told.append(f"{ours:.2f} s ({plain:.2f} s) {who}")
    if not told:
        return ""
    return f"A GiB takes so much CPU time with the gateway (with AlluxioFuse): {'; '.join(told)}. "


def shapes(table: dict, _facts: dict) -> list[str]:
    return [
        "JuiceFS measured its enterprise edition over a network, with an object store behind it: 674 MiB/s by one "
        "thread, 1,418 with a read-ahead of 2 GiB, 5,457 by 16 threads; a random buffered read of 1 MiB fetched 3.2 "
        "times its bytes, a direct one as many as it asked for. FUSE alone carried 7.95 GiB/s by 1 thread and 104 by "
        "20 on a Xeon, 3.5 and, by 15, 21 on an EPYC. Here the worker is on the same host: `sequential` and "
        "the random reads of 64 KiB and more come from it over loopback (short circuit off), those of 4 KiB from its "
        f"block files{', but for two: `not on this host`' if amplified(table) else ''}.",
        f"Here the gateway reads what comes over loopback in sequence {span(table, 'sequential', 'MB/s')} as fast as "
        f"AlluxioFuse, which keeps nothing of them in the kernel (direct I/O). {spent(table)}At random it reads "
        f"{span(table, 'random', 'MB/s')} as fast, as AlluxioFuse has the worker send what nobody asked for. "
        f"{amplified(table)}{most_fetched(table)}Less than a byte for each byte that is read: the kernel had some of "
        "the pages. "
        f"{fastest(table).strip()}".rstrip(),
    ]


SENTENCES = {
    "alluxio": alluxio,
    "figure15": figure15,
    "train": train,
    "shapes": shapes,
    "scaling": scaling,
    "latency": latency,
}


def sentences(group: str, table: dict, facts: dict) -> list[str]:
    return SENTENCES[group](table, facts) if group in SENTENCES else []
