#!/usr/bin/env bats
# Purpose: --device gpu gives the results of --device cpu, on one rank and several. Skipped where there is no GPU.
# shellcheck disable=SC2030,SC2031  # each test exports its own LAT_NCCL
load helper
load heatbath

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    rough a.lat --dims 4,6,8,10
    lat-orelax --device gpu --max-sweeps 0 --keep -q a.lat -o there.lat 2>said || [ $? -eq 3 ] || skip "$(cat said)"
}

@test "lat-orelax on the GPU reaches the maximum that the CPU reaches, in every gauge" {
    for gauge in landau coulomb mag; do
        for d in cpu gpu; do
            lat-orelax --device $d --gauge $gauge --theta 1e-14 a.lat -o $d.lat
            lat-theta --gauge $gauge --require-theta 1e-14 $d.lat
            lat-info $d.lat | grep -q "$d"
        done
        # Where theta is 1e-14, F is some 1e-15 below the maximum.
        near "$(column cpu.lat functional --gauge $gauge)" "$(column gpu.lat functional --gauge $gauge)" 1e-12
    done
}

@test "lat-anneal on the GPU follows the CPU, in every gauge" {
    for gauge in landau coulomb mag; do
        for d in cpu gpu; do
            lat-anneal --device $d --gauge $gauge --precision double --from 0.5 --to 0.1 --steps 20 --micro 2 --check-every 1 --log $d.tsv a.lat -o $d.lat
        done
        paste <(cut -f4 cpu.tsv) <(cut -f4 gpu.tsv) | awk -F'\t' 'NR > 1 && NF == 2 { d = $1 - $2; if (!(d < 1e-12 && d > -1e-12)) bad = 1; n++ }
            END { exit bad || n < 20 }'
    done
}

# Was GPU code for SU(N) built? Without it `make` has SU(2) to SU(4).
built_for() {
    lat-heatbath -q --device gpu --group "$1" --dims 4,4,4,4 --beta 4 --thermalise 0 --every 1 -o built.lat 2>said && return
    grep -q "this program was built with GPU code for" said || return 0
    return 1
}

@test "mixed and single precision on the GPU reach what they promise" {
    lat-orelax --device gpu --precision mixed --theta 1e-20 a.lat -o b.lat
    lat-theta --require-theta 1e-20 b.lat
    lat-orelax --device gpu --precision single --theta 1e-10 a.lat -o b.lat
    lat-theta --require-theta 1e-10 b.lat
}

@test "Newton's method on the GPU ends in the maxima where sweeps and the CPU end, with the same bytes each time" {
    thermal b.lat
    thermal c.lat --group 2 --beta 2.4
    for file in b.lat c.lat; do
        for gauge in landau coulomb; do
            lat-orelax --device gpu --gauge $gauge --copies 2 --theta 1e-15 $file --copies-log none.tsv -o none.lat
            for n in 1 2; do
                lat-orelax --no-provenance --device gpu --finish newton --gauge $gauge --copies 2 --theta 1e-15 --log log.tsv \
                    $file --copies-log newton.tsv -o $n.lat
            done
            lat-theta --gauge $gauge --require-theta 1e-15 1.lat
            cmp 1.lat 2.lat
            # F is a mean of numbers of size 1, and quadratic in what theta leaves.
            paste none.tsv newton.tsv | awk -F'\t' 'NR > 1 { d = $4 - $12; if (d < -1e-12 || d > 1e-12) exit 1; a += $6; b += $14 }
                END { exit !(NR > 1 && b < a) }'
            grep -q "^# .* newton slices=.* converged=.* ritz=0\.[0-9]" log.tsv
        done
    done
    lat-orelax --device gpu --finish newton --weights 1,1,1,0.5 --theta 1e-24 --precision double b.lat -o d.lat
    lat-theta --require-theta 1e-24 d.lat
    lat-orelax --device gpu --gauge coulomb --time x --theta 1e-14 b.lat -o none.lat
    lat-orelax --device gpu --finish newton --gauge coulomb --time x --theta 1e-14 b.lat -o d.lat
    near "$(column d.lat functional --gauge coulomb --time x)" "$(column none.lat functional --gauge coulomb --time x)" 1e-12
}

@test "where Newton's method cannot be on the GPU a sentence says why, and auto leaves all to sweeps" {
    rough odd.lat --dims 4,4,4,44
    refuses 1 "Fourier transforms are here for extents that are products of 2, 3, 5 and 7, at most 4096, found 44" \
        lat-orelax --device gpu --finish newton odd.lat -o b.lat
    lat-orelax --device gpu --finish auto odd.lat -o b.lat
    lat-orelax --device gpu odd.lat -o c.lat
    cmp <(lat-convert --to raw b.lat) <(lat-convert --to raw c.lat)
}

@test "a group without GPU code runs on the CPU, with a sentence that says how to get it, unless a GPU was asked for" {
    local n
    for n in 3 4 5 6 7 8 none; do
        [ $n != none ] || skip "GPU code of all groups was built"
        lat-start hot -N $n --dims 4,4,4,4 -o n.lat
        lat-orelax --device gpu --max-sweeps 0 --keep -q n.lat -o gpu.lat 2>said || [ $? -eq 3 ] || break
    done
    lat-orelax --device cpu --max-sweeps 0 --keep -q n.lat -o cpu.lat 2>/dev/null || [ $? -eq 3 ] || skip "SU($n) was not built for the CPU either"
    grep -q "^lat-orelax: .*SU($n): this program was built with GPU code for SU(2) to SU($((n - 1))); 'make GPU_GROUPS=$n'" said
    lat-orelax --max-sweeps 1 --keep n.lat -o auto.lat 2>said || [ $? -eq 3 ]
    grep -q "'make GPU_GROUPS=$n' builds it with more; it runs on the CPU" said
    lat-info auto.lat | grep -q 'cpu'
}

@test "the GPU gives the same bytes each time" {
    for i in 1 2; do
        lat-anneal --device gpu --steps 30 --no-provenance a.lat | lat-orelax --device gpu --theta 1e-12 --no-provenance -o $i.lat
    done
    cmp 1.lat 2.lat
}

@test "lat-gluon by cuFFT agrees with FFTW, in two to four dimensions of even and odd extents" {
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] || skip "lat-gluon was not built: no FFTW"
    lat-start cold --dims 4,4 | lat-gluon --device gpu >there 2>said || skip "$(cat said)"
    local dims args
    while read -r dims args; do
        lat-start hot --dims "$dims" --seed 5 -o b.lat
        for d in cpu gpu; do
            # shellcheck disable=SC2086 # several words
            lat-gluon --force --device $d --average none --tsv $args b.lat >$d.tsv
        done
        # Each of log2 V passes of a transform rounds by epsilon = 2.2e-16 or so of the root mean square of the spectrum, which is flat here: A(p) is
        # that to a factor. So D and longitudinal, sums of squares, to 4 epsilon log2 V of their mean.
        paste cpu.tsv gpu.tsv | awk -F'\t' -v dims="$dims" '
            BEGIN { n = split(dims, L, ","); V = 1; for (i = 1; i <= n; i++) V *= L[i] }
            NR > 1 { rows++; sum += $5 + $7; for (i = 5; i <= 7; i += 2) { d = $i - $(i + NF / 2); d = d < 0 ? -d : d; if (!(d <= worst)) worst = d } if ($2 != $(2 + NF / 2)) bad++ }
            END { bound = 4 * 2.2e-16 * log(V) / log(2) * sum / rows; print dims, worst, bound; exit bad || rows < 20 || !(worst <= bound) }'
    done <<'ROWS'
8,6,5,7
4,6,8,10
5,4,3,6 --gauge coulomb
6,4,8,5 --gauge coulomb --time z
7,6,8
6,9
16,16,16,32
ROWS
}

@test "where there is a GPU, auto takes it" {
    lat-orelax --theta 1e-12 a.lat -o b.lat
    lat-info b.lat | grep -q "gpu"
}

@test "lat-flow on the GPU gives the densities, charges and links of the CPU, the same on several; odd extents flow on the CPU" {
    local action how
    for action in wilson symanzik; do
        for d in cpu gpu; do
            lat-flow --device $d --tsv --until .5 --action $action --links $d.lat a.lat >$d.tsv
        done
        lat-info gpu.lat | grep -q 'lat-flow.*gpu'
        # Some ten steps of three stages, each some hundred roundings of 2.2e-16 a link; densities are sums of six planes.
        lat-diff --tolerance 1e-12 cpu.lat gpu.lat
        paste cpu.tsv gpu.tsv | awk -F'\t' 'NR > 1 { for (i = 3; i <= 8; i++) { d = $i - $(i + NF / 2); if (!(d < 1e-11 && d > -1e-11)) bad = 1 } n++ } END { exit bad || n < 5 }'
        for how in "-n 2" "-n 3" "-n 2 --transport staged"; do
            command -v mpirun >/dev/null || continue
            # shellcheck disable=SC2086 # words
            lat-flow $how --device gpu --tsv --until .5 --action $action --links ranks.lat a.lat >ranks.tsv
            cmp gpu.tsv ranks.tsv
            lat-diff --tolerance 0 gpu.lat ranks.lat
        done
    done
    lat-start hot --dims 4,5,4,4 -o odd.lat
    lat-flow --scales --tsv --until .1 odd.lat 2>said >/dev/null
    grep -q "even extents, found 5; it runs on the CPU" said
    refuses 1 "on a GPU a flow needs even extents, found 5" lat-flow --device gpu --until .1 odd.lat
}

@test "lat-loops on the GPU has the loops of the CPU, the same bytes each time; ranks of GPUs are refused" {
    local set d
    for set in "--max-r 3 --off-axis 110,211 --smear ape:0.5 --levels 0,2,5" \
        "--smear hyp:0.6,0.3 --levels 1 --time-links hyp:0.75,0.6,0.3,1" "--smear stout:0.1 --levels 0,4 --slices 1,5" \
        "--polyakov --off-axis 111"; do
        for d in cpu gpu again; do
            # shellcheck disable=SC2086 # words
            lat-loops --device "${d/again/gpu}" --tsv $set a.lat >$d.tsv
        done
        cmp gpu.tsv again.tsv
        # Some hundred products, each off by some 2.2e-16; each of up to 5 steps of smearing multiplies that by less than 4.
        paste cpu.tsv gpu.tsv | awk -F'\t' '
            NR == 1 { for (i = 1; i <= NF / 2; i++) if ($i ~ /^(W|C|polyakov_..)$/) number[i] = 1 }
            NR > 1 { n++; for (i = 1; i <= NF / 2; i++) { j = i + NF / 2; d = $i - $j
                if (i in number ? !(d < 1e-12 && d > -1e-12) : $i != $j) { print "column " i ": " $0; bad = 1 } } }
            END { exit bad || n < 2 || !length(number) }'
    done
    command -v mpirun >/dev/null || return 0
    refuses 1 "on GPUs one rank alone measures loops, found 2 ranks" lat-loops -n 2 --device gpu a.lat
    lat-loops -n 2 --tsv --device cpu a.lat >cpu.tsv
    lat-loops -n 2 --tsv a.lat 2>said | cmp - cpu.tsv
    grep -q "it runs on the CPU" said
}

@test "lat-ghost on the GPU has the propagator of the CPU, in both gauges; what it cannot do runs on the CPU" {
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-ghost" ] || skip "lat-ghost was not built: no FFTW"
    local fix args
    while IFS='|' read -r fix args; do
        # shellcheck disable=SC2086 # words
        lat-orelax -q $fix --theta 1e-16 a.lat -o fixed.lat
        for d in cpu gpu; do
            # shellcheck disable=SC2086 # words
            lat-ghost --device $d --residual 1e-12 --tsv --momenta 3 $args fixed.lat >$d.tsv
        done
        # From a point G errs by the residual, some 1e-12; else by its square, and by rounding.
        paste cpu.tsv gpu.tsv | awk -F'\t' 'NR > 1 { d = $7 / $(7 + NF / 2) - 1; if (!(d < 1e-10 && d > -1e-10)) bad = 1; n++ } END { exit bad || n < 3 }'
    done <<'ROWS'
--gauge landau|
--gauge landau|--point 1,2,3,4
--gauge coulomb|
--gauge coulomb --time y|
ROWS
    lat-start cold --dims 4,4,4,4 -N 5 -o five.lat
    lat-ghost --momenta 1 five.lat >/dev/null 2>said
    grep -q "on a GPU the Faddeev-Popov operator is for SU(2) to SU(4); it runs on the CPU" said
    refuses 1 "SU(5): on a GPU the Faddeev-Popov operator is for SU(2) to SU(4)" lat-ghost --device gpu --momenta 1 five.lat
    lat-start cold --dims 4,4,17 -o prime.lat
    refuses 1 "products of 2, 3, 5, 7, 11 and 13, at most 1024, found 17" lat-ghost --device gpu --momenta 1 prime.lat
    # Links 1, so that L^-1 is M^-1: lines of all kinds, also those that are transformed in two parts.
    for dims in 22,4,2,64 13,48 9,11,26 96,7,2; do
        lat-start cold --group 2 --dims $dims | lat-ghost --device gpu --residual 1e-11 --max-iterations 3 --tsv --momenta 2 >cold.tsv
        awk -F'\t' 'NR > 1 { n++; d = $6 * $7 - 1; if (!(d * d < 1e-22)) bad = 1 } END { exit bad || n < 2 }' cold.tsv
    done
}

@test "lat-heatbath on the GPU follows the CPU, and its own continuation gives the same bytes" {
    for d in cpu gpu; do
        lat-heatbath --device $d --dims 4,6,8,10 --beta 6.0 --xi 1.2 --start hot --overrelax 0 --thermalise 10 --every 10 --log $d.tsv -o $d.lat
        lat-info $d.lat | grep -q "$d"
    done
    # A heat bath draws trajectories together: rounding of plaquettes does not grow, that of links, most of it a gauge
    # transformation, does slowly.
    lat-diff --tolerance 1e-9 cpu.lat gpu.lat
    paste <(cut -f2 cpu.tsv) <(cut -f2 gpu.tsv) | awk -F'\t' 'NR > 1 { d = $1 - $2; if (!(d < 1e-11 && d > -1e-11)) bad = 1; n++ } END { exit bad || n != 20 }'
    for n in 2 3 5; do
        built_for $n || continue
        lat-heatbath --device gpu --group $n --dims 4,4,4,6 --beta $((n * n)) --thermalise 0 --every 2 --count 2 -o 'all.%d.lat'
        lat-heatbath --device gpu --group $n --dims 4,4,4,6 --beta $((n * n)) --thermalise 0 --every 2 -o part.lat
        lat-heatbath --device gpu part.lat -o part.lat
        cmp all.1.lat part.lat
    done
}

@test "trajectories of the GPU and the CPU part by chaos alone, for 20 passes; their mean plaquettes agree after" {
    make_neighbours
    neighbours 0 20 LAT_LANES=avx512 "--device cpu"
    neighbours 4 4 LAT_LANES=avx512 "--device cpu"
    neighbours 19 1 LAT_LANES=avx512 "--device cpu"
    for d in cpu gpu; do
        lat-heatbath --device $d --dims 4,4,4,4 --beta 5.5 --start hot --thermalise 100 --every 600 --log $d.tsv -q -o x.lat
    done
    meet "$(mean plaquette cpu.tsv 100)" "$(mean plaquette gpu.tsv 100)" 0.005
}

@test "plaquettes that the GPU makes are the exact ones of two dimensions" {
    while read -r n beta expected; do
        built_for "$n" || continue
        for p in single double; do
            lat-heatbath --device gpu --precision $p --group "$n" --dims 64,64 --beta "$beta" --overrelax 1 --thermalise 50 --every 1500 --seed 11 --log log.tsv -o a.lat
            agrees "$(mean plaquette log.tsv 50)" "$expected"
        done
    done <<'END'
2 2.5 .507195100047
3 5.7 .402716607316
4 8 .278892275871
5 17.1 .372116458700
END
}

# The trajectory of several ranks is that of one bit for bit: only sums are added up in another order. Ranks share a GPU where there
# are fewer; `-g` and more GPUs change nothing.
ranks_setup() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    lat-orelax -n 2 --device gpu --max-sweeps 0 --keep -q a.lat -o there.lat 2>said || [ $? -eq 3 ] || skip "$(cat said)"
    transports="peer staged"
    ! aware || transports+=" cuda-aware"
}

# The MPI says of itself that it was built for the memory of GPUs: OpenMPI's own words (grep -q would end them early).
aware() {
    ompi_info --parsable --all 2>/dev/null | grep 'mpi_built_with_cuda_support:value:true' >/dev/null
}

# as_alone N TRANSPORT TOOL [OPTION]...: the same links, to the last bit.
as_alone() {
    local n=$1 transport=$2 status=0
    shift 2
    "$@" --device gpu -q --no-provenance a.lat -o alone.lat 2>/dev/null || [ $? -eq 3 ]
    "$@" --device gpu -q --no-provenance -n "$n" --transport "$transport" a.lat -o ranks.lat 2>said || status=$?
    [ $status -eq 0 ] || [ $status -eq 3 ] || { echo "$*: -n $n --transport $transport: exit $status: $(cat said)"; return 1; }
    lat-diff alone.lat ranks.lat >difference
    grep -q '^largest  *0$' difference || { echo "$*: -n $n --transport $transport:"; cat difference; return 1; }
}

@test "ranks with GPUs go the way of one, by every transport, divided evenly or not" {
    ranks_setup
    for n in 2 3 4; do
        for transport in $transports; do
            as_alone $n "$transport" lat-orelax --precision double --keep --omega 1.7 --theta 0 --max-sweeps 30
        done
    done
    as_alone 5 auto lat-orelax --precision double --keep --omega 1.7 --theta 0 --max-sweeps 30
}

@test "ranks with GPUs go the way of one in every gauge, scheme and precision" {
    ranks_setup
    for gauge in landau coulomb mag "coulomb --time y"; do
        # shellcheck disable=SC2086 # two words
        for how in "--precision double --overrelax su2" "--precision double --stochastic 0.3" "--precision single --overrelax su3"; do
            as_alone 3 auto lat-orelax --gauge $gauge --omega 1.6 $how --theta 1e-4 --check-every 10
        done
    done
    for gauge in landau coulomb mag; do
        as_alone 3 auto lat-anneal --gauge $gauge --precision double --from 0.5 --to 0.1 --steps 20 --micro 2
        as_alone 2 staged lat-anneal --gauge $gauge --from 0.5 --to 0.1 --steps 5 --micro 2
    done
}

@test "ranks with GPUs fix larger groups as one: gauges, schemes, precisions, copies, annealing, divided evenly or not" {
    ranks_setup
    local group gauge how
    for group in 4 5 6 8; do
        built_for $group || continue
        rough a.lat --group $group --dims 4,6,4,10
        for gauge in landau coulomb "coulomb --time y"; do
            for how in "3 auto --precision double --overrelax su2" "2 peer --precision double --stochastic 0.3" "2 staged --precision single --overrelax su3"; do
                # shellcheck disable=SC2086 # words
                as_alone ${how%% --*} lat-orelax --gauge $gauge --omega 1.6 --${how#* --} --theta 1e-4 --check-every 10
            done
        done
        as_alone 2 staged lat-orelax --copies 6 --omega 1.6 --keep --theta 0 --max-sweeps 20
        as_alone 4 auto lat-anneal --precision double --from 0.5 --to 0.1 --steps 10 --micro 2
        as_alone 3 peer lat-anneal --precision single --from 0.5 --to 0.1 --steps 6 --micro 2
    done
}

@test "ranks with GPUs: copies, mixed precision, provenance" {
    ranks_setup
    as_alone 4 auto lat-orelax --copies 3 --omega 1.7 --theta 1e-8
    as_alone 2 staged lat-orelax --copies 3 --select all --omega 1.7 --theta 1e-8
    lat-orelax -n 3 --device gpu --precision mixed --theta 1e-20 a.lat -o b.lat
    lat-theta --require-theta 1e-20 b.lat
    lat-info b.lat | grep -q 'gpu .* x 3, peer'
}

# Half of the slices are as good as done, half are rough and take some thousand sweeps: enough to wait for others to send them.
@test "ranks with GPUs: slices in Coulomb gauge that migrate to other ranks end the same" {
    ranks_setup
    local e n how="--gauge coulomb --omega 1 --theta 1e-20"
    for e in 0.01 1.5; do lat-start weak --epsilon $e --seed 3 --dims 4,4,4,12 | lat-convert --to raw -o $e.raw; done
    cat 0.01.raw 1.5.raw >both.raw
    lat-convert --from raw --type f64 --endian little --dims 4,4,4,24 both.raw -o a.lat
    for n in 2 3; do
        # shellcheck disable=SC2086 # words
        as_alone $n auto lat-orelax $how
        # shellcheck disable=SC2086
        lat-orelax --device gpu -n $n -v $how a.lat -o b.lat 2>said
        grep -q 'load balancing: .* slices migrate' said
    done
    as_alone 2 auto lat-orelax --gauge coulomb --omega 1 --theta 1e-16 --copies 3
    as_alone 3 auto lat-orelax --gauge coulomb --stochastic 0.1 --theta 1e-16
}

# Killed twice on the way, once with three ranks and once with two.
@test "ranks with GPUs: a checkpoint of three is resumed by two, and by one" {
    ranks_setup
    local n pid how="--device gpu -q --from 1 --to 0.2 --steps 20000 --check-every 50 --copies 2 --no-provenance"
    # shellcheck disable=SC2086 # words
    lat-anneal $how a.lat -o straight.lat
    for n in 3 2; do
        touch before
        # shellcheck disable=SC2046,SC2086
        lat-anneal $how -n $n --checkpoint ck --every 0 $([ ! -e ck ] || echo --resume ck) a.lat -o cut.lat &
        pid=$!
        while kill -0 $pid 2>/dev/null && ! [ ck -nt before ]; do sleep 0.05; done
        kill -KILL $pid
        wait $pid || true
        [ ! -e cut.lat ]
    done
    # shellcheck disable=SC2086
    lat-anneal $how --checkpoint ck --resume ck a.lat -o cut.lat
    cmp straight.lat cut.lat
}

@test "ranks with GPUs make the configurations of one: any group, division, precision, transport" {
    ranks_setup
    for n in 2 3 4 5; do
        for transport in $transports; do
            as_alone $n "$transport" lat-heatbath --seed 1 --beta 6.0 --xi 1.2 --overrelax 2 --every 4
        done
    done
    as_alone 4 auto lat-heatbath --seed 1 --beta 6.0 --precision single --every 10
    as_alone 2 auto lat-heatbath --seed 1 --beta 6.0 --update metropolis --every 3
    while read -r group dims; do
        built_for "$group" || continue
        rough a.lat --group "$group" --dims "$dims"
        as_alone 3 peer lat-heatbath --seed 1 --beta $((group * group)) --overrelax 1 --every 3
        as_alone 2 staged lat-heatbath --seed 1 --beta $((group * group)) --overrelax 1 --every 3
    done <<'END'
2 6,4,4,10
3 8,14
3 6,4,6
4 4,6,2,8
5 4,2,4,6
8 4,4,2,6
END
    # They follow the CPU, and so do their sums.
    lat-heatbath -n 3 --device gpu --dims 4,6,8,10 --beta 6.0 --start hot --overrelax 0 --thermalise 0 --every 10 --count 2 --log gpu.tsv -o gpu.lat
    lat-heatbath --device cpu --dims 4,6,8,10 --beta 6.0 --start hot --overrelax 0 --thermalise 0 --every 10 --count 2 --log cpu.tsv -o cpu.lat
    lat-info gpu.lat | grep -q 'gpu .* x 3, peer'
    paste <(cut -f2 cpu.tsv) <(cut -f2 gpu.tsv) | awk -F'\t' 'NR > 1 { d = $1 - $2; if (!(d < 1e-11 && d > -1e-11)) bad = 1; n++ } END { exit bad || n != 20 }'
    run -2 lat-heatbath -n 6 --device gpu --beta 6 --dims 4,4,4,10 -o b.lat
    [[ $output == *"at most 5 ranks"* ]]
}

@test "lat-ghost on several ranks: on GPUs a sentence says what to do instead, and without --device it runs on the CPU" {
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-ghost" ] || skip "lat-ghost was not built: no FFTW"
    ranks_setup
    lat-orelax -q --device cpu --theta 1e-16 a.lat -o fixed.lat
    refuses 1 "on GPUs the Faddeev-Popov operator runs on one rank, found 2: use -n 1, or --device cpu" \
        lat-ghost -n 2 --device gpu --momenta 1 fixed.lat
    lat-ghost --device cpu --tsv --momenta 1 fixed.lat >one.tsv
    lat-ghost -n 2 --tsv --momenta 1 fixed.lat 2>said | cmp one.tsv
    grep -q "runs on one rank, found 2.*; it runs on the CPU" said
    # links of odd extents, which are in no gauge
    rough odd.lat --epsilon .05 --dims 3,5,4,7
    lat-ghost --device cpu --force --tsv odd.lat >one.tsv
    lat-ghost --device gpu --force --tsv odd.lat >gpu.tsv
    paste one.tsv gpu.tsv | awk -F'\t' 'NR > 1 { d = $7 / $(7 + NF / 2) - 1; if (!(d < 1e-10 && d > -1e-10)) bad = 1; n++ } END { exit bad || n < 1 }'
}

@test "ranks with GPUs: what cannot be done is said" {
    ranks_setup
    run -2 lat-orelax -n 6 --device gpu a.lat -o b.lat
    [[ $output == *"at most 5 ranks"* ]]
    run -2 lat-orelax --device gpu -g 0,x a.lat -o b.lat
    [[ $output == *"expected numbers from 0 to"* ]]
    if ! aware; then
        run -2 lat-orelax -n 2 --device gpu --transport cuda-aware a.lat -o b.lat
        [[ $output == *"does not say that it is"* ]]
    fi
}

# The stand-in for NCCL, whose ranks may share a GPU.
fake_nccl() {
    "${CC:-cc}" -shared -fPIC -o fake_nccl.so "$ROOT/tests/faults/fake_nccl.c" -ldl || skip "no compiler"
    export LAT_NCCL=$PWD/fake_nccl.so LAT_FAKE_FOLDER=$BATS_FILE_TMPDIR
}

@test "ranks with GPUs go the way of one by NCCL: relaxation, configurations, quarks; history and -v name it" {
    ranks_setup
    fake_nccl
    local n how
    for n in 2 3 4; do
        as_alone $n nccl lat-orelax --precision double --keep --omega 1.7 --theta 0 --max-sweeps 30
        as_alone $n nccl lat-heatbath --seed 1 --beta 6.0 --xi 1.2 --overrelax 2 --every 4
    done
    as_alone 2 nccl lat-orelax --omega 1.7 --theta 1e-8
    lat-heatbath -v -n 3 --device gpu --transport nccl --seed 1 --beta 6 --every 2 a.lat -o b.lat 2>said
    grep -q 'gpu .* x 3, nccl' said
    lat-info b.lat | grep -q 'gpu .* x 3, nccl'
    lat-heatbath -q --device cpu --dims 8,8,4,10 --beta 6 --thermalise 20 -o links.lat
    for how in "-p double" "--csw 1.2 --boundary p,.3,p,.4 --solver cg" "-p half --columns 0"; do
        # shellcheck disable=SC2086
        for n in 1 "2 --transport staged" "2 --transport nccl" "4 --grid 1,1,2,2 --transport nccl" "3 --transport nccl"; do
            lat-solve -v -n $n --device gpu --no-provenance --kappa .12 $how --source point:1,2,3,4 links.lat -o "$n.lat" 2>said
            cmp 1.lat "$n.lat"
        done
        grep -q 'gpu .* x 3, nccl' said
    done
    for n in 1 "4 --grid 1,1,2,2 --transport nccl"; do
        # shellcheck disable=SC2086
        lat-solve -q -n $n --device gpu --no-provenance --kappa .12 --solver mg --source point:1,2,3,4 links.lat -o "$n.lat"
        cmp 1.lat "$n.lat"
    done
    # Nothing is left of the exchanges.
    run -2 ls -d "$BATS_FILE_TMPDIR"/fake_nccl.*
}

# Ranks 0 and 1 of three, and of each half of four, are on one host. Of sweeps ranks that share a GPU are peers, too.
@test "ranks with GPUs on two hosts go the way of one: relaxation, configurations, flow; history and -v name both transports" {
    ranks_setup
    local n carrier
    lat-flow -q --device gpu --tsv --until .3 --action symanzik --links alone.flow a.lat >alone.tsv
    for carrier in staged nccl; do
        export LAT_NCCL=no
        [ $carrier = staged ] || fake_nccl
        ! aware || [ $carrier = nccl ] || carrier=cuda-aware
        for n in 2 3 4; do
            two_hosts as_alone $n auto lat-orelax --precision double --keep --omega 1.7 --theta 0 --max-sweeps 30
            two_hosts as_alone $n auto lat-heatbath --seed 1 --beta 6.0 --xi 1.2 --overrelax 2 --every 4
        done
        two_hosts lat-heatbath -v -n 4 --device gpu --seed 1 --beta 6 --every 2 a.lat -o b.lat 2>said
        grep -q "gpu .* x 4, peer and $carrier" said
        lat-info b.lat | grep -q "gpu .* x 4, peer and $carrier"
        two_hosts lat-flow -q -n 4 --device gpu --tsv --until .3 --action symanzik --links ranks.flow a.lat >ranks.tsv
        cmp alone.tsv ranks.tsv
        lat-diff --tolerance 0 alone.flow ranks.flow
    done
    refuses 2 "--transport peer: expected all 4 ranks on one host, found 2 on this one" \
        two_hosts lat-orelax -n 4 --device gpu --transport peer a.lat -o c.lat
}

# Ranks of a host that share a GPU send no faces of quarks to peers unless they are told to.
@test "ranks with GPUs on two hosts solve as one does, to the last bit: slabs and boxes, half and double; -v names both transports" {
    need_mpi
    local how carrier precision gpus expected
    gpus=$(nvidia-smi -L | wc -l)
    lat-heatbath -q --device cpu --dims 16,8,8,24 --beta 6 --thermalise 5 -o links.lat
    for precision in half double; do
        local solve=(lat-solve --device gpu --no-provenance -p "$precision" --kappa .12 --csw 1 --columns "0,5" --source "point:1,2,3,4" links.lat)
        "${solve[@]}" -q -o one.lat
        for carrier in staged nccl; do
            export LAT_NCCL=no
            [ $carrier = staged ] || fake_nccl
            ! aware || [ $carrier = nccl ] || carrier=cuda-aware
            for how in "-n 2" "-n 3" "-n 4" "-n 4 --grid 1,1,2,2" "-n 4 --grid 1,1,4,1" "-n 4 --grid 1,2,1,2" "-n 2 --grid 1,1,2,1"; do
                # shellcheck disable=SC2086
                two_hosts "${solve[@]}" -v $how -o ranks.lat 2>said
                cmp one.lat ranks.lat || { echo "$precision $how $carrier"; return 1; }
                expected=$carrier
                [ "$gpus" -lt 2 ] || [[ $how == "-n 2"* ]] || expected="peer and $carrier"
                grep -q "faces of spinors: gpu .*, $expected\$" said || { echo "$how: expected $expected"; cat said; return 1; }
            done
        done
    done
    refuses 2 "--transport peer: expected all 4 ranks on one host, found 2 on this one" two_hosts "${solve[@]}" -n 4 --transport peer -o x.lat
    two_hosts "${solve[@]}" -v -n 4 --transport staged -o ranks.lat 2>said
    cmp one.lat ranks.lat
    grep -q "faces of spinors: gpu .*, staged\$" said
}

@test "NCCL that is not there, or not right, is one sentence" {
    ranks_setup
    local relax=(lat-orelax -n 2 --device gpu --transport nccl a.lat -o b.lat)
    LAT_NCCL=no refuses 1 "--transport nccl: LAT_NCCL=no" "${relax[@]}"
    LAT_NCCL=/no/libnccl.so.2 refuses 1 "--transport nccl: /no/libnccl.so.2: cannot open shared object" "${relax[@]}"
    LAT_NCCL=libm.so.6 refuses 1 "expected NCCL, found a library without ncclGetVersion" "${relax[@]}"
    fake_nccl
    local wrong="rank 1 received something else from rank 0 than was sent"
    LAT_FAKE_NCCL=wrong refuses 1 "--transport nccl: NCCL: in a test exchange $wrong" "${relax[@]}"
    LAT_FAKE_NCCL=refuses refuses 1 "--transport nccl: NCCL 2.28.7: ncclCommInitRank: a system error" "${relax[@]}"
    LAT_FAKE_NCCL=breaks refuses 1 "NCCL 2.28.7: an exchange: a remote rank has gone" "${relax[@]}"
    [ ! -e b.lat ]
}

@test "quark propagators are those of the CPU, in every precision, Wilson, clover and twisted" {
    lat-heatbath -q --device cpu --dims 8,4,6,8 --beta 6 --thermalise 20 -o links.lat
    for operator in "--kappa .13" "--kappa .12 --csw 1.2 --boundary p,.3,p,a" "--mass .1 --twist .2 --xi 1.3 --nu .95 --csw .8"; do
        # shellcheck disable=SC2086
        lat-solve -q --device cpu -p double --residual 1e-12 $operator --source point:1,2,3,4 links.lat -o cpu.lat
        for precision in "-p double" "-p single" "-p half" "" "-p half --solver cg"; do
            # shellcheck disable=SC2086
            lat-solve -q --device gpu $precision --residual 1e-12 $operator --source point:1,2,3,4 links.lat -o gpu.lat
            # |x - y| <= |M^-1| 2 1e-12 |b|: M^-1 is at most some 10
            lat-diff --tolerance 1e-10 cpu.lat gpu.lat
        done
    done
}

@test "quark propagators of SU(2) on a GPU are those of the CPU, in every precision; so are modes, deflated solves, the index" {
    lat-heatbath -q --device cpu -N 2 --dims 4,6,4,8 --beta 2.4 --thermalise 20 -o links.lat
    local operator precision
    for operator in "--kappa .13" "--kappa .12 --csw 1.2 --boundary p,.3,p,a --solver cg" "--mass .1 --twist .2 --xi 1.3 --nu .95 --csw .8"; do
        # shellcheck disable=SC2086
        lat-solve -q --device cpu -p double --residual 1e-12 $operator --source point:1,2,3,4 links.lat -o cpu.lat
        for precision in "-p double --reals 8" "-p single --reals 4" "" "-p half --batch 3"; do
            # shellcheck disable=SC2086
            lat-solve -q --device gpu --residual 1e-12 $operator $precision --source point:1,2,3,4 links.lat -o gpu.lat
            # |x - y| <= |M^-1| 2 1e-12 |b|: M^-1 is at most some 10
            lat-diff --tolerance 1e-10 cpu.lat gpu.lat
        done
    done
    for d in cpu gpu; do
        lat-modes -q --device $d --kappa .14 --matrix g5S --modes 4 --tsv links.lat >$d.tsv
        lat-overlap -q --device $d --index links.lat >$d.index
    done
    paste cpu.tsv gpu.tsv | awk -F'\t' 'NR > 1 { n++; d = $3 - $12; if (d * d > 1e-16) bad = 1 } END { exit bad || n != 4 }'
    diff <(cut -f 2-5 cpu.index) <(cut -f 2-5 gpu.index)
    lat-modes -q --device gpu --kappa .14 --matrix g5S --modes 4 links.lat -o modes.lat
    lat-solve -q --device gpu --kappa .14 --deflate modes.lat --residual 1e-12 --source point:1,2,3,4 links.lat -o gpu.lat
    lat-dirac --check -U links.lat gpu.lat | awk -F'\t' 'NR > 1 { n++; if (!($3 <= 1e-12)) bad = 1 } END { exit bad || n != 8 }'
}

@test "open time on a GPU is that of the CPU: Wilson and clover, in every precision" {
    lat-heatbath -q --device cpu --dims 8,4,6,8 --beta 6 --thermalise 20 -o links.lat
    local operator precision
    for operator in "--kappa .13 --cf .9 --boundary p,p,p,o" "--kappa .12 --csw 1.2 --cf 1.1 --boundary p,.3,p,o" "--mass .1 --twist .2 --xi 1.3 --nu .95 --csw .8 --even-odd none --boundary a,p,p,o"; do
        # shellcheck disable=SC2086
        lat-solve -q --device cpu -p double --residual 1e-12 $operator --source point:1,2,3,1 links.lat -o cpu.lat
        for precision in "-p double" "-p single --reals 18" "" "-p half --solver cg"; do
            # shellcheck disable=SC2086
            lat-solve -q --device gpu $precision --residual 1e-12 $operator --source point:1,2,3,1 links.lat -o gpu.lat
            lat-diff --tolerance 1e-10 cpu.lat gpu.lat # as above
        done
    done
}

@test "columns solved on a GPU have the same bytes, whatever others run beside them" {
    lat-heatbath -q --device cpu --dims 8,4,6,8 --beta 6 --thermalise 20 -o links.lat
    for operator in "--kappa .13 --csw 1.2" "--kappa .14 --even-odd asym" "--kappa .13 --even-odd none"; do
        for precision in "-p single --solver cg" "-p half --solver cg" "-p half --solver bicgstab"; do
            for batch in 12 5 4; do # of half, up to 3 have links of 12 reals, not 18
                # shellcheck disable=SC2086
                lat-solve -q --device gpu $precision --batch $batch $operator --source point:1,2,3,4 links.lat -o "$batch.lat"
            done
            cmp 12.lat 5.lat
            cmp 12.lat 4.lat
        done
    done
}

@test "a solution that stays on a GPU until it is written has the bytes of one that the host certifies" {
    lat-heatbath -q --device cpu --dims 8,4,6,8 --beta 6 --thermalise 20 -o links.lat
    local operator source
    for operator in "--kappa .13" "--kappa .12 --csw 1.2 --boundary p,.3,p,a" "--mass .1 --twist .2 --xi 1.3 --nu .95 --csw .8 --even-odd asym" \
        "--kappa .12 --csw .9 --boundary a,d,p,o -p single" "--kappa .13 --even-odd none --solver cg" "--kappa .13 --smear-links stout:.1,2"; do
        for source in point:1,2,3,4 noise:z4,t=2,seed=1; do
            # shellcheck disable=SC2086
            lat-solve -v --device gpu --no-provenance $operator --source $source links.lat -o gpu.lat 2>said
            grep -q '^lat-solve: solutions stay on the GPU until they are written' said
            # shellcheck disable=SC2086
            lat-solve -v --device gpu --no-provenance $operator --source $source links.lat --checkpoint ck -o host.lat 2>said
            run ! grep -q 'solutions stay' said
            cmp gpu.lat host.lat || { echo "$operator $source"; return 1; }
        done
    done
    lat-solve -q --device gpu --kappa .13 --source point:1,2,3,4 links.lat >gpu.raw
    lat-solve -q --device gpu --kappa .13 --source point:1,2,3,4 --checkpoint ck links.lat >host.raw
    cmp gpu.raw host.raw
    # One is written while the next is solved, of other links or another source.
    lat-heatbath -q --device cpu --dims 8,4,6,8 --beta 6 --thermalise 20 --seed 2 -o more.lat
    lat-convert links.lat more.lat links.lat -o three.lat
    for source in point:1,2,3,4 noise:z4,dilute=spin; do
        lat-solve -q --device gpu --no-provenance --kappa .13 --csw 1 --source $source three.lat -o gpu.lat
        lat-solve -q --device gpu --no-provenance --kappa .13 --csw 1 --source $source --checkpoint ck three.lat -o host.lat
        cmp gpu.lat host.lat || { echo "three: $source"; return 1; }
    done
    run -1 bash -c 'lat-solve -q --device gpu --kappa .13 --source noise:z4,dilute=spin three.lat >/dev/full'
    [ "$output" = "lat-solve: <stdout>: cannot be written: No space left on device" ] || { echo "$output"; return 1; }
    # Not enough memory, or iterations.
    lat-solve -v --device gpu --kappa .13 --memory .01 --source point:1,2,3,4 links.lat -o x.lat 2>said
    run ! grep -q 'solutions stay' said
    run -3 lat-solve -q --device gpu --kappa .13 --max-iterations 9 --source point:1,2,3,4 links.lat -o y.lat
    local said=$output
    run -3 lat-solve -q --device gpu --kappa .13 --max-iterations 9 --batch 12 --source point:1,2,3,4 --checkpoint ck links.lat -o y.lat
    [[ "${said%% (*}" = "${output%% (*}" ]] || { echo "$said"; echo "$output"; return 1; }
    [ ! -e y.lat ]
}

@test "links that are read ahead and solutions that are written behind: what fails says so, loses nothing, and waits for nobody" {
    lat-heatbath -q --device cpu --dims 8,4,6,8 --beta 6 --thermalise 5 --every 1 --count 3 -o three.lat
    # shellcheck disable=SC2054
    local solve=(lat-solve -q --device gpu --no-provenance --kappa .13 --source point:1,2,3,4)
    "${solve[@]}" three.lat | cat >whole.raw
    # Bad links come after a solution, which is there.
    head -c $(($(wc -c <three.lat) - 20000)) three.lat >cut.lat
    "${solve[@]}" cut.lat 2>said | cat >cut.raw
    [ "${PIPESTATUS[0]}" -eq 1 ]
    [ "$(wc -l <said)" -eq 1 ]
    grep -q '^lat-solve: cut.lat: .*truncated' said || { cat said; return 1; }
    [ "$(wc -c <cut.raw)" -gt $(($(wc -c <whole.raw) / 2)) ]
    cmp -n "$(wc -c <cut.raw)" cut.raw whole.raw
    local rc=0
    "${solve[@]}" cut.lat -o cut.out.lat 2>again || rc=$?
    [ $rc -eq 1 ]
    cmp said again
    [ ! -e cut.out.lat ]
    # Links that are refused come after a solution, which goes into a file that is not hidden.
    lat-heatbath -q --device cpu --dims 4,4,6,8 --beta 6 --thermalise 5 -o small.lat
    cat three.lat small.lat three.lat >mixed.lat
    "${solve[@]}" three.lat >whole.stored
    run -1 bash -c "${solve[*]} mixed.lat >mixed.stored"
    [ "$output" = "lat-solve: mixed.lat: source point:1,2,3,4 is for SU(3) on 8 4 6 8, the links are SU(3) on 4 4 6 8" ]
    [ "$(wc -c <mixed.stored)" -gt $(($(wc -c <whole.stored) - 100)) ]
    cmp -n "$(wc -c <mixed.stored)" mixed.stored whole.stored
    # Links that never come keep nobody; what is there is solved and written before they come.
    mkfifo links solved
    (cat three.lat && exec sleep 60) >links &
    local sleeper=$!
    run -3 timeout 30 "${solve[@]}" --max-iterations 5 links
    [[ "$output" = "lat-solve: links: field 0, column"* ]] || { echo "$output"; return 1; }
    kill $sleeper
    (head -c $(($(wc -c <three.lat) / 2)) three.lat && exec sleep 60) >links &
    sleeper=$!
    "${solve[@]}" links >solved &
    local solver=$!
    timeout 30 head -c $(($(wc -c <whole.raw) / 4)) solved >first.raw
    cmp -n "$(wc -c <first.raw)" first.raw whole.raw
    [ "$(wc -c <first.raw)" -eq $(($(wc -c <whole.raw) / 4)) ]
    kill $sleeper
    wait $solver || true
    # Nobody reads the solutions any more.
    run bash -c "${solve[*]} three.lat | head -c 1000 >some; exit \${PIPESTATUS[0]}"
    [ "$status" -eq 141 ]
    [ -z "$output" ]
}

@test "half precision reaches 1e-10 near critical kappa on thermal links; of a matrix near singular it goes on in single, and says so" {
    lat-heatbath -q --device gpu --dims 16,16,16,16 --beta 6 --thermalise 100 --overrelax 4 --seed 2026 -p double -o links.lat
    local kappa solver most=0
    for kappa in .155 .1565 .158; do
        for solver in cg auto; do
            lat-solve --device gpu -p half --solver $solver --kappa $kappa --source point:1,2,3,4 --columns 0 --log log.tsv links.lat -o x.lat
            awk -F'\t' 'NR > 1 && $8 + 0 <= 1e-10 { n++ } END { exit n != 1 }' log.tsv
            most=$(awk -F'\t' -v m="$most" 'NR > 1 { print ($6 > m ? $6 : m) }' log.tsv)
        done
    done
    [ "$most" -ge 2000 ]
    lat-start cold --dims 8,8,8,8 -o cold.lat
    lat-solve --device gpu -p half --solver cg --kappa .124999 --boundary p,p,p,p --source point:1,2,3,4 --columns 0 cold.lat -o x.lat 2>said
    grep -q "half precision stagnated in 1 columns, which went on in single" said
}

@test "--solver mg on a GPU: certified, the CPU's solutions, the same bytes each time; a subspace of either serves both" {
    lat-heatbath -q --device cpu --dims 8,8,8,16 --beta 6 --thermalise 30 --seed 3 -o links.lat
    local action solve=(lat-solve -q --columns "0,7" --source "point:1,0,2,3" --no-provenance)
    for action in "--kappa .156" "--kappa .13 --csw 1.5" "--kappa .152 --twist .1"; do
        # shellcheck disable=SC2206 # words
        local words=($action)
        "${solve[@]}" --device gpu --solver mg "${words[@]}" links.lat -o gpu.lat
        "${solve[@]}" --device gpu --solver mg "${words[@]}" links.lat -o again.lat
        cmp gpu.lat again.lat
        "${solve[@]}" --device cpu --solver cg "${words[@]}" links.lat -o cpu.lat
        lat-dirac --check -U links.lat gpu.lat
        lat-diff --tolerance 1e-7 gpu.lat cpu.lat
    done
    "${solve[@]}" --device gpu --kappa .156 --solver mg links.lat -o memory.lat
    for action in gpu cpu; do
        lat-subspace -q --device $action --kappa .156 links.lat -o $action.sub
        "${solve[@]}" --device gpu --kappa .156 --subspace $action.sub links.lat -o x.lat
        "${solve[@]}" --device cpu --kappa .156 --subspace $action.sub links.lat -o y.lat
        lat-diff --tolerance 1e-7 x.lat y.lat
    done
}

@test "--solver mg on ranks with GPUs: the bytes of one, of propagators and subspaces" {
    need_mpi
    lat-heatbath -q --device cpu --dims 8,8,8,12 --beta 6 --thermalise 30 -o links.lat
    lat-solve -q -n 2 --device gpu --kappa .12 --source wall:0 --columns 0 links.lat -o there.lat 2>said || skip "$(cat said)"
    local how operator
    lat-subspace -q --device gpu --no-provenance --kappa .156 links.lat -o one.sub
    for operator in "--kappa .156" "--kappa .15 --csw .8 --twist .01 --boundary p,.3,p,.4"; do
        # shellcheck disable=SC2086
        lat-solve -q --device gpu --no-provenance --solver mg $operator --source point:1,2,3,4 links.lat -o one.lat
        for how in "-n 2" "-n 4 --transport staged" "-n 4" "--grid 1,1,2,1" "--grid 1,1,2,2" "--grid 1,1,2,2 --transport staged"; do
            # shellcheck disable=SC2086
            lat-solve -q $how --device gpu --no-provenance --solver mg $operator --source point:1,2,3,4 links.lat -o ranks.lat
            cmp one.lat ranks.lat
        done
    done
    lat-solve -q --device gpu --no-provenance --subspace one.sub --kappa .156 --source point:1,2,3,4 links.lat -o one.lat
    for how in "-n 2" "--grid 1,1,2,2" "--grid 1,1,2,1 --transport staged"; do
        # shellcheck disable=SC2086
        lat-subspace -q $how --device gpu --no-provenance --kappa .156 links.lat -o ranks.sub
        cmp one.sub ranks.sub
        # shellcheck disable=SC2086
        lat-solve -q $how --device gpu --no-provenance --subspace one.sub --kappa .156 --source point:1,2,3,4 links.lat -o ranks.lat
        cmp one.lat ranks.lat
    done
}

@test "ranks with GPUs solve as one does, to the last bit: any division, precision, operator, transport" {
    need_mpi
    lat-heatbath -q --device cpu --dims 8,4,4,10 --beta 6 --thermalise 20 -o links.lat
    lat-solve -q -n 2 --device gpu --kappa .12 --source wall:0 --columns 0 links.lat -o there.lat 2>said || skip "$(cat said)"
    local operator precision how
    for operator in "--kappa .13" "--kappa .12 --csw 1.2 --boundary p,.3,p,.4 --solver cg" "--mass .1 --twist .2 --xi 1.3 --nu .95 --csw .8 --even-odd asym" "--kappa .12 --csw .9 --boundary p,p,p,o"; do
        for precision in "-p double" "-p half"; do
            # shellcheck disable=SC2086
            lat-solve -q --device gpu $precision $operator --source point:1,2,3,4 links.lat -o one.lat
            for how in "-n 2" "-n 3" "-n 2 --transport staged" "-n 5"; do
                # shellcheck disable=SC2086
                lat-solve -q $how --device gpu $precision $operator --source point:1,2,3,4 links.lat -o ranks.lat
                lat-diff --tolerance 0 one.lat ranks.lat || { echo "$operator $precision $how"; return 1; }
            done
        done
    done
    # A phase that the rank in the middle has nothing of chooses its kernel, too.
    operator="-p single --residual 1e-5 --mass .3 --xi 1.3 --nu .95 --boundary p,p,p,.4"
    # shellcheck disable=SC2086
    for n in 1 3; do
        lat-solve -q -n $n --device gpu --no-provenance $operator --source point:1,2,3,4 links.lat -o $n.lat
    done
    cmp 1.lat 3.lat
    lat-heatbath -q --device cpu -N 2 --dims 8,4,4,6 --beta 2.4 --thermalise 20 -o two.lat
    for operator in "--kappa .13 --csw 1" "--kappa .12 --boundary p,p,p,o --solver cg"; do
        # shellcheck disable=SC2086
        lat-solve -q --device gpu $operator --source point:1,2,3,4 two.lat -o one.lat
        for how in "-n 2" "-n 3 --transport staged"; do
            # shellcheck disable=SC2086
            lat-solve -q $how --device gpu $operator --source point:1,2,3,4 two.lat -o ranks.lat
            lat-diff --tolerance 0 one.lat ranks.lat || { echo "SU(2) $operator $how"; return 1; }
        done
    done
    # Slices whose sites are no multiple of 64 are for one GPU, or for the CPU where it may be taken.
    lat-start weak --dims 6,4,4,8 -o odd.lat
    refuses 1 "expected a multiple of 64 sites a slice of t, found 6 x 4 x 4" lat-solve -q -n 2 --device gpu --kappa .12 --source wall:0 odd.lat -o x.lat
    lat-solve -q -n 2 --kappa .12 --source wall:0 odd.lat -o x.lat
    lat-subspace -q -n 2 --kappa .12 odd.lat -o x.lat
}

# solved LINKS OPTIONS GRID..: on each grid, with its transport, the bytes of one GPU.
solved() {
    local how
    # shellcheck disable=SC2086
    lat-solve -q --device gpu --no-provenance $2 --source point:1,2,3,4 "$1" -o one.lat
    for how in "${@:3}"; do
        # shellcheck disable=SC2086
        lat-solve -q --grid $how --device gpu --no-provenance $2 --source point:1,2,3,4 "$1" -o ranks.lat
        cmp one.lat ranks.lat || { echo "$2, --grid $how"; return 1; }
    done
}

@test "ranks with GPUs that cut z, and t, solve as one does, to the last bit: any operator, precision, transport; deflated, too" {
    need_mpi
    lat-heatbath -q --device cpu --dims 8,8,8,10 --beta 6 --thermalise 20 -o links.lat
    lat-solve -q -n 2 --grid 1,1,2,1 --device gpu --kappa .12 --source wall:0 --columns 0 links.lat -o there.lat 2>said || skip "$(cat said)"
    solved links.lat "-p double --kappa .13" 1,1,2,1 1,1,2,2 1,1,4,1 1,1,2,3 "1,1,2,1 --transport staged"
    solved links.lat "-p half --kappa .13 --columns 0" 1,1,2,1 1,1,2,2 "1,1,2,3 --transport staged"
    solved links.lat "-p half --kappa .12 --csw 1.2 --boundary p,.3,.1,.4 --solver cg" 1,1,2,2 1,1,4,1
    solved links.lat "-p double --mass .1 --twist .2 --xi 1.3 --nu .95 --csw .8 --even-odd asym" 1,1,2,1 1,1,2,3
    solved links.lat "-p single --residual 1e-5 --kappa .12 --csw .9 --boundary p,p,a,o" 1,1,2,2 "1,1,4,1 --transport staged"
    solved links.lat "--masses .2,.3 --columns 0,5" 1,1,2,2
    lat-heatbath -q --device cpu -N 2 --dims 16,4,8,6 --beta 2.4 --thermalise 20 -o two.lat
    solved two.lat "--kappa .13 --csw 1" 1,1,2,2 1,1,4,1
    solved two.lat "--kappa .12 --boundary p,p,p,o --solver cg" "1,1,2,3 --transport staged"
    local how
    for how in "" "--grid 1,1,2,1" "--grid 1,1,2,2"; do
        # shellcheck disable=SC2086
        lat-modes -q --device gpu --no-provenance $how --kappa .13 --matrix g5S --modes 4 --residual 1e-6 links.lat -o "modes$how.lat"
        cmp modes.lat "modes$how.lat"
    done
    solved links.lat "--kappa .13 --deflate modes.lat --columns 0,1" 1,1,2,1 1,1,2,2
    refuses 1 "expected a multiple of 256 sites in a rank's part of a slice of t, or a --grid that leaves z whole, found 128" \
        lat-solve -q --grid 1,1,4,1 --device gpu --kappa .13 --deflate modes.lat --source wall:0 links.lat -o x.lat
    # Planes whose sites are no multiple of 64 are for GPUs that cut t, or for the CPU where it may be taken.
    lat-start weak --dims 6,4,8,8 -o odd.lat
    refuses 1 "expected a multiple of 64 sites in x and y, found 6 x 4" lat-solve -q --grid 1,1,2,1 --device gpu --kappa .12 --source wall:0 odd.lat -o x.lat
    lat-solve -q --grid 1,1,2,1 --kappa .12 --source wall:0 odd.lat -o x.lat
    lat-subspace -q --grid 1,1,2,1 --kappa .12 odd.lat -o x.lat
    refuses 1 "an extent of 8 in z has 2 blocks, which 4 ranks cannot share" \
        lat-solve -q --grid 1,1,4,1 --device gpu --solver mg --kappa .12 --source wall:0 links.lat -o y.lat
    refuses 2 "ranks with GPUs cut the last axis of a lattice alone" lat-orelax -q --grid 1,1,2,1 --device gpu links.lat -o y.lat
}

@test "ranks with GPUs that cut y, and z and t, solve as one does, to the last bit: any operator, precision, transport; deflated, by multigrid" {
    need_mpi
    lat-heatbath -q --device cpu --dims 16,24,4,8 --beta 6 --thermalise 10 -o links.lat
    lat-solve -q -n 2 --grid 1,2,1,1 --device gpu --kappa .12 --source wall:0 --columns 0 links.lat -o there.lat 2>said || skip "$(cat said)"
    solved links.lat "-p double --kappa .13 --columns 0,5" 1,2,1,1 1,3,1,1 1,2,2,1 1,2,1,3 "1,2,1,1 --transport staged"
    solved links.lat "-p half --kappa .13" 1,2,1,1 1,2,2,2 "1,2,1,3 --transport staged"
    solved links.lat "-p half --kappa .12 --csw 1.2 --boundary p,.3,.1,.4 --solver cg --columns 0,5" 1,2,1,1 1,3,1,2
    solved links.lat "-p half --kappa .12 --csw 1.2 --solver cg --columns 0" 1,2,1,1
    solved links.lat "-p double --mass .1 --twist .2 --xi 1.3 --nu .95 --csw .8 --even-odd asym --columns 0,5" 1,2,1,1 1,2,2,1
    solved links.lat "-p single --residual 1e-5 --kappa .12 --csw .9 --boundary p,.2,a,o --columns 0,5" 1,2,1,2 "1,2,2,1 --transport staged"
    solved links.lat "-p single --residual 1e-5 --kappa .12 --columns 0,5" 1,2,1,1
    solved links.lat "--masses .2,.3 --columns 0,5" 1,2,1,2
    lat-heatbath -q --device cpu -N 2 --dims 4,32,4,6 --beta 2.4 --thermalise 10 -o two.lat
    solved two.lat "--kappa .12 --csw 1 --boundary p,p,p,o --solver cg --columns 0" 1,2,1,1 "1,2,1,3 --transport staged"
    lat-heatbath -q --device cpu --dims 16,32,4,8 --beta 6 --thermalise 10 -o wide.lat
    local how
    for how in "" "--grid 1,2,1,1" "--grid 1,2,2,2"; do
        # shellcheck disable=SC2086
        lat-modes -q --device gpu --no-provenance $how --kappa .13 --matrix g5S --modes 4 --residual 1e-6 wide.lat -o "modes$how.lat"
        cmp modes.lat "modes$how.lat"
    done
    solved wide.lat "--kappa .13 --deflate modes.lat --columns 0,1" 1,2,1,1 1,2,1,2
    solved wide.lat "--kappa .15 --solver mg" 1,2,1,1 1,2,1,2 "1,2,1,1 --transport staged"
    for how in "" "--grid 1,2,1,1"; do
        # shellcheck disable=SC2086
        lat-subspace -q --device gpu --no-provenance $how --kappa .15 wide.lat -o "sub$how.lat"
        cmp sub.lat "sub$how.lat"
    done
    refuses 1 "expected a multiple of 256 sites in a rank's part of x and y, or a --grid that leaves y whole, found 192" \
        lat-modes -q --grid 1,2,1,1 --device gpu --kappa .13 --modes 1 --residual 1e-2 links.lat -o y.lat
    # A rank has whole bricks of 32 sites of a parity; on the CPU, where it may be taken, it need not.
    refuses 1 "expected a multiple of 4 sites in a rank's part of y, or a --grid that leaves y whole, found 6" \
        lat-solve -q --grid 1,4,1,1 --device gpu --kappa .12 --source wall:0 links.lat -o y.lat
    lat-start weak --dims 8,8,4,6 -o small.lat
    lat-solve -q --grid 1,2,1,1 --kappa .12 --source wall:0 --columns 0 small.lat -o y.lat
    refuses 2 "ranks with GPUs cut the last axis of a lattice alone" lat-orelax -q --grid 1,2,1,1 --device gpu links.lat -o y.lat
}

@test "lat-modes on a GPU finds the CPU's eigenvalues, of every matrix, and the same bytes on ranks that share it" {
    lat-heatbath -q --device cpu -d 8,8,8,8 --beta 6 --thermalise 20 -o links.lat
    lat-modes -q --device gpu --kappa .12 --modes 1 --residual 1e-4 links.lat -o there.lat 2>said || skip "$(cat said)"
    local how
    for how in "--kappa .14" "--kappa .13 --csw 1 --matrix g5S" "--kappa .14 --matrix MdagM" "--kappa .12 --method ritz --residual 1e-7"; do
        # shellcheck disable=SC2086
        for d in cpu gpu; do
            lat-modes -q --device $d $how --modes 4 --tsv links.lat >"$d.tsv"
        done
        paste cpu.tsv gpu.tsv | awk -F'\t' 'NR > 1 { n++; d = $3 - $12; if (d * d > 1e-16) bad = 1 } END { exit bad || n != 4 }'
    done
    # Ranks that share a GPU take turns: an application takes some 3 ms.
    lat-heatbath -q --device cpu -d 4,4,4,8 --beta 5.7 --thermalise 20 -o small.lat
    for how in "--kappa .14 --modes 2 --residual 1e-5" "--kappa .13 --csw 1 --matrix g5S --modes 2 --residual 1e-5" "--kappa .12 --method ritz --modes 1 --residual 1e-4"; do
        for d in gpu "gpu -n 2"; do
            # shellcheck disable=SC2086
            lat-modes -q --device $d $how --tsv small.lat >"$d.tsv"
        done
        cmp gpu.tsv "gpu -n 2.tsv"
    done
}

@test "lat-solve --deflate on a GPU: modes and solutions are those of the CPU, within the bounds of their residuals" {
    lat-heatbath -q --device cpu -d 8,8,8,16 --beta 6 --thermalise 30 --seed 2 -o links.lat
    local m=(--kappa .155) d value bound
    lat-modes -q --device gpu "${m[@]}" --modes 1 --tsv links.lat >lowest.tsv 2>said || skip "$(cat said)"
    lat-solve -q --device gpu "${m[@]}" --solver cg --even-odd asym --source point:1,2,3,4 links.lat --log plain.tsv -o plain.lat
    for d in cpu gpu; do
        lat-modes -q --device $d "${m[@]}" --matrix g5S --modes 16 --residual 1e-3 links.lat --log $d.modes -o modes.$d.lat
        lat-solve -q --device $d "${m[@]}" --deflate modes.$d.lat --source point:1,2,3,4 links.lat --log $d.tsv -o $d.lat
        lat-dirac --check -U links.lat $d.lat >check.$d
        awk -F'\t' 'NR > 1 { n++; if (!($3 <= 1e-10)) bad = 1 } END { exit bad || n != 12 }' check.$d
    done
    # An eigenvalue is within the residual of a value.
    paste cpu.modes gpu.modes | awk -F'\t' 'NR > 1 { n++; d = $3 - $12; if (d * d > ($4 + $13) ^ 2) bad = 1 } END { exit bad || n != 16 }'
    # |x - x'| <= (1e-10 + 1e-10) |b| / |lowest value of gamma5 M|, |b| = 1.
    value=$(awk -F'\t' 'NR > 1 { print $3 }' lowest.tsv)
    bound=$(awk -v v="$value" 'BEGIN { print 2e-10 / (v < 0 ? -v : v) }')
    lat-diff --tolerance "$bound" cpu.lat gpu.lat
    lat-diff --tolerance "$bound" plain.lat gpu.lat
    for d in plain gpu; do cut -f 6 $d.tsv | tail -n +2 | sort -n | tail -n 1; done | paste -s | awk '{ print; exit !($2 < .7 * $1) }'
}

# lose_gpu TOOL COMMAND...: the GPU is lost once the checkpoint ck is there: one sentence, no output; the same command goes on, to the
# bytes of whole.lat.
lose_gpu() {
    local code=0
    "${CC:-cc}" -shared -fPIC -o lost.so "$ROOT/tests/faults/lost_gpu.c" -ldl -lpthread || skip "no compiler"
    LAT_LOSE_GPU=ck LD_PRELOAD=$PWD/lost.so "$@" --checkpoint ck -o cut.lat 2>said || code=$?
    cat said
    [ "$code" -eq 1 ]
    [ "$(wc -l <said)" -eq 1 ]
    grep -q "^$1: \(links.lat: \)\?GPU: .*; the same command with --resume ck goes on\$" said
    [ ! -e cut.lat ]
    "$@" --checkpoint ck --resume ck -o cut.lat
    cmp whole.lat cut.lat
    rm cut.lat
}

@test "a GPU that is lost in the middle of columns: one sentence, and the checkpoint goes on, with the same bytes" {
    lat-heatbath -q --device gpu --dims 16,16,16,32 --beta 6 --thermalise 10 -o links.lat
    local solve=(lat-solve -q --no-provenance --device gpu --kappa .145 --solver cg --batch 1 --source "point:1,2,3,4" links.lat)
    "${solve[@]}" -o whole.lat
    lose_gpu "${solve[@]}"
}

@test "a GPU that is lost, or a rank that is killed, in solves by multigrid and between rounds of a subspace" {
    lat-heatbath -q --device gpu --dims 16,16,16,32 --beta 6 --thermalise 10 -o links.lat
    local solve=(lat-solve -q --no-provenance --device gpu --kappa .15 --solver mg --batch 1 --source "point:1,2,3,4" links.lat)
    local subspace=(lat-subspace -q --no-provenance --device gpu --kappa .15 links.lat)
    "${subspace[@]}" -o whole.lat
    lose_gpu "${subspace[@]}"
    "${solve[@]}" -o whole.lat
    lose_gpu "${solve[@]}"
    need_mpi
    kill_a_rank 2 "${solve[@]}"
    "${solve[@]}" --checkpoint ck --resume ck -o cut.lat
    cmp whole.lat cut.lat
}

@test "Gaussian smearing of sources and sinks on a GPU is that of the CPU" {
    local d args
    # SU(3) and SU(2), extents of which no tile is made, smeared links, a second quark.
    lat-heatbath -q --device cpu --dims 6,4,10,8 --beta 6 --thermalise 20 --seed 3 -p double -o three.lat
    lat-heatbath -q --device cpu -N 2 --dims 4,6,4,6 --beta 2.4 --thermalise 20 --seed 3 -p double -o two.lat
    for links in three two; do
        for d in cpu gpu; do
            lat-solve -q --device $d --residual 1e-12 --kappa .12 --source point:1,2,3,4/ape:.4,5,spatial/gauss:2,9 $links.lat -o $d.lat
        done
        # |x - x'| <= (1e-12 + 1e-12 + what nine steps round) |b| / lowest value of M, which is above .1 at this kappa
        lat-diff --tolerance 2e-11 cpu.lat gpu.lat
        while read -r args; do
            for d in cpu gpu; do
                # shellcheck disable=SC2086 # several words
                lat-corr --device $d --channels mesons --momenta 1 $args -U $links.lat cpu.lat >$d.tsv
            done
            # Sums of |S|^2, of which each S was rounded a dozen times a step.
            paste cpu.tsv gpu.tsv | awk -F'\t' '
                NR > 1 { n++; m = NF / 2; for (i = 7; i <= 8; i++) { d = $i - $(i + m); if (d * d > worst) worst = d * d; if ($i * $i > size) size = $i * $i } }
                END { print n, worst, size; exit !(n > 20 && size > 0 && worst <= 1e-26 * size) }'
        done <<'ROWS'
--sink gauss:2,9
--sink ape:.4,5,spatial/gauss:1,2/gauss:2,50
--sink gauss:2,9 --second gpu.lat
ROWS
    done
    lat-corr --device gpu --json --sink gauss:2,9 -U two.lat cpu.lat | grep -q '"sink": "gauss:2,9"'
    refuses 2 "lat-corr: --device is for --sink, whose smearing a GPU does" lat-corr --device gpu cpu.lat
    # A GPU is taken by itself where there is enough to do: 4 x 6 x 4 x 6 sites of 8 columns.
    for d in auto cpu; do lat-corr --device $d --sink gauss:2,9000 -U two.lat cpu.lat >$d.tsv; done
    cmp -s auto.tsv cpu.tsv && return 1
    for d in auto cpu; do lat-corr --device $d --sink gauss:2,9 -U two.lat cpu.lat >$d.tsv; done
    cmp auto.tsv cpu.tsv
}
