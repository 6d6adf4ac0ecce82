#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks for memory traffic above the wait of a programmatic launch, in the machine code of GPU objects.

    early_loads.py [--sass FILE | OBJECT...]

A kernel that begins while the one before it ends waits for that one (WAIT_FOR_GRID, lib/grid/cuda_device.cuh) before
it reads what that one writes. ptxas has moved loads above the wait, whatever the source said: wrong bits on small
lattices, right ones on large. All paths from a kernel's entry to its wait are followed here, through branches,
reconvergence and calls, and what they load or store must be in ALLOWED.

cuobjdump disassembles the objects, for compute capability 9 and above. --sass reads its output instead.
Prints a line for each kernel that breaks the rule, and a summary. Exit status: 0, or 1 (broken), or 2 (nothing to look at).
"""
import collections
import concurrent.futures
import re
import subprocess
import sys

# The kernel's name, and what its source loads before it waits: (opcodes, how many at most).
ALLOWED = [
    # Which copy and slice a thread visits: written by the host. Links: no sweep writes them.
    (r"half_small_", [(r"LDG\.E(\.64)?$", 4), (r"LDGSTS\.E\.BYPASS\.128$", 1 << 20)]),
    # The first link of a site, on its way to shared memory (fix_tiles.cuh): 16 of a thread in SU(8), double.
    (r"half_[fd][5-8]$", [(r"LDG\.E(\.64)?$", 4), (r"LDGSTS\.E\.BYPASS\.128$", 16)]),
    (r"half_", [(r"LDG\.E(\.64)?$", 4)]),
    # The links of a site, which are older than any hop (load_link, cuda_spinor.cuh): of 8 directions, 18 reals in single.
    (r"hop_(one|tile)$", [(r"LDG\.E\.NA(\.64|\.128)?\.CONSTANT$", 40)]),
    # Everything else: nothing. Bulk copies of links to shared memory (UBLKCP, hop_many) are no load of a thread.
    (r"", []),
]
WAIT = "ACQBULK"
MEMORY = re.compile(r"(LDG|LD|LDGSTS|ATOM|ATOMG|RED|STG|ST)(\.|$)")
LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")


def kernels(lines):
    """(name, [(address, instruction)]) of each function of a disassembly."""
    name, code = None, []
    for line in lines:
        if "Function :" in line:
            if name:
                yield name, code
            name, code = line.split("Function :")[1].strip(), []
        elif name and (m := LINE.match(line)):
            code.append((int(m[1], 16), m[2]))
    if name:
        yield name, code


def plain_name(mangled):
    """half_f3 of _Z7half_f3ILi1ELi2EEv13lat_cuda_work."""
    m = re.match(r"_ZN?(\d+)(\w+)", mangled)
    return m[2][: int(m[1])] if m else mangled


def opcode(instruction):
    return re.sub(r"^@!?U?P\w+\s+", "", instruction).split()[0]


def early(code):
    """Memory instructions that can be reached from the entry without passing a wait. A state of the walk is an
    instruction and where each barrier of reconvergence leads: BSSY says it, BSYNC goes there."""
    at = {address: i for i, (address, _) in enumerate(code)}
    seen, todo, found = set(), [(0, ())], set()
    while todo:
        state = i, barriers = todo.pop()
        if state in seen or i >= len(code):
            continue
        seen.add(state)
        text = code[i][1]
        op, always = opcode(text), not text.startswith("@")
        target = re.search(r"(?<!\w)0x([0-9a-f]+)", text)
        target = at.get(int(target[1], 16)) if target else None
        if op == WAIT and always:
            continue
        if MEMORY.match(op):
            found.add((code[i][0], op))
        if op.startswith("BSSY"):
            barriers = tuple(sorted((dict(barriers) | {re.search(r"\bB\d+", text)[0]: target}).items()))
        elif op.startswith("BSYNC"):
            todo.append((dict(barriers)[re.search(r"\bB\d+", text)[0]], barriers))
            if always:
                continue
        elif op.startswith(("EXIT", "RET")):
            if always:
                continue
        elif op.startswith(("BRA", "JMP")):
            todo.append((target, barriers))
            # BRA.U !UP0, BRA P0, BRA.DIV: a condition of its own.
            if always and not re.match(r"\S+\s+!?U?P\w", text) and not re.search(r"\.(DIV|CONV)", op):
                continue
        elif op.startswith("CALL"):
            if target is not None:
                todo.append((target, barriers))
        elif op.startswith(("BRX", "JMX")):
            raise ValueError(f"an indirect branch before the wait: {text}")
        todo.append((i + 1, barriers))
    return found


def broken(name, code):
    """What this kernel does too early, as text; or ''."""
    try:
        counts = collections.Counter(op for _, op in early(code))
    except ValueError as e:
        return str(e)
    allowed = next(rule for pattern, rule in ALLOWED if re.match(pattern, name))
    for pattern, most in allowed:
        matching = [op for op in counts if re.match(pattern, op)]
        if sum(counts[op] for op in matching) <= most:
            for op in matching:
                del counts[op]
    return ", ".join(f"{n} {op}" for op, n in sorted(counts.items()))


def look(lines, path):
    """How many kernels wait, and a line for each that breaks the rule."""
    found = [(mangled, broken(plain_name(mangled), code)) for mangled, code in kernels(lines)
             if any(opcode(text) == WAIT for _, text in code)]
    return len(found), [f"{path}: {name}: before its wait: {what}" for name, what in found if what]


def look_into(path):
    def cuobjdump(*arguments):
        return subprocess.run(["cuobjdump", *arguments, path], check=True, capture_output=True, text=True).stdout

    waiting, said = 0, []
    for kind in sorted(set(re.findall(r"\.sm_(\d+)\w*\.cubin", cuobjdump("-lelf"))), key=int):
        if int(kind) >= 90:
            more, lines = look(cuobjdump("-sass", "-arch", f"sm_{kind}").splitlines(), f"{path} (sm_{kind})")
            waiting += more
            said += lines
    return waiting, said


def main(arguments):
    if arguments[:1] == ["--sass"] and len(arguments) == 2:
        with open(arguments[1], encoding="utf-8") as file:
            results = [look(file, arguments[1])]
    elif arguments and not arguments[0].startswith("-"):
        with concurrent.futures.ProcessPoolExecutor() as pool:
            results = list(pool.map(look_into, arguments))
    else:
        sys.exit(__doc__)
    waiting, bad = sum(n for n, _ in results), [line for _, lines in results for line in lines]
    print(*bad, f"{waiting} kernels wait for the one before, {len(bad)} of them load or store before", sep="\n")
    return 2 if waiting == 0 else 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
