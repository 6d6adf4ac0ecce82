#!/usr/bin/env bats
# Purpose: lat-ghost gives the exact ghost propagator where it is known, its identities everywhere, and refuses the rest; lat-theta --fp-min
# tells a maximum from a saddle.
# shellcheck disable=SC2154  # output and stderr are set by run
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-ghost" ] || skip "lat-ghost was not built: no FFTW"
}

# fixed NAME [OPTION of lat-orelax]...: links in a gauge, others with another seed.
fixed() {
    local name=$1
    shift
    lat-start weak --epsilon 0.3 --seed "${seed:-3}" --dims 4,6,2,6 | lat-orelax --theta 1e-24 "$@" -o "$name"
}

# twisted NAME L: SU(2) links exp(2 pi i tau_3 / L) along x of an L,4,4,2: theta is 0, and it is no maximum.
twisted() {
    command -v python3 >/dev/null || skip "no python3 to make it with"
    python3 - "$2" >twisted.raw <<'END'
import math, struct, sys
L = int(sys.argv[1]); c, s = math.cos(2 * math.pi / L), math.sin(2 * math.pi / L)
along, one = [c, s, 0, 0, 0, 0, c, -s], [1, 0, 0, 0, 0, 0, 1, 0]
sys.stdout.buffer.write(struct.pack("<32d", *along, *one, *one, *one) * (L * 32))
END
    lat-convert --from raw --dims "$2,4,4,2" --group 2 --type f64 --endian little twisted.raw -o "$1"
}

@test "momenta of an anisotropic lattice want weights of their own" {
    lat-heatbath --dims 4,4,2,4 --beta 6 --xi 2 --thermalise 2 | tee a.lat | lat-orelax --theta 1e-14 -o one.lat
    refuses 1 'one.lat: expected links of an isotropic lattice, found anisotropy 2' lat-ghost one.lat
    lat-ghost --modes 1 one.lat >found
    lat-orelax --weights 1,1,1,4 --theta 1e-14 a.lat | lat-ghost >found
    lat-orelax --gauge coulomb --theta 1e-14 a.lat | lat-ghost >found
    lat-orelax --gauge coulomb --time x --theta 1e-14 a.lat -o x.lat
    refuses 1 'x.lat: expected links of an isotropic lattice, found anisotropy 2' lat-ghost x.lat
    lat-reorder --axes t,y,z,x a.lat | lat-orelax --weights 4,1,1,1 --theta 1e-14 | lat-ghost >found
}

@test "D15: links 1: G(k) = 1 / k^2 in all gauges, with weights, by plane waves and from a point" {
    local group dims gauge source
    while read -r group dims gauge; do
        for source in "" "--point ${dims//[0-9]/1}"; do
            # shellcheck disable=SC2086
            lat-start cold --group "$group" --dims "$dims" | lat-ghost --tsv --orbits all --momenta 3 $gauge $source >a.tsv
            awk -F'\t' 'FNR > 1 { n++; if (($6 * $7 - 1)^2 > 1e-26) { print; bad++ } } END { exit bad || n < 3 }' a.tsv
        done
    done <<'END'
2 4,4,4,8
3 3,5,2,4 --gauge landau --weights 1,.5,2,3
3 4,4,5,3 --gauge coulomb
2 6,4,4 --gauge coulomb --time x
4 8,6
END
    # and the k^2 of a momentum: 2 at L = 4
    lat-start cold --dims 4,4,4,8 | lat-ghost --tsv --momenta 1,0,0,0 >a.tsv
    near "$(field a.tsv G)" .5 1e-13
    # time of one slice, which is not the last axis
    lat-start cold --dims 4,1,4,6 | lat-ghost --tsv --gauge coulomb --time y --momenta 1,0,0,0 >a.tsv
    near "$(field a.tsv G)" .5 1e-13
}

@test "D16: Chroma's weak field in Landau gauge" {
    need_data lime_pyquda_weak_field.lime
    lat-orelax --theta 1e-28 "$DATA/lime_pyquda_weak_field.lime" -o weak.lat
    near "$(column weak.lat functional)" .997247011427 1e-12
    lat-ghost --tsv --momenta 1,0,0,0/0,1,0,0/0,0,0,1 weak.lat >a.tsv
    near "$(field a.tsv G 1)" .502571964 1e-9
    near "$(field a.tsv G 2)" .502582790 1e-9
    near "$(field a.tsv G 3)" 1.733202043 1e-9
    # the number that a residual of 1e-6 gives is as good: its error is a square
    lat-ghost --tsv --residual 1e-6 --momenta 0,0,0,1 weak.lat >b.tsv
    near "$(field b.tsv G)" "$(field a.tsv G 3)" 1e-11
}

@test "the mean over all points of the lattice is the plane wave's" {
    local gauge z
    for gauge in landau coulomb; do
        [ $gauge = landau ] && z='' || z=,0
        lat-start weak --epsilon 0.3 --seed 5 --dims 4,4${z:+,2} | lat-orelax --gauge $gauge --theta 1e-26 -o a.lat
        lat-ghost --tsv --residual 1e-13 --orbits all a.lat >plane.tsv
        for x in 0 1 2 3; do
            for y in 0 1 2 3; do lat-ghost --tsv --residual 1e-13 --orbits all --point "$x,$y$z" a.lat; done
        done >points.tsv
        awk -F'\t' '
            $1 == "configuration" { next }
            FNR == NR { G[$2 " " $3] = $7; rows++; next }
            { sum[$2 " " $3] += $7 / 16; if (($7 / G[$2 " " $3] - 1)^2 > 1e-6) differ++ }
            END {
                for (k in G) if ((sum[k] / G[k] - 1)^2 > 1e-22) { print k, G[k], sum[k]; bad++ }
                exit bad || rows < 2 || !differ
            }' plane.tsv points.tsv
    done
}

@test "fp-min: exactly 2 cos(2 pi / L) - 2 at a saddle of twisted links, which lat-ghost refuses; positive where overrelaxation ends" {
    twisted saddle.lat 6
    near "$(column saddle.lat theta)" 0 1e-28
    lat-theta --tsv --fp-min saddle.lat >a.tsv
    near "$(field a.tsv fp_min)" -1 1e-11
    run -3 --separate-stderr lat-ghost saddle.lat -o never
    [[ $stderr == *"saddle.lat: configuration 0: the Faddeev-Popov operator is not positive: this is no maximum of the functional" ]]
    [ ! -e never ]
    lat-theta --json --fp-min saddle.lat | grep -q '"fp_min": -[01]\.[09]*'
    lat-gauge --random --seed 2 saddle.lat | lat-orelax --theta 1e-20 -o maximum.lat
    lat-theta --tsv --fp-min maximum.lat >a.tsv
    # at the maximum of these links, which are those of a cold lattice: 4 sin^2(pi/6) of the longest axis
    near "$(field a.tsv functional)" 1 1e-12
    near "$(field a.tsv fp_min)" 1 1e-9
    run -2 lat-theta --fp-accuracy 1e-3 saddle.lat
    run -1 --separate-stderr lat-theta --gauge mag --fp-min saddle.lat
    [[ $stderr == "lat-theta: saddle.lat: "*"not for mag" ]]
}

@test "modes: the lowest one is fp-min, of every slice in Coulomb gauge; residuals bound it" {
    fixed a.lat --gauge coulomb --time y
    lat-ghost --tsv --modes 2 a.lat >a.tsv
    [ "$(tail -n +2 a.tsv | wc -l)" -eq 12 ]
    lat-theta --tsv --fp-min a.lat >theta.tsv
    near "$(tail -n +2 a.tsv | cut -f 4 | sort -g | head -n 1)" "$(field theta.tsv fp_min)" 1e-9
    awk -F'\t' 'FNR > 1 && !($5 <= 1.01e-6 * $4) { bad++ } END { exit bad > 0 }' a.tsv
    lat-theta --fp-min a.lat | grep -q '^fp-min .*, slice [0-5])$'
    # 10 modes of a cold lattice: 8 of 4 sin^2(pi/6) = 1 for each of +-n along two axes of 6
    lat-start cold --dims 6,4,4,6 | lat-ghost --tsv --modes 10 >a.tsv
    awk -F'\t' 'FNR > 1 { n++; if (($4 - 1)^2 > 1e-20) bad++ } END { exit bad || n != 10 }' a.tsv
}

@test "the same bytes with any threads, vectors and ranks, in all gauges, SU(3) and SU(2)" {
    local f what ranks=2
    need_mpi
    fixed landau.lat --weights 1,1,2,3
    fixed coulomb.lat --gauge coulomb
    fixed across.lat --gauge coulomb --time x
    lat-start weak --epsilon 0.3 --seed 3 --group 2 --dims 4,2,4,6 | lat-orelax --theta 1e-24 -o two-landau.lat
    for f in landau coulomb across two-landau; do
        for what in "--momenta 2" "--modes 3 --accuracy 1e-3" "--point 1,0,1,2"; do
            # shellcheck disable=SC2086
            {
                lat-ghost -@ 1 --tsv $what $f.lat >one
                LAT_LANES=base lat-ghost -@ 3 --tsv $what $f.lat | cmp one
                lat-ghost -n $ranks -@ 1 --tsv $what $f.lat | cmp one
            }
            ranks=$((5 - ranks)) # 2 and 3 in turn
        done
    done
    lat-theta --tsv --fp-min across.lat >one
    lat-theta -n 2 --tsv --fp-min across.lat | cmp one
}

@test "momenta: orbits, lists, and what is no momentum" {
    lat-start cold --dims 4,4,6,4 -o a.lat
    lat-ghost --tsv a.lat >one.tsv
    lat-ghost --tsv --orbits all a.lat >all.tsv
    # one of each orbit is there, no component negative, and every momentum of n^2 <= 4 once, or its negative
    awk -F'\t' '
        function abs(v) { return v < 0 ? -v : v }
        function key(a, b, c, d, t) {
            if (a < b) { t = a; a = b; b = t } if (b < d) { t = b; b = d; d = t } if (a < b) { t = a; a = b; b = t }
            return a " " b " " c " " d
        }
        FNR == 1 { next }
        FNR == NR { one[$2 " " $3 " " $4 " " $5]++; next }
        { seen[key(abs($2), abs($3), abs($4), abs($5))]++; rows++ }
        END {
            for (k in one) { if (one[k] != 1 || !(k in seen)) { print "row " k; bad++ } n++ }
            for (k in seen) if (!(k in one)) { print "no " k; bad++ }
            # of -1 .. 2 (extent 4) and -2 .. 2 (of 6)
            for (a = -1; a < 3; a++) for (b = -1; b < 3; b++) for (c = -2; c < 3; c++) for (d = -1; d < 3; d++) {
                s = a * a + b * b + c * c + d * d
                if (s && s < 5) { all++; if ((a == 0 || a == 2) && (b == 0 || b == 2) && c == 0 && (d == 0 || d == 2)) own++ }
            }
            if (rows != (all - own) / 2 + own) { print rows, all, own; bad++ }
            exit bad || n < 6
        }' one.tsv all.tsv
    lat-ghost --tsv --momenta -1,0,0,0/5,0,0,1 a.lat >a.tsv
    near "$(field a.tsv G 1)" .5 1e-13
    near "$(field a.tsv G 2)" .25 1e-13
    for bad in 0 1,0,0 1,0,0,0/ 0,0,0,0 4,0,0,0 1,0,0,x 1.5 "" -1; do
        run -2 --separate-stderr lat-ghost --momenta "$bad" a.lat
        [[ $stderr == "lat-ghost: --momenta $bad: "* ]]
    done
    refuses 2 'expected different momenta modulo the extents, found numbers 2 and 3 the same' \
        lat-ghost --momenta 0,1,0,0/1,0,0,0/-3,0,0,0 a.lat
    refuses 2 '--orbits is for momenta with n^2 up to a number, not for a list' lat-ghost --orbits all --momenta 1,0,0,0 a.lat
    refuses 2 '--accuracy is for --modes' lat-ghost --accuracy 1e-3 a.lat
    refuses 2 '--modes measures eigenvalues' lat-ghost --modes 2 --residual 1e-3 a.lat
    run -2 --separate-stderr lat-ghost --gauge coulomb --momenta 1,0,0,1 a.lat
    [[ $stderr == *"component along time"* ]]
    for bad in 1,0,0 4,0,0,0 -1,0,0,0 0,0,0,0,0; do
        run -2 lat-ghost --point "$bad" a.lat
    done
    run -2 lat-ghost --modes 2 --point 0,0,0,0 a.lat
    run -2 lat-ghost --modes 57 a.lat
    lat-start cold --dims 2,2 -o small.lat
    run -1 --separate-stderr lat-ghost --modes 30 small.lat
    [[ $stderr == *"too small for so many modes"* ]]
}

@test "what is not in the gauge is refused, with --force measured; what does not converge has exit 3; both leave no file" {
    lat-start weak --epsilon 0.05 --seed 3 --dims 4,4,4,4 -o a.lat
    run -3 --separate-stderr lat-ghost a.lat -o never
    [[ $stderr == *"a.lat: configuration 0 is not in gauge landau: theta "*"expected at most 1e-10, header: none (fix it first, by lat-orelax --gauge landau; --require-theta, --force)"* ]]
    run -0 --separate-stderr lat-ghost --tsv --force a.lat
    [[ $stderr == *"is measured although it is not in gauge landau"* ]]
    [ "$(tail -n 1 <<<"$output" | awk -F'\t' '{ print $(NF - 1) }')" = 1 ]
    lat-orelax --theta 1e-6 a.lat -o near.lat
    run -3 lat-ghost near.lat
    lat-ghost --require-theta 1e-6 near.lat >near
    lat-orelax --theta 1e-20 a.lat -o landau.lat
    run -3 --separate-stderr lat-ghost --max-iterations 2 landau.lat -o never
    [[ $stderr == *"landau.lat: configuration 0: residual "*" after 2 iterations, expected 1e-08"* ]]
    run -3 lat-ghost --modes 4 --max-iterations 2 landau.lat -o never
    lat-orelax --gauge mag --theta 1e-10 a.lat -o mag.lat
    run -3 --separate-stderr lat-ghost mag.lat -o never
    [[ $stderr == "lat-ghost: "*": expected a configuration in Landau or Coulomb gauge, found mag"* ]]
    lat-orelax --weights 1,1,1,0 --theta 1e-20 a.lat -o weights.lat
    run -1 --separate-stderr lat-ghost weights.lat -o never
    [[ $stderr == *"needs weights above 0 in all directions, found 0 along t"* ]]
    run -1 lat-ghost --force <(lat-gauge --random --save g.lat a.lat >/dev/null; cat g.lat) -o never
    [ ! -e never ]
    nothing_left
}

@test "streams of several configurations, several files, other formats, JSON" {
    fixed a.lat
    seed=4 fixed b.lat
    cat a.lat b.lat >ab.lat
    lat-ghost --tsv --momenta 1 ab.lat >ab.tsv
    lat-ghost --tsv --momenta 1 a.lat b.lat >two.tsv
    [ "$(tail -n +2 ab.tsv | cut -f 2-13)" = "$(tail -n +2 two.tsv | cut -f 2-13)" ]
    [ "$(tail -n 1 ab.tsv | cut -f 1)" = 1 ]
    head -n 1 two.tsv | grep -q $'\tfile$'
    lat-convert --to nersc a.lat -o a.nersc
    lat-ghost --tsv --momenta 1 a.nersc >a.tsv
    near "$(field a.tsv G)" "$(field ab.tsv G)" 1e-12
    lat-ghost --json --momenta 1 ab.lat >j
    command -v python3 >/dev/null || skip "no python3 to parse JSON with"
    python3 - <<'END'
import json
rows = [l.rstrip("\n").split("\t") for l in open("ab.tsv")][1:]
seen = [(str(o["configuration"]), [str(n) for n in p["momentum"]], p["G"], p["k2"]) for o in map(json.loads, open("j")) for p in o["propagator"]]
assert seen == [(r[0], r[1:5], float(r[6]), float(r[5])) for r in rows] and len(rows) > 5, (seen, rows)
END
}
