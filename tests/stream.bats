#!/usr/bin/env bats
# Purpose: streams go through files and pipes unchanged, and a reader written from docs/format.md alone reads them.
load helper

# stranger FILE [RAW]: one line a field, by the reader that knows docs/format.md only, python/lat.
stranger() {
    need_numpy
    "$PYTHON" "$ROOT/tests/stranger.py" "$@"
}

# damaged FILE WORD: no tool takes it, each says WORD, and nothing is written.
damaged() {
    run -1 lat-info --check "$1"
    [[ $output == *"lat-info: $1: "*"$2"* ]] || { echo "no '$2' in: $output"; return 1; }
    run -1 lat-reunit "$1" -o out.lat
    [[ $output == *"lat-reunit: $1: "*"$2"* ]] || { echo "no '$2' in: $output"; return 1; }
    [ ! -e out.lat ]
    run -1 bash -o pipefail -c "cat $1 | lat-info --check"
    [[ $output == *"lat-info: <stdin>: "*"$2"* ]] || { echo "no '$2' in: $output"; return 1; }
    nothing_left
}

# Hexadecimal digits and blanks to bytes.
from_hex() {
    python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))'
}

@test "a stranger reads every kind of stream and finds our numbers, plaquette and link trace" {
    for shape in "4,4,4,4 3 double" "4,4,4,4 3 single" "3,5,2,4 2 double" "6,5 5 single" "7 4 double"; do
        read -r dims group precision <<< "$shape"
        for rows in "$group" $((group - 1)); do
            [ "$rows" = "$group" ] || [ "$group" -le 3 ] || continue
            lat-start hot --dims "$dims" --group "$group" --precision "$precision" --rows "$rows" > raw.lat
            lat-start hot --dims "$dims" --group "$group" --precision "$precision" --rows "$rows" -o zip.lat
            stranger raw.lat raw.f64 > raw.txt
            stranger zip.lat zip.f64 > zip.txt
            cmp raw.f64 zip.f64
            cmp raw.txt zip.txt
            lat-theta --json raw.lat > ours.json
            read -r kind name extents real reals blocks crc plaquette trace < raw.txt
            [ "$kind $name $extents $blocks" = "gauge SU($group) ${dims//,/x} 1" ]
            [ "$real" = "$([ "$precision" = double ] && echo f64 || echo f32)" ]
            [ "$reals" = $((group == 2 && rows == 1 ? 4 : 2 * group * rows)) ]
            lat-info --check raw.lat > check.txt
            [[ $(cat check.txt) == *"$crc"* ]]
            # Rounding of a sum of fewer than 10^4 numbers below 1, either side; of f32, the third
            # row is rounded by either side from other sums: 2 eps, 3 of 9 elements, 4 links.
            tolerance=$([ "$precision" = double ] && echo 1e-13 || echo 5e-7)
            near "$trace" "$(sed 's/.*"link_trace": *\([^,}]*\).*/\1/' ours.json)" "$tolerance"
            [ "$plaquette" = nan ] ||
                near "$plaquette" "$(sed 's/.*"plaquette": *\([^,}]*\).*/\1/' ours.json)" "$tolerance"
        done
    done
}

@test "a stranger reads several blocks, and several fields in a row" {
    lat-start weak --dims 8,8,8,6 --seed 3 --count 2 -o two.lat
    stranger two.lat > two.txt
    [ "$(wc -l < two.txt)" = 2 ]
    [ "$(cut -d' ' -f6 two.txt | sort -u)" = 2 ]
    [ "$(lat-info --tsv two.lat | wc -l)" = 3 ]
}

@test "a stranger reads a transformation" {
    lat-start hot --dims 4,4,4,4 --seed 2 | lat-gauge --random --seed 5 --save-g g.lat -o fixed.lat
    stranger g.lat > g.txt
    [[ $(cat g.txt) == "transform SU(3) 4x4x4x4 f64 18 1 "*" nan nan" ]]
}

@test "the example of docs/format.md is a stream, to us and to the stranger, in both its forms" {
    command -v python3 > tool.txt || skip "no python3"
    sed -n 's/^    [0-9a-f]\{3\}  \([0-9a-f ]*\)  .*/\1/p' "$ROOT/docs/format.md" | from_hex > plain.lat
    [ "$(wc -c < plain.lat)" = 306 ]
    lat-info --check plain.lat
    stranger plain.lat > plain.txt
    [ "$(cat plain.txt)" = "gauge SU(2) 2 f32 4 1 88eb81ae nan 0.800000011920929" ]
    # The other form: its binary part after the header with two words and the CRC changed.
    head -c 211 plain.lat | sed -e 's/^compression = none/compression = zlib/' \
        -e 's/^filter = none/filter = rotate-shuffle/' > zip.lat
    stranger_crc=$(python3 -c 'import zlib; print("%08x" % zlib.crc32(open("zip.lat", "rb").read()))')
    echo "end = $stranger_crc" >> zip.lat
    sed -n '/^so that from the block on/,/^## /p' "$ROOT/docs/format.md" |
        sed -n 's/^    //p' | sed 's/  .*//' | from_hex >> zip.lat
    lat-info --check zip.lat
    stranger zip.lat > zip.txt
    cmp plain.txt zip.txt
}

@test "streams are stored into a pipe and compressed into a file, -0 and -1 say otherwise" {
    lat-start hot --dims 8,8,8,8 | cat > pipe.lat
    lat-start hot --dims 8,8,8,8 -o file.lat
    lat-start hot --dims 8,8,8,8 > redirected.lat
    lat-start hot --dims 8,8,8,8 -0 -o stored.lat
    lat-start hot --dims 8,8,8,8 -1 | cat > squeezed.lat
    grep -aq '^compression = none$' pipe.lat
    grep -aq '^compression = zlib$' file.lat
    cmp file.lat redirected.lat
    cmp pipe.lat stored.lat
    cmp file.lat squeezed.lat
    lat-diff --tolerance 0 pipe.lat file.lat
    # Of 64 bits, the highest 8 of the exponent become little more than one; the rest is nearly noise.
    awk -v p="$(wc -c < pipe.lat)" -v f="$(wc -c < file.lat)" 'BEGIN { exit !(p / f > 1.12 && p / f < 1.17) }'
}

@test "solutions and modes are stored as they are, also in a file, sources are compressed there, -0 and -1 say otherwise" {
    lat-start weak --dims 4,4,4,4 -o cfg.lat
    lat-source point:0,0,0,0 cfg.lat -o source.lat
    lat-source point:0,0,0,0 cfg.lat -0 -o zeros.lat
    lat-solve --kappa .12 --source point:0,0,0,0 cfg.lat -o file.lat
    lat-solve --kappa .12 --source point:0,0,0,0 cfg.lat > redirected.lat
    lat-modes --kappa .12 --modes 2 cfg.lat -o modes.lat
    lat-convert -1 file.lat -o squeezed.lat
    lat-convert file.lat -o again.lat
    for name in source squeezed; do
        grep -aqx 'compression = zlib' $name.lat
    done
    for name in zeros file redirected modes again; do
        grep -aqx 'compression = none' $name.lat
    done
    cmp file.lat redirected.lat
    lat-diff --tolerance 0 file.lat squeezed.lat
    # Nearly all of a point source are zeros; of a solution the exponents alone are no noise.
    [ "$(($(wc -c < zeros.lat) / $(wc -c < source.lat)))" -gt 20 ]
    awk -v p="$(wc -c < file.lat)" -v f="$(wc -c < squeezed.lat)" 'BEGIN { exit !(p / f > 1.1 && p / f < 1.2) }'
}

@test "a truncated stream is refused, wherever it was cut" {
    lat-start hot --dims 8,8,8,4 -o whole.lat
    size=$(wc -c < whole.lat)
    for n in 1 5 11 12 13 100 300 400 1000 $((size / 2)) $((size - 17)) $((size - 16)) $((size - 1)); do
        head -c "$n" whole.lat > cut.lat
        damaged cut.lat truncated
        run -1 lat-convert cut.lat -o out.nersc
        [[ $output == "lat-convert: cut.lat: truncated"* ]]
    done
    : > cut.lat
    damaged cut.lat empty
}

@test "a stream with one byte changed is refused, wherever it was" {
    lat-start hot --dims 8,8,8,4 -o whole.lat
    size=$(wc -c < whole.lat)
    for at in 0 3 12 40 250 330 400 5000 $((size / 3)) $((size / 2)) $((size - 20)) $((size - 10)) $((size - 1)); do
        cp whole.lat bad.lat
        byte=$(tail -c +$((at + 1)) whole.lat | head -c 1 | od -An -tu1)
        # shellcheck disable=SC2059
        printf "\\$(printf %o $((byte ^ 4)))" | dd of=bad.lat bs=1 seek="$at" conv=notrunc status=none
        run -1 cmp -s whole.lat bad.lat
        damaged bad.lat ""
    done
}

@test "bytes after a stream that are no stream are refused" {
    lat-start cold --dims 4,4,4,4 -o whole.lat
    { cat whole.lat; echo; } > bad.lat
    damaged bad.lat "another field or the end"
    { cat whole.lat; head -c 5000 /dev/zero; } > bad.lat
    damaged bad.lat "another field or the end"
    { cat whole.lat; tail -c +2 whole.lat; } > bad.lat
    damaged bad.lat "another field or the end"
    cat whole.lat whole.lat whole.lat | lat-info --check
}

@test "what is no stream is refused, and says what to try" {
    printf 'What is no configuration.\n' > other
    damaged other lat-convert
    printf 'BEGIN_HEADER\nDATATYPE = 4D_SU3_GAUGE\n' > nersc
    damaged nersc END_HEADER
    sed '1s/1/2/' <(lat-start cold --dims 2,2,2,2 | cat) > newer.lat
    damaged newer.lat version
    run -1 lat-convert newer.lat -o out.nersc
    [[ $output == *"found another version (of a newer program?)" ]]
}

# Files of stored blocks are read side by side by all threads, pipes one block after the other.
@test "what is wrong with a block is said alike of a file and of a pipe" {
    lat-start hot --dims 8,8,8,24 -p double -0 -o a.lat # seven blocks
    local at
    for at in 2200000 3146100 7000000; do
        cp a.lat bad.lat
        printf '\125\252' | dd of=bad.lat bs=1 seek=$at conv=notrunc 2>/dev/null
        run -1 lat-theta -@ 3 bad.lat
        [[ $output == "lat-theta: bad.lat: block "*" of 7 has a wrong checksum (damaged?)" ]]
        said=${output#*bad.lat: }
        run -1 bash -c 'lat-theta <bad.lat'
        [ "$output" = "lat-theta: <stdin>: $said" ]
        run -1 bash -c 'cat bad.lat | lat-theta'
        [ "$output" = "lat-theta: <stdin>: $said" ]
    done
    python3 - <<'END'
data = bytearray(open("a.lat", "rb").read())
at = -1
for _ in range(4):
    at = data.index(b"LATB", at + 1)
data[at:at + 4] = b"LATX"
open("bad.lat", "wb").write(data)
END
    run -1 lat-theta -@ 3 bad.lat
    [ "$output" = "lat-theta: bad.lat: expected block 4 of 7, found something else (damaged?)" ]
    # Behind others in a file that begins elsewhere.
    { printf 'not a field\n'; cat a.lat a.lat; } >two.lat
    { read -r _; lat-theta --tsv -@ 3 >two.tsv; } <two.lat
    lat-theta --tsv a.lat >one.tsv
    [ "$(sed -n 2p two.tsv | cut -f3-)" = "$(sed -n 2p one.tsv | cut -f3-)" ]
    [ "$(sed -n 3p two.tsv | cut -f3-)" = "$(sed -n 2p one.tsv | cut -f3-)" ]
}
