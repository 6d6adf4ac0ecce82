#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Propagators and spinors in the formats of other programs, made and read without the code of lat-convert.

make_quarks.py make FORMAT STREAM FILE [KAPPA]: the field of a stream (read by python/lat) as a file of that format
make_quarks.py compare FORMAT STREAM FILE [KAPPA]: does the file hold it? Exit status 1 and the largest difference if not

Arrays here are [t, z, y, x, source spin, source colour, spin, colour]; a spinor has one source. Changes of spin basis follow from the
gamma matrices of the programs, by Schur's lemma, and not from a table."""
import struct
import sys
import zlib

import numpy as np

import lat

PAULI = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
ZERO, ONE = np.zeros((2, 2)), np.eye(2)


def blocks(a, b, c, d):
    return np.block([[a, b], [c, d]])


def sparse(*entries):
    m = np.zeros((4, 4), complex)
    for row, column, value in entries:
        m[row, column] = value
    return m


DEGRAND_ROSSI = [sparse((0, 3, 1j), (1, 2, 1j), (2, 1, -1j), (3, 0, -1j)), sparse((0, 3, -1), (1, 2, 1), (2, 1, 1), (3, 0, -1)),
                 sparse((0, 2, 1j), (1, 3, -1j), (2, 0, -1j), (3, 1, 1j)), sparse((0, 2, 1), (1, 3, 1), (2, 0, 1), (3, 1, 1))]
CHIRAL = [blocks(ZERO, -1j * s, 1j * s, ZERO) for s in PAULI] + [blocks(ZERO, -ONE, -ONE, ZERO)]
DIRAC_PAULI = [blocks(ZERO, -1j * s, 1j * s, ZERO) for s in PAULI] + [blocks(ONE, ZERO, ZERO, -ONE)]
FERMILAB = [blocks(ZERO, s, s, ZERO) for s in PAULI] + [blocks(ONE, ZERO, ZERO, -ONE)]
MILC = [-g for g in DEGRAND_ROSSI]  # the same matrices with the opposite sign of the hops
DDALPHAAMG = [-CHIRAL[0]] + CHIRAL[1:]

# name: gamma matrices, norm is 2 kappa, real, endian, axes (S C: source, s c: sink)
FORMATS = {"chroma-prop": (DEGRAND_ROSSI, False, None, ">", "tzyxsScC"), "grid-prop": (DEGRAND_ROSSI, False, None, ">", "tzyxsScC"), "usqcd-prop": (DEGRAND_ROSSI, False, None, ">", "SCtzyxsc"),
           "etmc-prop": (CHIRAL, False, None, ">", "SCtzyxsc"), "npy-prop": (DEGRAND_ROSSI, False, None, "<", "tzyxsScC"),
           "milc-prop": (MILC, True, "f4", "<", "SCtzyxsc"), "fermilab-prop": (FERMILAB, True, "f4", "<", "tzyxSCsc"),
           "kyu-prop": (DIRAC_PAULI, False, "f8", ">", "SCsctzyx"), "xqcd-prop": (DIRAC_PAULI, False, "f4", "<", "SCtzyxsc"),
           "openqcd-sfld": (CHIRAL, False, "f8", "<", "txyzsc"), "openqcd2-sfld": (CHIRAL, False, "f8", "<", "txyzsc"), "ddalphaamg-vector": (DDALPHAAMG, False, "f8", "<", "tzyxsc")}


def products(gamma):
    """The 16 products of the matrices."""
    for bits in range(16):
        m = np.eye(4, dtype=complex)
        for mu in range(4):
            if bits >> mu & 1:
                m = m @ gamma[mu]
        yield m


def basis_change(gamma):
    """T with gamma_DR T = T gamma, unitary; its first entry that is not 0 is positive, the row 0 first."""
    t = sum(a @ np.diag([1, 2, 3, 5.5]) @ np.linalg.inv(b) for a, b in zip(products(DEGRAND_ROSSI), products(gamma)))
    if abs(t).max() < 1e-9:
        t = sum(a @ np.arange(1, 17).reshape(4, 4) ** 2 @ np.linalg.inv(b) for a, b in zip(products(DEGRAND_ROSSI), products(gamma)))
    t = t / np.sqrt(np.trace(t @ t.conj().T).real / 4)
    assert max(abs(DEGRAND_ROSSI[mu] @ t - t @ gamma[mu]).max() for mu in range(4)) < 1e-14
    first = t[0][np.abs(t[0]) > .1][0]
    return t * abs(first) / first


def in_file(name, field, kappa):
    """The numbers of a field as the file has them, complex, in the order of its axes."""
    gamma, halved, real, _, axes = FORMATS[name]
    t = basis_change(gamma)
    s = field.spinors.astype(complex)
    if field.kind == "spinor":
        s = np.einsum("pq,tzyxpc->tzyxqc", t.conj(), s)
        names = "tzyxsc"
        axes = axes.replace("S", "").replace("C", "")
    else:
        s = s.reshape(s.shape[:4] + (4, 3, 4, 3))
        s = np.einsum("pq,tzyxPCpc,PQ->tzyxQCqc", t.conj(), s, t)
        names = "tzyxSCsc"
    if halved:
        s = s / (2 * kappa)
    return np.ascontiguousarray(s.transpose([names.index(a) for a in axes])), np.dtype(real or ("f4" if field.header.real == "f32" else "f8"))


def payload(name, numbers, real):
    """The reals of the file in its byte order."""
    reals = np.stack([numbers.real, numbers.imag], axis=-1)
    if name == "kyu-prop":
        reals = np.moveaxis(reals, -1, 2)
    return np.ascontiguousarray(reals).astype(FORMATS[name][3] + real.str[1:])


def record(kind, data, flags=0):
    return struct.pack(">IHHQ", 0x456789ab, 1, flags, len(data)) + kind.encode().ljust(128, b"\0") + data + bytes(-len(data) % 8)


def site_sums(data, sites):
    """suma and sumb of SciDAC."""
    a = b = 0
    for i, site in enumerate(data[k:k + len(data) // sites] for k in range(0, len(data), len(data) // sites)):
        crc = zlib.crc32(site)
        a ^= (crc << i % 29 | crc >> 32 - i % 29) & 0xffffffff
        b ^= (crc << i % 31 | crc >> 32 - i % 31) & 0xffffffff
    return a, b


def checksum(data, sites):
    return record("scidac-checksum", b"<scidacChecksum><version>1.0</version><suma>%x</suma><sumb>%x</sumb></scidacChecksum>\0"
                  % site_sums(data, sites))


def milc_sums(data):
    """sum29 and sum31 of the words of a file in little endian."""
    words = np.frombuffer(data, "<u4").astype(np.uint64)
    sums = []
    for n in (29, 31):
        turn = np.arange(len(words), dtype=np.uint64) % np.uint64(n)
        rotated = (words << turn | words >> (np.uint64(32) - turn)) & np.uint64(0xffffffff)
        sums.append(int(np.bitwise_xor.reduce(rotated)))
    return sums


def grid(dims, data):
    """As Grid's ScidacWriter does it: a line for each extent, another datatype, two records of the user."""
    x, user = b"<?xml version=\"1.0\"?>\n", b"<emptyUserRecord>\n\t<dummy>0</dummy>\n</emptyUserRecord>\n"
    out = record("scidac-private-file-xml", x + b"<scidacFile>\n\t<version>1</version>\n\t<spacetime>4</spacetime>\n\t<dims>%d \n%d \n%d \n%d"
                 b"</dims>\n\t<volfmt>0</volfmt>\n</scidacFile>\n" % tuple(dims), 0x8000)
    out += record("scidac-file-xml", x + user) + record("grid-format", x + b"<FieldMetaData><nd>4</nd></FieldMetaData>\n", 0x8000)
    out += record("scidac-record-xml", x + user)
    out += record("scidac-private-record-xml", x + b"<scidacRecord>\n\t<datatype>GRID_D_SpinMatrix4_ColourMatrix3</datatype>\n\t<precision>D"
                  b"</precision>\n\t<colors>3</colors>\n\t<spins>4</spins>\n\t<typesize>2304</typesize>\n\t<datacount>1</datacount>\n"
                  b"</scidacRecord>\n")
    data = data.tobytes()
    out += record("ildg-binary-data", data) + record("FieldNormMetaData", x + b"<FieldNormMetaData><norm2>1</norm2></FieldNormMetaData>\n")
    return out + checksum(data, int(np.prod(dims)))


def lime(name, dims, data):
    sites = int(np.prod(dims))
    columns = 1 if name == "chroma-prop" else 12 if data.nbytes // sites > 24 * data.itemsize else 1
    x = b"<?xml version=\"1.0\"?>"
    out = record("scidac-private-file-xml", x + b"<scidacFile><dims>%d %d %d %d</dims><volfmt>0</volfmt></scidacFile>" % tuple(dims), 0x8000)
    if name == "usqcd-prop":
        out += record("scidac-file-xml", x + b"<usqcdPropFile><version>1.0</version><type>USQCD_DiracFermion_ScalarSource_TwelveSink</type>"
                      b"<info/></usqcdPropFile>\0", 0x4000)
        source = np.arange(2 * sites).astype(data.dtype).tobytes()
        out += record("scidac-private-record-xml", x + b"<scidacRecord><datatype>QDP_D_Complex</datatype></scidacRecord>\0", 0x8000)
        out += record("scidac-record-xml", x + b"<usqcdSourceInfo><version>1.0</version><info>1 2 3</info></usqcdSourceInfo>\0")
        out += record("scidac-binary-data", source) + checksum(source, sites)
    if name == "etmc-prop":
        out = record("propagator-type", b"DiracFermion_Sink", 0xc000)
    for column, part in enumerate(data.reshape(columns, -1)):
        part = part.tobytes()
        if name == "chroma-prop":
            out += record("scidac-private-record-xml", x + b"<scidacRecord><datatype>QDP_D3_DiracPropagator</datatype></scidacRecord>\0")
            out += record("scidac-record-xml", x + b"<Propagator><ForwardProp><FermionAction><FermAct>CLOVER</FermAct><Kappa>0.11</Kappa>"
                          b"<clovCoeff>1.25</clovCoeff><FermionBC><boundary>1 1 1 -1</boundary></FermionBC></FermionAction></ForwardProp>"
                          b"</Propagator>\0")
        elif name == "usqcd-prop":
            out += record("scidac-record-xml", x + b"<usqcdPropInfo><version>1.0</version><spin>%d</spin><color>%d</color></usqcdPropInfo>\0"
                          % (column // 3, column % 3))
        else:  # tmLQCD may have lx in place of lz
            out += record("etmc-propagator-format", x + b"<etmcFormat><field>diracFermion</field><precision>%d</precision><flavours>1</flavours>"
                          b"<lx>%d</lx><ly>%d</ly><lz>%d</lz><lt>%d</lt></etmcFormat>" % (8 * data.itemsize, dims[0], dims[1], dims[0], dims[3]),
                          0x8000)
        out += record("scidac-binary-data", part) + checksum(part, sites)
    return out


def made(name, field, kappa):
    numbers, real = in_file(name, field, kappa)
    data, dims = payload(name, numbers, real), field.header.dims
    x, y, z, t = dims
    if name == "grid-prop":
        return grid(dims, data)
    if name in ("chroma-prop", "usqcd-prop", "etmc-prop"):
        return lime(name, dims, data)
    if name == "npy-prop":
        head = "{'descr': '<c%d', 'fortran_order': False, 'shape': %s, }" % (2 * real.itemsize, str(numbers.shape))
        return b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + head.encode().ljust(117) + b"\n" + data.tobytes()
    if name == "milc-prop":
        out = struct.pack("<i4i64sii4i", 12781, x, y, z, t, b"Sun Nov 22 12:00:00 2026", 0, 4, 0, 1, 2, 3)
        for column, part in enumerate(data.reshape(12, -1)):
            out += struct.pack("<iiII", column // 3, column % 3, *milc_sums(part.tobytes())) + part.tobytes()
        return out
    if name == "fermilab-prop":
        return struct.pack("<9i", 0x71626434, 1, 4, 288, x, y, z, t, 0) + data.tobytes()
    if name in ("openqcd-sfld", "openqcd2-sfld"):  # since 2.0 with 0: all points
        extents = (t, x, y, z) if name == "openqcd-sfld" else (t, x, y, z, 0)
        return struct.pack("<%di" % len(extents), *extents) + struct.pack("<d", float((data ** 2).sum())) + data.tobytes()
    if name == "ddalphaamg-vector":
        return b"<header>\nvector\n</header>\n" + data.tobytes()
    return data.tobytes()


def payload_of(name, file, data):
    """The reals of a file, where made() puts them."""
    if name in ("chroma-prop", "usqcd-prop", "etmc-prop"):
        found, at = [], 0
        while at < len(file):
            length = struct.unpack(">Q", file[at + 8:at + 16])[0]
            if file[at + 16:at + 34] == b"scidac-binary-data":
                found.append(file[at + 144:at + 144 + length])
            at += 144 + length + -length % 8
        return b"".join(found[1:] if name == "usqcd-prop" else found)
    if name == "milc-prop":
        size = data.nbytes // 12 + 16
        return b"".join(file[108 + c * size + 16:108 + (c + 1) * size] for c in range(12))
    return file[len(file) - data.nbytes:]


def compare(name, field, file, kappa):
    numbers, real = in_file(name, field, kappa)
    data = payload(name, numbers, real)
    there = np.frombuffer(payload_of(name, file, data), data.dtype)
    # one rounding of numbers that are sums of at most 16 products in double precision
    bound = (2.0 ** -24 if real.itemsize == 4 else 64 * 2.0 ** -53) * abs(numbers).max()
    off = np.abs(there.astype("f8") - data.astype("f8").ravel())
    if len(there) != data.size or not off.max() <= bound * (1 if real.itemsize == 8 else 2):
        sys.exit(f"make_quarks.py: {name}: differs by {off.max() if len(off) else off}, expected at most {bound}")


def main():
    mode, name, stream, file = sys.argv[1:5]
    kappa = float(sys.argv[5]) if len(sys.argv) > 5 else None
    field = next(lat.read(stream))
    if mode == "make":
        with open(file, "wb") as out:
            out.write(made(name, field, kappa))
    else:
        with open(file, "rb") as there:
            compare(name, field, there.read(), kappa)


main()
