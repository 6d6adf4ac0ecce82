#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# lat-convert: the formats of other codes beside NERSC, LIME and MILC (convert.bats). Samples are made by
# make_foreign.py, what is written is read by check_foreign.py: neither has a line of our code.
load helper

CHECK=$BATS_TEST_DIRNAME/check_foreign.py
MAKE=$BATS_TEST_DIRNAME/make_foreign.py
export PYTHONDONTWRITEBYTECODE=1

number() {
    lat-info "$2" | awk -v key="$1" 'index($0, key) == 1 { print $NF }'
}

crc() { number crc-32 "$1"; }

# small N PRECISION DIMS: a rough field, as small.lat and small.ildg.
small() {
    lat-start hot -N "${1:-3}" -p "${2:-double}" -d "${3:-2,4,6,4}" -o small.lat
    lat-convert --to ildg small.lat -o small.ildg
}

# same A B: identical links, as two streams.
same() {
    local a b
    a=$(crc "$1")
    b=$(crc "$2")
    if [ -z "$a" ] || [ "$a" != "$b" ]; then
        echo "$1 ($a) and $2 ($b) differ"
        return 1
    fi
}

# reads FILE [OPTION]...: the links of small.lat, from a file and, unless NOPIPE, from a pipe; without a word.
reads() {
    local file=$1
    shift
    lat-convert "$@" "$file" > read.lat 2> err
    [ ! -s err ] || { cat err; return 1; }
    same small.lat read.lat
    [ -z "$NOPIPE" ] || return 0
    # shellcheck disable=SC2002
    cat "$file" | lat-convert "$@" > read.lat
    same small.lat read.lat
}

# refused PHRASE ARGUMENTS...: exit 1, one line that has the phrase, nothing on stdout, no file.
refused() {
    local phrase=$1
    shift
    run --separate-stderr -1 lat-convert "$@" -o never
    [ -z "$output" ]
    # shellcheck disable=SC2154
    [ "${#stderr_lines[@]}" -eq 1 ]
    # shellcheck disable=SC2154
    [[ $stderr == "lat-convert: "*"$phrase"* ]] || { echo "said: $stderr"; echo "expected: $phrase"; return 1; }
    [ ! -e never ]
    nothing_left
}

# real FILE [OPTION]...: MANIFEST's dims, plaquette and link trace.
real() {
    local file=$1 dims plaquette trace
    shift
    need_data MANIFEST.tsv "$file"
    IFS=$'\t' read -r dims plaquette trace < <(awk -F'\t' -v OFS='\t' -v f="$file" '$1 == f { print $7, $11, $12 }' "$DATA/MANIFEST.tsv")
    lat-convert "$@" "$DATA/$file" > real.lat
    # The manifest has 12 digits.
    near "$(number plaquette real.lat)" "$plaquette" 2e-12
    near "$(number 'link trace' real.lat)" "$trace" 2e-12
    [ "$(lat-info real.lat | awk '/^lattice/ { gsub(",", "", $5); print $2 "x" $3 "x" $4 "x" $5 }')" = "$dims" ]
    # shellcheck disable=SC2002
    cat "$DATA/$file" | lat-convert "$@" > piped.lat
    same real.lat piped.lat
}

@test "openQCD: the real file, an independent writer, an independent reader" {
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
    real oqcd_hirep_pb_L8T8
}

@test "DDalphaAMG is told from openQCD by the plaquette, and a word is said about it" {
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
    # Neither fits: the links stay as openQCD would have them.
    "$MAKE" openqcd small.ildg x.openqcd plaquette=0.3
    lat-convert --force x.openqcd > read.lat
    same small.lat read.lat
    # Odd extents are no openQCD file's.
    small 3 double 2,3,2,3
    "$MAKE" ddalphaamg small.ildg x.ddalphaamg
    reads x.ddalphaamg
    real oqcd_ddalphaamg_4x4x4x4b6.0000id3n1
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
    real hirep_pb_L8T8
    cp real.lat hirep.lat
    real oqcd_hirep_pb_L8T8
    same real.lat hirep.lat
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
    # The same on a pipe, with 256 MiB of address space.
    run -1 bash -o pipefail -c 'ulimit -v 262144; cat long.openqcd | lat-convert --from openqcd > out'
    [[ $output == *truncated* ]]
}
