#!/usr/bin/env bats
# Purpose: lat-start, lat-gauge, lat-reunit, lat-diff and lat-info: the tools that make, transform, clean and compare configurations.
# shellcheck disable=SC2154  # status, output and stderr are set by run
load helper

# below A B: A < B, false for NaN.
below() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 < b + 0) }' || { echo "$1 is not below $2"; return 1; }
}

# What one transformation may move in double precision: g U g^+ is wrong by 4 N eps an element
# at most (two products of N terms), N = 3, eps = 2.2e-16; a loop of L links by L such factors,
# and the modulus over re and im of 3 elements doubles it: 16 N eps L.
link_bound=1.1e-14

# ---- lat-start

@test "lat-start makes cold configurations of any dimension and group, all links 1" {
    for dims in 4 3,5 2,3,4 1,2,3,4; do
        for group in 2 3 5; do
            lat-start cold --dims $dims --group $group -o c.lat
            lat-theta --tsv c.lat > t.tsv
            [ "$(field t.tsv functional)" = 1 ]
            [ "$(field t.tsv link_trace)" = 1 ]
            [ "$(field t.tsv theta)" = 0 ]
            [ "$(field t.tsv unitarity_max)" = 0 ]
            [ "$(field t.tsv dims)" = $dims ]
            [ "$(field t.tsv group)" = "SU($group)" ]
        done
    done
    nothing_left
}

@test "lat-start hot gives the same bytes for the same seed and any number of threads, others for others" {
    lat-start hot --dims 4,6,4,8 --seed 11 -@ 1 > a.lat
    lat-start hot --dims 4,6,4,8 --seed 11 -@ 3 > b.lat
    lat-start --start hot --dims 4x6x4x8 --seed 11 -o c.lat
    lat-start hot --dims 4,6,4,8 --seed 12 > d.lat
    cmp a.lat b.lat
    lat-diff --tolerance 0 a.lat c.lat
    run -3 lat-diff --tolerance 1 a.lat d.lat
}

@test "lat-start hot is Haar: plaquette and link trace are zero within their exact variances" {
    for group in 2 3 4; do
        lat-start hot --dims 8,8,8,8 --group $group --seed 5 | lat-theta --tsv > t.tsv
        # Re tr U / N has variance 1/(2 N^2), or 1/4 for SU(2); plaquettes are as independent.
        sigma=$(awk -v n=$group 'BEGIN { print sqrt((n == 2 ? 0.25 : 0.5 / n / n) / 4096) }')
        near "$(field t.tsv plaquette)" 0 "$(awk -v s="$sigma" 'BEGIN { print 5 * s / sqrt(6) }')"
        near "$(field t.tsv link_trace)" 0 "$(awk -v s="$sigma" 'BEGIN { print 5 * s / sqrt(4) }')"
        near "$(field t.tsv det_error_max)" 0 1e-14
        near "$(field t.tsv unitarity_max)" 0 1e-14
    done
}

@test "lat-start weak lies at the distance from 1 that --epsilon says" {
    for group in 2 3; do
        lat-start weak --epsilon 0.02 --dims 8,8,8,8 --group $group | lat-theta --tsv > t.tsv
        # <1 - Re tr U/N> = eps^2 (N^2-1)/(4N); tr H^2 has N^2-1 degrees of freedom, and eps^4 follows.
        awk -v n=$group -v l="$(field t.tsv link_trace)" 'BEGIN {
            e = 0.02; w = e * e * (n * n - 1) / (4 * n); d = (1 - l) / w - 1; if (d < 0) d = -d
            exit !(d < 5 * sqrt(2 / (n * n - 1) / 16384) + n * e * e) }'
    done
}

@test "lat-start --count makes different configurations, and the first ones do not depend on the count" {
    lat-start hot --dims 4,4,4,4 --count 3 > three.lat
    lat-start hot --dims 4,4,4,4 --count 2 > two.lat
    lat-theta --tsv three.lat > 3.tsv
    lat-theta --tsv two.lat > 2.tsv
    [ "$(wc -l < 3.tsv)" -eq 4 ]
    head -n 3 3.tsv | cmp - 2.tsv
    [ "$(cut -f 3 3.tsv | sort -u | wc -l)" -eq 4 ]
    run -1 lat-diff two.lat three.lat
    [[ $output == *"two.lat has 2 fields and three.lat more"* ]]
}

@test "lat-start stores single precision and fewer rows, rounding once" {
    for group in 2 3; do
        lat-start hot --dims 4,4,4,4 --group $group > full.lat
        lat-start hot --dims 4,4,4,4 --group $group --rows $((group - 1)) > rows.lat
        lat-start hot --dims 4,4,4,4 --group $group --precision single > single.lat
        lat-diff --tolerance 1e-15 full.lat rows.lat   # a row worked out again: 4 eps
        lat-diff --tolerance 8.5e-8 full.lat single.lat # sqrt(2) 2^-24: re and im
        run -3 lat-diff --tolerance 1e-10 full.lat single.lat
        [ "$(wc -c < rows.lat)" -lt "$(wc -c < full.lat)" ]
    done
}

@test "lat-start refuses what contradicts itself, exit 2, and says what" {
    run -2 lat-start hot
    [[ $output == *"--dims is needed"* ]]
    run -2 lat-start warm --dims 4,4
    [[ $output == *"expected cold, hot, weak, flux or instanton, found 'warm'"* ]]
    run -2 lat-start hot --start cold --dims 4,4
    run -2 lat-start hot --epsilon 0.1 --dims 4,4
    run -2 lat-start hot --dims 4,4 --group 17
    run -2 lat-start hot --dims 4,0
    run -2 lat-start hot --dims 4,4,4,4,4
    run -2 lat-start hot --dims 4,4 --group 4 --rows 3
    run -2 lat-start hot --dims 4,4 --group 3 --rows 1
    refuses 2 '--seed is for a hot or weak start: cold has no random numbers' lat-start --seed 3 --dims 4,4
    refuses 2 '--seed is for a hot or weak start: flux' lat-start flux --n12 1 --seed 3 --dims 4,4,4,4
    refuses 2 '--count: expected one configuration, as all would be the same (cold), found 2' lat-start cold --dims 4,4 --count 2
    refuses 2 'all would be the same (--epsilon 0), found 2' lat-start weak --epsilon 0 --dims 4,4 --count 2
}

# ---- lat-gauge

@test "a random gauge transformation leaves plaquette and Polyakov loops, and changes the links" {
    for group in 2 3 4; do
        lat-start weak --epsilon 0.5 --dims 4,5,6,3 --group $group > a.lat
        lat-gauge --random --seed 3 a.lat > b.lat
        # 16 N eps for each of the links of the longest loop
        lat-diff --invariant --tolerance "$(awk -v n=$group 'BEGIN { print 16 * n * 6 * 2.2e-16 }')" a.lat b.lat
        run -3 lat-diff --tolerance 0.5 a.lat b.lat
        lat-theta --tsv a.lat > a.tsv
        lat-theta --tsv b.lat > b.tsv
        below 0.7 "$(field a.tsv functional)" # 1 - eps^2 (N^2-1)/(4N) = 0.77 for N = 4
        near "$(field b.tsv functional)" 0 0.05 # 6 sigma: sigma is 0.5/sqrt(4*360) at most
    done
}

@test "a saved transformation undoes itself through its inverse" {
    lat-start hot --dims 4,4,6,2 --count 2 > a.lat
    lat-gauge --random --seed 3 --save-g g.lat a.lat > b.lat
    lat-gauge --apply g.lat a.lat > c.lat
    lat-diff --tolerance 0 b.lat c.lat
    lat-gauge --invert g.lat | lat-gauge --apply - b.lat > d.lat
    lat-diff --tolerance $link_bound a.lat d.lat
    run -3 lat-diff --tolerance 0.1 a.lat b.lat
    lat-gauge --invert g.lat | lat-gauge --invert | lat-diff --tolerance 0 g.lat -
    nothing_left
}

@test "h composed with g is g applied first and then h" {
    lat-start hot --dims 4,4,4,4 > u.lat
    lat-gauge --random --seed 1 --save-g g.lat u.lat > /dev/null
    lat-gauge --random --seed 2 --save-g h.lat u.lat > /dev/null
    lat-gauge --apply g.lat u.lat | lat-gauge --apply h.lat > twice.lat
    lat-gauge --compose h.lat g.lat | lat-gauge --apply - u.lat > once.lat
    lat-diff --tolerance $link_bound once.lat twice.lat
    lat-gauge --compose g.lat h.lat | lat-gauge --apply - u.lat > other.lat
    run -3 lat-diff --tolerance 0.1 other.lat twice.lat
}

@test "a transformation and its inverse compose to one" {
    lat-start cold --dims 4,4,4 > u.lat
    lat-gauge --random --save-g g.lat u.lat > /dev/null
    lat-gauge --invert g.lat | lat-gauge --compose - g.lat | lat-gauge --apply - u.lat |
        lat-diff --tolerance $link_bound u.lat -
}

@test "one transformation serves all configurations; more than one must be as many as they" {
    lat-start hot --dims 4,4,4,4 --count 3 > u3.lat
    lat-start hot --dims 4,4,4,4 --count 2 > u2.lat
    lat-start hot --dims 4,4,4,4 > u1.lat
    lat-gauge --random --save-g g3.lat u3.lat > v3.lat
    lat-gauge --random --save-g g1.lat u1.lat > v1.lat
    lat-gauge --apply g3.lat u3.lat | lat-diff --tolerance 0 v3.lat -
    lat-gauge --apply g1.lat u3.lat -o w.lat
    [ "$(lat-info --tsv w.lat | wc -l)" -eq 4 ]
    lat-gauge --apply g1.lat u1.lat | lat-diff --tolerance 0 v1.lat -
    run -1 lat-gauge --apply g3.lat u2.lat -o no.lat
    [[ $output == *"g3.lat: has more transformations than the input has fields, which are 2"* ]]
    [ ! -e no.lat ]
    lat-gauge --random --save-g g2.lat u2.lat > /dev/null
    run -1 lat-gauge --apply g2.lat u3.lat -o no.lat
    [[ $output == *"g2.lat: has 2 transformations, and the input more fields than that"* ]]
    [ ! -e no.lat ]
    nothing_left
}

@test "lat-gauge keeps the precision and the rows of its input unless an option changes them" {
    lat-start hot --dims 4,4,4,4 --precision single --rows 2 > a.lat
    lat-gauge --random a.lat | lat-info --tsv > i.tsv
    [ "$(field i.tsv real)" = f32 ]
    [ "$(field i.tsv reals)" = 12 ]
    lat-gauge --random --precision double a.lat > b.lat
    lat-info --tsv b.lat > i.tsv
    [ "$(field i.tsv real)" = f64 ]
    lat-gauge --random a.lat | lat-diff --tolerance 2e-7 b.lat - # the third row is made of rounded ones
}

@test "a transformation saved in single precision moves no plaquette beyond double rounding" {
    lat-start hot --dims 4,4,4,4 > a.lat
    lat-gauge --random --save-g g.lat a.lat > /dev/null
    lat-gauge --invert --precision single g.lat > h.lat
    [ "$(lat-info --tsv h.lat | tail -n 1 | cut -f 5)" = f32 ]
    lat-gauge --apply h.lat a.lat | lat-diff --invariant --tolerance 5e-14 a.lat -
}

@test "a gauge transformation voids the gauge condition and adds a line to the history" {
    lat-start cold --dims 4,4,4,4 | lat-gauge --random --seed 9 -o a.lat
    lat-info a.lat > i
    grep -q '^gauge *none$' i
    grep -q 'lat-start 0.1.0 .*cold' i
    grep -q 'lat-gauge 0.1.0 | --random --seed 9 | random, seed 9, configuration 0' i
}

@test "lat-gauge refuses the wrong kind, lattice or group, and writes nothing" {
    lat-start hot --dims 4,4,4,4 > u.lat
    lat-start hot --dims 4,4,4,2 > small.lat
    lat-start hot --dims 4,4,4,4 --group 2 > su2.lat
    lat-gauge --random --save-g g.lat u.lat > /dev/null
    run -1 lat-gauge --apply u.lat u.lat -o no.lat
    [[ $output == *"u.lat: expected a gauge transformation, found a gauge field"* ]]
    run -1 lat-gauge --apply g.lat g.lat -o no.lat
    run -1 lat-gauge --random g.lat -o no.lat
    run -1 lat-gauge --invert u.lat -o no.lat
    run -1 lat-gauge --compose g.lat u.lat -o no.lat
    cat u.lat small.lat > mixed.lat
    for input in small mixed; do
        refuses 1 "$input.lat: the transformation is SU(3) on 4 4 4 4, the field SU(3) on 4 4 4 2" \
            lat-gauge --apply g.lat $input.lat -o no.lat
    done
    run -1 lat-gauge --apply g.lat su2.lat -o no.lat
    run -1 lat-gauge --apply missing.lat u.lat -o no.lat
    [ ! -e no.lat ]
    nothing_left
}

# twice_one: a transformation of SU(2) on 2,2,2,2 whose matrices are all 2: |g g^+ - 1| = 3.
twice_one() {
    python3 - << 'END'
import struct, sys, zlib
def crc(b): return struct.pack("<I", zlib.crc32(b))
def frame(tag, a, b): f = tag + struct.pack("<II", a, b); return f + crc(f)
head = (b"lat-stream 1\nkind = transform\ngroup = SU(2)\ndims = 2 2 2 2\nreal = f64\nreals = 4\nsites = t z y x\n"
        b"endian = little\nblock = 4096\ncompression = none\nfilter = none\n")
raw = 16 * struct.pack("<4d", 2, 0, 0, 0)
block = b"LATB" + struct.pack("<II", len(raw), len(raw))
sys.stdout.buffer.write(head + b"end = %08x\n" % zlib.crc32(head) + block + crc(block + raw) + raw +
                        frame(b"LATE", 1, zlib.crc32(raw)) + frame(b"LATZ", 1, 0))
END
}

@test "lat-gauge refuses matrices that are not unitary, whatever it is to do with them" {
    twice_one > two.lat
    lat-info --check two.lat
    lat-start hot --dims 2,2,2,2 --group 2 > u.lat
    lat-gauge --random --save-g g.lat u.lat > /dev/null
    for job in "--apply two.lat u.lat" "--invert two.lat" "--compose g.lat two.lat" "--compose two.lat g.lat"; do
        # shellcheck disable=SC2086
        run -1 lat-gauge $job -o no.lat
        [ "$output" = "lat-gauge: two.lat: expected unitary matrices, found |g g^+ - 1| = 3" ]
    done
    [ ! -e no.lat ]
    nothing_left
}

@test "lat-gauge --invert keeps every bit of a rounded transformation, and a product is rounded once" {
    lat-start hot --dims 4,4,4,4 > u.lat
    lat-gauge --random --seed 1 --save-g g.lat u.lat > /dev/null
    lat-gauge --random --seed 2 --save-g h.lat u.lat > /dev/null
    lat-gauge --invert --precision single g.lat > inverse.lat
    lat-gauge --invert inverse.lat | lat-gauge --invert | lat-diff --tolerance 0 inverse.lat -
    lat-gauge --invert inverse.lat > single.lat
    lat-gauge --compose h.lat --precision double single.lat > product.lat
    # g went through single precision and back to SU(3): the product is unitary in double.
    lat-reunit --report moved.tsv product.lat > /dev/null
    below "$(field moved.tsv unitarity_before)" 4e-15
    lat-gauge --compose h.lat g.lat | lat-diff --tolerance 6e-7 product.lat -
}

@test "lat-gauge wants one job at a time, exit 2" {
    lat-start hot --dims 4,4 > u.lat
    run -2 lat-gauge u.lat
    run -2 lat-gauge --random --invert u.lat
    run -2 lat-gauge --invert --seed 3 u.lat
    run -2 lat-gauge --invert --save-g g.lat u.lat
    run -2 lat-gauge --apply - < u.lat
    run -2 lat-gauge --random --save-g x.lat u.lat -o x.lat
    [ ! -e x.lat ]
    lat-gauge --random --save-g g.lat u.lat > /dev/null
    cp g.lat kept.lat
    refuses 2 '--apply g.lat is the output as well' lat-gauge --apply g.lat u.lat -o g.lat
    refuses 2 '--compose ./g.lat is the output as well' lat-gauge --compose ./g.lat kept.lat -o g.lat
    cmp g.lat kept.lat
}

@test "lat-gauge --save-g leaves no file when the run fails" {
    lat-start hot --dims 8,8,8,8 --count 2 > u.lat
    head -c 3000000 u.lat > cut.lat
    run -1 lat-gauge --random --save-g g.lat cut.lat -o no.lat
    [[ $output == *truncated* ]]
    [ ! -e g.lat ]
    [ ! -e no.lat ]
    nothing_left
}

# ---- lat-reunit

@test "twice reunitarised is once reunitarised, to a few epsilon, by either method" {
    for method in polar gram-schmidt; do
        for group in 2 3 4; do
            lat-start hot --dims 4,4,4,4 --precision single --group $group > rough.lat
            lat-reunit --method $method --precision double rough.lat > once.lat
            lat-reunit --method $method once.lat > twice.lat
            lat-diff --tolerance 4e-15 once.lat twice.lat
            lat-theta --tsv once.lat > t.tsv
            near "$(field t.tsv unitarity_max)" 0 4e-15 # 8 N eps / 2
            near "$(field t.tsv det_error_max)" 0 4e-15
            run -3 lat-diff --tolerance 1e-9 rough.lat once.lat
            lat-diff --tolerance 1e-6 rough.lat once.lat
        done
    done
}

@test "links in SU(N) to rounding of their precision stay as they are, bit for bit" {
    local method real
    lat-heatbath --dims 4,4,4,4 --beta 5.7 --thermalise 5 --seed 3 -o double.lat
    lat-reunit double.lat --precision single -o single.lat
    for real in single double; do
        for method in polar gram-schmidt; do
            lat-reunit --method $method --report r.tsv $real.lat -o clean.lat
            [ "$(lat-info $real.lat | grep ^crc)" = "$(lat-info clean.lat | grep ^crc)" ]
            [ "$(field r.tsv moved_max)" = 0 ]
        done
    done
    # In double precision links of single are not: they move.
    lat-reunit --precision double single.lat -o clean.lat
    lat-theta --tsv clean.lat >t.tsv
    below "$(field t.tsv unitarity_max)" 4e-15
}

@test "the polar projection moves links no farther than Gram-Schmidt does" {
    lat-start hot --dims 4,4,4,8 --precision single > rough.lat
    lat-reunit --precision double --method polar --report p.tsv rough.lat > /dev/null
    lat-reunit --precision double --method gram-schmidt --report g.tsv rough.lat > /dev/null
    below "$(field p.tsv moved_rms)" "$(field g.tsv moved_rms)"
    below 1e-9 "$(field p.tsv moved_rms)"
}

@test "lat-reunit reports what moved to a file, on stderr when asked, and in the history" {
    lat-start hot --dims 4,4,4,4 --precision single > rough.lat
    lat-reunit --precision double --report r.tsv --tolerance 1e-8 rough.lat -o a.lat 2> err
    [ ! -s err ]
    [ "$(field r.tsv matrices)" = 1024 ]
    below 0 "$(field r.tsv beyond)"
    below "$(field r.tsv moved_rms)" "$(field r.tsv moved_max)"
    below "$(field r.tsv unitarity_after)" 4e-15
    below 1e-8 "$(field r.tsv unitarity_before)"
    refuses 2 '--tolerance is for --report and --verbose' lat-reunit --tolerance 1e-8 rough.lat
    lat-reunit -v --tolerance 1e-8 rough.lat -o b.lat 2> err
    grep -q 'lat-reunit: field 0: largest move' err
    lat-info a.lat | grep -q 'lat-reunit 0.1.0 | --precision double | polar, largest move'
}

@test "lat-reunit --report cannot be the output, whatever it is called" {
    lat-start hot --dims 4,4 --precision single > rough.lat
    cp rough.lat kept.lat
    ln kept.lat linked.lat
    mkdir sub
    for name in ./a.lat "$PWD/a.lat" sub/../a.lat; do
        run -2 lat-reunit --report "$name" rough.lat -o a.lat
        [ ! -e a.lat ]
    done
    : > a.lat
    ln -s a.lat other
    run -2 lat-reunit --report other rough.lat -o a.lat
    [ ! -s a.lat ]
    # Nor the input, which would be lost.
    run -2 lat-reunit --report ./kept.lat kept.lat -o b.lat
    [[ $output == *"--report ./kept.lat is the input as well"* ]]
    run -2 lat-reunit --report linked.lat kept.lat -o b.lat
    # shellcheck disable=SC2094
    run -2 lat-reunit --report kept.lat -o b.lat < kept.lat
    run -2 lat-gauge --random --save-g ./kept.lat kept.lat -o b.lat
    cmp rough.lat kept.lat
    [ ! -e b.lat ]
    # Another file with a report in it is replaced, but not with --no-clobber.
    echo old > report
    run -1 lat-reunit --no-clobber --report report kept.lat -o b.lat
    [ "$(cat report)" = old ]
    lat-reunit --report report kept.lat -o b.lat
    [ "$(field report matrices)" = 32 ]
    nothing_left
}

@test "lat-reunit leaves single precision at its rounding" {
    lat-start hot --dims 4,4,4,4 --precision single > rough.lat
    lat-reunit rough.lat -o a.lat
    lat-theta --tsv a.lat > t.tsv
    near "$(field t.tsv unitarity_max)" 0 3.6e-7 # 3 * 2^-23, as for any rounded SU(3) matrix
    lat-reunit rough.lat | lat-diff --tolerance 2e-7 rough.lat -
}

@test "lat-reunit gives the same bytes on one thread and on many" {
    lat-start hot --dims 4,4,6,8 --precision single > rough.lat
    lat-reunit -@ 1 --precision double --report a.tsv rough.lat > a.lat
    lat-reunit -@ 4 --precision double --report b.tsv rough.lat > b.lat
    cmp a.lat b.lat
    cmp a.tsv b.tsv
}

@test "lat-reunit refuses a matrix beyond --limit, names its position, and writes nothing" {
    lat-start hot --dims 4,4,4,4 --precision single > rough.lat
    run -1 lat-reunit --precision double --limit 1e-9 rough.lat -o no.lat --report no.tsv
    [[ $output == *"field 0: expected a matrix within 1e-09 of SU(3) at 0,0,0,0 x, found one at "* ]]
    [ ! -e no.lat ]
    [ ! -e no.tsv ]
    nothing_left
}

@test "lat-reunit refuses a zero link and says where it is" {
    lat-start hot --dims 4,4,4,4 --precision single | lat-convert --to milc > m
    # 104 bytes of header, 72 a link: link 37 is the y link of site 9 = 1 + 4 * 2
    dd if=/dev/zero of=m bs=1 seek=$((104 + 72 * 37)) count=72 conv=notrunc status=none
    lat-convert --force m > zero.lat 2> warnings
    run -1 lat-reunit --limit 100 zero.lat -o no.lat
    [[ $output == *"zero.lat: field 0: expected a matrix near SU(3) at 1,2,0,0 y, found a singular one"* ]]
    [ ! -e no.lat ]
}

@test "lat-reunit cleans transformations too" {
    lat-start hot --dims 4,4,4,4 > u.lat
    lat-gauge --random --save-g g.lat u.lat > /dev/null
    lat-gauge --invert --precision single g.lat | lat-reunit --precision double > h.lat
    lat-gauge --apply h.lat u.lat | lat-diff --invariant --tolerance 5e-14 u.lat -
}

# ---- lat-info

@test "lat-info shows header, form and history, as text, JSON and columns" {
    lat-start hot --dims 4,4,4,8 --seed 7 --count 2 -o a.lat
    lat-info a.lat > text
    grep -q '^lattice *4 4 4 8, SU(3)$' text
    grep -q '^history *lat-start 0.1.0 | .*--seed 7 .*configuration 1$' text
    grep -q '^stored *compressed' text
    lat-info --json a.lat > json
    [ "$(wc -l < json)" -eq 2 ]
    grep -q '"dims": \[4, 4, 4, 8\], "group": "SU(3)", "real": "f64", "reals": 18' json
    lat-info --tsv a.lat > tsv
    [ "$(field tsv dims 2)" = 4,4,4,8 ]
    [ "$(field tsv compressed)" = 1 ]
    near "$(field tsv plaquette)" "$(lat-theta --tsv a.lat | sed -n 2p | cut -f 6)" 1e-14
    lat-start hot --dims 4,4,4,8 --seed 7 | lat-info --tsv | grep -q 'f64'
}

@test "lat-info writes JSON that a parser reads, whatever stands in the history" {
    command -v python3 > /dev/null || skip "no python3 to read JSON with"
    lat-start hot --dims 2,2 > a.lat
    cp a.lat $'odd "name"\\ \t.lat'
    lat-gauge --random --save-g $'g "\\ \t.lat' a.lat > /dev/null
    lat-gauge --apply $'g "\\ \t.lat' a.lat > b.lat
    lat-info --json b.lat | python3 -c '
import json, sys
o = json.loads(sys.stdin.read())
assert len(o["history"]) == 2 and "\"" in o["history"][1], o["history"]
assert o["theta"] is None and o["dims"] == [2, 2] and o["verified"] is False'
}

@test "lat-info --check accepts a good stream and refuses a damaged one, exit 1" {
    lat-start hot --dims 4,4,4,4 --count 2 -o a.lat
    lat-info --check a.lat > ok
    [ "$(grep -c ': OK: ' ok)" -eq 2 ]
    size=$(wc -c < a.lat)
    cp a.lat bad.lat
    printf '\377\377\377' | dd of=bad.lat bs=1 seek=$((size / 3)) conv=notrunc status=none
    run -1 lat-info --check bad.lat
    head -c $((size - 1)) a.lat > cut.lat
    run -1 lat-info --check cut.lat
    run -1 lat-info cut.lat
    (cat a.lat; echo garbage) > more.lat
    run -1 lat-info --check more.lat
    : > empty.lat
    run -1 lat-info --check empty.lat
}

# ---- lat-diff

@test "lat-diff of a stream with itself is zero in every quantity" {
    lat-start hot --dims 4,4,4,4 --count 2 > a.lat
    cp a.lat b.lat
    lat-diff --tsv --tolerance 0 a.lat - < b.lat > d.tsv
    [ "$(wc -l < d.tsv)" -eq 3 ]
    for column in largest rms plaquette link_trace polyakov_x_re polyakov_t_im; do
        [ "$(field d.tsv $column)" = 0 ]
        [ "$(field d.tsv $column 2)" = 0 ]
    done
}

@test "lat-diff measures a known distance" {
    lat-start cold --dims 2,2,2,2 --group 2 > a.lat
    lat-start hot --dims 2,2,2,2 --group 2 > b.lat
    lat-diff --json a.lat b.lat > d.json
    lat-theta --tsv b.lat > t.tsv
    lat-diff --tsv a.lat b.lat > d.tsv
    # sum |1 - U|^2 = 2N - 2 Re tr U: rms^2 N^2 = 2N (1 - link trace); differences are B - A.
    awk -v r="$(field d.tsv rms)" -v l="$(field t.tsv link_trace)" 'BEGIN {
        d = r * r * 4 - 4 * (1 - l); exit !(d < 1e-13 && d > -1e-13) }'
    near "$(field d.tsv link_trace)" "$(awk -v l="$(field t.tsv link_trace)" 'BEGIN { printf "%.17g", l - 1 }')" 1e-15
    grep -q '^{"field": 0, "largest": ' d.json
}

@test "lat-diff exits 0 without a tolerance, 3 above it, 1 where there is nothing to compare" {
    lat-start hot --dims 4,4,4,4 --seed 1 > a.lat
    lat-start hot --dims 4,4,4,4 --seed 2 > b.lat
    lat-start hot --dims 4,4,4,2 > c.lat
    lat-start hot --dims 4,4,4,4 --group 2 > d.lat
    lat-gauge --random --save-g g.lat a.lat > /dev/null
    lat-diff a.lat b.lat > /dev/null
    run -3 lat-diff --tolerance 0.01 a.lat b.lat
    run -0 lat-diff --tolerance 10 a.lat b.lat
    run -1 lat-diff a.lat c.lat
    [[ $output == *"a.lat has extents 4 4 4 4 and c.lat 4 4 4 2"* ]]
    run -1 lat-diff a.lat d.lat
    [[ $output == *"a.lat is of SU(3) and d.lat of SU(2)"* ]]
    run -1 lat-diff a.lat g.lat
    [[ $output == *"a.lat is a gauge field and g.lat a gauge transformation"* ]]
    run -2 lat-diff a.lat
    run -2 lat-diff - - < a.lat
    [ "$(lat-diff --invariant a.lat b.lat | cut -c1-11)" = $'plaquette  \nPolyakov x \nPolyakov y \nPolyakov z \nPolyakov t ' ]
    cmp <(lat-diff --invariant --json a.lat b.lat) <(lat-diff --json a.lat b.lat)
    run -2 lat-diff --tolerance nan a.lat b.lat
    run -2 lat-diff --tolerance -1 a.lat b.lat
    refuses 1 'g.lat: --invariant: expected links, which have plaquette and Polyakov loops, found a gauge transformation' \
        lat-diff --invariant --tolerance 1e-12 g.lat g.lat
}

@test "lat-diff compares transformations element by element" {
    lat-start cold --dims 2,2,2,2 > u.lat
    lat-gauge --random --seed 1 --save-g g.lat u.lat > /dev/null
    lat-gauge --random --seed 2 --save-g h.lat u.lat > /dev/null
    lat-diff --tolerance 0 g.lat g.lat > /dev/null
    run -3 lat-diff --tolerance 0.01 g.lat h.lat
}

# ---- all of them

@test "measuring tools write text to -o FILE, all or nothing" {
    lat-start hot --dims 4,4,4,4 > a.lat
    lat-theta --tsv -o t.tsv a.lat
    lat-theta --tsv a.lat | cmp - t.tsv
    lat-info -o i a.lat
    lat-info a.lat | cmp - i
    lat-diff -o d a.lat a.lat
    lat-diff a.lat a.lat | cmp - d
    head -c 5000 a.lat > cut.lat
    run -1 lat-theta --tsv -o t.tsv cut.lat
    lat-theta --tsv a.lat | cmp - t.tsv
    nothing_left
}

@test "every tool here has help and a version, and refuses what it does not know, exit 2" {
    for tool in lat-start lat-gauge lat-reunit lat-theta lat-info lat-diff; do
        $tool --help > help
        grep -q "$tool" help
        [ "$(awk '{ if (length > 80) n++ } END { print n + 0 }' help)" -eq 0 ]
        $tool --version | head -n 1 | grep -q "^$tool 0.1.0$"
        run -2 $tool --no-such-option
    done
}

# unmark IN OUT: the stream without the info line of --force, as another program might have written it.
unmark() {
    python3 - "$1" "$2" << 'END'
import re, sys, zlib
data = open(sys.argv[1], "rb").read()
end = data.index(b"end = ")
head = re.sub(rb"info.not_in_group = [^\n]*\n", b"", data[:end])
assert len(head) < end
open(sys.argv[2], "wb").write(head + b"end = %08x\n" % zlib.crc32(head) + data[data.index(b"\n", end) + 1:])
END
}

@test "links far from SU(N) are refused with the place of the worst, by every tool; with --force the header says so" {
    command -v python3 > /dev/null || skip "no python3"
    local line
    rough a.lat --dims 4,4,4,4 -p single
    lat-convert --to raw a.lat -o a.raw
    # One link of 1024 is 1.005 U: at 3,1,2,0, direction z; then all are 1.3 U; then all are 0.
    python3 - << 'END'
from array import array
a = array("f", open("a.raw", "rb").read())
one, fat = array("f", a), array("f", [1.3 * x for x in a])
at = 18 * (4 * (3 + 4 * (1 + 4 * 2)) + 2)
for i in range(at, at + 18):
    one[i] *= 1.005
for name, b in ("one", one), ("fat", fat), ("zero", array("f", bytes(4 * len(a)))):
    open(name + ".raw", "wb").write(b.tobytes())
END
    for name in one fat zero; do
        run -1 lat-convert --from raw --dims 4,4,4,4 --group 3 --type f32 --endian little $name.raw -o never
        [[ $output == *"not a gauge field"* ]]
        [ ! -e never ]
        lat-convert --force --from raw --dims 4,4,4,4 --group 3 --type f32 --endian little $name.raw -o $name.lat 2> err
        lat-info $name.lat | grep -q "not_in_group = "
        unmark $name.lat $name.bare.lat
    done
    # |1.005^2 - 1| and |1.005^3 - 1|
    grep -q "is up to 0.01, at 3,1,2,0 z" <(lat-convert --force --from raw --dims 4,4,4,4 --group 3 --type f32 --endian little one.raw 2>&1 > /dev/null)
    lat-info one.lat | grep -q "not_in_group = 0.0151 at 3,1,2,0 z"
    while read -r line; do
        # shellcheck disable=SC2086 # several words
        run -1 $line one.bare.lat
        [[ $output == *"expected links within 1e-05 of SU(3), found one at 0.0151, the farthest, at 3,1,2,0 z"* ]] || { echo "$line: $output"; return 1; }
        # What is marked, is taken, with a warning.
        # shellcheck disable=SC2086
        run -0 --separate-stderr $line one.lat
        [[ $stderr == *"links are up to 0.0151 from SU(3), at 3,1,2,0 z, as the header says"* ]] || { echo "$line: $stderr"; return 1; }
    done << 'END'
lat-theta
lat-plaq
lat-info --check
lat-orelax --theta 1e-3 -o out.lat
lat-anneal --steps 2 -o out.lat
lat-gauge --random -o out.lat
lat-reorder --shift 1,0,0,0 -o out.lat
lat-convert -o out.lat
lat-diff a.lat
END
    lat-info out.lat | grep -q "not_in_group = 0.0151 at 3,1,2,0 z"
    # Landau gauge of zeros, and of 1.3 U.
    for name in fat zero; do
        run -1 lat-orelax $name.bare.lat -o never
        [ ! -e never ]
    done
    run -0 --separate-stderr lat-orelax --force --theta 1e-3 one.bare.lat -o forced.lat
    [[ $stderr == *"links are up to 0.0151 from SU(3), at 3,1,2,0 z (--force)"* ]]
    lat-info forced.lat | grep -q "not_in_group = 0.0151 at 3,1,2,0 z"
    # lat-reunit mends, and takes the mark off.
    lat-reunit --limit 1 one.bare.lat -o mended.lat
    lat-reunit --limit 1 one.lat -o mended.lat
    run -1 grep -a not_in_group mended.lat
    lat-theta mended.lat > said 2> err
    [ ! -s err ]
}

@test "every tool reads every format that lat-convert recognises, from a file and a pipe" {
    local e line
    rough a.lat --dims 4,6,4,4
    for e in nersc ildg scidac oqcd hirep vogt mdp; do
        lat-convert a.lat -o a.$e
        while read -r line; do
            # shellcheck disable=SC2086 # several words
            $line a.lat > want
            # shellcheck disable=SC2086
            $line a.$e > found 2> err
            cmp want found && [ ! -s err ] || { echo "$line a.$e"; cat err; return 1; }
            # shellcheck disable=SC2086,SC2002
            cat a.$e | $line > found
            cmp want found || { echo "$line < a.$e"; return 1; }
        done << 'END'
lat-theta --tsv
lat-plaq --sd
lat-abelian --require-theta 100
END
        lat-diff --tolerance 0 a.lat a.$e > /dev/null
        # Links: the history has one line less, and the info has the source.
        for line in "lat-orelax --theta 1e-8" "lat-anneal --steps 3" "lat-reunit" "lat-gauge --random" "lat-reorder --shift 1,0,0,0"; do
            # shellcheck disable=SC2086
            $line a.lat -o want.lat
            # shellcheck disable=SC2086
            $line a.$e -o found.lat
            lat-diff --tolerance 0 want.lat found.lat > /dev/null || { echo "$line a.$e"; return 1; }
            lat-info found.lat | grep -q "source = "
        done
        lat-info a.$e | grep -q "^stored      in format "
        lat-info --check a.$e | grep -q "OK: gauge SU(3) 4 6 4 4 f64, format "
    done
    # A damaged one is refused by all, as by lat-convert.
    head -c -8 a.nersc > cut.nersc
    printf 12345678 >> cut.nersc
    for line in lat-theta "lat-info --check" lat-orelax; do
        # shellcheck disable=SC2086
        run -1 $line cut.nersc
        [[ $output == *"CHECKSUM "*" is stated"* ]] || { echo "$line: $output"; return 1; }
    done
    echo nothing > text
    run -1 lat-theta text
    [[ $output == *"begins like no format that is known"*"or say lat-convert --from NAME" ]]
    lat-convert --to raw a.lat -o a.raw
    run -1 lat-plaq a.raw
}

@test "several files: one table, with a column that names them; --mean is over all of them" {
    rough a.lat --dims 4,4,4,4
    rough b.lat --dims 4,4,4,4 --seed 5 --count 2
    lat-convert a.lat -o c.nersc
    for tool in lat-theta lat-plaq "lat-abelian --force" "lat-gluon --force"; do
        [ -e "$LAT_BIN/${tool%% *}" ] || continue
        $tool --tsv a.lat b.lat c.nersc > all.tsv 2> /dev/null
        { $tool --tsv a.lat; $tool --tsv b.lat | tail -n +2; $tool --tsv c.nersc | tail -n +2; } > one.tsv 2> /dev/null
        awk -F'\t' -v OFS='\t' '{ NF--; print }' all.tsv | cmp - one.tsv
        [ "$(head -n 1 all.tsv | awk -F'\t' '{ print $NF }')" = file ]
        [ "$(tail -n +2 all.tsv | awk -F'\t' '{ print $NF }' | uniq | tr '\n' ' ')" = "a.lat b.lat c.nersc " ]
        $tool --json a.lat c.nersc 2> /dev/null | grep -c '^{"file": ' | grep -qx 2
        [ "$($tool a.lat c.nersc 2> /dev/null | grep -c '^file ')" -eq 2 ]
    done
    lat-info --tsv a.lat c.nersc > info.tsv
    [ "$(cut -f 21-22 info.tsv | tail -n 2 | tr '\t\n' '  ')" = "lat a.lat nersc c.nersc " ]
    if [ -e "$LAT_BIN/lat-gluon" ]; then
        cat a.lat b.lat > ab.lat
        lat-gluon --force --mean --tsv a.lat b.lat > parts.tsv 2> /dev/null
        lat-gluon --force --mean --tsv ab.lat > whole.tsv 2> /dev/null
        cmp parts.tsv whole.tsv
    fi
    # A file that is not there ends the run, with nothing left behind.
    run -1 lat-theta --tsv a.lat nosuch.lat -o table.tsv
    [ ! -e table.tsv ]
    # One above the tolerance is enough for status 3.
    lat-orelax --theta 1e-10 a.lat -o f.lat
    run -3 lat-theta --require-theta 1e-9 f.lat a.lat
    run -3 lat-theta --require-theta 1e-9 a.lat f.lat
    lat-theta --require-theta 1e-9 f.lat f.lat > /dev/null
}

@test "tools of links refuse anything else, and name the file" {
    lat-start weak --dims 2,2,2,2 | lat-source point:0,0,0,0 -o b.lat
    local tool
    for tool in lat-theta lat-plaq lat-abelian lat-flow lat-loops lat-gluon lat-ghost "lat-overlap --gw --m0 1.4" "lat-source point:0,0,0,0"; do
        [ -e "$LAT_BIN/${tool%% *}" ] || continue
        # shellcheck disable=SC2086  # words
        run -1 --separate-stderr $tool b.lat -o out
        [[ $stderr == "${tool%% *}: b.lat: expected a gauge field, found "* ]] || { echo "$tool: $stderr"; false; }
        [ ! -e out ]
    done
    run -1 --separate-stderr lat-heatbath --continue -b 6 --count 1 <b.lat
    [[ $stderr == "lat-heatbath: <stdin>: expected a gauge field, found "* ]]
}
