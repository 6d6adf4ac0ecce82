#!/usr/bin/env bats
# Purpose: Gribov copies: many random starts of one configuration go independently through the tools, and the best is chosen.
# shellcheck disable=SC2154  # status, output and stderr are set by run
load helper

@test "a copy ends the same alone by its seed or beside nine others" {
    rough a.lat --dims 4,4,4,6 --epsilon 1.2
    for precision in single mixed double; do
        lat-orelax -p $precision --theta 1e-10 --seed 5 --copies 10 --copies-log all.tsv a.lat -o best.lat
        [ "$(wc -l <all.tsv)" -eq 11 ]
        for n in 1 4 9 10; do # 10 is in the second batch
            lat-orelax -p $precision --theta 1e-10 --seed $((4 + n)) --copies 1 --copies-log one.tsv a.lat -o one.lat
            for name in seed functional theta sweeps converged; do
                [ "$(field one.tsv $name)" = "$(field all.tsv $name $n)" ]
            done
        done
    done
}

@test "copy c is what lat-gauge --random makes of the links with seed + c" {
    rough a.lat --dims 4,4,2,6 --epsilon 1.2
    for gauge in landau coulomb mag; do
        lat-orelax --gauge $gauge --theta 1e-20 --seed 7 --copies 2 --copies-log t.tsv a.lat -o b.lat
        for c in 1 2; do
            lat-gauge --random --seed $((6 + c)) a.lat | lat-orelax --gauge $gauge --theta 1e-20 -o c.lat
            # The same trajectory but for rounding: the same maximum, quadratic in what theta allows.
            near "$(column c.lat functional)" "$(field t.tsv functional $c)" 1e-13
        done
    done
}

@test "the best copy is taken, and the header says which it was" {
    rough a.lat --dims 4,4,4,4 --epsilon 1.3
    lat-orelax --theta 1e-12 --copies 12 --seed 3 --copies-log t.tsv a.lat -o b.lat
    best=$(tail -n +2 t.tsv | cut -f4 | sort -g | tail -n 1)
    least=$(tail -n +2 t.tsv | cut -f4 | sort -g | head -n 1)
    awk -v a="$best" -v b="$least" 'BEGIN { exit !(a > b + 1e-4) }' # there are different copies on such a lattice
    near "$(column b.lat functional)" "$best" 1e-14
    awk -F'\t' -v b="$best" 'NR > 1 && ($8 == 1) != ($4 == b) { exit 1 }' t.tsv
    seed=$(awk -F'\t' '$8 == 1 { print $3 }' t.tsv)
    lat-info b.lat | grep -q "copy.seed = $seed"
    lat-info b.lat | grep -q "best of 12 copies, seed $seed"
    near "$(column a.lat plaquette)" "$(column b.lat plaquette)" 1e-13
}

@test "an unconverged copy never wins" {
    rough a.lat --dims 4,4,4,4 --epsilon 1.3
    lat-orelax --theta 1e-12 --copies 12 --copies-log t.tsv a.lat -o b.lat
    median=$(tail -n +2 t.tsv | cut -f6 | sort -n | sed -n 6p)
    run -0 --separate-stderr lat-orelax --theta 1e-12 --copies 12 --max-sweeps "$median" --copies-log u.tsv a.lat -o c.lat
    [[ $stderr == "lat-orelax: a.lat:0: "*" of 12 copies have not converged; the best of the others was taken" ]]
    grep -q "	0	0$" u.tsv
    awk -F'\t' '$8 == 1 && $7 != 1 { exit 1 }' u.tsv
    lat-theta --require-theta 1e-12 c.lat
    run -3 --separate-stderr lat-orelax --theta 1e-12 --copies 3 --max-sweeps 3 a.lat -o d.lat
    [[ $stderr == "lat-orelax: a.lat:0: not converged: theta "* ]]
    [ ! -e d.lat ]
    run -3 --separate-stderr lat-orelax --theta 1e-12 --copies 3 --max-sweeps 3 --keep a.lat -o d.lat
    lat-info --check d.lat
    nothing_left
}

@test "copies travel as one gauge field and transformations; the last stage rotates" {
    rough a.lat --dims 4,4,4,4 --epsilon 1.2
    lat-anneal --copies 5 --seed 9 --steps 30 --copies-log t.tsv a.lat -o five.lat
    [ "$(lat-info --tsv five.lat | cut -f2 | tail -n +2 | tr '\n' ' ')" = "gauge transform transform transform transform transform " ]
    lat-info five.lat | grep -q "copies      5"
    run -0 bash -o pipefail -c "lat-orelax --theta 1e-12 --copies-log u.tsv five.lat -o b.lat"
    [ "$(wc -l <u.tsv)" -eq 6 ]
    [ "$(cut -f3 t.tsv)" = "$(cut -f3 u.tsv)" ] # seeds go along
    near "$(column b.lat functional)" "$(tail -n +2 u.tsv | cut -f4 | sort -g | tail -n 1)" 1e-14
    # In one pipe, from single precision, the same bytes.
    lat-anneal --copies 5 --seed 9 --steps 30 a.lat | lat-orelax --theta 1e-12 -0 >c.lat
    lat-orelax --theta 1e-12 -0 <five.lat >b.lat
    cmp b.lat c.lat
}

@test "all copies may go out, and each is what its transformation makes of the links" {
    rough a.lat --dims 4,4,4,4 --epsilon 1.2
    lat-orelax --gauge mag --copies 3 --select all --copies-log t.tsv --save-g g.lat --theta 1e-12 a.lat -o all.lat
    [ "$(lat-info --tsv g.lat | wc -l)" -eq 4 ]
    lat-orelax --gauge mag --theta 1e-12 all.lat -o b.lat # nothing to do but to choose
    near "$(column b.lat functional)" "$(tail -n +2 t.tsv | cut -f4 | sort -g | tail -n 1)" 1e-14
    lat-gauge --apply g.lat <(cat a.lat a.lat a.lat) -o rotated.lat
    paste <(column rotated.lat functional --gauge mag) <(tail -n +2 t.tsv | cut -f4) >pairs
    while read -r x y; do near "$x" "$y" 1e-14; done <pairs
}

@test "a stream with copies is refused where they would go wrong" {
    rough a.lat --dims 4,4,4,4
    lat-anneal --copies 2 --steps 3 a.lat -o two.lat
    run -1 --separate-stderr lat-gauge --random two.lat -o b.lat
    [[ $stderr == *"2 copies"* ]]
    run -2 --separate-stderr lat-orelax --copies 3 two.lat -o b.lat
    [[ $stderr == *"two.lat:0: comes with 2 copies"* ]]
    # A copy is missing.
    python3 - <<'END'
data = open("two.lat", "rb").read()
cut = data.rindex(b"lat-stream 1\n")
open("cut.lat", "wb").write(data[:cut] + data[data.rindex(b"LATZ"):])
END
    run -1 --separate-stderr lat-orelax cut.lat -o b.lat
    [ -n "$stderr" ]
    nothing_left
}
