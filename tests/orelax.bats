#!/usr/bin/env bats
# Purpose: lat-orelax fixes Landau gauge and changes nothing that is gauge invariant; precisions, omega, exit codes.
# shellcheck disable=SC2154  # status, output and stderr are set by run
load helper

@test "a field in Landau gauge has the same plaquette and Polyakov loops, and a higher functional" {
    rough a.lat --dims 8,4,6,10
    lat-orelax --theta 1e-16 a.lat -o b.lat
    # Sums of 14400 plaquettes, each a product of four matrices of three: far below 1e-13.
    near "$(column a.lat plaquette)" "$(column b.lat plaquette)" 1e-13
    for mu in x y z t; do
        near "$(column a.lat polyakov_${mu}_re)" "$(column b.lat polyakov_${mu}_re)" 1e-13
        near "$(column a.lat polyakov_${mu}_im)" "$(column b.lat polyakov_${mu}_im)" 1e-13
    done
    awk -v a="$(column a.lat functional)" -v b="$(column b.lat functional)" 'BEGIN { exit !(b > a) }'
    lat-theta --require-theta 1e-16 b.lat
    lat-info --check b.lat
}

@test "what the header says of the gauge is what the links have" {
    rough a.lat --dims 4,4,4,8
    lat-orelax --theta 1e-14 a.lat -o b.lat
    lat-info b.lat | grep -q landau
    near "$(strings b.lat | sed -n 's/^theta = //p')" "$(column b.lat theta)" 1e-22
    near "$(strings b.lat | sed -n 's/^functional = //p')" "$(column b.lat functional)" 1e-15
}

@test "relaxation never lowers the functional" {
    rough a.lat --dims 6,4,4,4
    lat-gauge --random --seed 5 a.lat -o hot.lat
    for scheme in su2 su3; do
        lat-orelax --overrelax $scheme --omega 1 --check-every 1 --theta 1e-12 --log log.tsv hot.lat -o b.lat
        # F is a mean: rounding of it is a few 2^-53.
        awk -F'\t' 'NR > 1 && !/^#/ { if (n++ && $4 < last - 1e-15) exit 1; last = $4 } END { exit n < 10 }' log.tsv
    done
}

@test "one thread and many give the same bytes, in each precision" {
    rough a.lat --dims 8,8,8,4
    for p in single mixed double; do
        lat-orelax --theta 1e-10 --precision $p -@ 1 a.lat -o one.lat
        lat-orelax --theta 1e-10 --precision $p -@ 3 a.lat -o three.lat
        cmp one.lat three.lat
    done
}

@test "single, mixed and double end with the same functional within their precisions" {
    rough a.lat --dims 8,8,4,8
    lat-orelax --theta 1e-10 --precision single a.lat -o s.lat
    lat-orelax --theta 1e-20 --precision mixed a.lat -o m.lat
    lat-orelax --theta 1e-20 --precision double a.lat -o d.lat
    # F is quadratic about the maximum: theta of 1e-10 leaves F within about 1e-10 of it.
    near "$(column s.lat functional)" "$(column d.lat functional)" 1e-9
    near "$(column m.lat functional)" "$(column d.lat functional)" 1e-14
    lat-theta --require-theta 1e-10 s.lat
    lat-theta --require-theta 1e-20 m.lat
}

@test "sweeps in single precision leave the links in SU(3) to double rounding" {
    rough a.lat --dims 4,4,4,4
    lat-orelax --theta 1e-10 --precision single a.lat -o b.lat
    near "$(column b.lat unitarity_max)" 0 1e-14
    near "$(column b.lat det_error_max)" 0 1e-14
    near "$(column a.lat plaquette)" "$(column b.lat plaquette)" 1e-14
}

@test "links that are only nearly unitary are fixed as they are" {
    rough a.lat --dims 4,4,4,4 --precision single
    lat-orelax --theta 1e-20 a.lat -o b.lat
    lat-theta --require-theta 1e-20 b.lat
    near "$(column a.lat plaquette)" "$(column b.lat plaquette)" 1e-14
}

@test "every vector length gives the same functional" {
    rough a.lat --dims 8,6,4,4
    for l in base avx2 avx512; do
        LAT_LANES=$l lat-orelax --theta 1e-18 a.lat -o $l.lat
        near "$(column $l.lat functional)" "$(column base.lat functional)" 1e-14
    done
}

@test "lattices with odd ratios of extents, and small ones" {
    for dims in 2,2,2,2 2,4,6,10 6,6,6,6 4,4,4,2 10,2,14,4 12,6 8,8,4; do
        rough a.lat --dims $dims
        lat-orelax --theta 1e-14 a.lat -o b.lat
        lat-theta --require-theta 1e-14 b.lat
        near "$(column a.lat plaquette)" "$(column b.lat plaquette)" 1e-13
    done
}

@test "an odd extent is refused with the reason" {
    lat-start cold --dims 4,4,3,4 -o a.lat
    run -1 --separate-stderr lat-orelax a.lat -o b.lat
    # shellcheck disable=SC2154 # run --separate-stderr sets stderr
    [[ $stderr == "lat-orelax: a.lat:0: lattice 4 4 3 4: extent 3 is odd; even and odd sites need even extents" ]]
    [ ! -e b.lat ]
    nothing_left
}

@test "SU(2) to SU(8) go to Landau gauge, from a random gauge and with det = 1" {
    for n in $(groups 2 3 4 5 6 7 8); do
        rough raw.lat --group "$n" --dims 4,2,4,4
        lat-gauge --random --seed 4 raw.lat -o a.lat
        for scheme in su2 su3; do
            lat-orelax --overrelax $scheme --omega 1.5 --theta 1e-14 a.lat -o b.lat
            lat-theta --require-theta 1e-14 b.lat
            near "$(column a.lat plaquette)" "$(column b.lat plaquette)" 1e-13
            near "$(column b.lat det_error_max)" 0 1e-13
        done
    done
}

@test "a group that the backend does not relax is refused by name" {
    need_group 9
    lat-start hot --group 9 --dims 2,2,2,2 -o a.lat
    run -1 --separate-stderr lat-orelax a.lat -o b.lat
    [[ $stderr == *"SU(9)"*"SU(8)"* ]]
    [ ! -e b.lat ]
}

@test "not converged: exit 3 and no output" {
    rough a.lat --dims 4,4,4,4
    run -3 --separate-stderr lat-orelax --max-sweeps 10 --theta 1e-14 a.lat -o b.lat
    [[ $stderr == *"not converged: theta"*"after 10 sweeps"* ]]
    [ ! -e b.lat ]
    nothing_left
}

@test "not converged with --keep: exit 3, and the output is there and whole" {
    rough a.lat --dims 4,4,4,4
    run -3 --separate-stderr lat-orelax --keep --max-sweeps 10 --theta 1e-14 a.lat -o b.lat
    [[ $stderr == *"not converged"* ]]
    lat-info --check b.lat
    run -3 lat-theta --require-theta 1e-14 b.lat
}

@test "a theta that sweeps in single cannot reach is refused before they begin" {
    rough a.lat --dims 4,4,4,4
    run -2 --separate-stderr lat-orelax --precision single --theta 1e-14 a.lat -o b.lat
    [[ $stderr == *"--precision mixed"* ]]
}

@test "a theta that rounding does not allow ends the run, not the patience" {
    rough a.lat --dims 4,4,4,4
    run -3 --separate-stderr timeout 60 lat-orelax --theta 1e-40 a.lat -o b.lat
    [[ $stderr == *"not converged"* ]]
}

@test "the transformation saved by --save-g makes the output from the input" {
    rough a.lat --dims 4,6,4,4
    lat-orelax --theta 1e-14 --save-g g.lat a.lat -o b.lat
    lat-gauge --apply g.lat a.lat -o c.lat
    lat-diff --tolerance 0 b.lat c.lat
    # And back again: two roundings of each link, elements at most 1.
    lat-gauge --invert g.lat -o back.lat
    lat-gauge --apply back.lat b.lat -o d.lat
    lat-diff --tolerance 1e-14 a.lat d.lat
}

@test "a stream of several configurations is fixed one after the other" {
    rough a.lat --dims 4,4,4,4 --count 3
    lat-orelax --theta 1e-14 --log log.tsv <a.lat >b.lat
    [ "$(column b.lat theta | wc -l)" -eq 3 ]
    lat-theta --require-theta 1e-14 b.lat
    [ "$(grep -c '^# stdin:[012] converged sweeps=' log.tsv)" -eq 3 ]
    [ "$(head -n 1 log.tsv)" = "config	sweep	theta	F	seconds	copy	omega" ]
}

@test "one unconverged configuration among several leaves no output file" {
    { rough a.lat --dims 4,4,4,4; lat-gauge --random --seed 1 a.lat -o b.lat; lat-start cold --dims 4,4,4,4 -o cold.lat; }
    cat cold.lat b.lat >both.lat
    run -3 --separate-stderr lat-orelax --max-sweeps 10 --theta 1e-14 both.lat -o c.lat
    [[ $stderr == *"both.lat:1: not converged"* ]]
    [ ! -e c.lat ]
}

@test "a cold field is in Landau gauge already: no sweep is needed" {
    lat-start cold --dims 4,4,4,4 | lat-orelax --theta 1e-14 --log log.tsv -o b.lat
    grep -q '^# stdin:0 converged sweeps=0' log.tsv
}

@test "provenance names every stage, and nothing in it depends on the number of threads" {
    rough a.lat --dims 4,4,4,4
    lat-orelax --theta 1e-14 -@ 2 a.lat -o b.lat
    [ "$(strings b.lat | grep -c '^history = ')" -eq 2 ]
    strings b.lat | grep -q '^history = lat-orelax .* --theta 1e-14 .*sweeps'
    run -1 grep -aE '^history = lat-orelax.*(-@|--threads)' b.lat
}

@test "a transformation is not something to fix" {
    rough a.lat --dims 4,4,4,4
    lat-orelax --theta 1e-10 --save-g g.lat a.lat -o b.lat
    run -1 --separate-stderr lat-orelax g.lat -o c.lat
    [[ $stderr == *"expected a gauge field"* ]]
}

@test "a device that was not built, or is not there, says so, and auto does without" {
    rough a.lat --dims 4,4,4,4
    export CUDA_VISIBLE_DEVICES=
    run -1 --separate-stderr lat-orelax --device gpu a.lat -o b.lat
    [[ $stderr == *"built without CUDA"* || $stderr == *"no GPU"* ]]
    run -0 --separate-stderr lat-orelax --device auto a.lat -o b.lat
    [ -z "$stderr" ]
    run -0 --separate-stderr lat-orelax --transport staged a.lat -o b.lat
    [[ $stderr == "lat-orelax: --transport is for GPUs; it runs on the CPU" ]]
    lat-orelax --version | grep -q '^MPI: yes' || {
        run -1 --separate-stderr lat-orelax -n 2 a.lat -o b.lat
        [[ $stderr == *"built without MPI"* ]]
    }
}

@test "the same file may be read and written" {
    rough a.lat --dims 4,4,4,4
    cp a.lat b.lat
    lat-orelax --theta 1e-12 a.lat -o a.lat
    lat-orelax --theta 1e-12 b.lat -o c.lat
    cmp a.lat c.lat
}

@test "logs do not replace the input, nor anything with --no-clobber" {
    lat-start weak --dims 2,2,2,2 -o u.lat
    cp u.lat kept.lat
    for log in --log --slice-log --copies-log; do
        refuses 2 "$log ./u.lat is the input as well" lat-orelax --gauge coulomb $log ./u.lat u.lat -o no
        refuses 1 "kept.lat: exists already (--no-clobber)" \
            lat-orelax --gauge coulomb $log kept.lat --no-clobber u.lat -o no
    done
    refuses 2 "--log u.lat is the input as well" lat-anneal --log u.lat u.lat -o no
    cmp u.lat kept.lat
    refuses 2 '--checkpoint ./l is the slice-log as well' lat-orelax --gauge coulomb --slice-log l --checkpoint ./l u.lat -o no
    lat-orelax --log new.log --copies-log copies.log --no-clobber u.lat -o v.lat
    [ "$(wc -l <new.log)" -gt 1 ]
    [ "$(wc -l <copies.log)" -eq 2 ]
}

@test "a stage that fails half-way does not pass for done further down the pipe" {
    rough a.lat --dims 4,4,4,4
    lat-gauge --random --seed 1 a.lat -o b.lat
    lat-start cold --dims 4,4,4,4 -o cold.lat
    cat cold.lat b.lat >both.lat
    run -1 bash -c 'lat-orelax --max-sweeps 10 --theta 1e-14 both.lat 2>/dev/null | lat-theta'
    [[ $output == *"<stdin>: truncated after"*"expected the end mark"* ]]
}

@test "theta falls slowly near the floor of single precision, and lat-orelax has the patience" {
    lat-start hot --dims 2,2,2,30 --seed 3 -o a.lat
    lat-orelax --precision single --overrelax su2 --theta 5e-11 a.lat -o b.lat
    lat-orelax --precision single --overrelax su2 --theta 5e-11 --check-every 1 a.lat -o c.lat
    lat-theta --require-theta 5e-11 b.lat
    lat-theta --require-theta 5e-11 c.lat
}

@test "links of two rows in single are fixed in double: theta of the header is that of what is written" {
    rough a.lat --dims 4,4,4,4
    lat-convert --precision single --rows 2 a.lat -o rows.lat
    for gauge in landau coulomb mag; do
        lat-orelax --gauge $gauge --theta 1e-18 rows.lat -o fixed.lat
        lat-theta --require-theta 1e-18 fixed.lat
        lat-info fixed.lat | grep -q '^numbers     f64, 18 reals'
    done
}

@test "a theta that links stored in single cannot hold is refused before the sweeps" {
    rough a.lat --dims 4,4,4,4
    run -2 --separate-stderr lat-orelax --store single --theta 1e-15 a.lat -o b.lat
    [[ $stderr == *"stored in single"* ]]
    lat-orelax --store single --theta 1e-13 a.lat -o b.lat
    lat-theta --require-theta 1e-13 b.lat
    strings b.lat | grep -qx 'real = f32'
}

@test "GPUs that are named are wanted: auto does not do without them" {
    rough a.lat --dims 4,4
    run lat-orelax -g 99 a.lat -o b.lat
    [ "$status" -eq 1 ] || [ "$status" -eq 2 ] # no GPU at all, or none of that number
    [[ $output == *GPU* || $output == *CUDA* ]]
    run -2 lat-orelax --device cpu -g 0 a.lat -o b.lat
    [[ $output == *"contradict each other"* ]]
    run -2 lat-orelax --device cpu --transport staged a.lat -o b.lat
    run -2 lat-orelax --store single --copies 2 --select all a.lat -o b.lat
    run lat-heatbath --dims 4,4 --beta 2 -g 99 -o b.lat
    [ "$status" -ne 0 ]
    [ ! -e b.lat ]
}

@test "a device that does not exist is a usage error" {
    rough a.lat --dims 4,4,4,4
    run -2 lat-orelax --device toaster a.lat -o b.lat
}

@test "each line of the history names the field that the stage read, by the CRC that lat-info shows" {
    rough a.lat --dims 4,4,4,4
    lat-gauge --random --seed 2 a.lat -o b.lat
    lat-orelax b.lat -o c.lat
    for f in a b; do
        lat-info --tsv $f.lat >info.tsv
        crc=$(field info.tsv crc32)
        strings c.lat | grep "^history = " | grep -q " | of $crc\$"
    done
}

@test "stochastic relaxation: all hits mirrored keep the functional, a share of them gets to the gauge" {
    rough a.lat --dims 4,4,6,4 --epsilon 1.1
    start=$(column a.lat functional)
    for scheme in su2 su3; do
        # Nearly always mirrored, F hardly moves; never, it does.
        lat-orelax --overrelax $scheme --stochastic 0.999 --max-sweeps 2 --keep a.lat -o b.lat 2>/dev/null || [ $? -eq 3 ]
        near "$(column b.lat functional)" "$start" 0.01
        lat-orelax --overrelax $scheme --omega 1 --max-sweeps 2 --keep a.lat -o c.lat 2>/dev/null || [ $? -eq 3 ]
        run ! near "$(column c.lat functional)" "$start" 0.03
        for gauge in landau coulomb mag; do
            lat-orelax --gauge $gauge --overrelax $scheme --stochastic 0.4 --seed 3 -@ 1 a.lat -o one.lat --log log.tsv
            lat-orelax --gauge $gauge --overrelax $scheme --stochastic 0.4 --seed 3 -@ 2 a.lat -o two.lat
            cmp one.lat two.lat
            lat-theta --require-theta 1e-12 one.lat
            [ "$(tail -n 2 log.tsv | head -n 1 | cut -f7)" = 1.0000 ] # omega, where none is given
        done
    done
    lat-orelax --stochastic 0.4 --seed 4 --max-sweeps 10 --keep a.lat -o b.lat 2>/dev/null || [ $? -eq 3 ]
    lat-orelax --stochastic 0.4 --seed 3 --max-sweeps 10 --keep a.lat -o c.lat 2>/dev/null || [ $? -eq 3 ]
    run ! cmp b.lat c.lat
}

@test "omega finds itself: sweeps within reach of the best fixed omega, and the log shows it moving" {
    not_sanitized "numbers of sweeps"
    thermal a.lat
    while read -r gauge omega; do
        lat-orelax --gauge "$gauge" --omega "$omega" --copies 6 --copies-log best.tsv a.lat -o b.lat
        lat-orelax --gauge "$gauge" --omega auto --copies 6 --copies-log auto.tsv --log log.tsv a.lat -o c.lat
        # Means over copies; theta is measured every 10 sweeps, so a few more.
        awk -F'\t' 'FNR > 1 { s[FILENAME] += $6 } END { exit !(s["auto.tsv"] <= 1.25 * s["best.tsv"] + 60) }' best.tsv auto.tsv ||
            { paste best.tsv auto.tsv; false; }
        [ "$(grep -v '^#' log.tsv | tail -n +2 | cut -f7 | sort -u | wc -l)" -gt 3 ]
    done <<'END'
landau 1.7
coulomb 1.85
mag 1.8
END
}

@test "omega that is no number, out of range or not auto is a usage error" {
    rough a.lat --dims 4,4,4,4
    for omega in 0.9 2 two 1.7x ""; do
        run -2 --separate-stderr lat-orelax --omega "$omega" a.lat
        [[ ${stderr_lines[0]} == "lat-orelax: --omega: expected a number from 1 to 1.999 or auto, found '$omega'" ]]
    done
}

@test "a seed without anything that draws is a usage error" {
    rough a.lat --dims 4,4,4,4
    refuses 2 '--seed is for --copies and --stochastic, and there is neither' lat-orelax --seed 7 a.lat -o b.lat
}

@test "mixed is the default, and ends with the functional of double to 1e-12: thermal and rough links, several gauges and groups" {
    local name gauge c
    thermal thermal.lat --dims 8,8,8,8
    thermal su2.lat -N 2 --dims 6,6,6,6 --beta 2.4
    rough rough.lat --dims 6,4,8,4
    rough su5.lat -N 5 --dims 4,4,4,4
    lat-convert --precision single thermal.lat -o single.lat
    while read -r name gauge; do
        # For the sanitizers smaller lattices do.
        [[ $name != thermal && $name != single ]] || ! sanitized || continue
        [[ $name != su5 || -n $(groups 5) ]] || continue
        lat-orelax --gauge "$gauge" --theta 1e-13 --copies 3 --seed 2 --copies-log default.tsv "$name.lat" -o default.lat
        lat-orelax --gauge "$gauge" --theta 1e-13 --copies 3 --seed 2 --copies-log double.tsv --precision double "$name.lat" -o double.lat
        lat-info default.lat | grep -q ' mixed, '
        lat-theta --gauge "$gauge" --require-theta 1e-13 default.lat >theta.txt
        # Each copy ends in the same maximum. F is quadratic about it: theta < 1e-13 leaves it right to 1e-13 times the
        # inverse of the smallest curvature.
        for c in 1 2 3; do
            awk -v a="$(field default.tsv functional $c)" -v b="$(field double.tsv functional $c)" \
                'BEGIN { d = a / b - 1; exit !(d < 1e-12 && d > -1e-12) }' || { echo "$name $gauge"; paste default.tsv double.tsv; false; }
        done
    done <<'END'
thermal landau
thermal coulomb
thermal mag
single landau
su2 landau
su2 mag
rough landau
rough coulomb
rough mag
su5 landau
su5 coulomb
END
    # One that is nearly in the gauge already: all sweeps are in double.
    lat-orelax --theta 1e-13 thermal.lat -o near.lat
    lat-orelax --theta 1e-20 --no-provenance near.lat -o mixed.lat
    lat-orelax --theta 1e-20 --no-provenance --precision double near.lat -o double.lat
    lat-diff --tolerance 0 mixed.lat double.lat
}

@test "mixed and double end with the same functional on published configurations" {
    local name gauge
    need_data milc_lat.sample.l4444 milc_lat.sample.l8888
    for name in l4444 l8888; do
        lat-convert "$DATA/milc_lat.sample.$name" | lat-reunit --precision double -o $name.lat
        for gauge in landau coulomb mag; do
            lat-orelax --gauge $gauge --theta 1e-14 $name.lat -o default.lat
            lat-orelax --gauge $gauge --theta 1e-14 --precision double $name.lat -o double.lat
            awk -v a="$(column default.lat functional)" -v b="$(column double.lat functional)" \
                'BEGIN { d = a / b - 1; exit !(d < 1e-12 && d > -1e-12) }' || { echo "$name $gauge"; false; }
        done
    done
}
