#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Purpose: lat-convert reads and writes the formats of other codes; NERSC, LIME and MILC are in convert.bats. Samples are made by
# make_foreign.py, what is written is read by check_foreign.py: neither has a line of our code.
load helper
load formats

# small N PRECISION DIMS: a rough field, as small.lat and small.ildg.
small() {
    lat-start hot -N "${1:-3}" -p "${2:-double}" -d "${3:-2,4,6,4}" -o small.lat
    lat-convert --to ildg small.lat -o small.ildg
}

# reads FILE [OPTION]...: the links of small.lat, from a file and, unless NOPIPE, from a pipe; without a word but the one about
# files that say nothing of themselves.
reads() {
    local file=$1
    shift
    lat-convert "$@" "$file" > read.lat 2> err
    ! grep -v "nothing in a [a-z]* file vouches for extents and order" err || { cat err; return 1; }
    same small.lat read.lat
    [ -z "$NOPIPE" ] || return 0
    # shellcheck disable=SC2002
    cat "$file" | lat-convert "$@" > read.lat
    same small.lat read.lat
}

@test "openQCD: an independent writer, an independent reader" {
    small
    "$MAKE" openqcd small.ildg x.openqcd
    reads x.openqcd
    lat-convert --to openqcd small.lat -o y.openqcd
    "$CHECK" sums y.openqcd
    [ "$("$CHECK" crc y.openqcd)" = "$(crc small.lat)" ]
    reads y.openqcd
    lat-convert y.openqcd --to openqcd -o z.openqcd
    cmp y.openqcd z.openqcd
    "$MAKE" openqcd small.ildg x.openqcd plaquette=0.3
    refused "plaquette 0.3 is stated" x.openqcd
    "$MAKE" openqcd small.ildg x.openqcd plaquette=nan
    refused "expected a plaquette from -3 to 3 in the header, found nan" --from openqcd x.openqcd
    small 3 double 2,2,3,2
    refused "openqcd files have even extents, found 2 2 3 2" --to openqcd small.lat
}

@test "openQCD's links with the header T, Z, Y, X, as PyQUDA writes it, are recognised by the plaquette, and by --dims" {
    small
    "$MAKE" openqcd small.ildg x.openqcd header=tzyx
    lat-convert x.openqcd > read.lat 2> err
    same small.lat read.lat
    [ "$(wc -l < err)" -eq 1 ]
    grep -q "x.openqcd: has openQCD's links and the header T, Z, Y, X, as PyQUDA writes it: so its plaquette is " err
    lat-info read.lat | grep -q 'source = openQCD with the header T, Z, Y, X (told from openQCD by the plaquette)'
    reads x.openqcd --dims 2,4,6,4
    "$MAKE" openqcd small.ildg x.openqcd header=tzyx plaquette=0.3
    refused "plaquette 0.3 is stated" x.openqcd
    refused "plaquette 0.3 is stated" --dims 2,4,6,4 x.openqcd
    # Where X is Z, it is openQCD's.
    small 3 double 4,2,4,6
    "$MAKE" openqcd small.ildg x.openqcd header=tzyx
    reads x.openqcd
}

@test "NERSC files that say SU(3) of another group: a sentence with the group that the length has, and --group reads them" {
    for group in 2 4; do
        small $group
        "$MAKE" nersc small.ildg x.nersc floating=IEEE64BIG type=4D_SU3_GAUGE_3x3
        refused "x.nersc: DATATYPE is 4D_SU3_GAUGE_3x3, and the length is that of SU($group): --group $group of lat-convert reads it as that" x.nersc
        reads x.nersc --group $group
    done
    small 2
    "$MAKE" nersc small.ildg x.nersc floating=IEEE64BIG type=4D_SU3_GAUGE rows=1
    refused "the length is that of SU(2)" x.nersc
    lat-convert --group 2 x.nersc | lat-diff --tolerance 1e-15 small.lat - > difference
    "$MAKE" nersc small.ildg x.nersc floating=IEEE64BIG type=4D_SU3_GAUGE_3x3 checksum=1234
    refused "CHECKSUM 1234 is stated" --group 2 x.nersc
    # a group or a word that contradicts the length
    small 3
    lat-convert small.lat -o x.nersc
    refused "x.nersc: expected the length of SU(2), as --group says, found that of SU(3)" --group 2 x.nersc
    sed 's/^FLOATING_POINT = .*/FLOATING_POINT = IEEE32/' x.nersc >y.nersc
    refused "y.nersc: FLOATING_POINT is 'IEEE32', and the length is that of numbers of 64 bits" y.nersc
    # a plaquette of 0 was never recorded, where the CHECKSUM is that of the links
    sed 's/^PLAQUETTE = .*/PLAQUETTE = 0/' x.nersc >y.nersc
    reads y.nersc
    sed -i 's/^CHECKSUM = .*/CHECKSUM = 1234/' y.nersc
    refused "CHECKSUM 1234 is stated" y.nersc
    refused "x.nersc: expected a LIME file, which begins with 45 67 89 ab, found 42 45 47 49" --from ildg x.nersc
    refused "is in format ildg, and --order, --group, --type and --endian are for raw files" --group 2 small.ildg
}

@test "FLOATING_POINT in small letters is read" {
    small
    "$MAKE" nersc small.ildg x.nersc floating=ieee64big
    reads x.nersc
}

@test "ILDG of Grid and Hadrons: white space of any kind between the extents; --dims goes before what cannot be read" {
    for group in 3 2; do
        small $group
        for file in gridfile tabfile; do
            "$MAKE" lime small.ildg x.ildg records=$file,record,format,lfn,data,checksum
            reads x.ildg
            reads x.ildg --dims 2,4,6,4
        done
    done
    "$MAKE" lime small.ildg x.ildg records=gridfile,record,scidac,checksum
    reads x.ildg
    sed 's/<dims>2/<dims>z/' x.ildg > y.ildg
    refused "expected four extents in <dims> of record 'scidac-private-file-xml', found 'z 4 6 4'" y.ildg
    lat-convert --dims 2,4,6,4 y.ildg > read.lat 2> err
    same small.lat read.lat
    grep -q "<dims> of record 'scidac-private-file-xml' is 'z 4 6 4', and --dims is taken" err
}

@test "a plaquette of 0 in xlf-info was never measured, and another one than that of the links is refused with a word about the checksums" {
    small
    "$MAKE" lime small.ildg x.ildg records=zeroxlf,format,data,checksum
    reads x.ildg
    "$MAKE" lime small.ildg x.ildg records=badxlf,format,data,checksum
    refused "; both checksums are those of the links" x.ildg
    "$MAKE" lime small.ildg x.ildg records=badxlf,format,data
    refused "which differs by more than 5.1e-07" x.ildg
}

@test "a LIME file that states an extent twice, and not the same, is refused" {
    small
    "$MAKE" lime small.ildg x.ildg records=same,data,checksum
    reads x.ildg
    "$MAKE" lime small.ildg x.ildg records=twice,data,checksum
    refused "x.ildg: record 'ildg-format' states <lx> more than once, and not the same" x.ildg
}

@test "XML with letters of Latin-1 is read, with a warning" {
    small
    "$MAKE" lime small.ildg x.ildg records=latin1,data,checksum
    lat-convert x.ildg > read.lat 2> err
    same small.lat read.lat
    grep -q "record 'ildg-format' is not proper XML (.*): letters that are not ASCII are read as '?'" err
}

@test "XML records end with their last letter, which parsers of XML want" {
    small
    for kind in ildg scidac; do
        lat-convert --to $kind small.lat -o x.$kind
        python3 - x.$kind <<'END'
import struct
import sys
import xml.dom.minidom

data, at, seen = open(sys.argv[1], "rb").read(), 0, 0
while at < len(data):
    length, kind = struct.unpack(">Q", data[at + 8:at + 16])[0], data[at + 16:at + 144].rstrip(b"\0")
    body = data[at + 144:at + 144 + length]
    if body.startswith(b"<?xml"):
        xml.dom.minidom.parseString(body)
        seen += 1
    at += 144 + length + -length % 8
assert seen >= 4
END
    done
}

@test "DDalphaAMG is recognised by the plaquette, where openQCD has the same header, and a warning says so" {
    small
    "$MAKE" ddalphaamg small.ildg x.ddalphaamg
    reads x.ddalphaamg --from ddalphaamg
    lat-convert x.ddalphaamg > read.lat 2> err
    same small.lat read.lat
    [ "$(wc -l < err)" -eq 1 ]
    grep -q "is DDalphaAMG's, not openQCD's" err
    lat-convert --to ddalphaamg small.lat -o y.ddalphaamg
    "$CHECK" sums y.ddalphaamg
    [ "$("$CHECK" crc y.ddalphaamg)" = "$(crc small.lat)" ]
    "$MAKE" openqcd small.ildg x.openqcd
    refused "is stated" --from ddalphaamg x.openqcd
    "$MAKE" ddalphaamg small.ildg x.ddalphaamg plaquette=0.3
    refused "plaquette 0.3 is stated" x.ddalphaamg
    # The extents in the header are T, Z, Y, X: X = 2, Z = 6.
    [ "$(head -c 16 y.ddalphaamg | od -An -v -t d4 | tr -s ' ')" = " 4 6 4 2" ]
    # Where X and Z differ, --dims says which of the two it is, too.
    "$MAKE" ddalphaamg small.ildg x.ddalphaamg
    reads x.ddalphaamg --dims 2,4,6,4
    lat-convert x.ddalphaamg --to nersc -o one.nersc 2> err
    "$CHECK" sums one.nersc
    lat-convert one.nersc > read.lat
    same small.lat read.lat
    # Neither fits: the links stay as openQCD would have them.
    "$MAKE" openqcd small.ildg x.openqcd plaquette=0.3
    lat-convert --force x.openqcd > read.lat
    same small.lat read.lat
    # Odd extents are no openQCD file's.
    small 3 double 2,3,2,3
    "$MAKE" ddalphaamg small.ildg x.ddalphaamg
    reads x.ddalphaamg
}

@test "HiRep: matrices of any SU(N), quaternions of SU(2), both byte orders" {
    local n
    for n in 2 3 5; do
        small $n double 2,3,2,4
        for order in big little; do
            "$MAKE" hirep small.ildg x.hirep order=$order
            reads x.hirep
        done
        lat-convert --to hirep small.lat -o y.hirep
        "$CHECK" sums y.hirep
        [ "$("$CHECK" crc y.hirep)" = "$(crc small.lat)" ]
        reads y.hirep
    done
    small 2 double 2,3,2,4
    lat-convert --rows 1 small.lat --to hirep -o y.hirep
    "$CHECK" sums y.hirep
    # The row left out was good to rounding.
    lat-convert --rows 1 small.lat > rows.lat
    mv rows.lat small.lat
    reads y.hirep
    [ "$(stat -c %s y.hirep)" -eq $((28 + 128 * 48)) ]
    "$MAKE" hirep small.ildg x.hirep quaternions=1
    cmp <(tail -c +29 x.hirep) <(tail -c +29 y.hirep)
    small
    "$MAKE" hirep small.ildg x.hirep plaquette=0.3
    refused "plaquette 0.3 is stated" x.hirep
    refused "of that group" --rows 2 --to hirep small.lat
}

# hdf5 KIND STREAM FILE: links in HDF5 by an independent writer.
hdf5() { "$PYTHON" "$ROOT/tests/make_links.py" "$@"; }

@test "links in HDF5 of PyQUDA, Qlua and others, by an independent writer: the same links, the order by who wrote them" {
    local n p kind
    need_numpy
    for n in 2 3 4; do
        for p in single double; do
            small $n $p 2,4,3,6
            for kind in pyquda qlua first last; do
                hdf5 $kind small.lat x.h5
                lat-convert x.h5 -o read.lat 2>err
                same small.lat read.lat
                # shellcheck disable=SC2002
                cat x.h5 | lat-convert --from hdf5 2>/dev/null >read.lat
                same small.lat read.lat
                [ "$(grep -c 'nothing in a hdf5 file vouches for extents and order' err)" = "$([ $kind = first ] && echo 1 || echo 0)" ] || { cat err; return 1; }
            done
        done
    done
    hdf5 first small.lat x.h5
    lat-convert --order links,x,y,z,t x.h5 -o read.lat
    lat-info read.lat | grep -q '^lattice *6 3 4 2'
    lat-theta x.h5 2>/dev/null | head -n 1 >said
    grep -q '2 4 3 6' said
    for kind in three five; do
        hdf5 $kind small.lat x.h5
        refused "x.h5: expected one dataset of links, or four of matrices whose names end with 0 to 3, 1 to 4 or x to t, found $([ $kind = three ] && echo 3 || echo 5) (the first one: LatticeColorMatrix/" x.h5
    done
    hdf5 filter small.lat x.h5
    refused "x.h5: expected links, found none, and dataset LatticeColorMatrix/Z cannot be read: it went through a filter that is none of deflate, shuffle and fletcher32" x.h5
    hdf5 lattice small.lat x.h5
    refused "expected the extents 2 4 3 6, which the shape of dataset LatticeColorMatrix/X has, as the attribute Lattice, found '6 3 4 2'" x.h5
    # cut in the numbers, and links that leave the group
    hdf5 pyquda small.lat x.h5
    head -c $(($(wc -c <x.h5) - 2000)) x.h5 >y.h5
    refused "y.h5: expected an HDF5 file, found a damaged or truncated one" y.h5
    # beside a propagator it is the propagator that is read
    lat-start hot -d 2,4,3,6 -o small.lat
    lat-source point:0,0,0,0 small.lat -o s.lat
    hdf5 both small.lat both.h5 s.lat
    lat-convert both.h5 2>/dev/null | lat-diff --tolerance 0 s.lat - >difference
    lat-convert --from hdf5 both.h5 -o read.lat
    same small.lat read.lat
    # shellcheck disable=SC2002
    cat x.h5 | refuses 1 '(links on a pipe: lat-convert --from hdf5)' lat-convert
}

@test "links written to HDF5 and NumPy come back with gauge, history and checked means; NumPy reads them" {
    local e
    need_numpy
    for p in single double; do
        rough a.lat --dims 2,4,6,4 --precision $p
        lat-orelax --theta 1e-3 a.lat -o small.lat
        for e in h5 npy; do
            lat-convert small.lat -o x.$e
            lat-convert x.$e -o read.lat 2>err
            same small.lat read.lat
            lat-convert x.$e -o y.$e 2>err
        done
        cmp x.npy y.npy
        lat-convert x.h5 -o read.lat
        diff <(lat-info small.lat | sed -n '/^gauge/p; /^plaq/p') <(lat-info read.lat | sed -n '/^gauge/p; /^plaq/p')
        lat-info read.lat | grep -q 'lat-orelax.*--theta 1e-3'
        "$PYTHON" - <<'END'
import lat
import numpy as np
u = next(lat.read("small.lat")).links
v = np.load("x.npy")
assert v.dtype == u.dtype and (v == np.moveaxis(u, 4, 0)).all()
np.save("last.npy", u)
np.save("big.npy", v.astype(v.dtype.newbyteorder(">")))
np.save("xyzt.npy", np.ascontiguousarray(v.transpose(0, 4, 3, 2, 1, 5, 6)))
np.save("fortran.npy", np.asfortranarray(v))
np.save("three.npy", v[:3])
np.savez("all.npz", v)
for version in (2, 3):
    with open("v%d.npy" % version, "wb") as out:
        np.lib.format.write_array(out, v, version=(version, 0))
END
        refused "last.npy: axes 0 and 4 of the array have 4 values each: expected --order links,t,z,y,x or --order t,z,y,x,links" last.npy
        lat-convert --order t,z,y,x,links last.npy -o read.lat 2>err
        same small.lat read.lat
        lat-convert big.npy -o read.lat 2>err
        same small.lat read.lat
        grep -q 'big.npy: nothing in a npy file vouches for extents and order: as 2 4 6 4 SU(3)' err
        lat-convert --order links,x,y,z,t xyzt.npy -o read.lat
        same small.lat read.lat
    done
    for e in 2 3; do
        lat-convert v$e.npy -o read.lat 2>err
        same small.lat read.lat
    done
    refused "all.npz: is a ZIP archive: take the array out of it, if it is NumPy's: numpy.save" all.npz
    sed 's/(4, 4, 6, /(4,-4,-6, /' x.npy >y.npy
    refused "found {'descr': '<c16', 'fortran_order': False, 'shape': (4,-4,-6, 4, 2, 3, 3), }" y.npy
    refused "expected an array in C's order, found Fortran's" fortran.npy
    refused "three.npy: is a NumPy array: expected complex numbers of shape (4, T, Z, Y, X, N, N) or (T, Z, Y, X, 4, N, N), or of spinors, found {'descr': '<c16', 'fortran_order': False, 'shape': (3, 4, 6, 4, 2, 3, 3), }" three.npy
    lat-start hot -d 4,4,4,4 -o four.lat
    hdf5 first four.lat four.h5
    refused "four.h5: axes 0 and 4 of dataset u have 4 values each: expected --order" four.h5
    lat-convert --order links,t,z,y,x four.h5 -o read.lat
    same four.lat read.lat
    refused "expected 4 directions as axis 4 of the array (--order), found 2" --order x,y,z,t x.npy
    refused "expected an order of the axes of an array, found one by parity" --order parity x.npy
    # the record of these links beside others
    lat-gauge --random small.lat -o other.lat
    "$PYTHON" - <<'END'
import lat
a, b = open("x.h5", "rb").read(), next(lat.read("other.lat")).links
import numpy as np
data = np.moveaxis(b, 4, 0).tobytes()
open("other.h5", "wb").write(a[:-len(data)] + data)
END
    refused "other.h5: link trace " other.h5
    # spinors go to the other format of the extension
    lat-source point:0,0,0,0 small.lat -o s.lat
    for e in h5 npy; do
        lat-convert s.lat -o s.$e
        lat-convert s.$e 2>/dev/null | lat-info - | grep -q 'quark propagator'
    done
}

@test "NumPy arrays of lat-convert are read back without --order, to the same bytes" {
    local f
    need_numpy
    # 4 sites along x, as there are directions
    lat-start hot --dims 4,2,6,4 --group 2 --precision single -o one.lat
    lat-start weak --dims 4,4,4,4 -o two.lat
    lat-source point:0,0,0,0 two.lat -o s.lat
    for f in one two; do
        lat-convert $f.lat -o $f.npy
        run -0 --separate-stderr lat-convert $f.npy -o $f.back.lat
        [ -z "$stderr" ]
        same $f.lat $f.back.lat
        lat-convert $f.npy -o again.npy
        cmp $f.npy again.npy
        lat-convert --order links,t,z,y,x $f.npy -o $f.back.lat 2>err
        same $f.lat $f.back.lat
    done
    lat-convert s.lat -o s.npy 2>err
    lat-convert s.npy -o s.back.lat 2>err
    same s.lat s.back.lat
    lat-convert s.back.lat -o again.npy 2>err
    cmp s.npy again.npy
    # What NumPy makes of it is no file of lat-convert.
    "$PYTHON" -c 'import numpy as np; np.save("numpy.npy", np.load("two.npy"))'
    cmp <(tail -c +129 two.npy) <(tail -c +129 numpy.npy)
    refused "numpy.npy: axes 0 and 4 of the array have 4 values each: expected --order" numpy.npy
}

@test "VOGT: any SU(N), both precisions, both byte orders" {
    local n p order
    for n in 2 3 4; do
        for p in single double; do
            small $n $p 2,3,2,4
            for order in big little; do
                "$MAKE" vogt small.ildg x.vogt order=$order
                reads x.vogt
            done
            lat-convert --to vogt small.lat -o y.vogt
            cmp x.vogt y.vogt
            [ "$("$CHECK" crc y.vogt)" = "$(crc small.lat)" ]
        done
    done
    printf '\004\000\021\000\002\000\002\000\002\000\002\000\010\000' | cat - x.vogt > colours
    refused "N of SU(N) from 2 to 16" --from vogt colours
    head -c 5000 x.vogt > part
    refused "truncated" --from vogt part
    lat-start hot -d 2,2,2,40000 -N 2 -p single -o long.lat
    refused "extents up to 32767, found 40000" --to vogt long.lat
}

@test "MDP: any SU(N), both precisions, both byte orders, both magic numbers" {
    local n p order magic
    for n in 2 3 4; do
        for p in single double; do
            small $n $p 2,3,2,4
            for order in big little; do
                for magic in 0x87654321 1325884739; do
                    "$MAKE" mdp small.ildg x.mdp order=$order magic=$magic
                    reads x.mdp
                done
            done
            lat-convert --to mdp small.lat -o y.mdp
            [ "$("$CHECK" crc y.mdp)" = "$(crc small.lat)" ]
            reads y.mdp
        done
    done
    "$MAKE" mdp small.ildg x.mdp each=100
    refused "100 bytes a site: not a gauge field" x.mdp
    "$MAKE" mdp small.ildg x.mdp sites=47
    refused "expected 48 sites as its extents make, found 47" x.mdp
    "$MAKE" mdp small.ildg x.mdp magic=7
    refused "the magic number" x.mdp
}

@test "MILC of versions 1 to 4 and Fermilab, in both byte orders" {
    local order
    small 3 single 2,3,2,4
    for order in big little; do
        "$MAKE" milcold small.ildg x order=$order
        reads x
        "$MAKE" fnal small.ildg x order=$order
        reads x
    done
    "$MAKE" fnal small.ildg x each=18
    refused "expected 72 reals of 4 bytes a site" x
    "$MAKE" milcold small.ildg x spoil=fat
    refused "not a gauge field" x
    run -2 lat-convert --to fnal small.lat
}

@test "GLU's MILC in double precision, MILC of 1996, BMW and KYU" {
    local order
    small 3 double 2,3,2,4
    for order in big little; do
        "$MAKE" milcdouble small.ildg x order=$order
        reads x
    done
    "$MAKE" milcdouble small.ildg x sum31=1234
    refused "00001234 are stated" x
    "$MAKE" kyu small.ildg x
    reads x --from kyu --dims 2,3,2,4
    refused "give --dims" --from kyu x
    "$MAKE" bmw small.ildg x rows=3
    reads x
    "$MAKE" bmw small.ildg x rows=2
    lat-convert --rows 2 small.lat > two.lat
    lat-convert x > read.lat
    same two.lat read.lat
    head -c 5000 x > part
    refused truncated part
    (printf '#BMW 2 3 two 4\n'; head -c 8000 /dev/zero) > x
    refused "expected #BMW and four extents in the first line, found '#BMW 2 3 two 4'" x
    NOPIPE=1
    small 3 single 2,3,2,4
    for order in big little; do
        "$MAKE" milc1996 small.ildg x order=$order
        reads x
    done
    run -1 bash -o pipefail -c 'cat x | lat-convert'
    [[ $output == *"found a pipe"* ]]
    "$MAKE" milc1996 small.ildg x site_order=1
    refused "found order 1" x
}

@test "raw files: order, type, byte order and N by options, or as found from the links" {
    local n p order
    for n in 2 3 4; do
        for p in single double; do
            small $n $p 2,3,2,4
            for order in big little; do
                "$MAKE" raw small.ildg x order=$order
                reads x --from raw --dims 2,3,2,4 --type "$([ $p = single ] && echo f32 || echo f64)" --endian $order -N $n
                # By itself, with a word about it.
                lat-convert --from raw --dims 2,3,2,4 x > read.lat 2> err
                same small.lat read.lat
                grep -q "is read as SU($n), f$([ $p = single ] && echo 32 || echo 64), $order endian" err
                lat-convert --to raw --endian $order small.lat > y
                cmp x y
            done
        done
    done
    small 3 single 2,4,2,4
    "$MAKE" raw small.ildg x sites=txyz links=txyz
    lat-convert --to raw --order t,x,y,z/txyz small.lat > y
    cmp x y
    reads x --from raw --dims 2,4,2,4 --order standard/t,x,y,z --type f32 --endian little
    lat-convert --help | tr -s ' \n' ' ' | grep -q "links,t,z,y,x has all x-links first: the direction is slowest"
    "$MAKE" raw small.ildg x sites=ltzyx
    lat-convert --to raw --order links,t,z,y,x small.lat > y
    cmp x y
    reads x --from raw --dims 2,4,2,4 --order links,t,z,y,x --type f32 --endian little
    "$MAKE" raw small.ildg x sites=lptzyx real=8
    lat-convert --to raw --order links,parity,t,z,y,x --type f64 small.lat > y
    cmp x y
    lat-convert --precision double small.lat > d.lat
    mv d.lat small.lat
    reads x --from raw --dims 2,4,2,4 --order links,parity,t,z,y,x --type f64 --endian little
    refused "give --dims" --from raw x
    refused "are not four links of any SU(N)" --from raw --dims 2,4,2,5 x
    head -c 73728 /dev/urandom > noise
    refused "neither byte order nor precision" --from raw --dims 4,4,4,4 --type f32 noise
    refused "--order, --group, --type and --endian are for raw files" --order natural small.ildg
    run -2 lat-convert --order sideways --from raw x
    run -2 lat-convert --from ildg --endian big small.ildg
}

@test "HEADERONLY: links are the end of a file, whatever comes before" {
    local header
    NOPIPE=1
    small 3 double 2,3,2,4
    for header in 0 1 200; do
        "$MAKE" raw small.ildg x sites=txyz links=txyz header=$header
        reads x --from headeronly --dims 2,3,2,4 --type f64 --endian little
        lat-convert --from headeronly --dims 2,3,2,4 x > read.lat 2> err
        same small.lat read.lat
        grep -q "f64, little endian" err
    done
    run -1 bash -o pipefail -c 'cat x | lat-convert --from headeronly --dims 2,3,2,4'
    [[ $output == *"found a pipe"* ]]
    refused "are not four links" --from headeronly --dims 20,20,20,20 x
}

@test "Bridge++: text, binary and Fortran" {
    local order
    small 3 double 2,3,2,4
    "$MAKE" bridgetext small.ildg x
    reads x --dims 2,3,2,4
    refused "does not say its extents: give --dims" x
    refuses 1 "x: does not say its extents: give --dims X,Y,Z,T to lat-convert" lat-theta x
    sed '700s/.*/1.0e/' x > y
    refused "expected a number, found '1.0e'" --dims 2,3,2,4 y
    head -n 3000 x > y
    refused "truncated" --dims 2,3,2,4 y
    (cat x; echo 1) > y
    refused "goes on after the end" --dims 2,3,2,4 y
    "$MAKE" raw small.ildg x order=big
    reads x --from bridge --dims 2,3,2,4
    for order in big little; do
        "$MAKE" fortran small.ildg x order=$order
        reads x --from fortran --dims 2,3,2,4
        lat-convert --dims 2,3,2,4 x > read.lat
        same small.lat read.lat
        "$MAKE" fortran small.ildg x order=$order sites=tzyx
        reads x --from fortran --dims 2,3,2,4 --order natural
    done
    "$MAKE" fortran small.ildg x length=1
    refused "does not end with its length" --from fortran --dims 2,3,2,4 x
    refused "expected a Fortran record of 36864 bytes as --dims says, found 27648" --from fortran --dims 2,4,2,4 x
}

@test "CP-PACS with its extents and without, SZIN of every version" {
    local v order
    small 3 double 2,2,2,4
    for order in big little; do
        "$MAKE" cppacs small.ildg x order=$order
        reads x
        "$MAKE" cppacs small.ildg x order=$order digits=0
        reads x --dims 2,2,2,4
    done
    refused "does not say its extents: give --dims" x
    refused "truncated" --dims 2,2,2,40 x
    NOPIPE=1
    small 3 single 2,4,2,4
    for v in 1 2 3 4 5 6 7; do
        "$MAKE" szin small.ildg x version=$v
        reads x
    done
    run -1 bash -o pipefail -c 'cat x | lat-convert'
    [[ $output == *"found a pipe"* ]]
    head -c 5000 x > y
    refused "truncated" y
    "$MAKE" szin small.ildg x nd=3
    refused "expected a SZIN header of version 1 to 7 with 4 dimensions" --from szin x
}

# payload FILE BYTES: what comes after so many bytes.
payload() {
    tail -c +$(($2 + 1)) "$1"
}

@test "the signs of an antiperiodic boundary are taken off and recorded, and put back by --signs" {
    local to p
    for p in single double; do
        small 3 $p 2,4,2,4
        "$MAKE" lime small.ildg x records=format,data,checksum spoil=antiperiodic
        lat-convert x > read.lat 2> err
        same small.lat read.lat
        [ "$(cat err)" = "lat-convert: x: all t-links of slice 3 have det U = -1: the signs of an antiperiodic boundary are taken off, and recorded as boundary_4 = ANTIPERIODIC" ]
        lat-info read.lat | grep -q "boundary_4 = ANTIPERIODIC"
        # Plaquette and trace are those of the links without signs.
        [ "$(number plaquette read.lat)" = "$(number plaquette small.lat)" ]
        [ "$(number "link trace" read.lat)" = "$(number "link trace" small.lat)" ]
        lat-info --check read.lat > /dev/null
        lat-convert < <(cat x) > piped.lat 2> err
        same small.lat piped.lat
        lat-info piped.lat | grep -q "boundary_4 = ANTIPERIODIC"
        lat-convert --signs --to ildg read.lat > y
        "$CHECK" sums y
        [ "$("$CHECK" crc y)" = "$("$CHECK" crc x)" ]
        lat-convert --signs --to ildg x 2> err | cmp - <(lat-convert --signs --to ildg < <(cat x) 2> err)
        # Without --signs they stay off, but a NERSC header can say where they belong.
        lat-convert --to nersc read.lat > y.nersc
        grep -aqx "BOUNDARY_4 = ANTIPERIODIC" y.nersc
        [ "$("$CHECK" crc y.nersc)" = "$(crc small.lat)" ]
        lat-convert y.nersc > z.lat
        lat-info z.lat | grep -q "boundary_4 = ANTIPERIODIC"
        lat-convert --signs --to nersc z.lat > y.nersc
        [ "$("$CHECK" crc y.nersc)" = "$("$CHECK" crc x)" ]
        lat-convert y.nersc > z.lat 2> err
        same small.lat z.lat
    done
    for to in openqcd hirep vogt mdp; do
        "$MAKE" $to small.ildg x spoil=antiperiodic
        lat-convert x > read.lat 2> err
        same small.lat read.lat
        lat-convert --signs --to $to read.lat > y
        cmp <(payload x 236) <(payload y 236)
    done
    # Any axis, several, any slice; --signs puts them into the last.
    "$MAKE" vogt small.ildg x spoil=antiperiodic:x,antiperiodic:t
    lat-convert x > read.lat 2> err
    same small.lat read.lat
    [ "$(wc -l < err)" -eq 2 ]
    lat-convert --signs --to vogt read.lat | cmp - x
    "$MAKE" vogt small.ildg y spoil=antiperiodic:x,antiperiodic:t:0
    lat-convert y > read.lat 2> err
    same small.lat read.lat
    grep -q "t-links of slice 0" err
    lat-convert --signs --to vogt read.lat | cmp - x
    # An axis takes its boundary along.
    lat-reorder --axes t,x,y,z read.lat | lat-info > info
    grep -q "boundary_1 = ANTIPERIODIC" info
    grep -q "boundary_2 = ANTIPERIODIC" info
    run -1 grep -q "boundary_4" info
    # A sign on one link more or less is none of a boundary; and two rows of three have no sign.
    "$MAKE" vogt small.ildg x spoil=antiperiodic:t:0,antiperiodic:t:1
    refused "det U = -1 on 32 of 256 links: phases folded into the links?" x
    refused "--signs needs --rows 3" --signs --rows 2 --to nersc read.lat
    run -2 lat-convert --signs read.lat
    lat-convert --signs --to vogt small.lat -o y 2> err
    [ "$(cat err)" = "lat-convert: small.lat: --signs: expected a boundary that is ANTIPERIODIC in the header, found none: the links are written as they are" ]
    lat-convert --to vogt small.lat | cmp - y
}

@test "open boundaries are recognised, recorded and written again" {
    local to
    small 3 double 2,4,2,4
    for to in openqcd hirep vogt mdp; do
        "$MAKE" $to small.ildg x spoil=open
        lat-convert x > read.lat 2> err
        [ "$(cat err)" = "lat-convert: x: all t-links of slice 3 are zero: an open boundary, recorded as boundary_4 = OPEN" ]
        lat-info read.lat | grep -q "boundary_4 = OPEN"
        [ "$(crc read.lat)" != "$(crc small.lat)" ]
        lat-convert --to $to read.lat > y
        cmp <(payload x 236) <(payload y 236)
        lat-convert < <(cat x) > piped.lat 2> err
        same read.lat piped.lat
    done
    lat-convert --to nersc read.lat > x.nersc
    grep -aqx "BOUNDARY_4 = OPEN" x.nersc
    for to in nersc ildg scidac; do # formats that state it
        lat-convert --to $to read.lat > x
        lat-convert x > again.lat
        same read.lat again.lat
        lat-info again.lat | grep -q "boundary_4 = OPEN"
    done
    "$MAKE" vogt small.ildg x spoil=open:y:2
    lat-convert x > read.lat 2> err
    lat-info read.lat | grep -q "boundary_2 = OPEN"
    "$MAKE" vogt small.ildg x spoil=open:y:1,open:y:2
    refused "32 of 256 links are zero: 8 in slice t = 0, 8 in slice t = 1, 8 in slice t = 2, 8 in slice t = 3; expected none" x
    # Said, but not so.
    lat-convert --to nersc small.lat | sed 's/^BOUNDARY_4 = PERIODIC/BOUNDARY_4 = OPEN/' > x
    refused "an open boundary of the t axis is stated, and no link along it is zero" x
    lat-convert --force x > read.lat 2> err
    same small.lat read.lat
    lat-info read.lat | grep -q "boundary_4 = PERIODIC"
    # HiRep and openQCD count plaquettes otherwise then.
    "$MAKE" hirep small.ildg x spoil=open plaquette=0.123
    lat-convert x > read.lat 2> err
    grep -q "plaquette 0.123 is stated" err
    [ "$(wc -l < err)" -eq 2 ]
}

@test "an open boundary that is stated is refused where a link of its slice is not zero" {
    need_numpy
    small 3 double 2,4,2,4
    "$PYTHON" - <<'END'
import lat
u = next(lat.read("small.lat")).links.copy()
u[3, ..., 3, :, :] = 0
u[3, 0, 0, 0, 3] = u[2, 0, 0, 0, 3]
lat.write("part.lat", lat.gauge_field(u, info={"boundary_4": "OPEN"}))
END
    lat-convert --force --to nersc part.lat > x
    refused "an open boundary of the t axis is stated, expected all 16 links of one slice along it to be zero, found 15" x
}

@test "zero links that are no open boundary, as of a Schroedinger functional, are counted by slices" {
    small 3 double 2,4,2,4
    "$MAKE" vogt small.ildg x spoil=zero:xyz:0,zero:t:3
    refused "64 of 256 links are zero: 48 in slice t = 0, 16 in slice t = 3; expected none" x
    lat-convert --force x > read.lat 2> err
    grep -q "64 of 256 links are zero: 48 in slice t = 0, 16 in slice t = 3" err
    lat-info read.lat | grep -q "not_in_group"
    "$MAKE" vogt small.ildg x spoil=zero:xy:0,zero:z:1
    refused "48 of 256 links are zero: 32 in slice t = 0, 16 in slice t = 1; expected none" x
    small 3 double 2,2,2,6
    "$MAKE" vogt small.ildg x spoil=zero:x:0,zero:y:1,zero:zx:2,zero:t:3,zero:x:4,zero:y:5
    refused "56 of 192 links are zero: 8 in slice t = 0, 8 in slice t = 1, 16 in slice t = 2, 8 in slice t = 3, the rest in 2 more;" x
}

@test "the same bytes whatever the number of threads, and one byte changed is noticed where a plaquette is stated" {
    local to
    lat-start hot -d 16,16,8,8 -o a.lat # 9 MiB: several chunks
    for to in openqcd hirep vogt mdp raw; do
        lat-convert -@ 1 --to $to a.lat > one
        lat-convert -@ 4 --to $to a.lat > four
        cmp one four
        lat-convert -@ 3 --from $to --dims 16,16,8,8 four > read.lat 2> err
        same a.lat read.lat
    done
    for to in openqcd hirep; do
        lat-convert --to $to a.lat > x
        printf '\100\100' | dd of=x bs=1 seek=5000006 conv=notrunc status=none
        refused "" x
    done
}

@test "formats of double precision hold single precision exactly, and do not round" {
    local to
    small 3 single
    for to in openqcd ddalphaamg hirep; do
        run -2 lat-convert --precision single --to $to small.lat
        lat-convert --to $to small.lat | lat-convert --from $to --precision single > read.lat
        same small.lat read.lat
    done
}

@test "headers of absurd size are refused before memory is taken" {
    # 60000^4 sites, and then nothing.
    python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<4id", 60000, 60000, 60000, 60000, 1.5) + bytes(4000))' > huge.openqcd
    python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<4id", 1024, 1024, 1024, 1024, 1.5) + bytes(4000))' > long.openqcd
    python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<4id", -4, 4, 4, 4, 1.5) + bytes(4000))' > negative.openqcd
    python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack(">5id", 17, 4, 4, 4, 4, .5) + bytes(4000))' > colours.hirep
    refused "sites, found 12960000000000000000" --from openqcd huge.openqcd
    refused "truncated" --from openqcd long.openqcd
    refused "expected an extent of 1 to 65535 in t, found -4" --from openqcd negative.openqcd
    refused "expected N of SU(N) from 2 to 16" --from hirep colours.hirep
    # The same on a pipe, with 256 MiB of address space (the sanitizers' shadow alone takes more).
    if lat-convert --version | grep -q sanitizers; then return 0; fi
    run -1 bash -o pipefail -c 'ulimit -v 262144; cat long.openqcd | lat-convert --from openqcd > out'
    [[ $output == *truncated* ]]
}

@test "--list says what is read and what is written" {
    lat-convert --list > list
    [ "$(awk 'NR > 1 && NF == 0 { exit } NR > 1 && $4 == "yes" { printf "%s ", $1 }' list)" = \
        "lat nersc ildg scidac milc mdp vogt hirep openqcd ddalphaamg npy hdf5 raw " ]
    [ "$(awk 'NR > 1 && NF == 0 { exit } NR > 1 && $3 == "yes" { n++ } END { print n }' list)" -eq 24 ]
    for f in milcold milc1996 fnal bmw cppacs szin fortran bridgetext bridge kyu headeronly; do
        grep -Eq "^$f +\.[a-z0-9]+ +yes +no " list
        run -2 lat-convert --to $f small.lat
    done
    grep -q "  a Git LFS pointer$" list
    # docs/formats.md has the same ones: those read, in its first table; those written, in one line.
    diff <(awk 'NR > 1 && NF == 0 { exit } NR > 1 { print $1 }' list | sort) \
        <(awk '/^## Boundaries/ { exit } /^\| `[a-z]/ { split($0, c, "|"); gsub(/[`, ]+/, " ", c[2]); print c[2] }' "$ROOT/docs/formats.md" | tr -s ' ' '\n' | grep . | sort)
    diff <(awk 'NR > 1 && NF == 0 { exit } NR > 1 && $4 == "yes" { print $1 }' list | sort) \
        <(awk '/^## What is written/ { on = 1; next } on && NF { sub(/; .*/, ""); print; exit }' "$ROOT/docs/formats.md" | tr -d '`' | tr -s ', ' '\n' | grep . | sort)
    [ "$(awk 'length > 100' list)" = "" ]
}

@test "fat links are refused by name in every format" {
    local to
    small 3 double 2,2,2,4
    "$MAKE" bmw small.ildg x rows=3 spoil=fat
    refused "not a gauge field (fat links" x
    for to in openqcd ddalphaamg hirep vogt mdp milcdouble fortran bridgetext cppacs kyu; do
        "$MAKE" $to small.ildg x spoil=fat
        refused "not a gauge field (fat links, or a transformation?)" --from ${to/milcdouble/milc} --dims 2,2,2,4 x
    done
    "$MAKE" nersc small.ildg x floating=IEEE64BIG spoil=fat
    refused "not a gauge field (fat links" x
    "$MAKE" lime small.ildg x records=format,data,checksum spoil=fat
    refused "not a gauge field (fat links" x
}

@test "a gauge transformation is no gauge field, and several fields are not one" {
    local to
    lat-start hot -d 2,2,2,2 --count 2 -o two.lat
    lat-gauge --random --save-g g.lat two.lat > /dev/null
    for to in nersc ildg scidac milc openqcd hirep vogt mdp raw; do
        refused "holds a gauge transformation, and $to files hold gauge fields" --to $to g.lat
        [ $to = milc ] && continue
        refused "holds more than one configuration, and a file in format $to holds one" --to $to two.lat
        run -1 bash -o pipefail -c "cat two.lat | lat-convert --to $to"
        [[ $output == *"more than one configuration"* ]]
    done
    lat-convert --list | grep -q '^lat .*: configurations, gauge transformations'
    # An extension of two formats: the one of matrices has the word, not the one of quarks.
    for to in npy h5; do
        refuses 1 "g.lat: holds a gauge transformation, and ${to/h5/hdf5} files hold gauge fields" lat-convert g.lat -o g.$to
    done
    lat-anneal --copies 2 --steps 2 two.lat -o copies.lat
    refuses 1 'copies.lat: holds a configuration with gauge transformations behind it, and a file in format nersc holds one configuration' \
        lat-convert --to nersc copies.lat -o x.nersc
    small 3 double 2,2,2,4
    for to in openqcd hirep vogt mdp; do
        lat-convert --to $to small.lat -o x
        cat x x > xx
        refused "goes on after the end of its configuration" --from $to xx
    done
}

@test "a bare IEEE32 that is little endian is reported in one line, with the evidence" {
    small 3 single 2,2,2,4
    "$MAKE" nersc small.ildg x floating=IEEE32 order=little
    lat-convert x > read.lat 2> err
    same small.lat read.lat
    [ "$(wc -l < err)" -eq 1 ]
    grep -q "little endian: so its CHECKSUM is as stated" err
    "$MAKE" nersc small.ildg x floating=IEEE32 order=little checksum=0 link_trace=0
    lat-convert x > read.lat 2> err
    same small.lat read.lat
    grep -q "little endian: so its PLAQUETTE is as stated" err
    "$MAKE" nersc small.ildg x floating=IEEE32 order=big
    reads x
}

@test "a file goes slice by slice, in memory of a few slices; the same bytes come out as through a pipe" {
    local to most slices=96
    ! sanitized || slices=24
    lat-start cold -d 16,16,16,$slices -p single -0 -o a.lat # 113 MB, a slice 1.2
    # More than what it takes for two threads: 8 MiB of slices, two slices, 16 blocks of 1 MiB.
    lat-convert --version | grep -q sanitizers || most=49152
    for to in ildg nersc vogt; do
        python3 - "${most:-0}" lat-convert -@ 2 --no-provenance --to $to a.lat -o x << 'END'
import resource, subprocess, sys
subprocess.run(sys.argv[2:], check=True)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
sys.exit("%d KiB" % most if 0 < int(sys.argv[1]) < most else 0)
END
        lat-convert -@ 2 --no-provenance --to $to < <(cat a.lat) | cmp - x
    done
    lat-convert -0 --no-provenance x > one.lat
    lat-convert -0 --no-provenance < <(cat x) | cmp - one.lat
}

@test "what is wrong at the end of a file is found before a byte is written into a pipe" {
    small
    lat-convert --to hirep small.lat -o x.hirep
    printf '\100\100' | dd of=x.hirep bs=1 seek=$((28 + 8 * 1000)) conv=notrunc status=none
    run -1 bash -o pipefail -c 'lat-convert --to ildg x.hirep > out'
    [ ! -s out ]
    cp small.ildg x.ildg
    printf '\100\100' | dd of=x.ildg bs=1 seek=$(($(stat -c %s x.ildg) - 900)) conv=notrunc status=none
    run -1 bash -o pipefail -c 'lat-convert x.ildg > out'
    [ ! -s out ]
}

# real FILE [OPTION]...: a file of another program, as real.lat: MANIFEST's dims, plaquette and link trace.
real() {
    local file=$1 dims plaquette trace
    shift
    IFS=$'\t' read -r dims plaquette trace < <(manifest "$DATA" | awk -F'\t' -v OFS='\t' -v f="$file" '$1 == f { print $2, $3, $4 }')
    lat-convert "$@" "$DATA/$file" > real.lat
    # The manifest has 12 digits.
    near "$(number plaquette real.lat)" "$plaquette" 2e-12
    near "$(number 'link trace' real.lat)" "$trace" 2e-12
    [ "$(extents real.lat)" = "$dims" ]
    # shellcheck disable=SC2002
    cat "$DATA/$file" | lat-convert "$@" > piped.lat
    same real.lat piped.lat
}

@test "files of openQCD, DDalphaAMG, HiRep, cuLGT, MDP, old MILC and Bridge++ hold what MANIFEST.tsv says" {
    need_data MANIFEST.tsv oqcd_hirep_pb_L8T8 oqcd_ddalphaamg_4x4x4x4b6.0000id3n1 hirep_pb_L8T8 vogt_culgt_l4444 \
        mdp_culgt_l4444.mdp milcold_ks_imp_dyn1_l4448 bridgetext_clg_04040408.txt
    real oqcd_ddalphaamg_4x4x4x4b6.0000id3n1
    real milcold_ks_imp_dyn1_l4448
    real bridgetext_clg_04040408.txt --dims 4,4,4,8
    # One field in two formats.
    real hirep_pb_L8T8
    mv real.lat hirep.lat
    real oqcd_hirep_pb_L8T8
    same real.lat hirep.lat
    real vogt_culgt_l4444
    mv real.lat vogt.lat
    real mdp_culgt_l4444.mdp
    same real.lat vogt.lat
    lat-convert --from headeronly --dims 4,4,4,4 --type f32 --endian little "$DATA/mdp_culgt_l4444.mdp" > b.lat
    same real.lat b.lat
}

@test "a file that says nothing of itself gets a line with its plaquette, and extents in the wrong order are refused" {
    rough a.lat --dims 4,4,4,8
    lat-gauge --random a.lat -o b.lat
    lat-convert --to raw b.lat -o b.raw
    lat-convert --from raw --dims 4,4,4,8 --group 3 --type f64 --endian little b.raw -o c.lat 2> err
    grep -q "nothing in a raw file vouches for extents and order: as 4 4 4 8 SU(3) its plaquette is 0." err
    [ "$(wc -l < err)" -eq 1 ]
    same b.lat c.lat
    refused "on 8 4 4 4 the plaquette is " --from raw --dims 8,4,4,4 --group 3 --type f64 --endian little b.raw
    # Where some planes are right in the wrong order, the line shows a plaquette that is too small.
    lat-convert --from raw --dims 4,8,4,4 --group 3 --type f64 --endian little b.raw > /dev/null 2> err
    near "$(sed -n 's/.* its plaquette is \([0-9.]*\),.*/\1/p' err)" 0 "$(awk -v p="$(number plaquette b.lat)" 'BEGIN { print p / 2 }')"
    run -1 bash -o pipefail -c 'cat b.raw | lat-convert --from raw --dims 8,4,4,4 --group 3 --type f64 --endian little > out'
    lat-convert --force --from raw --dims 8,4,4,4 --group 3 --type f64 --endian little b.raw > /dev/null 2> err
    [ "$(wc -l < err)" -eq 1 ]
    # Random links have a plaquette of 0 in any order: they are read.
    lat-start hot --dims 4,4,4,8 | lat-convert --to raw -o hot.raw
    lat-convert --from raw --dims 8,4,4,4 --group 3 --type f64 --endian little hot.raw > /dev/null
}
