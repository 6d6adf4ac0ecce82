#!/usr/bin/env bats
# Purpose: properties that hold in Landau, Coulomb and maximally Abelian gauge alike.
load helper

GAUGES="landau coulomb mag"

@test "the known maxima of real configurations, in all gauges and by both schemes" {
    need_data milc_lat.sample.l4444 milc_lat.sample.l8888
    for name in l4444 l8888; do
        lat-convert "$DATA/milc_lat.sample.$name" | lat-reunit --method gram-schmidt --precision double -o $name.lat
    done
    while read -r name gauge expected; do
        for scheme in su2 su3; do
            lat-orelax --gauge "$gauge" --overrelax $scheme --theta 1e-14 "$name.lat" -o b.lat
            near "$(column b.lat functional)" "$expected" 1e-10
            lat-theta --require-theta 1e-14 b.lat >theta.txt
            near "$(column b.lat plaquette)" "$(column "$name.lat" plaquette)" 1e-13
        done
    done <<'END'
l4444 landau .882911381771
l4444 coulomb .894051328892
l4444 mag .847036205009
l8888 landau .861104025437
l8888 coulomb .877294655772
l8888 mag .825474473525
END
}

@test "relaxation never lowers the functional, in no gauge and precision" {
    rough a.lat --dims 6,4,4,4
    lat-gauge --random --seed 5 a.lat -o hot.lat
    for gauge in $GAUGES; do
        for scheme in su2 su3; do
            lat-orelax --gauge "$gauge" --overrelax $scheme --omega 1 --check-every 1 --theta 1e-10 --log d.tsv hot.lat -o b.lat
            lat-orelax --gauge "$gauge" --overrelax $scheme --omega 1 --check-every 1 --theta 1e-10 --precision single --log s.tsv hot.lat -o b.lat
            # F is a mean of numbers of order 1; each is good to a few roundings.
            awk -F'\t' -v e=1e-15 'NR > 1 && !/^#/ { if (n++ && $4 < last - e) exit 1; last = $4 } END { exit n < 10 }' d.tsv
            awk -F'\t' -v e=5e-7 'NR > 1 && !/^#/ { if (n++ && $4 < last - e) exit 1; last = $4 } END { exit n < 10 }' s.tsv
        done
    done
}

@test "lat-theta finds in the links what lat-orelax said of them" {
    rough a.lat --dims 4,6,4,8
    for gauge in $GAUGES; do
        lat-orelax --gauge "$gauge" --theta 1e-12 --log log.tsv a.lat -o b.lat
        [ "$(column b.lat gauge)" = "$gauge" ]
        read -r theta functional < <(sed -n 's/^# .* theta=\([^ ]*\) functional=\([^ ]*\) .*/\1 \2/p' log.tsv)
        near "$(column b.lat theta)" "$theta" "$(awk -v t="$theta" 'BEGIN { print 1e-6 * t }')"
        near "$(column b.lat functional)" "$functional" 1e-14
    done
}

@test "SU(2) in all gauges" {
    rough a.lat --group 2 --dims 4,4,6,4
    for gauge in $GAUGES; do
        for scheme in su2 su3; do
            lat-orelax --gauge "$gauge" --overrelax $scheme --theta 1e-14 a.lat -o b.lat
            lat-theta --require-theta 1e-14 b.lat
            near "$(column a.lat plaquette)" "$(column b.lat plaquette)" 1e-13
        done
    done
}

@test "maximally Abelian gauge of a group that has none here is refused by name" {
    need_group 4
    rough a.lat --group 4 --dims 4,4,4,4
    run -1 --separate-stderr lat-orelax --gauge mag a.lat -o b.lat
    # shellcheck disable=SC2154 # run --separate-stderr sets stderr
    [[ $stderr == *"SU(4): maximally Abelian gauge"* ]]
}

@test "Coulomb gauge: every slice is below theta, along any direction of time" {
    rough a.lat --dims 4,6,8,10
    for time in x y z t; do
        lat-orelax --gauge coulomb --time "$time" --theta 1e-14 a.lat -o b.lat
        lat-theta --slices b.lat >theta.txt
        case $time in x) n=4 ;; y) n=6 ;; z) n=8 ;; t) n=10 ;; esac
        [ "$(grep -c '^slice' theta.txt)" -eq "$n" ]
        awk '/^slice/ && !($3 < 1e-14) { exit 1 }' theta.txt
        near "$(column a.lat plaquette)" "$(column b.lat plaquette)" 1e-13
    done
}

@test "Coulomb gauge judges every slice, not their mean" {
    rough a.lat --dims 4,4,4,8
    run -3 --separate-stderr lat-orelax --gauge coulomb --omega 1.7 --keep --max-sweeps 30 --check-every 1 --theta 1e-14 --slice-log s.tsv a.lat -o b.lat
    [[ $stderr == *"of a slice"* ]]
    run -3 lat-theta --require-theta 1e-14 b.lat
    worst=$(awk '$1 $2 == "worstslice" { print $3 }' <(lat-theta b.lat))
    mean=$(column b.lat theta)
    awk -v w="$worst" -v m="$mean" 'BEGIN { exit !(w > m) }'
    # A bound between the two: the mean is below it, a slice is not.
    between=$(awk -v w="$worst" -v m="$mean" 'BEGIN { print (w + m) / 2 }')
    run -3 lat-theta --require-theta "$between" b.lat
}

@test "Coulomb gauge: a slice that is done is left alone, and its log says so" {
    rough a.lat --dims 4,4,4,8
    lat-orelax --gauge coulomb --theta 1e-14 --check-every 5 --slice-log s.tsv a.lat -o b.lat
    [ "$(head -n 1 s.tsv)" = "config	sweep	slice	theta	copy" ]
    awk -F'\t' '/^#/ || NR == 1 { next } done[$3] && $4 != done[$3] { exit 1 } $4 < 1e-14 { done[$3] = $4 } END { for (i = 0; i < 8; i++) if (!done[i]) exit 1 }' s.tsv
}

@test "Coulomb gauge of a slice does not depend on the other slices, nor on the threads" {
    rough a.lat --dims 4,4,4,6
    for threads in 1 2 4; do
        lat-orelax --gauge coulomb --theta 1e-14 -@ $threads a.lat -o $threads.lat
    done
    cmp 1.lat 2.lat
    cmp 1.lat 4.lat
}

@test "Landau gauge with no weight in time is Coulomb gauge" {
    rough a.lat --dims 4,4,4,4
    lat-orelax --weights 1,1,1,0 --theta 1e-20 a.lat -o w.lat
    lat-orelax --gauge coulomb --theta 1e-20 a.lat -o c.lat
    near "$(column w.lat functional)" "$(column c.lat functional)" 1e-14
    near "$(column w.lat theta --gauge coulomb)" "$(column w.lat theta)" 1e-30
}

@test "weights are in the header, and are what lat-theta measures by" {
    rough a.lat --dims 4,4,6,4
    lat-orelax --weights 1,2,0.5,0.25 --theta 1e-16 a.lat -o w.lat
    strings w.lat | grep -qx 'weights = 1 2 0.5 0.25'
    lat-info w.lat | grep -qx 'weights     1,2,0.5,0.25'
    lat-info --json w.lat | grep -qF '"gauge": "landau", "weights": [1,2,0.5,0.25]'
    lat-orelax --theta 1e-10 a.lat | lat-info | grep -c '^weights' | grep -qx 0
    lat-theta --require-theta 1e-16 w.lat
    run -3 lat-theta --gauge landau --require-theta 1e-6 w.lat
    lat-theta --weights 1,2,0.5,0.25 --require-theta 1e-16 w.lat
    # Two rows or three of the links: the same functional.
    lat-orelax --weights 1,2,0.5,0.25 --theta 1e-16 --precision mixed a.lat -o m.lat
    # Large ones lift the floor of single precision, which mixed must not wait for.
    lat-orelax --weights 1000,1000,1000,1000 --theta 1e-10 --max-sweeps 1000 --precision mixed a.lat -o n.lat
    near "$(column m.lat functional)" "$(column w.lat functional)" 1e-14
}

@test "Coulomb gauge in one dimension is refused where a header says it, by a sentence" {
    local tool
    lat-start hot --dims 8 --no-provenance -0 -o line.lat
    python3 - << 'END'
import zlib
head, body = open("line.lat", "rb").read().split(b"\nend = ")
head += b"\ngauge = coulomb\nsweeps = 1\n"
open("coulomb.lat", "wb").write(head + b"end = %08x\n" % zlib.crc32(head) + body[9:])
END
    lat-info --check coulomb.lat
    for tool in lat-theta lat-reunit "lat-reorder --reflect x" lat-gluon; do
        [ -e "${LAT_BIN:-$ROOT/bin}/${tool%% *}" ] || continue # without FFTW there is no lat-gluon
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr $tool coulomb.lat
        # shellcheck disable=SC2154
        [ "$stderr" = "${tool%% *}: the header says gauge coulomb, which needs two dimensions at least, in one" ]
    done
    lat-theta --gauge landau coulomb.lat > /dev/null
}

@test "weights and time that make no sense are usage errors" {
    rough a.lat --dims 4,4,4,4
    for bad in 1,1,1 1,1,1,1,1 1,1,1,x 0,0,0,0 1,1,1,-1 1,1,1,nan ''; do
        run -2 lat-orelax --weights "$bad" a.lat -o b.lat
    done
    run -2 lat-orelax --gauge coulomb --weights 1,1,1,1 a.lat -o b.lat
    run -2 lat-orelax --gauge landau --time x a.lat -o b.lat
    lat-start cold --dims 4,4 -o flat.lat
    run -2 lat-orelax --gauge coulomb --time t flat.lat -o b.lat
    [ ! -e b.lat ]
}

@test "links that are only nearly unitary reach every gauge as they are" {
    rough a.lat --dims 4,4,4,4 --precision single
    for gauge in $GAUGES; do
        lat-orelax --gauge "$gauge" --theta 1e-20 a.lat -o b.lat
        lat-theta --require-theta 1e-20 b.lat
    done
}

@test "reunitarised links keep their condition, measured again" {
    rough a.lat --dims 4,4,4,4
    lat-orelax --gauge coulomb --theta 1e-14 a.lat -o b.lat
    lat-reunit b.lat -o c.lat
    [ "$(column c.lat gauge)" = coulomb ]
    lat-theta --require-theta 1e-14 c.lat
}

@test "the residual gauge: every phase below theta, the links as measured, g and history as ever; ranks, copies, single" {
    local n
    for n in 2 3; do
        rough a.lat --dims 4,4,4,6 --group $n --seed 4
        lat-orelax --gauge mag --residual --theta 1e-15 --save-g g.lat --log log.tsv a.lat -o f.lat
        # What the header says is what the links have, phase by phase, and all are below theta. theta is their mean.
        lat-info f.lat | sed -n 's/^info  *residual.theta = //p' | tr ' ' '\n' >stated
        lat-theta --residual f.lat | sed -n 's/^residual gauge theta \(.*\), F.*/\1/p' | tr ' ' '\n' >found
        [ "$(wc -l <stated)" -eq $n ]
        awk 'FNR == NR { t[FNR] = $1; next } !($1 < 1e-15 && ($1 - t[FNR])^2 <= 1e-18 * $1^2) { exit 1 } END { exit FNR != '$n' }' stated found
        lat-abelian --links u.lat f.lat >said
        near "$(column u.lat theta --gauge landau)" "$(awk '{ s += $1 } END { print s / NR }' found)" 1e-24
        near "$(column u.lat functional --gauge landau)" "$(lat-theta --tsv --residual f.lat | awk -F'\t' 'END { print $(NF - 1) }')" 1e-13
        # g leads from the input to the output; theta and functional of maximally Abelian gauge are as without.
        lat-gauge --apply g.lat a.lat | lat-diff --tolerance 1e-14 - f.lat >said
        lat-orelax --gauge mag --theta 1e-15 a.lat -o mag.lat
        near "$(column mag.lat functional)" "$(column f.lat functional)" 1e-14
        lat-info f.lat | grep -q ', residual gauge [0-9]* sweeps, theta [0-9.e-]*, F 0'
        grep -q '^a.lat:0:residual	' log.tsv
        # From there nothing moves, and a gauge transformation takes the line away.
        lat-orelax --gauge mag --residual --theta 1e-14 f.lat | lat-diff --tolerance 1e-15 - f.lat >said
        lat-gauge --random f.lat | lat-info | grep -c residual.theta >count || [ "$(cat count)" = 0 ]
        lat-reunit f.lat | lat-theta --residual --require-theta 1e-15 >said
    done
    lat-orelax --gauge mag --residual --theta 1e-13 --store single a.lat | lat-theta --residual --require-theta 1e-13 >said
    lat-orelax --gauge mag --residual --theta 1e-15 --copies 2 a.lat | lat-theta --residual --require-theta 1e-15 >said
    # Several configurations, one command.
    cat a.lat mag.lat | lat-orelax --gauge mag --residual --theta 1e-15 | lat-theta --tsv --residual --require-theta 1e-15 >said
    [ "$(wc -l <said)" -eq 3 ]
    refuses 3 'residual gauge not converged: theta ' lat-orelax --gauge mag --residual --theta 1e-15 --max-sweeps 3 mag.lat -o never
    refuses 2 '--residual is for --gauge mag, and --gauge is landau' lat-orelax --gauge landau --residual a.lat -o never
    refuses 2 '--residual is for maximally Abelian gauge, found Landau gauge' lat-orelax --residual a.lat -o never
    refuses 1 'a.lat: --residual: expected maximally Abelian gauge, found Landau gauge' lat-theta --residual a.lat
    need_mpi
    lat-orelax --gauge mag --residual --theta 1e-15 a.lat -o one.lat
    lat-orelax --gauge mag --residual --theta 1e-15 -n 3 a.lat | lat-diff --tolerance 0 - one.lat >said
}
