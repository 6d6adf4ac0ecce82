#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Speed of lat-convert, beside cat of the same file in the same run: convert.py BIN FOLDER [X,Y,Z,T [TURNS]]

File to file in FOLDER, each followed by fsync, in turns: of each the best. Prints GB/s of the input, their ratio,
CPU seconds a GB of either, and the largest memory of the conversion in slices of the last axis."""
import os
import subprocess
import sys
import time

BIN, FOLDER = sys.argv[1:3]
DIMS = sys.argv[3] if len(sys.argv) > 3 else "32,32,32,32"
TURNS = int(sys.argv[4]) if len(sys.argv) > 4 else 5
WAYS = [("lat", "ildg", ["-0"]), ("ildg", "lat", ["-0"]), ("ildg", "lat", ["-1"]), ("packed", "lat", ["-0"]),
        ("lat", "nersc", []), ("nersc", "lat", ["-0"]), ("nersc", "lat", ["-1"]), ("lat", "vogt", []), ("vogt", "lat", ["-0"]),
        ("lat", "raw", []), ("raw", "lat", ["-0"]), ("lat", "milc", ["-p", "single"]), ("milc", "lat", ["-0"]),
        ("nersc", "ildg", []), ("lat", "openqcd", []), ("openqcd", "lat", ["-0"])]


def path(name):
    return os.path.join(FOLDER, "bench-convert." + name)


def convert(*arguments):
    return [os.path.join(BIN, "lat-convert"), *arguments]


def once(command, target=None):
    """Wall seconds until it is on the disk, CPU seconds, KiB."""
    for old in (path("out"), path("copy")):  # a file written over has its pages already, and a new one has not
        if os.path.exists(old):
            os.unlink(old)
    start = time.monotonic()
    out = open(target, "wb") if target else None
    p = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)
    said = p.stderr.read().decode()
    _, status, usage = os.wait4(p.pid, 0)
    if out:
        os.fsync(out.fileno())
        out.close()
    if status:
        sys.exit(said + " ".join(command) + ": failed")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main():
    x, y, z, t = map(int, DIMS.split(","))
    raw = ["--from", "raw", "--dims", DIMS, "--type", "f64", "--endian", "little", "-N", "3"]
    once([os.path.join(BIN, "lat-start"), "weak", "--epsilon", "0.35", "-d", DIMS, "-0", "-o", path("lat")])
    for name in ("ildg", "nersc", "vogt", "raw", "openqcd"):
        once(convert("--to", name, path("lat"), "-o", path(name)))
    once(convert("--to", "milc", "-p", "single", path("lat"), "-o", path("milc")))
    once(convert("-1", path("lat"), "-o", path("packed")))
    print("%-16s %8s %8s %6s %9s %9s %8s" % ("", "GB/s", "cat", "ratio", "CPU s/GB", "cat", "slices"))
    for source, target, more in WAYS:
        size, slices = os.path.getsize(path(source)), x * y * z * (288 if source == "milc" else 576) / 1024
        command = convert("--to", target, *more, *(raw if source == "raw" else []), path(source), "-o", path("out"))
        runs = [(once(command), once(["cat", path(source)], path("copy"))) for _ in range(TURNS)]
        ours, cat = (min(r[i][0] for r in runs) for i in range(2))
        cpu = [min(r[i][1] for r in runs) / size * 1e9 for i in range(2)]
        print("%-16s %8.2f %8.2f %6.2f %9.2f %9.2f %8.1f" % (
            " ".join([source, target, *[m for m in more if m in ("-0", "-1")]]), size / ours / 1e9, size / cat / 1e9, cat / ours,
            *cpu, max(r[0][2] for r in runs) / slices), flush=True)
    for name in ("lat", "ildg", "nersc", "vogt", "raw", "openqcd", "milc", "packed", "copy"):
        os.unlink(path(name))


main()
