#!/usr/bin/env bats
# Spinors, propagators and modes in the stream: written and read by python/lat and by the tools, which work on all kinds or refuse
# them in a sentence.
# shellcheck disable=SC2154  # status, output and stderr are set by run
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    need_numpy
    "$PYTHON" - <<'END'
import lat
import numpy as np

rng = np.random.default_rng(20)


def numbers(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


operator = lat.Operator("wilson", mass=1 / (2 * .1354) - 4, csw=1.769, csw_t=1.1, xi=2.464, nu=.95, twist=-.01,
                        boundary=("p", "a", "0.25", "d"))
s = lat.propagator(numbers(5, 2, 3, 2, 12, 4, 3), source="point:0,0,0,0 \u00e9 = x", operator=operator, residuals=np.arange(12) * 1e-12,
                   links_crc="0123cdef", gauge="landau", theta=1e-12, sweeps=77, info={"lfn": "x = y"}, history=["first"])
lat.write("s.lat", s, compression="zlib")
psi = lat.spinor(numbers(5, 2, 3, 2, 4, 3), "f32", source="noise:z4")
v = lat.modes(numbers(5, 2, 3, 2, 5, 4, 3), operator=lat.Operator("overlap", -4, m0=1.4), residuals=[1e-9] * 5,
              eigenvalues=[-1e-300, 0, .1, 2, 3])
two = lat.propagator(numbers(5, 2, 3, 2, 8, 4, 2), "f32")
lat.write("all.lat", [s, psi, v, two], sites="parity,t,z,y,x", endian="big", block=4096)
END
}

@test "what python/lat writes of every kind comes back from the tools bit for bit, header included, in every order" {
    lat-info --check all.lat
    for order in natural standard parity timeslice timeslice-parity columns,t,parity,z,y,x; do
        lat-reorder --sites "$order" all.lat -o "$order.lat"
        lat-diff --tolerance 0 all.lat "$order.lat" > differences
    done
    lat-info timeslice-parity.lat | grep '^order' > orders
    [ "$(sort orders | uniq -c | sed 's/^ *//')" = "$(printf '%s\n' '3 order       sites t parity columns z y x' \
        '1 order       sites t parity z y x')" ]
    "$PYTHON" - ./*.lat <<'END'
import sys
import lat

whole = list(lat.read("all.lat"))
for name in sys.argv[1:]:
    for a, b in zip(whole, lat.read(name)):
        assert a.array.tobytes() == b.array.tobytes() and a.kind == b.kind, name
        for key in "n dims real reals columns gauge theta sweeps basis source operator residuals eigenvalues links_crc info".split():
            assert getattr(a.header, key) == getattr(b.header, key), (name, key)
END
}

@test "python/lat compresses sources in a file, but neither solutions nor modes, as the tools do" {
    "$PYTHON" -c 'import lat
for i, f in enumerate(lat.read("all.lat")):
    lat.write(f"{i}.lat", f)'
    [ "$(grep -ah '^compression' 0.lat 1.lat 2.lat 3.lat | sed 's/.* //' | paste -sd ' ')" = 'none zlib none none' ]
    lat-convert all.lat -o again.lat
    [ "$(grep -a '^compression' again.lat | sed 's/.* //' | paste -sd ' ')" = 'none zlib none none' ]
}

@test "several ranks read and write the bytes of one, of every kind" {
    need_mpi
    "$PYTHON" - <<'END'
import lat

for i, field in enumerate(list(lat.read("all.lat"))[:3]):
    lat.write(f"{i}.lat", field)
END
    for i in 0 1 2; do
        lat-gauge --random --no-provenance -@ 1 -o one.lat "$i.lat"
        for n in 2 3; do
            lat-gauge --random --no-provenance -@ 1 -n "$n" -o "$n.ranks.lat" "$i.lat"
            cmp one.lat "$n.ranks.lat"
        done
    done
}

@test "lat-gauge gives g(x) psi(x) of every column, in no gauge any more" {
    lat-start cold --dims 2,3,2,5 | lat-gauge --random --seed 7 --save-g g.lat > /dev/null
    lat-gauge --apply g.lat s.lat -o gs.lat
    lat-gauge --random --seed 7 s.lat | lat-diff --tolerance 0 gs.lat - > /dev/null
    "$PYTHON" - <<'END'
import lat
import numpy as np

s, = lat.read("s.lat")
g, = lat.read("g.lat")
gs, = lat.read("gs.lat")
expected = np.einsum("tzyxab,tzyxcsb->tzyxcsa", g.transformation, s.spinors)
# three products of numbers of modulus below 8 and two sums: 8 roundings
assert np.abs(gs.spinors - expected).max() < 8 * 8 * 2 ** -52
assert gs.header.gauge is None and gs.header.links_crc is None and gs.header.operator == s.header.operator
END
    run -1 --separate-stderr lat-gauge --apply s.lat s.lat
    [ "$stderr" = "lat-gauge: s.lat: expected a gauge transformation, found a quark propagator" ]
}

@test "tools that want links say which field they found" {
    for command in lat-theta lat-plaq lat-gluon lat-abelian lat-reunit "lat-orelax --max-sweeps 1" lat-anneal "lat-reorder --shift 1,0,0,0" \
                   "lat-convert --to nersc" "lat-convert --rows 2" "lat-gauge --invert"; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr $command s.lat
        [ "${#stderr_lines[@]}" -eq 1 ] || { echo "$command: $stderr"; return 1; }
        [[ $stderr == *"a quark propagator"* ]] || { echo "$command: $stderr"; return 1; }
        [ -z "$output" ]
    done
    lat-start cold --dims 2,3,2,5 > u.lat
    run -1 --separate-stderr lat-diff u.lat s.lat
    [ "$stderr" = "lat-diff: u.lat is a gauge field and s.lat a quark propagator" ]
}

@test "a spinor that is not finite is refused, and so are damaged propagators" {
    lat-convert -0 s.lat > raw.lat
    local size
    size=$(wc -c < raw.lat)
    for at in 100 700 $((size - 40)) $((size / 2)); do
        cp raw.lat bad.lat
        printf '\x55' | dd of=bad.lat bs=1 seek="$at" conv=notrunc status=none
        run -1 lat-info --check bad.lat
        [ "${#lines[@]}" -eq 1 ]
    done
    head -c $((size - 1000)) raw.lat > bad.lat
    run -1 lat-info --check bad.lat
    [[ $output == *truncated* ]]
    "$PYTHON" - <<'END'
import struct
import zlib

data = bytearray(open("raw.lat", "rb").read())
block = data.index(b"LATB")
data[block + 16 + 8 * 1000:block + 16 + 8 * 1001] = struct.pack("<d", float("nan"))
data[block + 12:block + 16] = struct.pack("<I", zlib.crc32(data[block + 16:-32], zlib.crc32(data[block:block + 12])))
end = len(data) - 32
data[end + 8:end + 12] = struct.pack("<I", zlib.crc32(data[block + 16:end]))
data[end + 12:end + 16] = struct.pack("<I", zlib.crc32(data[end:end + 12]))
open("nan.lat", "wb").write(data)
END
    run -1 --separate-stderr lat-info --check nan.lat
    [ "$stderr" = "lat-info: nan.lat: expected finite numbers, found NaN or infinity in spinor 41" ]
}
