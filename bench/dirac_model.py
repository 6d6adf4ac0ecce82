#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dirac_model.py: the rate of the Wilson solver on N GPUs, t cut: hop + exchange + sums.

    dirac_model.py --check      beside measured numbers (bench/history); exit status 1 if one is farther off than it may be
    dirac_model.py              where lat leads on 8, 32 and 256 GPUs of several hosts, and where it does not

A hop writes half of the sites:

    t_hop = start + sites / (2 N) * bytes / copy                  one GPU: memory is what it waits for
            + [N > 1] (begin + edge * sites of two faces)         peers: kernels write to the neighbours' ghosts
            + [hosts > 1] what the network adds                   below

A BiCGstab iteration is 4 hops, a CG iteration too; besides there are passes over vectors and sums, which end on the host:

    t = 4 t_hop + sites / N * vectors / copy + sums * t_sum(N)

FITTED has the numbers that were taken from the measurements marked "fit"; all others are predicted.
"""
import sys

COPY = 4.23e12  # bytes a second, read and written; one H200
# us; bytes of a site that is written (links and spinors once, 12 reals a link; half has .70 of copy, which is its arithmetic);
# us an exchange; ns a site of a face; bytes of two spins of a site.
FITTED = {
    "double": dict(start=0.0, site=1177.0, begin=5.0, edge=240e-3, face=96),
    "single": dict(start=0.5, site=586.0, begin=2.2, edge=80e-3, face=48),
    "half": dict(start=0.6, site=412.0, begin=0.8, edge=165e-3, face=28),
}
SUM = 24.0      # us of a sum on one GPU or host, with the launches after it: the host waits
VECTORS = {"bicgstab": (5, 387.0), "cg": (2, 218.0)}  # sums an iteration; bytes a site and iteration, in half, updates included

# The network, assumed: a card of 400 Gbit/s for each GPU, MPI that takes device memory; 32 GPUs are 4 hosts of 8.
LATENCY, WIRE = 12.0, 45e3  # us a message from GPU memory to GPU memory of another host; bytes/us each way
SUM_HOP = 6.0               # us a step of the tree of an allreduce among hosts
PER_HOST = 8
# QUDA on the same card, measured: us a hop on one GPU by sites (single, half), and what an exchange adds however small the face is.
QUDA = {"single": (188.0 / (32**3 * 64), 16.0), "half": (121.0 / (32**3 * 64), 16.0)}


def sites(x, y, z, t):
    return x * y * z * t


def compute(precision, lattice, n):
    f = FITTED[precision]
    return f["start"] + sites(*lattice) / n / 2 * f["site"] / COPY * 1e6


def exchange(precision, lattice):
    f = FITTED[precision]
    face_sites = sites(*lattice) / lattice[3] / 2
    return f["begin"] + f["edge"] * 2 * face_sites / 1e3


def hop(precision, lattice, n):
    """us, on n GPUs of one host."""
    return compute(precision, lattice, n) + (exchange(precision, lattice) if n > 1 else 0)


def network(precision, lattice):
    """us until the faces of a slab are on the other host; both directions at a time."""
    return LATENCY + sites(*lattice) / lattice[3] / 2 * FITTED[precision]["face"] / WIRE


def hop_hosts(precision, lattice, n, hides):
    """Several hosts. hides: the interior is computed meanwhile (the next form); else faces go first (today's)."""
    if n <= PER_HOST:
        return hop(precision, lattice, n)
    inner, far = compute(precision, lattice, n), network(precision, lattice)
    pack = exchange(precision, lattice) + 8  # two more kernels
    return pack + (max(inner, far) if hides else inner + far)


def total(n):
    hosts = -(-n // PER_HOST)
    return SUM + (SUM_HOP * (hosts - 1).bit_length() if hosts > 1 else 0)


def iteration(solver, lattice, n, t_hop, precision="half"):
    sums, vectors = VECTORS[solver]
    scale = FITTED[precision]["site"] / FITTED["half"]["site"]
    return 4 * t_hop + sites(*lattice) / n * vectors * scale / COPY * 1e6 + sums * total(n)


# precision, lattice, GPUs, measured us (bench/history, 23 November), how far off it may be, "fit" where it made FITTED
HOPS = [
    ("single", (32, 32, 32, 64), 1, 145.7, 0.03, "fit"), ("single", (32, 32, 32, 64), 2, 79.0, 0.03, ""),
    ("half", (32, 32, 32, 64), 1, 102.1, 0.03, "fit"), ("half", (32, 32, 32, 64), 2, 57.5, 0.03, ""),
    ("double", (32, 32, 32, 64), 1, 291.7, 0.03, "fit"), ("double", (32, 32, 32, 64), 2, 163.0, 0.05, "fit"),
    ("half", (24, 24, 24, 128), 1, 87.3, 0.04, ""), ("half", (24, 24, 24, 128), 2, 47.8, 0.04, "fit"),
    ("single", (16, 16, 16, 32), 1, 9.6, 0.05, ""), ("single", (16, 16, 16, 32), 2, 8.9, 0.2, "fit"),
    ("single", (48, 48, 48, 96), 1, 735.0, 0.03, ""), ("single", (48, 48, 48, 96), 2, 382.0, 0.03, "fit"),
    ("half", (48, 48, 48, 96), 1, 541.0, 0.06, ""), ("half", (48, 48, 48, 96), 2, 278.0, 0.03, "fit"),
]
# solver, GPUs, seconds a source, iterations: 32^3x64, double-half, one source
SOLVES = [
    ("bicgstab", 1, 0.200, 281, 0.05, "fit"), ("bicgstab", 2, 0.123, 281, 0.05, ""),
    ("cg", 1, 0.526, 930, 0.05, "fit"), ("cg", 2, 0.313, 930, 0.05, ""),
]


def row(what, measured, predicted, most, fit):
    off = predicted / measured - 1
    good = abs(off) <= most
    print("%-36s\t%9.1f\t%9.1f\t%+.1f %%\t%s%s" % (what, measured, predicted, 100 * off, fit, "" if good else "\tFARTHER THAN %g %%" % (100 * most)))
    return good


def check():
    good = True
    print("what\tmeasured\tpredicted\toff\t")
    for precision, lattice, n, us, most, fit in HOPS:
        name = "hop %s %dx%dx%dx%d on %d" % ((precision,) + lattice + (n,))
        good &= row(name, us, hop(precision, lattice, n), most, fit)
    lattice = (32, 32, 32, 64)
    for solver, n, seconds, steps, most, fit in SOLVES:
        us = iteration(solver, lattice, n, hop("half", lattice, n))
        good &= row("%s iteration, half, on %d" % (solver, n), seconds / steps * 1e6, us, most, fit)
    return good


def table():
    print("BiCGstab, half: us an iteration, and Tflop/s of its hops (1320 flop a site)")
    print("lattice\tGPUs\tlat, faces first\tlat, hidden\tQUDA, hidden\tTflop/s\tlat leads by")
    for lattice in [(24, 24, 24, 128), (32, 32, 32, 256), (48, 48, 48, 96), (64, 64, 64, 128), (96, 96, 96, 192), (96, 96, 96, 512)]:
        for n in (1, 8, 32, 256):
            name = "%dx%dx%dx%d\t%d" % (lattice + (n,))
            if n > lattice[3] / 2:
                print("%s\tt is too short: %d slices for %d GPUs; a second cut is needed" % (name, lattice[3], n))
                continue
            first, hidden = (iteration("bicgstab", lattice, n, hop_hosts("half", lattice, n, h)) for h in (False, True))
            a, b = QUDA["half"]
            inner = a * sites(*lattice) / n
            q = inner if n == 1 else b + (inner if n <= PER_HOST else max(inner, network("half", lattice)))
            other = iteration("bicgstab", lattice, n, q)
            print("%s\t%.0f\t%.0f\t%.0f\t%.1f\t%.2f, hidden %.2f" % (name, first, hidden, other,
                  4 * 1320 * sites(*lattice) / 2 / first * 1e-6, other / first, other / hidden))


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if check() else 1)
    if sys.argv[1:]:
        sys.exit("dirac_model.py: expected --check or nothing, found %s" % sys.argv[1])
    table()
