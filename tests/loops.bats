#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2030,SC2031  # output and stderr are set by run; each test is a shell of its own
# Purpose: lat-loops: exact loops in two dimensions, the same on any ranks, threads and lanes, tables, bad input.
load helper

# loops TABLE: separation, T, levels and W of each row.
loops() { awk -F'\t' 'NR > 1 { print $2, $4, $5, $6, $7 }' "$1"; }

# same_numbers A B TOLERANCE: the numbers of two tables.
same_numbers() {
    paste <(loops "$1") <(loops "$2") | awk -v t="$3" '
        { n++; d = $5 - $10; if (d < 0) d = -d }
        $1 != $6 || $2 != $7 || $3 != $8 || $4 != $9 || !(d <= t) { print "row " n ": " $0; bad = 1 }
        END { exit !n || bad }'
}

# plane N BETA CONFIGURATIONS: in two dimensions <W(R, T)> = w^(R T), w = d log Z / d beta, Z the sum over n of
# det I_(j - k + n)(beta / N); a lattice of 16 x 16 changes it by w^256. Rows that are off by more than 4 errors.
plane() {
    lat-heatbath -q --group "$1" --dims 16,16 --beta "$2" --thermalise 50 --every 5 --count "$3" --seed 4 -o plane.lat
    lat-loops --tsv --max-r 3 --max-t 3 plane.lat > plane.tsv
    python3 - "$1" "$2" <<'PY'
import math, sys
group, beta = int(sys.argv[1]), float(sys.argv[2])

def bessel(m, x):
    return sum((x / 2) ** (2 * k + abs(m)) / math.factorial(k) / math.factorial(k + abs(m)) for k in range(40))

def det(a):
    if len(a) == 1:
        return a[0][0]
    return sum((-1) ** j * a[0][j] * det([r[:j] + r[j + 1:] for r in a[1:]]) for j in range(len(a)))

def log_z(beta):
    each = range(group)
    return math.log(sum(det([[bessel(j - k + n, beta / group) for k in each] for j in each]) for n in range(-12, 13)))

w = (log_z(beta + 1e-4) - log_z(beta - 1e-4)) / 2e-4
samples, bad = {}, 0
with open("plane.tsv") as table:
    names = next(table).rstrip("\n").split("\t")
    for line in table:
        row = dict(zip(names, line.rstrip("\n").split("\t")))
        samples.setdefault((int(row["separation"]), int(row["T"])), []).append(float(row["W"]))
assert len(samples) == 9
for (r, t), x in samples.items():
    mean = sum(x) / len(x)
    error = math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) / (len(x) - 1))
    print(r, t, mean, error, w ** (r * t))
    bad += not abs(mean - w ** (r * t)) < 4 * error
    assert error < .2 * w ** (r * t) or r * t > 3
sys.exit(bad)
PY
}

@test "two dimensions: powers of the exact plaquette of SU(2), SU(3), SU(4)" {
    plane 2 2 "$(few 300)"
    plane 3 5 "$(few 300)"
    [ -z "$(groups 4)" ] || plane 4 9 "$(few 300)"
}

@test "R = T = 1 is the plaquette, the Polyakov loop that of lat-plaq; of links in single precision, too" {
    local p
    for p in double single; do
        lat-heatbath -q --dims 4,6,4,8 --beta 5.7 --thermalise 5 -p $p -o u.lat
        lat-loops --tsv u.lat > loops
        lat-loops --tsv --polyakov u.lat > polyakov
        lat-plaq --tsv u.lat > plaq
        # Links in single precision are off by 6e-8, and are taken to SU(3).
        near "$(field loops W)" "$(field plaq plaquette_temporal)" "$([ $p = double ] && echo 1e-14 || echo 1e-6)"
        near "$(field polyakov polyakov_re)" "$(field plaq polyakov_t_re)" "$([ $p = double ] && echo 1e-14 || echo 1e-6)"
        near "$(field polyakov polyakov_im)" "$(field plaq polyakov_t_im)" "$([ $p = double ] && echo 1e-14 || echo 1e-6)"
    done
    [ "$(cut -f2-8 loops | head -2)" = "$(printf 'separation\tr\tT\tlevel_i\tlevel_j\tW\tsmearing\n1,0,0\t1\t1\t0\t0\t%s\tnone' \
        "$(field loops W)")" ]
    [ "$(wc -l < loops)" -eq 9 ] # r = 1, 2; T = 1 to 4
}

@test "links of 1: every loop is 1" {
    lat-start cold --dims 4,4,4,6 -o one.lat
    lat-loops --tsv --off-axis 110,111 --smear hyp:0.75,0.3 --levels 0,2 --max-r 4 --max-t 6 one.lat > loops
    lat-loops --tsv --polyakov one.lat > polyakov
    # Off axis a step is a mean of 2 or 6 products, at most 1e-15 off each.
    loops loops | awk '{ n++; d = $5 - 1; if (d < -4e-15 || d > 4e-15) exit 1 } END { exit n != (4 + 2 + 2) * 6 * 3 }'
    [ "$(field polyakov C 2)" = 1 ]
}

@test "shifted, reflected and conjugated links, permuted spatial axes: the same loops" {
    local change
    rough u.lat --dims 4,6,4,6
    set -- --tsv --off-axis 110,211 --smear stout:0.1 --levels 0,2 --max-r 3 --max-t 6
    lat-loops "$@" u.lat > loops
    for change in "--shift 1,2,3,4" "--reflect xt" "--conjugate" "--axes z,x,y,t"; do
        # shellcheck disable=SC2086  # several words
        lat-reorder $change u.lat -o v.lat
        lat-loops "$@" v.lat > changed
        # Products of at most 40 matrices, each off by 3 epsilon; temporal gauge of another slice.
        same_numbers loops changed 1e-13
    done
}

@test "on CPUs the same bytes on any ranks and threads" {
    need_mpi
    local set
    rough u.lat --dims 6,5,6,11 # large enough for threads
    for set in "--off-axis 110,210 --smear ape:0.5 --levels 0,1,3 --max-r 4 --max-t 11" "--slices 2,9 --max-t 5" \
        "--time-links hyp:0.75,0.6,0.3,1" "--polyakov --off-axis 111"; do
        # shellcheck disable=SC2086  # several words
        lat-loops --device cpu --tsv -@ 1 $set u.lat > one
        # shellcheck disable=SC2086
        lat-loops --device cpu --tsv -@ 2 $set u.lat | cmp - one
        # shellcheck disable=SC2086
        lat-loops --device cpu --tsv -@ 1 -n 2 $set u.lat | cmp - one
    done
    lat-loops --device cpu --tsv -@ 2 -n 3 --polyakov --off-axis 111 u.lat | cmp - one
}

@test "any vector length: to rounding" {
    rough u.lat --dims 4,4,4,10
    for lanes in base avx2 avx512; do
        LAT_LANES=$lanes lat-loops --device cpu --tsv --off-axis 110 --smear ape:0.5 --levels 0,2 u.lat > "$lanes.tsv"
        same_numbers base.tsv "$lanes.tsv" 1e-14
    done
}

@test "several files and configurations, text, JSON" {
    lat-heatbath -q --dims 4,4,4,4 --group 2 --beta 2.3 --thermalise 2 --every 1 --count 2 -o a.lat
    lat-start cold --dims 4,4,4,4 --group 2 -o b.lat
    lat-loops --tsv --max-r 1 --max-t 1 a.lat b.lat > loops
    [ "$(awk -F'\t' 'NR > 1 { print $1, $NF }' loops)" = "$(printf '0 a.lat\n1 a.lat\n0 b.lat')" ]
    [ "$(field loops ensemble)" != "$(field loops ensemble 3)" ]
    lat-loops --json --max-r 1 --max-t 2 b.lat | python3 -c '
import json, sys
one = json.load(sys.stdin)
assert one["smearing"] == "none" and one["group"] == "SU(2)" and one["dims"] == [4, 4, 4, 4], one
assert [(l["separation"], l["T"], l["W"]) for l in one["loops"]] == [([1, 0, 0], 1, 1.0), ([1, 0, 0], 2, 1.0)], one'
    lat-loops b.lat | grep -Eq '^2,0,0 +2.000000 +2 +0 +0 +1.00000000000e\+00$'
}

@test "anisotropic links: the anisotropy is of time; smearing in time is refused" {
    lat-heatbath -q --dims 4,4,4,8 --beta 5.5 --xi 2 --thermalise 2 -o u.lat
    lat-loops --tsv u.lat > loops
    lat-plaq --tsv u.lat > plaq
    near "$(field loops W)" "$(field plaq plaquette_temporal)" 1e-14
    refuses 1 "u.lat: expected" lat-loops --time-links hyp:0.75,0.6,0.3,1 u.lat
    lat-reorder --axes t,x,y,z u.lat -o x.lat
    refuses 1 "x.lat: expected xi of the last direction" lat-loops x.lat
}

@test "open time: only with a window, whose loops are those of periodic links" {
    need_numpy
    rough u.lat --dims 4,4,4,8
    "$PYTHON" - <<'PY'
import lat
u = next(lat.read("u.lat")).links.copy()
u[-1, ..., 3, :, :] = 0
lat.write("open.lat", lat.gauge_field(u, info={"boundary_4": "OPEN"}))
u = u[[7] + list(range(7))]
lat.write("moved.lat", lat.gauge_field(u, info={"boundary_4": "OPEN"}))
PY
    lat-loops --tsv --slices 1,6 u.lat > loops
    lat-loops --tsv --slices 1,6 open.lat > open
    cmp <(loops loops) <(loops open)
    lat-loops --tsv --slices 0,7 --max-t 7 open.lat > all
    [ "$(wc -l < all)" -eq 15 ]
    refuses 1 "open.lat: expected a window of slices (--slices A,B), because the last axis is open" lat-loops open.lat
    refuses 1 "open.lat: Polyakov loops: expected periodic" lat-loops --polyakov open.lat
    refuses 1 "moved.lat: expected the missing links of an open axis across its boundary" lat-loops --slices 1,6 moved.lat
    lat-reorder --axes t,x,y,z open.lat -o space.lat
    refuses 1 "space.lat: loops: expected periodic boundaries" lat-loops space.lat
}

@test "wrong options and fields" {
    lat-start cold --dims 4,4,4,4 -o u.lat
    lat-start cold --dims 4,4 -o plane.lat
    for v in 100 220 11a 1111 1 123x 333 ","; do
        refuses 2 "--off-axis: expected vectors such as 110" lat-loops --off-axis "$v" u.lat
    done
    refuses 2 "expected each vector once" lat-loops --off-axis 110,101 u.lat
    refuses 2 "--smear and --levels need each other" lat-loops --smear ape:0.5 u.lat
    refuses 2 "--smear and --levels need each other" lat-loops --levels 1 u.lat
    for s in ape:2 ape:0.5,3 ape hyp:1 none; do
        refuses 2 "--smear: expected ape:A" lat-loops --smear "$s" --levels 1 u.lat
    done
    for l in 1,1 3,2 -1 "1," x "" 1x; do
        refuses 2 "--levels: expected at most 16 rising numbers" lat-loops --smear ape:0.5 --levels "$l" u.lat
    done
    refuses 2 "--time-links: expected ape:A,N" lat-loops --time-links ape:0.5,1,spatial u.lat
    for s in 3 3,3 2,1 1,2,3 "1,2," a,b; do
        refuses 2 "--slices: expected two slices" lat-loops --slices "$s" u.lat
    done
    refuses 2 "--polyakov: Polyakov loops have no" lat-loops --polyakov --max-t 2 u.lat
    refuses 1 "u.lat: expected a window within slices 0 to 3, found 1 to 4" lat-loops --slices 1,4 u.lat
    refuses 1 "u.lat: expected loops of at most 4 steps in time, found 5" lat-loops --max-t 5 u.lat
    refuses 1 "plane.lat: expected separations of 1 components" lat-loops --off-axis 110 plane.lat
    refuses 1 "plane.lat: lattice 4 4: spatial smearing needs two directions" lat-loops --smear ape:0.5 --levels 1 plane.lat
    lat-start cold --dims 4 -o line.lat
    refuses 1 "line.lat: lattice 4 has no space" lat-loops line.lat
    rough whole.lat --dims 4,4,4,4
    head -c 20000 whole.lat > cut.lat
    refuses 1 "cut.lat: " lat-loops --tsv cut.lat
}

# known N: loops of N configurations, of levels 0 and 5, two states whose energies are V and V + 0.9: V = 0.6 - 0.25 / r + 0.05 r; each
# number is off by some 1e-6.
known() {
    awk -v n="$1" '
        function a(i) { return i ? .9 : .4 }
        function b(i) { return i ? .3 : .8 }
        BEGIN {
        srand(2); OFS = "\t"; CONVFMT = OFMT = "%.17g"
        print "config", "separation", "r", "T", "level_i", "level_j", "W", "smearing", "time_links", "dims", "group", "ensemble"
        for (c = 0; c < n; c++) for (k = 1; k <= 9; k++) {
            r = k <= 6 ? k : (k - 6) * sqrt(2)
            for (T = 1; T <= 6; T++) for (i = 0; i <= 5; i += 5) for (j = i; j <= 5; j += 5) {
                V = .6 - .25 / r + .05 * r
                w = a(i) * a(j) * exp(-V * T) + b(i) * b(j) * exp(-(V + .9) * T)
                print c, k <= 6 ? k ",0,0" : k - 6 "," k - 6 ",0", r, T, i, j, w * (1 + 1e-6 * (rand() - .5)), "ape:0.5", "none",
                    "8,8,8,8", "SU(3)", "known"
            } } }'
}

@test "lat-stat --potential: the ground state of two, for lat-fit: V0, alpha, sigma and r0 of a known potential" {
    known 20 > known.tsv
    lat-stat --potential --samples samples known.tsv > energies
    [ "$(head -n 2 energies | tail -n 1 | cut -f 1-3,6-7)" = "$(printf '1,0,0\t1\t1\t20\t1')" ]
    # The second state is e^-0.9 T of the first in a loop, but for what the two levels take out.
    awk -F'\t' 'NR > 1 { v = .6 - .25 / $2 + .05 * $2; d = $4 - v; if (d < 0) d = -d; if (!(d < 6 * $5) || !($5 < 1e-4)) { print; bad = 1 } }
        END { exit bad || NR != 9 * 5 + 1 }' energies
    if [ -e "${LAT_BIN:-$ROOT/bin}/lat-fit" ]; then
        lat-fit --form potential --select 3 --range 2,9 --covariance diagonal samples > fit
        while read -r name value; do
            awk -v x="$(field fit "$name")" -v e="$(field fit "${name}_error")" -v value="$value" \
                'BEGIN { d = x - value; if (d < 0) d = -d; exit !(d < 5 * e && e < 1e-3) }' || { cat fit; false; }
        done <<< "V0 .6
alpha .25
sigma .05
r0 $(awk 'BEGIN { print sqrt(1.4 / .05) }')"
    fi
    # A configuration that is cut off, a level that is missing, loops of another smearing, another table.
    refuses 1 "expected as many rows of" lat-stat --potential <(sed '$d' known.tsv)
    refuses 1 "--potential: expected all loops of separation 1,0,0, T = 1 is missing" \
        lat-stat --potential <(awk -F'\t' '!($5 == 0 && $6 == 5)' known.tsv)
    refuses 1 "expected smearing ape:0.5 as before" lat-stat --potential <(sed '$s/ape:0.5/ape:0.4/' known.tsv)
    refuses 1 "--potential: expected T up to 2 at least" lat-stat --potential <(awk -F'\t' 'NR == 1 || $4 == 1' known.tsv)
    refuses 1 "1,0,0: expected a positive matrix of levels at T = 1" \
        lat-stat --potential <(awk -F'\t' -v OFS='\t' 'NR > 1 && $5 != $6 { $7 = 9 } 1' known.tsv)
    lat-start cold --dims 4,4,4,4 -o u.lat
    lat-loops --tsv --polyakov u.lat > polyakov
    refuses 1 "--potential: expected tables of Wilson loops (lat-loops --tsv)" lat-stat --potential polyakov
    refuses 2 "--scales, --alpha and --potential exclude each other" lat-stat --potential --scales known.tsv
}

@test "potential.sh: loops, potential, r0 and a picture of a few configurations" {
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-fit" ] || skip "lat-fit was not built: no GSL"
    lat-heatbath -q --dims 4,4,4,6 --beta 6 --thermalise 20 --every 2 --count 3 -o cfg
    export LEVELS=1,4
    T_POTENTIAL=1 R_MIN=1 "$ROOT/pipelines/potential.sh" out cfg > said 2> warned
    grep -Eq '^r0 +[0-9.na]+ \+- ' said
    [ "$(cut -f 1,3 out/potential.tsv | tail -n +2)" = "$(printf '1,0,0\t1\n2,0,0\t1\n1,1,0\t1\n1,1,1\t1')" ]
    ! command -v gnuplot > /dev/null || [ -s out/potential.png ]
    # A plateau of two T, of the same loops.
    touch -d @0 out/loops.tsv
    T_POTENTIAL=1,2 R_MIN=1 PICTURES=pdf "$ROOT/pipelines/potential.sh" out cfg > said 2> warned
    [ "$(cut -f 1,3-5 out/potential.tsv | sed -n 2p)" = "$(printf '1,0,0\tplateau\t1\t2')" ]
    [ "$(stat -c %Y out/loops.tsv)" = 0 ]
    ! command -v gnuplot > /dev/null || [ -s out/potential.pdf ]
    run -1 --separate-stderr env T_POTENTIAL=3 R_MIN=1 "$ROOT/pipelines/potential.sh" out cfg
    [ "${stderr_lines[-1]}" = "potential.sh: T_POTENTIAL: expected a T of out/energies.tsv, found 3" ]
    run -2 env T_POTENTAL=2 "$ROOT/pipelines/potential.sh" out cfg
    run -2 "$ROOT/pipelines/potential.sh" out
}

@test "potential.sh: loops of other parameters, files or links are refused, the same ones are not measured again" {
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-fit" ] || skip "lat-fit was not built: no GSL"
    local i
    mkdir raw
    for i in 1 2 3 4; do lat-heatbath -q --dims 4,4,4,4 --beta 6 --thermalise 20 --seed "$i" -o raw/c$i.lat; done
    export LEVELS=1,4 T_POTENTIAL=1 R_MIN=1 R_MAX=2 PICTURES=
    potential() { "$ROOT/pipelines/potential.sh" out "$@"; }
    same() { # FILE...: refused or not, loops and results stay
        run -1 --separate-stderr potential "$@"
        [ -z "$output" ]
        [ "$(wc -l <<< "$stderr")" = 1 ]
        cksum out/* 2> warned | cmp - before
    }
    # What lat-loops refuses does not stand in the way.
    LEVELS=many run ! potential raw/c[123].lat
    [ ! -e out/loops.tsv ]
    run -0 potential raw/c[123].lat
    cksum out/* 2> warned > before
    same raw/c[1234].lat
    local says="potential.sh: out/loops.tsv: expected loops of"
    [ "$stderr" = "$says c4.lat as file 4, found nothing: name another FOLDER" ]
    same raw/c[12].lat
    [ "$stderr" = "$says nothing as file 3, found c3.lat: name another FOLDER" ]
    same raw/c2.lat raw/c1.lat raw/c3.lat
    [ "$stderr" = "$says c2.lat as file 1, found c1.lat: name another FOLDER" ]
    same nofile.lat
    [ "$stderr" = "potential.sh: nofile.lat: expected a regular file of configurations, found none" ]
    LEVELS=2 same raw/c[123].lat
    [[ $stderr == "potential.sh: out: expected results of '"*"LEVELS=2 "*"', found those of '"* ]]
    [[ $stderr == *"LEVELS=1,4 "*"': name another FOLDER" ]]
    TIME_LINKS=none same raw/c[123].lat
    OFF_AXIS='' same raw/c[123].lat
    T_LARGEST=2 same raw/c[123].lat
    cp -p raw/c3.lat kept
    cp raw/c4.lat raw/c3.lat
    same raw/c[123].lat
    [[ $stderr == "links.sh: raw/c3.lat: expected the links that out/loops.tsv was made of, CRC "* ]]
    [[ $stderr == *": remove out/loops.tsv, or name another folder" ]]
    # The same links elsewhere, in another format, are the same.
    mkdir copy
    cp raw/c[12].lat copy
    lat-convert --force --to nersc kept -o copy/c3.lat
    run -0 potential copy/c[123].lat
    cksum out/* 2> warned | grep loops.tsv | cmp - <(grep loops.tsv before)
    # Nobody knows what loops are of that have no record.
    rm out/.parameters
    same copy/c[123].lat
    [[ $stderr == "potential.sh: out: expected results of '"*"', found those of 'unknown': name another FOLDER" ]]
    # Without them all is measured.
    rm out/loops.tsv
    run -0 potential raw/c[1234].lat
    [ "$(grep -c $'\t1,0,0\t1\t1\t1\t1\t' out/loops.tsv)" = 4 ]
}
