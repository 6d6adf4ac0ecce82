#!/usr/bin/env bats
# Purpose: lat-theta measures the gauge condition in all conventions, and what no gauge transformation changes.
load helper

# value NAME < JSON: a number of a one-line object.
value() {
    sed -n "s/.*\"$1\": \([^,}]*\).*/\1/p"
}

@test "a cold field has theta 0, and functional, plaquette and loops 1" {
    lat-start cold --dims 4,4,4,8 | lat-theta --json > j
    [ "$(cat j)" = '{"gauge": "landau", "functional": 1, "theta": 0, "theta_max": 0, "plaquette": 1, "link_trace": 1, "det_error_mean": 0, "det_error_max": 0, "unitarity_max": 0, "polyakov": [[1, 0], [1, 0], [1, 0], [1, 0]], "dims": [4, 4, 4, 8], "group": "SU(3)"}' ]
}

@test "a random gauge takes the functional to 0 and theta to 4 D (1 - 1/N^2)" {
    for group in 3 4; do
        lat-start cold --dims 6,6,6,6 --group $group | lat-gauge --random | lat-theta --json > j
        near "$(value functional < j)" 0 0.02 # 6 sigma, sigma = 1/(N sqrt(2 D V)) at most 0.0033
        # The theta of a site scatters by less than its mean; 1296 sites: 6/36 of it.
        near "$(value theta < j)" "$(awk -v n=$group 'BEGIN { print 16 * (1 - 1 / n / n) }')" 2.6
        near "$(value plaquette < j)" 1 1e-14
    done
}

@test "JSON has exactly the promised keys, and config as well where the stream has several" {
    command -v python3 > /dev/null || skip "no python3 to read JSON with"
    lat-start hot --dims 3,4,2,6 > one.lat
    lat-start hot --dims 3,4,2,6 --count 3 > three.lat
    lat-start hot --dims 5 --group 2 > line.lat
    lat-plaq --tsv --sd line.lat > line.tsv
    run -1 grep -- -nan line.tsv # a number that there is not has no sign
    cat > keys.py <<'END'
import json, sys
keys = ["gauge", "functional", "theta", "theta_max", "plaquette", "link_trace", "det_error_mean",
        "det_error_max", "unitarity_max", "polyakov", "dims", "group"]
rows = [json.loads(line) for line in sys.stdin]
several = len(rows) > 1
for i, row in enumerate(rows):
    assert list(row) == (["config"] if several else []) + keys, list(row)
    assert not several or row["config"] == i
    assert len(row["polyakov"]) == len(row["dims"]) and all(len(z) == 2 for z in row["polyakov"])
    assert (row["plaquette"] is None) == (len(row["dims"]) == 1)
print(len(rows))
END
    [ "$(lat-theta --json one.lat | python3 keys.py)" = 1 ]
    [ "$(lat-theta --json three.lat | python3 keys.py)" = 3 ]
    [ "$(lat-theta --json line.lat | python3 keys.py)" = 1 ]
}

@test "theta of every slice: the same in text and JSON, refused where it does not apply" {
    lat-start weak --dims 4,2,3,5 >a.lat
    lat-theta --gauge coulomb --time z --slices a.lat | awk '$1 == "slice" { print $3 }' >text
    lat-theta --gauge coulomb --time z --slices --json a.lat >j
    python3 - text j <<'END'
import json, sys
slices, row = [float(x) for x in open(sys.argv[1])], json.load(open(sys.argv[2]))
assert len(row["slices"]) == len(slices) == 3
assert all(abs(a - b) < 1e-14 * b for a, b in zip(row["slices"], slices))
assert abs(sum(slices) / 3 - row["theta"]) < 1e-14 * row["theta"]
F = row["slice_functionals"]
assert len(set(F)) == 3 and abs(sum(F) / 3 - row["functional"]) < 1e-14
END
    # Slices across the last axis, too: the mean of F is the functional.
    lat-theta --gauge coulomb --slices a.lat |
        awk '$1 == "functional" { all = $2 } $1 == "slice" { n++; sum += $5 } END { d = sum / n - all; exit !(n == 5 && d * d < 1e-28) }'
    run -2 lat-theta --gauge coulomb --slices --tsv a.lat
    # Of Coulomb gauge a single slice is one, too; slices of other gauges mean nothing.
    lat-start weak --dims 4,4,1 | lat-theta --gauge coulomb --slices --json | grep -q '"slices": \[[0-9.e-]*\]'
    refuses 1 'a.lat: --slices: expected Coulomb gauge, whose slices are fixed one by one, found Landau gauge (theta without --slices' \
        lat-theta --slices a.lat
    refuses 1 'a.lat: --slices: expected Coulomb gauge, whose slices are fixed one by one, found maximally Abelian gauge' \
        lat-theta --gauge mag --slices --json a.lat
}

@test "--time and --weights without --gauge are for the gauge of the header, or the one the links were annealed for" {
    rough a.lat --dims 4,4,4,6
    lat-orelax --gauge coulomb --time x --theta 1e-8 a.lat -o x.lat
    lat-theta x.lat >stated
    lat-theta --time x x.lat | cmp - stated
    lat-theta --time t x.lat | grep -q '^gauge  *coulomb (header: coulomb.x'
    refuses 2 '--weights is for Landau gauge, not for coulomb' lat-theta --weights 1,1,1,1 x.lat
    lat-anneal --gauge coulomb --steps 3 a.lat -o near.lat
    lat-theta --time y near.lat | grep -q '^gauge  *coulomb.y '
    lat-theta --gauge landau --weights 1,1,1,2 near.lat | grep -q '^gauge  *landau '
}

@test "memory grows with the lattice, not with the square of its slices" {
    lat-start weak --group 2 --precision single --dims 2,65534 | lat-theta --gauge coulomb --slices >text
    [ "$(grep -c '^slice' text)" -eq 65534 ]
    awk '$1 == "theta" && NF == 2 { mean = $2 } $1 == "slice" { sum += $3 } END { d = sum / 65534 / mean - 1; exit !(d * d < 1e-24) }' text
}

@test "text, columns and JSON agree" {
    lat-start weak --dims 4,4,4,4 > a.lat
    lat-theta --json a.lat > j
    lat-theta --tsv a.lat > tsv
    lat-theta a.lat > text
    i=3
    for name in functional theta theta_max plaquette link_trace det_error_mean det_error_max unitarity_max; do
        [ "$(sed -n 1p tsv | cut -f $i)" = $name ]
        [ "$(sed -n 2p tsv | cut -f $i)" = "$(value $name < j)" ]
        i=$((i + 1))
    done
    near "$(awk '$1 == "theta" && NF == 2 { print $2 }' text)" "$(value theta < j)" 1e-14
    near "$(awk '$1 == "plaquette" { print $2 }' text)" "$(value plaquette < j)" 1e-14
}

@test "the last column is the ensemble of the links, so that two of them are not averaged" {
    lat-heatbath --dims 2,2,2,2 --group 2 --beta 2.2 --thermalise 1 -o a.lat
    lat-heatbath --dims 2,2,2,2 --group 2 --beta 2.5 --thermalise 1 | lat-smear stout:0.1,2 >b.lat
    for tool in 'lat-theta' 'lat-theta --residual --gauge mag' 'lat-theta --fp-min' 'lat-plaq' 'lat-abelian --force'; do
        # shellcheck disable=SC2086 # words
        cat a.lat b.lat | $tool --tsv 2>/dev/null | awk -F'\t' '{ print $NF }' >last
        [ "$(cat last)" = $'ensemble\nbeta 2.2, xi 1\nbeta 2.5, xi 1, smearing stout:0.1,2' ]
    done
    lat-theta --conventions --tsv a.lat | awk -F'\t' '{ print $NF }' | sort | uniq -c | grep -c . >kinds
    [ "$(cat kinds)" = 2 ]
    lat-abelian --force --links l.lat --tsv a.lat 2>/dev/null | tail -n 1 | grep -q '	beta 2.2, xi 1$'
    lat-start cold --dims 2,2,2,2 | lat-plaq --tsv | tail -n 1 | grep -q '	unknown$'
}

@test "conventions are what docs/conventions.md says, in terms of theta and its maximum" {
    lat-start weak --dims 4,4,4,4 > a.lat
    lat-theta --conventions --tsv a.lat > c.tsv
    t=$(lat-theta --json a.lat | value theta)
    m=$(lat-theta --json a.lat | value theta_max)
    in_convention() {
        awk -F'\t' -v n="$1" '$3 == n { print $4 }' c.tsv
    }
    for name in lat 'cuLGT 1' QUDA nissa; do
        [ "$(in_convention "$name")" = "$t" ]
    done
    [ "$(in_convention 'cuLGT 2')" = "$m" ]
    near "$(in_convention SIMULATeQCD)" "$(awk -v t="$t" 'BEGIN { printf "%.17g", t / 4 }')" 1e-15
    near "$(in_convention GLU)" "$(awk -v t="$t" 'BEGIN { printf "%.17g", t / 2 }')" 1e-15
    near "$(in_convention Grid)" "$(awk -v t="$t" 'BEGIN { printf "%.17g", t / 4 }')" 1e-15
    near "$(in_convention gpt)" "$(awk -v t="$t" 'BEGIN { printf "%.17g", t / 4 }')" 1e-15
    near "$(in_convention FermiQCD)" "$(awk -v t="$t" 'BEGIN { printf "%.17g", sqrt(t) }')" 1e-15
    near "$(in_convention 'MILC FFT')" "$(awk -v t="$t" 'BEGIN { printf "%.17g", sqrt(t) }')" 1e-15
    for name in MILC Chroma HiRep; do
        [ "$(in_convention $name)" = nan ]
    done
    awk -F'\t' 'NR > 1 { print $3 }' c.tsv | while read -r name; do
        grep -q "^| $name |" "$ROOT/docs/conventions.md" || { echo "$name is not in docs/conventions.md"; exit 1; }
    done
    lat-theta --conventions a.lat | grep -q '^  cuLGT 2 '
    lat-theta --conventions --json a.lat | grep -q '"conventions": {"lat": .*"HiRep": null}}$'
}

@test "--require-theta exits 3 above it and names the configuration, and prints all the same" {
    (lat-start cold --dims 4,4,4,4; lat-start hot --dims 4,4,4,4) > a.lat
    lat-start cold --dims 4,4,4,4 | lat-theta --require-theta 0 > /dev/null
    run -3 --separate-stderr lat-theta --tsv --require-theta 1e-14 a.lat
    [ "${#lines[@]}" -eq 3 ]
    # shellcheck disable=SC2154
    [[ $stderr == *"a.lat: configuration 1 has theta "*", above 1e-14"* ]]
    run -0 lat-theta --require-theta 100 a.lat
    run -3 lat-theta --require-theta 1e-14 -o t a.lat
    [ -s t ]
}

@test "one thread and many print the same digits" {
    lat-start hot --dims 6,4,8,5 > a.lat
    lat-theta -@ 1 --tsv a.lat > one.tsv
    lat-theta -@ 3 --tsv a.lat > three.tsv
    cmp one.tsv three.tsv
}

@test "lat-theta refuses a transformation, and bad usage" {
    lat-start hot --dims 4,4 > a.lat
    lat-gauge --random --save-g g.lat a.lat > /dev/null
    run -1 lat-theta g.lat
    [[ $output == *"gauge transformation"* ]]
    run -2 lat-theta --tsv --json a.lat
    run -2 lat-theta --gauge lorentz a.lat
    run -2 lat-theta --require-theta nan a.lat
    run -2 lat-theta --require-theta -1 a.lat
    run -1 lat-theta missing.lat
}

@test "published plaquettes of real configurations, and of their gauge transforms" {
    need_data milc_lat.sample.l8888 nersc_toolbox_l8t4b3360
    # Independent programs printed 12 digits of the field as stored, and reunitarised by rows.
    lat-convert "$DATA/milc_lat.sample.l8888" > a.lat
    near "$(lat-theta --json a.lat | value plaquette)" 0.593560240433 1e-12
    near "$(lat-theta --json a.lat | value link_trace)" -0.000645638620364 1e-12
    lat-reunit --precision double --method gram-schmidt a.lat > b.lat
    near "$(lat-theta --json b.lat | value plaquette)" 0.593560221836 1e-12
    # The two projections differ by the rounding, rms 9e-8 a link, of either sign in 4*4096 of them.
    lat-reunit --precision double a.lat > b.lat
    near "$(lat-theta --json b.lat | value plaquette)" 0.593560221836 4e-9
    lat-gauge --random b.lat | lat-diff --invariant --tolerance 8.5e-14 b.lat - # 16 N eps * 8
    lat-convert "$DATA/nersc_toolbox_l8t4b3360" > c.lat
    near "$(lat-theta --json c.lat | value plaquette)" 0.50386644695 1e-12
    near "$(lat-theta --json c.lat | value link_trace)" 0.00540608385789 1e-14
    lat-diff --invariant --tolerance 1e-13 c.lat <(lat-gauge --random c.lat)
}

@test "in two and three dimensions the clover density is that of the same links in four" {
    need_numpy
    lat-heatbath --dims 4,6 -N 2 --beta 2 --thermalise 20 --seed 3 -o 2.lat
    lat-heatbath --dims 4,2,6 -N 3 --beta 9 --thermalise 20 --seed 4 -o 3.lat
    "$PYTHON" - <<'END'
import lat
import numpy as np
for nd in 2, 3:
    u = next(lat.read(f"{nd}.lat")).links
    more = (3,) * (4 - nd)
    v = np.zeros(more + u.shape[:nd] + (4,) + u.shape[-2:], complex)
    v[...] = np.eye(u.shape[-1])
    v[..., :nd, :, :] = u
    lat.write(f"{nd}.4.lat", lat.gauge_field(v))
END
    for nd in 2 3; do
        lat-plaq --tsv $nd.lat >few
        lat-plaq --tsv $nd.4.lat >four
        near "$(field few action_density_clover)" "$(field four action_density_clover)" 1e-13
        awk -v x="$(field few action_density_clover)" 'BEGIN { exit !(x > .1) }'
        [ "$(field few charge)" = nan ]
    done
    lat-start hot --dims 8 -o 1.lat
    [ "$(lat-plaq --tsv 1.lat | awk -F'\t' 'NR == 2 { print $7 }')" = nan ]
}
