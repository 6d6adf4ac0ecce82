#!/usr/bin/env bats
# Purpose: the pipelines run from end to end: one configuration, its copies, ensembles, pictures.
# shellcheck disable=SC2154,SC2030,SC2031  # run sets stderr; each test is a shell of its own
load helper
load ensemble

P=$ROOT/pipelines

# For the sanitizers one run of each pipeline: what was killed, named, divided or asked for wrongly is a matter of scripts and make, and
# checkpoint.bats and cli.bats do the same to the tools.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    case $BATS_TEST_DESCRIPTION in
    "landau.sh, coulomb.sh and mag.sh "* | "gribov.sh counts "* | "the paper's "* | "ghosts: "* | "hadrons: "* | "gluons: "* | "alpha(p): "* | "correlators.sh: "*) ;;
    *) not_sanitized "scripts and make" ;;
    esac
}

# raw N: so many small configurations, NERSC files raw/cfg.*
raw() {
    mkdir -p raw
    for ((i = 1; i <= $1; i++)); do
        lat-start weak --epsilon 0.35 --dims 4,4,4,4 --seed "$i" | lat-convert --to nersc -o raw/cfg."$i"
    done
}

# cut_off COMMAND...: until it comes to its end, kills it and all it has started after some time.
cut_off() {
    local cut=0 pid
    while :; do
        setsid "$@" >/dev/null 2>&1 3>&- &
        pid=$!
        [ $cut -ge 8 ] || sleep "$(awk -v r=$RANDOM 'BEGIN { print 0.05 + 0.2 * r / 32768 }')"
        if [ $cut -ge 8 ] || ! kill -9 -- -$pid 2>/dev/null; then
            wait $pid
            [ $cut -ge 1 ]
            return
        fi
        wait $pid || cut=$((cut + 1))
    done
}

@test "a part of an ensemble may have no configuration, a folder has some, and names without blanks" {
    raw 1
    # The second of 16 jobs of an array, the first to run: done, as nothing was to be done.
    run -0 --separate-stderr ensemble PART=2/16 OUT=few
    [ "$stderr" = "0 of 0 fixed" ]
    mkdir empty 'a b'
    cp raw/cfg.1 'a b'
    run -2 --separate-stderr ensemble RAW=empty
    [[ $stderr == "ensemble: empty: expected configurations, found no file"* ]]
    for where in 'RAW=a b' 'OUT=c d' RAW=; do
        run -2 --separate-stderr ensemble "$where"
        [[ $stderr == *"expected RAW and OUT without blanks in their names"* ]]
    done
    cp -r "$P" 'a b/pipelines'
    ROOT='a b' run -2 --separate-stderr ensemble
    [[ $stderr == *"expected ensemble.sh beside ensemble.mk, in a folder without blanks"* ]]
    [ ! -e landau ]
}

@test "what an ensemble cannot do is refused at once: RAW for OUT, an unknown GAUGE, folders that make has other ideas about" {
    raw 1
    ln -s raw link
    for out in raw ./raw/ link raw/../raw; do
        run -2 --separate-stderr ensemble OUT=$out
        [[ $stderr == "ensemble: RAW and OUT: expected two folders, found raw and $out"* ]]
    done
    mkdir -p results/log && cp raw/cfg.1 results/log
    run -2 --separate-stderr ensemble RAW=results/log OUT=results
    [[ $stderr == "ensemble: RAW and OUT: expected two folders"* ]]
    # A script that is none of a gauge is no gauge either, and verify is told the same.
    # shellcheck disable=SC2016
    for gauge in nonsense gribov quickstart ensemble fix ../pipelines/landau "q'q" '$(touch pwned)'; do
        for goal in all verify; do
            run -2 --separate-stderr ensemble GAUGE="${gauge//\$/\$\$}" OUT=x $goal
            [[ $stderr == *"ensemble: GAUGE: expected landau, coulomb, mag, or the NAME of a copy NAME.sh beside them, found '$gauge'"* ]]
        done
    done
    run -2 env GAUGE=nonsense "$P/slurm/gpus.sh" raw/cfg.1 x/a.lat
    for out in "q'q" 'a%b' 'a;b' 'a:b'; do
        run -2 --separate-stderr ensemble OUT="$out"
        [[ $stderr == "ensemble: OUT: expected a folder whose name has no characters"*"found $out"* ]]
    done
    [ ! -e x ]
    [ -z "$(find . -name '*.lat' -o -name 'pwned*')" ]
    [ "$(find raw results -type f | tr '\n' ' ')" = "raw/cfg.1 results/log/cfg.1 " ]
    # A copy with parameters of its own is one.
    cp -r "$P" mine
    sed 's/STEPS:=1000/STEPS:=7/' "$P/mag.sh" >mine/mine.sh
    chmod +x mine/mine.sh
    unset STEPS
    mkdir copied && ln -s ../mine copied/pipelines
    ROOT=copied run -0 ensemble GAUGE=mine
    grep -q "^cfg.1	mag	" mine/table.tsv
    lat-info mine/cfg.1.lat | grep -q 'lat-anneal .*--steps 7 '
}

@test "names of configurations are names: -n2, q'q, blanks, in every pipeline; an ensemble refuses what make cannot have" {
    rough first.lat --dims 4,4,4,4
    local name gauge
    export COPIES=2
    for name in -n2 "q'q" 'a b' 'a=b' '~'; do
        cp first.lat "./$name"
        for gauge in landau coulomb mag; do
            ln -sf "$P/$gauge.sh" run.sh # by another name, from elsewhere
            ./run.sh "$name" "$name.$gauge.lat"
            lat-theta --require-theta 1e-14 "./$name.$gauge.lat" >theta
        done
        "$P/gribov.sh" "$name" "$name.copies" >said
        [ -e "./$name.copies/best.lat" ]
        "$P/quickstart.sh" "$name" "$name.quick.lat" >said
        [ -e "./$name.quick.lat" ]
    done
    mkdir -- -raw
    for name in -n2 a=b '~' .+,@_~; do cp first.lat "./-raw/$name"; done
    rm ./-raw/.*
    run -0 --separate-stderr ensemble RAW=-raw OUT=-out
    [ "$stderr" = "3 of 3 fixed" ]
    for name in -n2 a=b '~'; do [ -e "./-out/$name.lat" ]; done
    run -0 ensemble RAW=-raw OUT=-out verify
    [ "$output" = "3 verified" ]
    run -0 --separate-stderr ensemble RAW=-raw OUT=o=u,t
    [ "$stderr" = "3 of 3 fixed" ]
    run -0 ensemble RAW=-raw OUT=o=u,t verify
    for name in "q'q" 'a b' 'a%b'; do
        cp first.lat "./-raw/$name"
        run -2 --separate-stderr ensemble RAW=-raw OUT=-out
        [[ $stderr == "ensemble: ./-raw/$name: expected a name of letters, digits and ._+=,@~-"* ]]
        rm "./-raw/$name"
    done
}

@test "CDPATH of the environment does no harm" {
    # Folders of these names are elsewhere too, and cd would go there and say so.
    mkdir -p elsewhere/{copies,pipelines,raw,landau} here/pipelines
    cp -r "$P/." here/pipelines
    rough here/a.lat --dims 4,4,4,4
    export CDPATH=$PWD/elsewhere COPIES=2
    cd ./here
    pipelines/gribov.sh a.lat copies >said
    [ -e copies/best.lat ]
    pipelines/landau.sh a.lat b.lat
    pipelines/quickstart.sh a.lat c.lat >said
    mkdir raw && mv a.lat raw/
    ROOT=. run -0 ensemble
    [ -e b.lat ]
    [ -e landau/a.lat.lat ]
    [ -z "$(find ../elsewhere -type f)" ]
}

@test "landau.sh, coulomb.sh and mag.sh fix a configuration of any format" {
    rough a.lat --dims 4,4,4,6
    for format in lat nersc ildg scidac milc; do
        precision=double
        [ $format != milc ] || precision=single # these files have no other
        [ $format = lat ] || lat-convert --to $format --precision $precision a.lat -o a.$format
        for gauge in landau coulomb mag; do
            "$P/$gauge.sh" a.$format $gauge.lat
            lat-info $gauge.lat | grep -q "gauge .*$gauge"
            lat-theta --require-theta 1e-14 $gauge.lat >theta
            near "$(column a.lat plaquette)" "$(column $gauge.lat plaquette)" 1e-7 # single precision
            [ "$(grep -vc '^#' $gauge.lat-anneal.tsv)" -gt 5 ]
            grep -q '# .* converged' $gauge.lat-orelax.tsv
            [ ! -e $gauge.lat-anneal.ck ]
            [ ! -e $gauge.lat-orelax.ck ]
        done
    done
    [ "$(cut -f3 coulomb.slices.tsv | sort -u | wc -l)" -eq 7 ]
    # Files that do not say what they hold.
    lat-convert --to raw a.lat -o a.raw
    CONVERT="--from raw --dims 4,4,4,6" "$P/landau.sh" a.raw b.lat
    near "$(column b.lat functional)" "$(column landau.lat functional)" 1e-8 # milc was the last one
    CONVERT="--from raw --dims 4,4,4,6" COPIES=2 "$P/gribov.sh" a.raw copies
    mkdir raw && mv a.raw raw/
    ensemble CONVERT="--from raw --dims 4,4,4,6" OUT=fixed
    [ "$(wc -l <fixed/table.tsv)" -eq 2 ]
    nothing_left
}

@test "a pipeline distinguishes damaged files from runs that did not converge" {
    rough a.lat --dims 4,4,4,4
    run -3 --separate-stderr env MAX_SWEEPS=3 "$P/landau.sh" a.lat b.lat
    [[ "$stderr" == *"not converged"* ]]
    [ ! -e b.lat ]
    [ -e b.lat-orelax.ck ] # relaxation goes on from there, with more sweeps
    "$P/landau.sh" a.lat b.lat
    [ ! -e b.lat-orelax.ck ]
    awk -F'\t' 'NR == 2 { exit $2 != 3 }' b.lat-orelax.tsv
    head -c 20000 a.lat >cut.lat
    run -1 --separate-stderr "$P/landau.sh" cut.lat c.lat
    [[ "$stderr" == "lat-convert: cut.lat: truncated"* ]]
    run -2 "$P/landau.sh" a.lat
    [ ! -e c.lat ]
    nothing_left
}

@test "a pipeline killed at random moments and run again writes the same bytes" {
    rough a.lat --dims 6,6,6,6 --epsilon 1.1
    export STEPS=150
    "$P/landau.sh" a.lat straight.lat
    cut_off "$P/landau.sh" a.lat cut.lat
    cmp straight.lat cut.lat
    export STEPS=60 COPIES=4 THETA=1e-8
    "$P/gribov.sh" a.lat straight
    cut_off "$P/gribov.sh" a.lat cut
    for file in best.lat table.tsv histogram.tsv; do cmp straight/$file cut/$file; done
}

@test "gribov.sh counts every copy once and keeps the best" {
    rough a.lat --dims 4,4,4,4 --epsilon 1.3
    for gauge in landau mag; do
        run -0 env COPIES=12 STEPS=30 GAUGE=$gauge "$P/gribov.sh" a.lat $gauge
        [[ "$output" == *"share_of_best"*"without"*"with"*"# with annealing"* ]]
        [ "$(cut -f1-3 $gauge/table.tsv | tail -n 2 | tr '\t\n' '  ')" = "without 12 12 with 12 12 " ]
        awk -F'\t' 'NR > 1 { a += $2; b += $3 } END { exit !(NR == 21 && a == 12 && b == 12) }' $gauge/histogram.tsv
        [ "$(cut -f3 $gauge/with.tsv)" = "$(cut -f3 $gauge/without.tsv)" ] # the same starts
        best=$(awk -F'\t' 'FNR > 1 { print $4 }' $gauge/with.tsv $gauge/without.tsv | sort -g | tail -n 1)
        near "$(column $gauge/best.lat functional)" "$best" 1e-14
        near "$(cut -f7 $gauge/table.tsv | tail -n +2 | sort -g | tail -n 1)" "$best" 1e-12
        mean=$(awk -F'\t' 'FNR > 1 { s += $4 / 12 } END { printf "%.15f", s }' $gauge/with.tsv)
        near "$(sed -n 3p $gauge/table.tsv | cut -f5)" "$mean" 1e-11
    done
    # There are different copies on such a lattice, and they are not all in the first bin.
    awk -F'\t' 'NR > 2 { n += $2 + $3 } END { exit !(n > 0) }' landau/histogram.tsv
}

@test "gribov.sh refuses copies of other parameters or links, and a file of several configurations" {
    local try
    rough a.lat --dims 4,4,4,4
    rough b.lat --dims 4,4,4,4 --seed 5
    export PICTURES='' COPIES=3 STEPS=10 THETA=1e-8
    refused() { # FILE SENTENCE
        run -1 --separate-stderr "$P/gribov.sh" "$1" out
        [[ $stderr == "gribov.sh: "$2 ]]
        [ -z "$output" ]
        cksum out/* | cmp - before
    }
    # Parameters that no tool takes, and other links before there is a copy, do not stand in the way.
    THETA=small run ! "$P/gribov.sh" b.lat out
    run -0 "$P/gribov.sh" a.lat out
    cksum out/* >before
    run -0 "$P/gribov.sh" a.lat out
    cksum out/* | cmp - before
    lat-info out/raw.lat | grep -q "reunit .* | of $(lat-info --tsv a.lat | tail -n 1 | cut -f 17)"
    for try in COPIES=2 STEPS=20 GAUGE=mag MICRO=1 T_FIRST=1 T_LAST=.2 THETA=1e-9 SEED=7 MAX_SWEEPS=9000; do
        (export "${try?}"
        refused a.lat "out: expected results of '*$try *', found those of '*': name another FOLDER")
    done
    refused b.lat "out: expected results of '*', found those of '*': name another FOLDER"
    SAME=1e-4 EVERY=7 run -0 "$P/gribov.sh" a.lat out # these are of the table
    # The same links in another file are the same; copies of an unknown origin are none.
    lat-convert --to nersc a.lat -o again
    run -0 "$P/gribov.sh" again out
    cksum out/* >before
    rm out/.parameters
    refused a.lat "out: expected results of '*', found those of 'unknown': name another FOLDER"
    refused nofile.lat "nofile.lat: expected a configuration, found none"
    # What has not converged goes on with more sweeps, and with nothing else.
    MAX_SWEEPS=2 run -3 "$P/gribov.sh" a.lat few
    SEED=2 run -1 "$P/gribov.sh" a.lat few
    run -0 "$P/gribov.sh" a.lat few
    cmp few/best.lat out/best.lat
    # From a pipe a configuration is read once.
    run -0 "$P/gribov.sh" - piped <a.lat
    run -0 --separate-stderr "$P/gribov.sh" - piped </dev/null
    [ "$stderr" = "gribov.sh: piped/raw.lat is there: a stream is not read again" ]
    tail -n +2 out/table.tsv | diff - <(tail -n +2 piped/table.tsv)
    # Several configurations are no copies of one.
    lat-convert a.lat b.lat -o two.lat
    run -1 --separate-stderr "$P/gribov.sh" two.lat several
    [ "$stderr" = "gribov.sh: two.lat: expected one configuration, found 2: lat-convert --split makes a file of each" ]
    [ -z "$(ls several)" ]
}

@test "gpuslot never runs two jobs on a GPU, and a killed one gives it back" {
    export CUDA_VISIBLE_DEVICES=3,5 TMPDIR=$PWD
    for i in 1 2 3 4 5 6 7 8; do
        # shellcheck disable=SC2016
        "$P/gpuslot" sh -c 'mkdir "gpu$CUDA_VISIBLE_DEVICES" || touch twice; sleep 0.1; rmdir "gpu$CUDA_VISIBLE_DEVICES"; echo "$CUDA_VISIBLE_DEVICES"' >>used 3>&- &
    done
    wait
    [ ! -e twice ]
    [ "$(sort used | uniq | tr '\n' ' ')" = "3 5 " ]
    [ "$(wc -l <used)" -eq 8 ]
    export CUDA_VISIBLE_DEVICES=7
    "$P/gpuslot" sleep 100 3>&- &
    pid=$!
    until [ "$(cat /proc/$pid/comm)" = sleep ]; do sleep 0.02; done
    run -124 timeout 0.5 "$P/gpuslot" true
    # Who waits for this GPU is not in the way of who wants another one.
    "$P/gpuslot" true 3>&- &
    waits=$!
    sleep 0.3
    CUDA_VISIBLE_DEVICES=8 timeout 30 "$P/gpuslot" true
    CUDA_VISIBLE_DEVICES=7,8 timeout 30 "$P/gpuslot" true
    kill -0 $waits
    kill -9 $pid
    wait $waits
    run -7 "$P/gpuslot" sh -c 'exit 7'
    # shellcheck disable=SC2016
    run -0 env CUDA_VISIBLE_DEVICES='' "$P/gpuslot" sh -c 'echo "[$CUDA_VISIBLE_DEVICES]"'
    [ "$output" = "[]" ]
    # Where nobody says which, those that nvidia-smi lists.
    mkdir bin
    printf '#!/bin/sh\n[ "$*" = "--query-gpu=index --format=csv,noheader" ] && printf "4\\n6\\n"\n' >bin/nvidia-smi
    chmod +x bin/nvidia-smi
    unset CUDA_VISIBLE_DEVICES
    # shellcheck disable=SC2016
    PATH=$PWD/bin:$PATH run -0 "$P/gpuslot" env -u CUDA_VISIBLE_DEVICES "$P/gpuslot" sh -c 'echo "$CUDA_VISIBLE_DEVICES"'
    [ "$output" = 6 ] # 4 is taken
}

@test "gpuslot says what it wants instead of waiting for ever" {
    export TMPDIR=$PWD
    local slots gpus
    for gpus in 0 ''; do
        CUDA_VISIBLE_DEVICES=$gpus run -2 --separate-stderr timeout 30 "$P/gpuslot"
        [ "$stderr" = "gpuslot: expected gpuslot COMMAND..., found no COMMAND" ]
        for slots in 0 00 -1 many 1.5; do
            CUDA_VISIBLE_DEVICES=$gpus SLOTS=$slots run -2 --separate-stderr timeout 30 "$P/gpuslot" true
            [ "$stderr" = "gpuslot: SLOTS: expected 1 or more jobs that share a GPU, found '$slots'" ]
        done
    done
    CUDA_VISIBLE_DEVICES=0 SLOTS=08 run -0 "$P/gpuslot" true
    # No GPU: -1 by hand, NoDevFiles by Slurm. They are no GPU that one waits for.
    for gpus in -1 NoDevFiles; do
        # shellcheck disable=SC2016
        CUDA_VISIBLE_DEVICES=$gpus run -0 timeout 30 "$P/gpuslot" timeout 30 "$P/gpuslot" sh -c 'echo "$CUDA_VISIBLE_DEVICES"'
        [ "$output" = $gpus ]
    done
}

@test "an ensemble goes on past a damaged and an unconverged configuration, and names both" {
    raw 4
    head -c 30000 raw/cfg.2 >raw/cfg.5
    lat-start hot --dims 4,4,4,4 -o raw/hot
    run ! --separate-stderr ensemble MAX_SWEEPS=60
    [[ "$stderr" == *"failed (1): cfg.5: lat-convert: raw/cfg.5: truncated"* ]]
    [[ "$stderr" == *"not converged: hot: lat-orelax: "* ]]
    [[ "$stderr" == *"4 of 6 fixed"* ]]
    [ "$(cd landau && echo *.lat)" = "cfg.1.lat cfg.2.lat cfg.3.lat cfg.4.lat" ]
    # The table says what is there.
    [ "$(wc -l <landau/table.tsv)" -eq 5 ]
    for i in 1 2 3 4; do
        lat-theta --require-theta 1e-14 landau/cfg.$i.lat >theta
        grep -qF "cfg.$i	landau	$(column landau/cfg.$i.lat functional)	$(column landau/cfg.$i.lat theta)	" landau/table.tsv
        lat-convert raw/cfg.$i -o a.lat
        row=$(grep "^cfg.$i	" landau/table.tsv)
        [ "$(cut -f6 <<<"$row")" = "$(column a.lat plaquette)" ]
        near "$(cut -f7 <<<"$row")" "$(column a.lat plaquette)" 1e-13
    done
    run ! --separate-stderr ensemble verify
    [[ "$stderr" == *"landau/cfg.5.lat: not there yet"* && "$stderr" == *"landau/hot.lat: not there yet"* && "$stderr" != *cfg.1* ]]
    # With another file and more sweeps they are done; what was there is left alone.
    cp raw/cfg.4 raw/cfg.5
    stat -c %i landau/cfg.*.lat >before
    run -0 --separate-stderr ensemble
    [[ "$stderr" == "6 of 6 fixed" ]]
    [ "$(wc -l <<<"$output")" -eq 2 ]
    [ "$(stat -c %i landau/cfg.[1-4].lat)" = "$(cat before)" ]
    run -0 ensemble verify
    [ "$output" = "6 verified" ]
    nothing_left
}

@test "an ensemble refuses a file of several configurations in a sentence, before it fixes it" {
    raw 2
    mkdir split
    lat-convert raw/cfg.1 raw/cfg.2 -o raw/two.lat
    rm raw/cfg.2
    run -2 --separate-stderr ensemble
    why="failed (1): two.lat: ensemble: raw/two.lat: expected one configuration, found 2:"
    why+=" lat-convert --split makes a file of each"
    grep -qxF "$why" <<<"$stderr"
    [[ $stderr == *"1 of 2 fixed"* ]]
    [ -z "$(find landau -name '*two.lat.*' ! -name '*.err' ! -name '*.failed' ! -name '*.by' ! -name '*.lock')" ]
    run -1 --separate-stderr env MAKEFLAGS= MAKELEVEL= "$P/correlators.sh" raw out
    [[ $stderr == *"$why"*"not all configurations are in Landau gauge: with what is said above mended, "* ]]
    # As the sentence says.
    lat-convert --split raw/two.lat -o split/cfg.lat
    run -0 --separate-stderr ensemble RAW=split
    [[ $stderr == *"2 of 2 fixed" ]]
}

@test "a result counts where it is there, in the gauge and below the theta that are asked for" {
    raw 3
    # A Landau file is no Coulomb file, whoever asks; and nothing is added to the folder.
    ensemble OUT=out THETA=1e-12
    rm out/cfg.3.lat
    stat -c '%n %i' out/*.lat >before
    wrong() {
        run -2 --separate-stderr ensemble OUT=out "$@"
        [[ $stderr == *"ensemble: out/cfg.1.lat: $says"* ]]
        [[ $stderr == *"2 of 3 are results for other parameters: remove them, or name another OUT"* ]]
        [ "$(stat -c '%n %i' out/*.lat)" = "$(cat before)" ]
        run -2 --separate-stderr ensemble OUT=out "$@" verify
        [[ $stderr == *"out/cfg.1.lat: does not hold"* && $stderr == *"out/cfg.2.lat: does not hold"* && $output != *verified* ]]
    }
    says="expected --gauge coulomb --time t, found --gauge landau" wrong GAUGE=coulomb
    [[ $stderr == *"out/cfg.1.lat: gauge landau in its header, expected --gauge coulomb --time t"* ]]
    says="expected --gauge mag, found --gauge landau" wrong GAUGE=mag
    says="expected --gauge landau --weights 1,1,1,2, found --gauge landau" wrong WEIGHTS=1,1,1,2
    says="theta $(awk -F'\t' '$1 == "cfg.1" { print $9 }' out/table.tsv) is above 1e-20: not reached" wrong THETA=1e-20
    # Finished, it says the same; its table has what is there, not what is in its log.
    run -0 --separate-stderr ensemble OUT=out THETA=1e-12
    [ "$stderr" = "3 of 3 fixed" ]
    run -2 --separate-stderr ensemble OUT=out GAUGE=coulomb
    [[ $stderr == *"3 of 3 are results for other parameters"*"0 of 3 fixed"* ]]
    run -2 --separate-stderr ensemble OUT=out THETA=1e-20
    [[ $stderr == *"not reached"*"0 of 3 fixed"* ]]
    # What holds for less holds.
    run -0 --separate-stderr ensemble OUT=out THETA=1e-8
    run -0 ensemble OUT=out THETA=1e-8 verify
    # Coulomb gauge: the worst slice decides, not the mean; slices across x are other ones.
    ensemble OUT=slices GAUGE=coulomb
    for i in 1 2 3; do
        worst=$(lat-theta slices/cfg.$i.lat | awk '/^worst slice/ { print $3 }')
        near "$(awk -F'\t' -v c=cfg.$i '$1 == c { print $9 }' slices/table.tsv)" "$worst" "$(awk -v w="$worst" 'BEGIN { print 5.01e-15 * w }')" # 15 digits
        awk -F'\t' -v c=cfg.$i '$1 == c { exit !($9 > $4) }' slices/table.tsv
    done
    between=$(awk -F'\t' '$1 == "cfg.1" { print ($4 + $9) / 2 }' slices/table.tsv)
    run -2 --separate-stderr ensemble OUT=slices GAUGE=coulomb THETA="$between"
    [[ $stderr == *"slices/cfg.1.lat: theta "*" is above $between: not reached"* ]]
    run -2 --separate-stderr ensemble OUT=slices GAUGE=coulomb ACROSS=x
    [[ $stderr == *"slices/cfg.1.lat: expected --gauge coulomb --time x, found --gauge coulomb --time t"* ]]
    run -2 --separate-stderr ensemble OUT=slices GAUGE=coulomb ACROSS=x verify
    [[ $stderr == *"slices/cfg.1.lat: gauge coulomb in its header, expected --gauge coulomb --time x"* ]]
}

@test "a report has what is there: a failure of before does not hide a result, a row does not stand for one" {
    raw 3
    ensemble
    echo "failed (1): cfg.1: long ago" >landau/log/cfg.1.failed
    run -0 --separate-stderr ensemble
    [ "$stderr" = "3 of 3 fixed" ]
    # A row without its result, which cannot be made again; another part's table does not have it either.
    rm landau/cfg.2.lat
    head -c 3000 raw/cfg.2 >short && mv short raw/cfg.2
    run -2 --separate-stderr ensemble
    [[ $stderr == *"failed (1): cfg.2: "*"2 of 3 fixed"* ]]
    [ "$(cut -f1 landau/table.tsv | tr '\n' ' ')" = "config cfg.1 cfg.3 " ]
    run -0 --separate-stderr ensemble PART=3/3
    [ "$(cut -f1 landau/table.tsv | tr '\n' ' ')" = "config cfg.1 cfg.3 " ]
    # Results whose logs are lost, or whose rows are not whole, are measured, not made again.
    rm raw/cfg.2
    cp landau/table.tsv before
    stat -c '%n %i' landau/*.lat >inodes
    rm -r landau/log
    run -0 --separate-stderr ensemble
    [ "$stderr" = "2 of 2 fixed" ]
    : >landau/log/cfg.1.row
    run -2 --separate-stderr ensemble
    [[ $stderr == "not measured: cfg.1: landau/log/cfg.1.row is not whole; "*"1 of 2 fixed"* ]]
    run -0 --separate-stderr ensemble
    [ "$stderr" = "2 of 2 fixed" ]
    cmp <(cut -f1-7,9- before) <(cut -f1-7,9- landau/table.tsv)
    [ "$(stat -c '%n %i' landau/*.lat)" = "$(cat inodes)" ]
    # A file of another gauge that somebody put there is not.
    lat-orelax --gauge mag --theta 1e-14 landau/cfg.1.lat -o landau/new.lat
    mv landau/new.lat landau/cfg.1.lat
    rm landau/log/cfg.1.row
    run -2 --separate-stderr ensemble
    [[ $stderr == *"failed (1): cfg.1: "*"1 of 2 fixed"* ]]
    grep -qF "landau/cfg.1.lat: gauge mag in its header, expected --gauge landau" landau/log/cfg.1.err
}

# slow_relaxation: lat-orelax waits until there is a file named go; each one's options are in the file begun.
slow_relaxation() {
    mkdir bin
    cat >bin/lat-orelax <<END
#!/bin/bash
echo "\$*" >>"$PWD/begun"
until [ -e "$PWD/go" ]; do sleep 0.02; done
PATH=\${PATH#*:}
exec lat-orelax "\$@"
END
    chmod +x bin/lat-orelax
    PATH=$PWD/bin:$PATH
}

# until COMMAND...: waits for it, some 30 s at most.
await() {
    local i
    for ((i = 0; i < 600; i++)); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.05
    done
    echo "in vain: $*"
    return 1
}

@test "a configuration is made by one run at a time, whoever was killed" {
    raw 3
    slow_relaxation
    # make alone is killed; what it has started goes on.
    started
    first=$!
    await grep -c cfg.2 begun
    kill -9 $first
    wait $first || true
    # A temporary file of it, and one of a dead run.
    touch landau/log/.cfg.1.lat.4194305.tmp landau/log/.cfg.3.lat.4194305.tmp landau/log/.cfg.3.lat-orelax.tsv.4194305.7.tmp landau/log/.cfg.3.lat.x.tmp
    started
    second=$!
    await grep -c cfg.3 begun
    grep -q "^ensemble: cfg.1: another run has it ($HOSTNAME, process [0-9]*)$" said
    [ -e landau/log/.cfg.1.lat.4194305.tmp ]
    [ -e landau/log/.cfg.3.lat.x.tmp ]
    [ ! -e landau/log/.cfg.3.lat.4194305.tmp ]
    [ ! -e landau/log/.cfg.3.lat-orelax.tsv.4194305.7.tmp ]
    touch go
    wait $second
    [ "$(tail -n 1 said)" = "3 of 3 fixed" ]
    [ "$(wc -l <begun)" -eq 3 ]
    # All of a run is killed while another one waits: that does it again, and takes away what is left.
    rm go begun said landau/*.lat
    # shellcheck disable=SC2016
    setsid env MAKEFLAGS= MAKELEVEL= make -f "$P/ensemble.mk" -j3 >/dev/null 2>&1 3>&- &
    first=$!
    await grep -c cfg.3 begun
    started
    second=$!
    await grep -c waiting said
    touch landau/log/.cfg.1.lat.4194305.tmp
    touch go && kill -9 -- -$first
    wait $first || true
    wait $second
    [ "$(tail -n 1 said)" = "3 of 3 fixed" ]
    rm landau/log/.cfg.3.lat.x.tmp
    nothing_left
}

@test "an array of Slurm jobs that is submitted again while it runs makes each configuration once" {
    raw 4
    slow_relaxation
    array() {
        SLURM_ARRAY_TASK_ID=$1 PIPELINES=$P MAKEFLAGS='' MAKELEVEL='' bash "$PWD/array.sh" >>"said.$2" 2>&1
    }
    sed 's/^PARTS=[0-9]*/PARTS=2/' "$P/slurm/array.sh" >array.sh
    for job in a b; do for task in 1 2; do array $task $job 3>&- & done; done
    await sh -c 'cat said.* | grep waiting'
    touch go
    wait
    for job in a b; do
        [ "$(grep -c "^2 of 2 fixed" said.$job)" -eq 2 ] || { cat said.*; false; }
    done
    [ "$(grep -o -e '-o landau/log/cfg.[0-9].lat ' begun | sort -u | wc -l)" -eq 4 ]
    [ "$(wc -l <begun)" -eq 4 ]
    [ "$(wc -l <landau/table.tsv)" -eq 5 ]
    run -0 ensemble verify
}

@test "ensembles are right when make alone is killed and when two makes work on one OUT" {
    campaign 4
}

@test "what was begun with other parameters does not fail for ever" {
    mkdir raw
    rough raw/a --dims 4,4,4,4
    # A checkpoint that is of 3000 temperatures.
    STEPS=3000 setsid "$P/landau.sh" raw/a b.lat >/dev/null 2>&1 3>&- &
    first=$!
    await test -e b.lat-anneal.ck
    kill -9 -- -$first
    wait $first || true
    mkdir -p landau/log
    mv b.lat-anneal.ck landau/log/a.lat-anneal.ck
    cp landau/log/a.lat-anneal.ck a.ck
    run -1 --separate-stderr lat-anneal --gauge landau --steps 10 --seed 77 --resume a.ck raw/a -o x.lat
    run -0 --separate-stderr ensemble
    [ "$stderr" = "1 of 1 fixed" ]
    [ -z "$(find landau -name '*.ck' -o -name '*.failed' -o -name '*.err')" ]
}

@test "verify finds a damaged result, another raw file, and a row that is not true" {
    raw 4
    ensemble GAUGE=coulomb
    run -0 ensemble GAUGE=coulomb verify
    printf x | dd of=coulomb/cfg.1.lat bs=1 seek=20000 conv=notrunc 2>/dev/null
    cp raw/cfg.3 raw/cfg.2
    sed -i 's/\(cfg.3\tcoulomb\t0.9[0-9]\)[0-9]/\1x/; s/x/9/' coulomb/log/cfg.3.row
    run ! --separate-stderr ensemble GAUGE=coulomb verify
    [[ "$stderr" == *"coulomb/cfg.1.lat: does not hold"* ]]
    [[ "$stderr" == *"coulomb/cfg.2.lat: does not hold"* ]]
    [[ "$stderr" == *"verify/cfg.3]"* ]]
    [[ "$stderr" != *"cfg.4"* ]]
}

@test "the multi-GPU job fixes a configuration on the ranks that srun starts, and goes on from its checkpoint" {
    rough a.lat --dims 4,4,4,8
    lat-convert --to nersc a.lat -o a.nersc
    # Instead of Slurm: as many ranks by mpirun, where it is and the tools know it, else one.
    mkdir bin
    cat >bin/srun <<'END'
#!/bin/bash
[ "$1 $2" = "--input=none --kill-on-bad-exit=1" ] && shift 2 || exit 9
echo "$*" >>srun.said
if lat-orelax --version | grep -q 'MPI: yes' && command -v mpirun >/dev/null; then
    exec mpirun --oversubscribe -n 2 "$@" </dev/null
fi
exec "$@" </dev/null
END
    chmod +x bin/srun
    export PATH=$PWD/bin:$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRECISION=double
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # of what MPI keeps
    "$P/slurm/gpus.sh" a.nersc b.lat 3>&- >said
    lat-theta --require-theta 1e-14 b.lat >theta
    near "$(column a.lat plaquette)" "$(column b.lat plaquette)" 1e-13
    [ ! -e b.raw.lat ]
    [ ! -e b.ck ]
    # What is left of another configuration is not taken for this one.
    lat-start hot --dims 4,4,4,8 -o c.raw.lat
    "$P/slurm/gpus.sh" a.nersc c.lat 3>&- >said
    near "$(column a.lat plaquette)" "$(column c.lat plaquette)" 1e-13
    # One job at a time.
    exec {lock}>>c.lock
    flock "$lock"
    run -1 --separate-stderr "$P/slurm/gpus.sh" a.nersc c.lat 3>&-
    [ "$stderr" = "gpus.sh: another job is at c.lat: it has c.lock" ]
    exec {lock}>&-
    rm c.lat
    # A checkpoint that is there is handed on; this one is damaged.
    : >c.ck
    run ! "$P/slurm/gpus.sh" a.nersc c.lat 3>&-
    [[ "$output" == *c.ck* ]]
    grep -q -- '--resume c.ck' srun.said
    [ ! -e c.lat ]
    nothing_left
}

@test "parts of an ensemble are all of it, each configuration once" {
    raw 7
    : >"raw/.hidden"
    for part in 1/3 2/3 3/3; do
        "$P/ensemble.sh" begin landau raw $part landau >list.${part%/3}
        SLURM_ARRAY_TASK_ID=${part%/3} PIPELINES=$P bash <(sed 's/^PARTS=[0-9]*/PARTS=3/' "$P/slurm/array.sh") >>said 2>&1
    done
    [ "$(sort list.*)" = "$(ls raw)" ]
    [ "$(wc -l <list.1)" -eq 3 ]
    [ "$(grep -c theta said)" -eq 7 ]
    [ "$(wc -l <landau/table.tsv)" -eq 8 ]
    run ! --separate-stderr ensemble PART=4/3
    [[ "$stderr" == "ensemble: PART: expected 1/1 or 3/16, found 4/3"* ]]
    : >"raw/a b"
    run ! --separate-stderr ensemble
    [[ "$stderr" == "ensemble: raw/a b: expected a name of "* ]]
    run ! --separate-stderr ensemble RAW=none
}

@test "an ensemble killed and started again at random moments ends with the same files" {
    mkdir raw
    for i in 1 2 3 4 5 6; do lat-start weak --epsilon 0.9 --dims 6,6,6,6 --seed $i -o raw/cfg.$i; done
    export STEPS=60
    ensemble OUT=straight
    cut_off env MAKEFLAGS='' make -f "$P/ensemble.mk" -j2 OUT=cut
    for i in 1 2 3 4 5 6; do cmp straight/cfg.$i.lat cut/cfg.$i.lat; done
    cmp <(cut -f1-7,9- straight/table.tsv) <(cut -f1-7,9- cut/table.tsv)
    [ -z "$(find cut -name '*.ck')" ]
    run -0 ensemble OUT=cut verify
}

@test "an array job that gets SIGTERM before its time limit writes checkpoints, and the next one goes on from them" {
    mkdir raw
    for i in 1 2; do lat-start weak --epsilon 0.9 --dims 6,6,6,8 --seed $i -o raw/cfg.$i; done
    export STEPS=600 SLURM_ARRAY_TASK_ID=1 PIPELINES=$P
    ensemble OUT=straight
    sed 's/^PARTS=[0-9]*/PARTS=1/' "$P/slurm/array.sh" >array.sh
    setsid bash array.sh >said 2>&1 3>&- & # a job has a process group of its own
    local pid=$! got=0
    await test -s landau/log/cfg.1.lat-anneal.tsv
    kill -TERM "$pid"
    wait "$pid" || got=$?
    cat said
    [ "$got" -ne 0 ]
    [ -e landau/log/cfg.1.lat-anneal.ck ] || [ -e landau/log/cfg.1.lat-orelax.ck ]
    [ -z "$(find landau -name '.*.lat.*.tmp')" ]
    bash array.sh
    for i in 1 2; do cmp straight/cfg.$i.lat landau/cfg.$i.lat; done
    [ -z "$(find landau -name '*.ck')" ]
}

@test "make finds nothing to do for 10000 configurations without a process for each" {
    mkdir -p raw landau/log
    (cd raw && seq -f 'cfg.%05g.lime' 10000 | xargs touch)
    (cd landau && seq -f 'cfg.%05g.lime.lat' 10000 | xargs touch)
    (cd landau/log && seq -f 'cfg.%05g.lime' 10000 | awk -v OFS='\t' '
        { f = $1 ".row"; print $1, "landau", ".9", "1e-18", 30, ".7", ".7", "1.00", "1e-18", "--gauge landau" >f; close(f) }')
    TIMEFORMAT='%U %S' # of processors: other work on this machine does not count
    { time ensemble 2>said; } 2>spent
    [ "$(cat said)" = "10000 of 10000 fixed" ]
    { time ls -lR . >list; } 2>>spent
    cat spent
    # Once or twice what `ls` takes for all files; a process for a tenth of them would make it five times.
    awk '{ spent[NR] = $1 + $2 } END { exit !(spent[1] < 4 * spent[2]) }' spent
}

@test "temperatures of choosing.md are those of the pipelines, and of the default" {
    local gauge row
    while read -r gauge row; do
        grep -q "T_FIRST:=$(grep "^| $row |" "$ROOT/docs/choosing.md" | sed -n 's/.*| \([0-9.]*\)[^|]*|$/\1/p')}" "$P/$gauge.sh"
        # The first interval of the table, in the words of the script.
        grep -q "$(grep "^| $row |" "$ROOT/docs/choosing.md" | grep -o 'between T = [0-9.]* and [0-9.]*' | head -n 1) at beta = 6" "$P/$gauge.sh"
    done <<'END'
landau Landau
coulomb Coulomb
mag maximally Abelian
END
    lat-anneal --help | tr -s ' \n' ' ' | grep -q 'first temperature (default 1.4)'
}

@test "the paper's tables and figures are made, of a lattice as small as one likes" {
    local R=$P/paper gauge
    export EXTENT=4 COPIES=3 THERMALISE=20 SAME=1e-8
    run -0 --separate-stderr env STEPS=20 RELAX=50 INEXACT=0 THETA=1e-10 "$R/table4.sh" out
    [[ "$output" == *"paper, 32^4, SA/SR/OR"*"0.74423815"* ]]
    # The means are those of the copies.
    awk -F'\t' 'FNR == NR { if (FNR > 1) { n++; s += $6; f += $4 }; next } $1 == "OR" { exit !($2 == 3 && $3 == 3 && ($4 - s / n)^2 < 1 && ($6 - f / n)^2 < 1e-15) }' \
        out/or.tsv out/table4.tsv
    awk -F'\t' 'FNR > 1 { s += $6 } END { printf "%.0f\n", s / 3 + 80 }' out/sr.tsv out/sa-sr-or.tsv >want
    grep -q "^SA/SR/OR	3	3	$(cat want)	" out/table4.tsv
    # In batches they are the same copies; what was cut off goes on, and what is there can be read before.
    local small=(env BATCH=2 STEPS=20 RELAX=50 INEXACT=0 THETA=1e-10 "$R/table4.sh" parts)
    mkdir parts && mv out/b5.7-4.lat parts/
    "${small[@]}" >said 2>&1
    for log in or sr sa-sr-or auto; do cmp <(cut -f2-7 out/$log.tsv) <(cut -f2-7 parts/$log.tsv); done
    cp parts/or.tsv want
    rm -r parts/or.2
    run -0 --separate-stderr env SO_FAR=1 "${small[@]}"
    [[ "${output//$'\t'/  }" == *"OR  "*" 2  "*"SA/SR/OR  "*" 3  "* ]]
    "${small[@]}" >said 2>&1
    cmp want parts/or.tsv
    for gauge in landau mag; do
        run -0 env GAUGE=$gauge STEPS='0 10 30' "$R/figure8.sh" out
        [ "$(cut -f1-3 out/$gauge/table.tsv | tail -n +2 | tr '\t\n' '  ')" = "0 3 3 10 3 3 30 3 3 " ]
        awk -F'\t' 'FNR == NR { if (FNR > 1 && $4 > best) best = $4; next } FNR > 1 && $7 - best > 1e-9 { bad++ } END { exit bad > 0 }' out/$gauge/steps-10.tsv out/$gauge/table.tsv
    done
    run -0 env STEPS=60 "$R/figure7.sh" out
    # Functional rises as it cools: 5 percent at a higher temperature than half, that than 95.
    awk -F'\t' 'FNR > 1 { n++; if (!($2 > $3 && $3 > $4 && $4 > 0 && $7 > $6)) bad++ } END { exit bad || n != 2 }' out/figure7.tsv
    run -0 env SPATIAL=8 TEMPORAL=8 SWEEPS=100 RANKS=1 PER_RANK=8 ALL_SLICES=4 "$R/figures3-6.sh" speed
    [ "$(awk -F'\t' 'FNR > 1 && $5 > 0' speed/rates.tsv | wc -l)" -eq 6 ]
    if command -v gnuplot >/dev/null; then
        for file in out/landau.png out/mag.png out/landau/figure8.png out/mag/figure8.png; do [ "$(head -c 4 $file | tail -c 3)" = PNG ]; done
    fi
}

@test "the solver's paper: rates in every mode, and a model that agrees with what was measured" {
    run -0 env OMP_NUM_THREADS=1 RANKS=1 WEAK=4,4,4,4 STRONG=4,4,4,8 "$P/paper/solver.sh" out
    [[ "$output" == *"paper, GTX 285"* ]]
    # Figures, modes and numbers side by side; residuals are below the paper's.
    awk -F'\t' 'FNR > 1 { n++; if (!($8 > 0 && $9 > 0 && $10 <= ($4 == "single" ? 1e-7 : 1e-14))) bad++ } END { exit bad || n != 8 }' out/rates.tsv
    "$ROOT/bench/dirac_model.py" --check >said
    [ "$(grep -c % said)" -eq 18 ]
    "$ROOT/bench/dirac_model.py" >said
    [ "$(grep -c 'a second cut is needed' said)" -ge 1 ]
}

@test "scripts are clean under shellcheck" {
    command -v shellcheck >/dev/null || skip "shellcheck not found"
    shellcheck -x "$P"/*.sh "$P/gpuslot" "$P"/slurm/*.sh "$P"/paper/*.sh "$P"/plots/*.sh
}

@test "ghosts: means and jackknife errors of tables, and a picture" {
    local i
    for i in 1 2 3; do
        printf 'configuration\tkx\tky\tkz\tkt\tk2\tG\tresidual\tgauge\ttheta\tdims\tgroup\tforced\n'
        printf '0\t1\t0\t0\t0\t2\t%s\t1e-9\tlandau\t1e-20\t4,4,4,4\tSU(3)\t0\n' "$i"
        printf '0\t1\t1\t0\t0\t4\t%s\t1e-9\tlandau\t1e-20\t4,4,4,4\tSU(3)\t0\n' "$((i * i))"
    done | split -l 3 - table.
    ghosts() { lat-stat "$@"; }
    ghosts table.?? >mean.tsv
    # 1, 2, 3: mean 2, error sqrt(2/3/2); 1, 4, 9: mean 14/3, error sqrt(((11/3)^2 + (2/3)^2 + (13/3)^2) / 6)
    near "$(field mean.tsv G 1)" 2 1e-9
    near "$(field mean.tsv G_error 1)" 0.577350269 1e-8
    near "$(field mean.tsv k2_G_error 1)" 1.154700538 1e-8
    near "$(field mean.tsv G 2)" 4.666666667 1e-8
    near "$(field mean.tsv G_error 2)" 2.333333333 1e-8
    [ "$(field mean.tsv configurations 2)" = 3 ]
    ghosts table.aa | grep -q $'1\tnan\t2\tnan\t1\t1\t'
    sed -i '$d' table.ab
    run -1 ghosts table.??
    [[ $output == *"expected as many rows of '1 1 0 0' as of '1 0 0 0' in each configuration, found 0 and 1 in number 2 "* ]]
    run -1 ghosts mean.tsv
    sed -i 's/SU(3)/SU(2)/' table.ac
    run -1 ghosts table.aa table.ac
    [[ $output == *"expected group SU(3) as before, found SU(2)"* ]]
    sed -i 's/SU(2)/SU(3)/; s/\t4\t9\t/\t6\t9\t/' table.ac # a weight of 2 in y
    run -1 ghosts table.aa table.ac
    [[ $output == "lat-stat: table.ac: row 3: expected k2 4 of '1 1 0 0' as before, found 6" ]]
    command -v gnuplot >/dev/null || skip "no gnuplot"
    gnuplot -c "$P/plots/ghost.gp" g.png mean.tsv table.aa
    gnuplot -c "$P/plots/ghost.gp" g.pdf mean.tsv
    [ -s g.png ]
    [ -s g.pdf ]
}

# In a locale with a decimal comma mawk reads 1.5 as 1 and prints 1,5.
@test "numbers have a point in every locale: all scripts that use awk, sort or printf say so" {
    local script used
    for script in "$P"/*.sh "$P"/*.mk "$P"/paper/*.sh; do
        used=$(grep -v 'LC_ALL=C awk' "$script" | grep -cE '(^|[^.a-z])(awk|sort|printf) ' || true)
        [ "$used" -eq 0 ] || grep -qE '^(export )?LC_ALL( :)?=|common\.sh"$|ensemble\.sh|fix\.sh' "$script" || { echo "$script"; return 1; }
    done
    run ! grep -nE '(system\(|< *)"?awk' "$P"/plots/*.gp
    mkdir comma
    localedef -i de_DE -f UTF-8 "$PWD/comma/de_DE.UTF-8" || skip "no localedef that makes a locale with a decimal comma"
    export LOCPATH=$PWD/comma
    unset LC_ALL
    export LANG=de_DE.UTF-8
    [ "$(awk 'BEGIN { print 1.5 }')" = 1,5 ] || skip "this awk prints a point in every locale"
    mkdir raw
    for i in 1 2; do lat-start weak --dims 4,4,2,4 --epsilon 0.2 --seed $i -o raw/cfg.$i; done
    hadrons() { make --no-print-directory -f "$P/hadrons.mk" RAW=raw KAPPA=0.12 SOURCE=point:0,0,0,0 CHANNELS=pion "$@"; }
    hadrons
    LC_ALL=C hadrons OUT=point
    cmp hadrons/masses.tsv point/masses.tsv
    lat-stat hadrons/cfg.?.tsv | cmp - hadrons/masses.tsv
}

@test "hadrons: masses of a small ensemble with jackknife errors, only what is missing, other parameters are refused" {
    mkdir raw
    for i in 1 2 3; do lat-start weak --dims 4,4,4,8 --epsilon 0.2 --seed $i | lat-convert --to nersc -o raw/cfg.$i; done
    hadrons() { make --no-print-directory -f "$P/hadrons.mk" RAW=raw KAPPA=0.12 SOURCE=gauss:2,6,0,0,0,0 CHANNELS=pion,nucleon MOMENTA=1 "$@"; }
    # Parameters that no tool takes leave nothing that stands in the way of others.
    run -2 --separate-stderr hadrons KAPPA=nonsense
    [[ $stderr == *"failed: cfg.1: lat-solve: "*nonsense* ]]
    hadrons -j2
    [ "$(tail -n +2 hadrons/masses.tsv | cut -f 1-4 | uniq -c | tr -s ' \t' ' ' | tr '\n' ';')" = " 8 pion 0 0 0; 8 pion 1 0 0; 8 nucleon 0 0 0; 8 nucleon 1 0 0;" ]
    # By hand: mean and jackknife error of the pion at t = 2, and its mass from means.
    awk -F'\t' '$2 == "pion" && $3 $4 $5 == "000" { c[FILENAME, $6] = $7; f[FILENAME] }
        END {
            for (k in f) { for (t = 1; t < 4; t++) m[k, t] = (c[k, t] + c[k, 8 - t]) / 2; n++; for (t = 1; t < 4; t++) s[t] += m[k, t] }
            x = (s[1] + s[3]) / (2 * s[2]); mass = log(x + sqrt(x * x - 1))
            for (k in f) {
                e += (m[k, 2] - s[2] / n)^2 / (n * (n - 1))
                y = (s[1] - m[k, 1] + s[3] - m[k, 3]) / (2 * (s[2] - m[k, 2])); j[k] = log(y + sqrt(y * y - 1)); a += j[k] / n
            }
            for (k in f) v += (j[k] - a)^2 * (n - 1) / n
            printf "%.9g %.4g %.5g %.4g\n", s[2] / n, sqrt(e), mass, sqrt(v)
        }' hadrons/cfg.?.tsv >want
    awk -F'\t' '$1 == "pion" && $2 $3 $4 $5 == "0002" { printf "%.9g %.4g %.5g %.4g\n", $6, $7, $8, $9 }' hadrons/masses.tsv >found
    cmp want found
    if command -v gnuplot >/dev/null; then [ -s hadrons/masses.png ] && [ -s hadrons/masses.pdf ]; fi
    cp hadrons/cfg.2.tsv kept
    rm hadrons/cfg.2.tsv
    touch -d '1 hour ago' hadrons/cfg.1.tsv && before=$(stat -c %Y hadrons/cfg.1.tsv)
    hadrons
    cmp kept hadrons/cfg.2.tsv
    [ "$(stat -c %Y hadrons/cfg.1.tsv)" = "$before" ]
    run -2 --separate-stderr hadrons KAPPA=0.13
    [[ $stderr == *"name another OUT"* ]]
    # With Dirichlet time C(T-t) is no image of C(t), and masses are ln C(t)/C(t+1).
    hadrons OUT=walls BOUNDARY=p,p,p,d CHANNELS=pion MOMENTA=0
    awk -F'\t' 'FNR > 1 { s[$6] += $7 / 3 } END { for (t = 0; t < 7; t++) printf "%d %.6g %.6g\n", t, s[t], log(s[t] / s[t + 1]) }' walls/cfg.?.tsv >want
    awk -F'\t' '$1 == "pion" && $5 < 7 { printf "%d %.6g %.6g\n", $5, $6, $8 }' walls/masses.tsv | cmp want
    # Results of other parameters that were begun before there was any are none.
    mkdir others
    # shellcheck disable=SC2016 # of the other shell
    printf '#!/bin/bash\necho of others >late/.parameters\nPATH=${PATH#*:} exec lat-corr "$@"\n' >others/lat-corr
    chmod +x others/lat-corr
    PATH=$PWD/others:$PATH run -2 --separate-stderr hadrons OUT=late CHANNELS=pion MOMENTA=0
    [[ $stderr == *"late: expected results of 'KAPPA=0.12"*"found those of 'of others': name another OUT"* ]]
    [ ! -e late/cfg.1.tsv ]
    # Another run of the script for the same table that comes to its end takes no file of this one away.
    # shellcheck disable=SC2016 # of the other shell
    printf '#!/bin/bash\nPATH=${PATH#*:}\nrm -f one.links.lat\n"${0##*/}" "$@" && rm -f one.prop.lat.part\n' | tee others/lat-solve >others/lat-corr
    chmod +x others/*
    PATH=$PWD/others:$PATH KAPPA=.12 SOURCE=gauss:2,6,0,0,0,0 SINK=gauss:2,6 KEEP=1 "$P/hadrons.sh" raw/cfg.1 one.tsv
    [ "$(echo one.*)" = "one.lat-solve.tsv one.prop.lat one.tsv" ]
    # Noise is another one for each configuration, unless a number is asked for, and stands before the steps.
    for i in 1 2; do
        KAPPA=.12 SOURCE=noise:z2,t=0,dilute=spin-colour/gauss:1,2 CHANNELS=pion KEEP=1 "$P/hadrons.sh" raw/cfg.$i noise.$i.tsv 2>said || { cat said; return 1; }
        lat-info noise.$i.prop.lat | grep -o 'noise:z2,t=0,dilute=spin-colour,config=[0-9]*/gauss:1,2' >noise.$i
    done
    [ -s noise.1 ]
    [ "$(cat noise.1)" != "$(cat noise.2)" ]
    KAPPA=.12 SOURCE=noise:z2,t=0,dilute=spin-colour,config=7 CHANNELS=pion KEEP=1 "$P/hadrons.sh" raw/cfg.1 noise.tsv
    lat-info noise.prop.lat | grep -q 'noise:z2,t=0,dilute=spin-colour,config=7$'
    # An empty table is no configuration that may be left out.
    for found in /dev/null nothing; do
        head -n 1 hadrons/cfg.1.tsv >nothing
        run -1 --separate-stderr lat-stat hadrons/cfg.1.tsv $found hadrons/cfg.2.tsv
        [ "$stderr" = "lat-stat: $found: expected a table with rows, found none" ]
        [ -z "$output" ]
    done
    # Two runs do not share a checkpoint, under whatever of its names the table goes.
    (flock 9; refuses 1 'hadrons.sh: ./one: another run is at work on it' "$P/hadrons.sh" raw/cfg.1 ./one) 9>>.one.hadrons.lock
    refuses 1 'nowhere/.one.hadrons.lock cannot be locked' "$P/hadrons.sh" raw/cfg.1 nowhere/one.tsv
    # Neither a configuration nor their folder is where tables go.
    run -2 --separate-stderr "$P/hadrons.sh" raw/cfg.1 raw/../raw/cfg.1
    [[ $stderr == *"expected a name for the table, found the configuration" ]]
    for script in landau.sh gribov.sh hadrons.sh slurm/gpus.sh paper/table4.sh; do
        for few in '' 'a b c d'; do
            # shellcheck disable=SC2086 # words
            refuses 2 "${script##*/}: expected " "$P/$script" $few
        done
    done
    run -2 --separate-stderr hadrons OUT=./raw
    [[ $stderr == "ensemble: RAW and OUT: expected two folders, found raw and ./raw"* ]]
    # Two makes at once: each result is made once, by one of them; the other waits.
    hadrons OUT=both CHANNELS=pion -j2 &
    hadrons OUT=both CHANNELS=pion -j2
    wait $!
    tail -n +2 both/masses.tsv | cut -f 1-5 | sort -u | wc -l | grep -qx 16
    # A smeared sink, and a file that is no configuration: the others are done.
    echo nothing >raw/cfg.4
    run -2 --separate-stderr hadrons OUT=smeared SINK=gauss:2,6
    [[ $stderr == *"failed: cfg.4: lat-convert: "* ]]
    [ "$(find smeared -name '*.tsv' ! -name '*lat-solve*' | wc -l)" -eq 3 ]
    nothing_left
}

# pions [ARGUMENT]...: hadrons.mk, of small configurations.
pions() {
    make --no-print-directory -f "$P/hadrons.mk" KAPPA=0.12 SOURCE=point:0,0,0,0 CHANNELS=pion "$@"
}

# pions_of N: as it has said just now, and as the table has.
pions_of() {
    [ "${lines[-1]}" = "$1 configurations: hadrons/masses.tsv" ]
    [ "$(field hadrons/masses.tsv configurations)" = "$1" ]
}

@test "hadrons.mk: masses are of the configurations that are in RAW now; where nothing has changed nothing is written" {
    raw 3
    run -0 pions
    pions_of 3
    stamps() { stat -c '%n %i %y' hadrons/*.tsv hadrons/.[!.]*; }
    stamps >before
    run -0 pions
    stamps | cmp - before
    # A configuration goes; it comes again, as old as it was.
    cp hadrons/masses.tsv three
    mv raw/cfg.3 gone
    run -0 pions
    pions_of 2
    mv gone raw/cfg.3
    run -0 pions
    pions_of 3
    cmp hadrons/masses.tsv three
    nothing_left
}

@test "hadrons.mk: one configuration ends well, a default that is named is the same, what was interrupted is called so, links keep their CRC" {
    mkdir raw bin
    lat-heatbath --dims 4,4,4,8 --beta 5.7 --thermalise 5 --seed 3 -o raw/cfg.1
    printf '#!/bin/sh\nexit 1\n' >bin/gnuplot # cannot draw errors of one
    chmod +x bin/gnuplot
    PATH=$PWD/bin:$PATH run -0 pions KEEP=1
    [ "${lines[-1]}" = "1 configuration: hadrons/masses.tsv, without errors and without a picture" ]
    [ "$(field hadrons/masses.tsv configurations)" = 1 ]
    PATH=$PWD/bin:$PATH run -0 pions RESIDUAL=1e-10 CSW=0 SINK= MOMENTA=0
    sed -i 's/RESIDUAL=[^ ]*/RESIDUAL=/' hadrons/.parameters # as earlier versions have it
    PATH=$PWD/bin:$PATH run -0 pions
    run -2 pions RESIDUAL=1e-9
    # The propagator is of the links of RAW.
    lat-dirac --check -U raw/cfg.1 hadrons/cfg.1.prop.lat
    # A solver that stops as soon as it has a checkpoint.
    # shellcheck disable=SC2016 # of the other shell
    printf '#!/bin/bash\nPATH=${PATH#*:}; lat-solve --batch 1 "$@" <&0 &
        while [ ! -e stopped/cfg.1.ck ] && kill -0 $!; do sleep .01; done; kill -TERM $!; wait $!; exit 143\n' >bin/lat-solve
    chmod +x bin/lat-solve
    PATH=$PWD/bin:$PATH run -2 pions OUT=stopped KAPPA=.16
    echo "$output"
    grep -qx 'interrupted: cfg.1: the same command goes on' <<<"$output"
    rm bin/lat-solve
    PATH=$PWD/bin:$PATH pions OUT=stopped KAPPA=.16
}

@test "landau.sh: copies, of which the best one stays; STEPS=0 relaxes at once" {
    rough a.lat --dims 4,4,4,4
    rough b.lat --dims 4,4,4,4 --seed 5
    local script
    for script in landau coulomb mag; do
        STEPS=0 "$P/$script.sh" a.lat one.lat
        [ ! -e one.lat-anneal.tsv ]
        STEPS=0 COPIES=4 THETA=1e-10 "$P/$script.sh" a.lat four.lat
        [ "$(tail -n +2 four.copies.tsv | wc -l)" -eq 4 ]
        [ "$(tail -n +2 four.copies.tsv | cut -f 3 | sort -u | wc -l)" -eq 4 ] # starts
        COPIES=3 STEPS=5 THETA=1e-10 "$P/$script.sh" a.lat three.lat
        [ "$(tail -n +2 three.copies.tsv | wc -l)" -eq 3 ]
        near "$(column three.lat functional)" "$(tail -n +2 three.copies.tsv | cut -f 4 | sort -g | tail -n 1)" 1e-9
    done
    mkdir raw && mv a.lat b.lat raw/
    ensemble OUT=fixed STEPS=0 COPIES=2 THETA=1e-10
    [ "$(tail -n +2 fixed/table.tsv | wc -l)" -eq 2 ]
    [ -e fixed/log/a.lat.copies.tsv ]
    # A pipeline that a signal ends has not failed.
    cp -r "$P" mine
    # shellcheck disable=SC2016 # of the other shell
    printf '#!/bin/bash\n[ "$1" != --condition ] || exec echo --gauge landau --require-theta 1\nkill -TERM $$\n' >mine/stops.sh
    chmod +x mine/stops.sh
    run -2 make -f mine/ensemble.mk GAUGE=stops
    grep -q '^interrupted, the same command goes on: a.lat: ' <<<"$output"
    nothing_left
}

@test "hadrons.mk: results of other links under the names of these are refused" {
    raw 3
    run -0 pions
    cp hadrons/masses.tsv three
    # The same links in another file are the same configuration.
    cp raw/cfg.1 again && mv again raw/cfg.1
    lat-convert raw/cfg.2 -o again
    mv again raw/cfg.2
    run -0 pions
    cmp hadrons/masses.tsv three
    # Others of the same name and date are not, from another folder or in this one.
    mkdir others
    cp -p raw/cfg.1 others
    rough again --dims 4,4,4,4 --seed 7
    touch -r raw/cfg.2 again
    cp -p again others/cfg.2
    cp -p raw/cfg.2 kept && mv again raw/cfg.2
    crc() { lat-convert "$1" | lat-info --tsv | tail -n 1 | cut -f 17; }
    for folder in others raw; do
        run -2 --separate-stderr pions RAW=$folder
        [[ $stderr == "failed: cfg.2: links.sh: $folder/cfg.2: expected the links that hadrons/cfg.2.tsv was made of, CRC $(crc kept), found $(crc $folder/cfg.2): remove hadrons/cfg.2.tsv, or name another folder"* ]]
    done
    cmp hadrons/masses.tsv three
    # Without the result it is as any other.
    rm hadrons/cfg.2.tsv
    run -0 pions
    pions_of 3
    run ! cmp hadrons/masses.tsv three
    # Nobody knows what a result is of that has no record.
    rm hadrons/links/cfg.2
    run -2 --separate-stderr pions
    [[ $stderr == *"expected the links that hadrons/cfg.2.tsv was made of, CRC not known, found "* ]]
    refuses 2 "links.sh: expected " "$P/links.sh" raw/cfg.1
    nothing_left
}

@test "hadrons.mk: several sources of a configuration are one measurement; the mean over them comes first" {
    raw 2
    run -0 pions SOURCES='point:0,0,0,0 point:1,2,3,1'
    pions_of 2
    [ "$(find hadrons -name '*source*' ! -name '*lat-solve*' ! -name '.*' | wc -l)" -eq 0 ]
    cut -f 10 hadrons/cfg.1.tsv | sort -u | paste -sd ' ' | grep -qx 'point:0,0,0,0 point:1,2,3,1 source'
    for i in 1 2; do
        for source in 0,0,0,0 1,2,3,1; do
            lat-convert raw/cfg.$i | lat-reunit --precision double |
                lat-solve --kappa .12 --source point:$source -q | lat-corr --channels pion >one.$i.$source
        done
    done
    lat-stat one.* | cmp - hadrons/masses.tsv
    # by hand, at t = 0: the mean of both sources of each, then the jackknife error of two numbers, half their difference
    awk -F'\t' 'FNR == 2 { c[substr(FILENAME, 5, 1)] += $7 / 2 } END { d = c[1] - c[2]; printf "%.8g %.6g\n", (c[1] + c[2]) / 2, (d < 0 ? -d : d) / 2 }' \
        one.[12].[01],* >want
    awk -F'\t' 'NR == 2 { printf "%.8g %.6g\n", $6, $7 }' hadrons/masses.tsv | cmp - want
    nothing_left
}

@test "variables that no pipeline reads are refused, in the place of a default" {
    raw 1
    local try script wrong right
    refuses 2 "expected variables of hadrons.mk (RAW OUT BINSIZE KAPPA " make -s -f "$P/hadrons.mk" MASS=.15
    refuses 2 "expected variables of landau.sh (RAW GAUGE OUT PART " make -s -f "$P/ensemble.mk" GAUGE=landau SINK=3
    refuses 2 "figure8.sh: expected the variable EXTENT, found EXTEND, which is not used" env EXTEND=8 "$P/paper/figure8.sh" out
    for try in "hadrons.sh KAPPPA KAPPA" "hadrons.sh SOLVE SOLVER" "gribov.sh COPEIS COPIES" "landau.sh THETTA THETA" "landau.sh MICR MICRO" \
        "correlators.sh CYLINDRE CYLINDER" "correlators.sh THETTA THETA" "slurm/gpus.sh theta THETA" "slurm/gpus.sh GUAGE GAUGE"; do
        read -r script wrong right <<<"$try"
        refuses 2 "${script##*/}: expected the variable $right, found $wrong, which is not used" env "$wrong=1" "$P/$script" raw/cfg.1 out
    done
    # from the environment of make, too, and from a make that runs this one
    for try in "hadrons KAPPPA KAPPA" "hadrons kappa KAPPA" "hadrons SUORCE SOURCE" "ensemble GUAGE GAUGE" "ensemble THETTA THETA" "ensemble steps STEPS" "ensemble COPIE COPIES"; do
        read -r script wrong right <<<"$try"
        refuses 2 "$script.mk: expected the variable $right, found $wrong, which is not used" env "$wrong=1" make -n -s -f "$P/$script.mk"
        refuses 2 "$script.mk: expected the variable $right, found $wrong, which is not used" env MAKELEVEL=1 make -n -s -f "$P/$script.mk" "$wrong=1"
    done
    # Short names: capitals always, and what no environment has: letters that have changed places, one twice, one
    # missing of four, an S more.
    for try in "hadrons.sh csw CSW" "hadrons.sh sink SINK" "hadrons.sh keep KEEP" "gribov.sh seed SEED" \
        "gribov.sh same SAME" \
        "correlators.sh jobs JOBS" "hadrons.sh CWS CSW" "hadrons.sh SCW CSW" "hadrons.sh KEPE KEEP" \
        "gribov.sh SEEED SEED" "gribov.sh SED SEED" "gribov.sh SEEDS SEED" "hadrons.sh SINKK SINK" \
        "hadrons.sh SNK SINK" "correlators.sh CSSW CSW"; do
        read -r script wrong right <<<"$try"
        refuses 2 "$script: expected the variable $right, found $wrong, which is not used" \
            env "$wrong=1" "$P/$script" raw/cfg.1 out
    done
    for wrong in csw CWS; do
        refuses 2 "hadrons.mk: expected the variable CSW, found $wrong, which is not used" \
            env "$wrong=1.7" make -n -s -f "$P/hadrons.mk"
    done
    refuses 2 "ensemble.mk: expected the variable OUT, found OTU, which is not used" \
        env OTU=x make -n -s -f "$P/ensemble.mk"
    for right in HOME PATH PWD TERM USER LANG SHELL PS1 TMP TMPDIR EDITOR PAGER LOGNAME MAIL HOST PORT TZ CC JOB \
        JOB_ID PAT PARTS SPEED KEY ROWS CSV SKIN SEND SAFE ROUTE; do
        env "$right=${!right-1}" "$P/known.sh" "$P"/{hadrons,correlators,gribov,landau,fix,potential}.sh "$P"/*.mk \
            "$P/gpuslot" >/dev/null
    done
    make -n -s -f "$P/ensemble.mk" GAUGE=landau THETA=1e-3 T_FIRST=1 CONVERT= TOLERANCE=1 >/dev/null
    # one that is empty is no default, unless that is empty, too
    refuses 2 "hadrons.mk: KAPPA: expected a value, found none (the default is 0.1540)" make -n -s -f "$P/hadrons.mk" KAPPA=
    refuses 2 "hadrons.mk: BINSIZE: expected a value, found none (the default is 1)" make -n -s -f "$P/hadrons.mk" BINSIZE=
    refuses 2 "ensemble.mk: GAUGE: expected a value, found none (the default is landau)" make -n -s -f "$P/ensemble.mk" GAUGE=
    refuses 2 "ensemble.mk: THETA: expected a value, found none (the default is 1e-14)" make -n -s -f "$P/ensemble.mk" GAUGE=landau THETA=
    make -n -s -f "$P/hadrons.mk" SINK= SOURCES= CONVERT= >/dev/null
    # what comes first is said first
    refuses 2 "ensemble: GAUGE: expected landau, coulomb, mag, or the NAME of a copy NAME.sh beside them, found 'lorenz'" \
        make -n -s -f "$P/ensemble.mk" GAUGE=lorenz STEPS=3
    refuses 2 "ensemble: RAW: expected a folder of configurations, found no folder 'nowhere'" make -n -s -f "$P/hadrons.mk" RAW=nowhere
    refuses 2 "hadrons.sh: KEEP: expected 1, or nothing, found 'no'" env KEEP=no "$P/hadrons.sh" raw/cfg.1 out.tsv
}

@test "a name in RAW is never run, and a link at the name of a helper file is never followed" {
    raw 1
    local name victim=$PWD/precious try
    cp raw/cfg.1 "raw/x';touch\${IFS}PWNED;'y"
    for try in hadrons ensemble; do
        refuses 2 "expected a name of letters, digits and ._+=,@~-" make -n -f "$P/$try.mk" RAW=raw
    done
    [ ! -e PWNED ]
    rm raw/x*
    held() { # NAME COMMAND...
        rm -rf out
        mkdir -p out/log out/links out/each/cfg.1 out/landau/log
        echo precious >"$victim"
        ln -s "$victim" "out/$1"
        "${@:2}" >said 2>&1 || true
        [ "$(cat "$victim")" = precious ] || { echo "$1: written through"; cat said; return 1; }
    }
    export KAPPA=.12 SOURCE=point:0,0,0,0 CHANNELS=pion PICTURES='' VERTICES='' GHOSTS='' QUARKS='' T_FIRST=.2 T_LAST=.1 STEPS=1 MICRO=0 THETA=1e-2
    for name in cfg.1.tsv.err .parameters.tmp links/.cfg.1.tmp links/cfg.1; do held $name make -s -f "$P/hadrons.mk" OUT=out; done
    for name in cfg.1.err cfg.1.lock .rows .rows.results cfg.1.row.tmp cfg.1.row cfg.1.failed ../.table.tsv.tmp ../table.tsv; do
        held log/$name make -s -f "$P/ensemble.mk" GAUGE=landau OUT=out
    done
    for name in .gluon.tsv.tmp gluon.tsv each/cfg.1/err parameters; do held $name "$P/correlators.sh" raw out; done
    for name in table.tsv histogram.tsv best.lat; do COPIES=2 held $name "$P/gribov.sh" raw/cfg.1 out; done
    mkdir -m 1777 everybodys
    refuses 1 "solver.sh: everybodys: expected a folder in which not everybody may make files" "$P/paper/solver.sh" everybodys
    # and what hadrons.sh called by its process
    held_links() {
        mkdir -p out
        for ((i = $$; i < $$ + 3000; i++)); do ln -s "$victim" "out/h.links.$i.lat"; done
        SINK=gauss:1,2 "$P/hadrons.sh" raw/cfg.1 out/h.tsv
        [ "$(cat "$victim")" = precious ]
    }
    held_links
}

@test "hadrons.mk draws its means by draw.sh, in the forms that PICTURES names" {
    mkdir raw program
    # What stands for gnuplot: the picture has the names of its tables.
    # shellcheck disable=SC2016 # of that script
    printf '#!/bin/bash\necho "${@:4}" >"$3"\n' >program/gnuplot
    chmod +x program/gnuplot
    for i in 1 2; do lat-heatbath --dims 4,4,4,4 --beta 5.7 --thermalise 5 --seed $i -o raw/cfg.$i; done
    PATH=$PWD/program:$PATH MAKEFLAGS='' MAKELEVEL='' make -f "$P/hadrons.mk" KAPPA=.12 CHANNELS=pion >said 2>&1
    [ "$(cat hadrons/masses.png)" = hadrons/masses.tsv ]
    cmp hadrons/masses.png hadrons/masses.pdf
    rm hadrons/masses.p*
    PATH=$PWD/program:$PATH MAKEFLAGS='' MAKELEVEL='' PICTURES=pdf make -f "$P/hadrons.mk" KAPPA=.12 CHANNELS=pion >said 2>&1
    [ -s hadrons/masses.pdf ]
    [ ! -e hadrons/masses.png ]
    PATH=$PWD/program:$PATH MAKEFLAGS='' MAKELEVEL='' make -f "$P/hadrons.mk" KAPPA=.12 CHANNELS=pion PICTURES=png >said 2>&1
    [ -s hadrons/masses.png ]
}

@test "hadrons.mk: a configuration that is there twice is named; names of other tables are refused" {
    raw 2
    # A copy has the same links, so that it is no configuration of its own; that is said.
    run -0 pions
    cp hadrons/masses.tsv two
    lat-convert raw/cfg.1 -o raw/copy
    run -0 pions
    [[ $output == *"warning: copy is cfg.1 again, with the same links: they count as one"* ]]
    pions_of 2
    cmp two hadrons/masses.tsv
    rm raw/copy
    # The names of other tables are no names of configurations.
    for name in masses cfg.1.lat-solve; do
        cp raw/cfg.1 raw/$name
        run -2 --separate-stderr pions
        [[ $stderr == *"raw: expected names other than $name: OUT/masses.tsv and the like have the means"* ]]
        rm raw/$name
    done
    nothing_left
}

@test "hadrons: tables of two operators, sources, sinks or lattices are not averaged; the place of a source is free" {
    masses() { lat-stat --apart "$@"; }
    corr() { # OUT OPTION...: of lat-solve
        lat-solve --residual 1e-6 "${@:2}" cfg.lat | lat-corr --channels pion >"$1"
    }
    rough cfg.lat --dims 4,4,4,4
    corr a --kappa .12 --source point:0,0,0,0
    corr b --kappa .12 --source point:1,2,3,1
    corr kappa --kappa .13 --source point:0,0,0,0
    corr wall --kappa .12 --source wall:0
    corr csw --kappa .12 --csw 1 --source point:0,0,0,0
    corr stout --kappa .12 --smear-links stout:.1,1 --source point:0,0,0,0
    corr twist --kappa .12 --twist .1 --source point:0,0,0,0
    corr gauss --kappa .12 --source gauss:1,4,0,0,0,0
    [ "$(head -n 1 a | cut -f 7-)" = "$(printf 're\tim\toperator\tsource\tsink\tdims\tgroup\tlinks\tensemble')" ]
    [ "$(sed -n 2p stout | cut -f 9-13)" = "$(printf 'kappa 0.12 (mass 0.1666666667), boundary p,p,p,a, links stout:.1,1\tpoint:0,0,0,0\tnone\t4,4,4,4\tSU(3)')" ]
    masses a b | grep -q $'^pion\t0\t0\t0\t1\t.*\t1\t1\t' # one configuration
    for other in 1 2; do corr noise.$other --kappa .12 --source noise:z2,t=$other,dilute=spin-colour,config=$other; done
    masses noise.1 noise.2 | grep -q $'^pion\t0\t0\t0\t1\t.*\t1\t1\t' # one configuration
    for other in kappa csw stout twist; do
        run -1 --separate-stderr masses a $other
        [[ $stderr == "lat-stat: $other: row 2: expected operator kappa 0.12 (mass 0.1666666667), boundary p,p,p,a as before, found "* ]]
        [ -z "$output" ]
    done
    for other in wall gauss; do
        run -1 --separate-stderr masses a b $other
        [[ $stderr == "lat-stat: $other: row 2: expected source point as before, found $other"* || $stderr == *"found point/gauss:1,4" ]]
    done
    lat-solve --kappa .12 --residual 1e-6 --source point:0,0,0,0 cfg.lat -o prop.lat
    lat-corr --channels pion --sink gauss:1,4 -U cfg.lat prop.lat >sink
    run -1 --separate-stderr masses a sink
    [ "$stderr" = "lat-stat: sink: row 2: expected sink none as before, found gauss:1,4" ]
    rough cfg.lat --dims 4,4,6,4
    corr large --kappa .12 --source point:0,0,0,0
    run -1 --separate-stderr masses a large
    [ "$stderr" = "lat-stat: large: row 2: expected dims 4,4,4,4 as before, found 4,4,6,4" ]
    # Several masses of a stream, too; two quarks are two operators.
    lat-solve --kappas .12,.13 --residual 1e-6 --source point:0,0,0,0 cfg.lat -o two.lat
    lat-corr --channels pion two.lat >two
    run -1 --separate-stderr masses two
    [[ $stderr == "lat-stat: two: row "*": expected operator kappa 0.12 "*"found kappa 0.13 "* ]]
    lat-corr --channels pion --second two.lat two.lat | cut -f 9 | sort -u | grep -qx 'kappa 0.13 .*p,p,p,a | kappa 0.13 .*p,p,p,a'
    # Dirichlet time is known by the operator, so that C(T-t) is no image of C(t).
    corr walls --kappa .12 --boundary p,p,p,d --source point:0,0,0,0
    masses walls | cmp - <(masses --no-fold walls)
    masses walls | cut -f 8 | grep -vq nan
}

@test "hadrons: the PCAC mass of an ensemble is the ratio of means, with its jackknife error, and wants the pion" {
    # C_A(t+1) - C_A(t-1) = 4 m C_P: numerators 2, 3, 10 and pions 4, 8, 12 at t = 1.
    local i m=(.5 .375 .833333333333333) c=(4 8 12)
    masses() { lat-stat --apart "$@"; }
    for i in 0 1 2; do
        printf 'configuration\tchannel\tpx\tpy\tpz\tt\tre\tim\n'
        printf '0\t%s\t0\t0\t0\t%s\t%s\t0\n' pcac 0 .1 pcac 1 "${m[i]}" pcac 2 .1 pcac 3 .1 pion 0 9 pion 1 "${c[i]}" pion 2 2 pion 3 4
    done | split -l 9 - table.
    masses table.?? >found
    # 15/24; without a configuration 13/20, 12/16, 5/12. The mean of ratios were .5694.
    awk 'BEGIN { a = 13 / 20; b = 12 / 16; c = 5 / 12; m = (a + b + c) / 3
        printf "pcac nan nan %.8g %.8g 3\n", 15 / 24, sqrt(2 / 3 * ((a - m)^2 + (b - m)^2 + (c - m)^2)) }' >want
    awk -F'\t' '$1 == "pcac" && $5 == 1 { printf "%s %s %s %.8g %.8g %s\n", $1, $6, $7, $8, $9, $12 }' found | cmp - want
    masses table.aa | grep -q $'^pcac\t0\t0\t0\t1\tnan\tnan\t0.5\tnan\tnan\tnan\t1\t1$'
    sed -i '/pion/d' table.??
    run -1 --separate-stderr masses table.??
    [ "$stderr" = "lat-stat: expected the pion of momentum 0 beside pcac, whose denominator it is" ]
    raw 1
    refuses 2 "CHANNELS: expected pion beside pcac, whose denominator it is, found 'rho,pcac'" make --no-print-directory -f "$P/hadrons.mk" CHANNELS=rho,pcac
}

@test "tables: a mean is of one ensemble, of numbers, in the order of numbers; mesons of two boundaries are not folded" {
    local beta b
    masses() { lat-stat --apart "$@"; }
    for beta in 6 5.5; do lat-heatbath --dims 4,4,4,8 --beta $beta --thermalise 5 --seed 3 -q -o $beta.lat; done
    lat-smear stout:.1,1 6.lat -o smeared.lat
    for b in 6 5.5 smeared; do
        lat-solve --kappa .12 --residual 1e-6 --source point:0,0,0,0 $b.lat -q | lat-corr --channels pion >$b.tsv
        lat-flow --tsv --until .1 $b.lat >$b.flow
    done
    [ "$(sed -n 2p smeared.tsv | cut -f 15)" = "beta 6, xi 1, smearing stout:.1,1" ]
    refuses 1 "6.tsv: row 2: expected ensemble beta 5.5, xi 1 as before, found beta 6, xi 1" masses 6.tsv 5.5.tsv
    refuses 1 "smeared.tsv: row 2: expected ensemble beta 6, xi 1 as before, found beta 6, xi 1, smearing stout:.1,1" masses 6.tsv smeared.tsv
    refuses 1 "smeared.flow: row 2: expected ensemble beta 6, xi 1 as before" lat-stat --scales 6.flow smeared.flow
    if [ -e "${LAT_BIN:-$ROOT/bin}/lat-gluon" ]; then
        run -1 --separate-stderr lat-gluon --require-theta 1e9 --gauge landau --mean 6.lat 5.5.lat
        [[ $stderr == *"5.5.lat: --mean: expected links of one ensemble, beta 6, xi 1, found beta 5.5, xi 1 (--force takes them)" ]]
    fi
    refuses 1 "6.lat: expected --xi 1, as the header says, found --xi 3" lat-plaq --sd --xi 3 6.lat
    # Words and empty cells are no 0.
    awk -F'\t' -v OFS='\t' 'NR == 3 { $7 = "" } 1' 6.tsv >bad.tsv
    refuses 1 "bad.tsv: row 3: expected a number in column re, found ''" masses bad.tsv
    sed '4s/\t[^\t]*$//' 6.tsv >bad.tsv
    refuses 1 "bad.tsv: row 4: expected 15 cells as in the first row, found 14" masses bad.tsv
    # One periodic and one antiperiodic quark: the meson is antiperiodic.
    for b in a p -1; do lat-solve --kappa .13 --residual 1e-6 --boundary p,p,p,$b --source point:0,0,0,0 6.lat -q -o p$b.lat; done
    lat-corr --channels pion --second pp.lat pa.lat >mix.tsv
    masses mix.tsv | tail -n +2 | cut -f 6 | diff - <(tail -n +2 mix.tsv | awk -F'\t' '{ printf "%.10g\n", $7 }')
    run ! cmp <(masses 6.tsv) <(masses --no-fold 6.tsv)
    # Phases of pi and -pi are one boundary.
    lat-corr --channels pion,pcac pa.lat >a.tsv
    lat-corr --channels pion,pcac --second p-1.lat pa.lat >both.tsv
    cmp <(masses a.tsv | cut -f 1-12) <(masses both.tsv | cut -f 1-12)
    # Errors take configurations as independent, which is said; 2 comes before 10.
    sed 's/6.lat/x/; s/\t[0-9a-f]\{8\}\t/\t00000001\t/' 6.tsv | awk -F'\t' -v OFS='\t' 'NR > 1 { $7 *= 1.01 } 1' >again.tsv
    run -0 --separate-stderr masses 6.tsv again.tsv
    [ "$stderr" = "lat-stat: warning: errors are those of 2 independent configurations: of so few autocorrelation cannot be measured" ]
    mkdir raw
    for b in 1 2 10; do cp 6.lat raw/cfg.$b; done
    "$P/ensemble.sh" names raw out | paste -sd ' ' | grep -qx 'cfg.1 cfg.2 cfg.10'
}

@test "gluons: means and jackknife errors of tables are those of lat-gluon --mean" {
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] || skip "lat-gluon was not built: no FFTW"
    local i
    for i in 1 2 3; do rough $i.lat --dims 4,4,2,6 --seed $i; done
    for i in 1 2 3; do lat-gluon --force --tsv $i.lat 2>/dev/null >table.$i; done
    lat-gluon --force --tsv 1.lat 2.lat 3.lat 2>/dev/null >all # a column more
    gluons() { lat-stat --force "$@"; }
    refuses 1 "table.1: row 2: expected forced = 0, found 1: links that are not in the gauge (--force takes them)" lat-stat table.1
    gluons table.? >mean.tsv
    gluons all | cmp - mean.tsv
    lat-gluon --force --mean --tsv 1.lat 2.lat 3.lat 2>/dev/null >want
    # Ten digits are printed; the error of a mean is that of the jackknife.
    awk -F'\t' '
        function far(a, b) { return !((a - b)^2 <= (1e-8 * b)^2) }
        FNR == 1 { next }
        FNR == NR { d[$2] = $5; e[$2] = $6; phat2[$2] = $4; n++; next }
        { seen++; if ($13 != 3 || far($7, d[$1]) || far($8, e[$1]) || far($9, $3 * $7) || $3 != phat2[$1]) { print; bad++ } }
        END { exit bad || seen != n || n < 10 }' want mean.tsv
    gluons table.1 | awk -F'\t' 'NR > 1 && ($8 != "nan" || $10 != "nan") { exit 1 }'
    sed -i '$d' table.2
    run -1 gluons table.?
    [[ $output == *"in each configuration, found 0 and 1 in number 2 "* ]]
    run -1 gluons want
    [[ $output == *"want: expected a table of a measuring tool (--tsv), one configuration after the other"* ]]
}

@test "alpha(p): g0^2 / 4 pi of a weak field, jackknife errors, and tables that do not belong together are refused" {
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-ghost" ] || skip "lat-ghost was not built: no FFTW"
    alpha() { lat-stat --alpha "$@"; }
    # Z = 1, 2, 3 and J = 2, 2, 4 of three configurations.
    local i g=(0 1 2 3) j=(0 2 2 4)
    for i in 1 2 3; do
        printf 'config\tmomentum\tphat2\tD\tlongitudinal\tgauge\ttheta\tdims\tgroup\n0\t1,0,0,0\t2\t%s\t0\tlandau\t1e-1%s\t4,4,4,4\tSU(3)\n' "${g[i]}e-0" $i >gluon.$i
        printf 'configuration\tkx\tky\tkz\tkt\tk2\tG\tgauge\ttheta\tdims\tgroup\n0\t1\t0\t0\t0\t2\t%s\tlandau\t1e-1%s\t4,4,4,4\tSU(3)\n' "${j[i]}" $i >ghost.$i
    done
    alpha gluon.? ghost.? >a.tsv
    awk 'function a(z, j) { return 2 * z * 4 * j * j / (16 * atan2(1, 1)) }
        BEGIN {
            m = a(2, 8 / 3); x[1] = a(5 / 2, 3); x[2] = a(2, 3); x[3] = a(3 / 2, 2)
            for (k in x) c += x[k] / 3
            for (k in x) v += 2 / 3 * (x[k] - c)^2
            printf "%.8g %.8g\n", m, sqrt(v) }' >want
    awk -F'\t' 'NR == 2 { printf "%.8g %.8g\n", $6, $7 }' a.tsv | cmp - want
    [ "$(cut -f8,10,12 a.tsv | tail -n 1)" = "$(printf '4\t5.333333333\t3')" ]
    cp gluon.3 gluon.1a
    run -1 alpha gluon.1 gluon.1a gluon.2 ghost.?
    [[ $output == *"of the same configurations in the same order, found theta 1e-13 and 1e-12 of number 2"* ]]
    run -1 alpha gluon.1 gluon.2 ghost.?
    [[ $output == *"found 2 and 3"* ]]
    run -1 alpha gluon.? a.tsv
    [[ $output == *"a.tsv: expected a table of a measuring tool"* ]]
    sed -i 's/landau/coulomb/' gluon.? ghost.?
    run -1 alpha gluon.? ghost.?
    [[ $output == *"expected Landau gauge, found coulomb"* ]]
    sed -i 's/coulomb/landau/; s/1,0,0,0/1,1,0,0/' gluon.? ghost.?
    run -1 alpha gluon.? ghost.?
    [[ $output == *"momenta that both tables have, found none"* ]]
    # beta = 20000: 4 pi alpha = g0^2 = 2 N / beta = 3e-4, up to its square; D of a momentum has 24 Gaussian numbers for each of
    # the independent ones among `members` momenta: five sigma.
    for i in 1 2; do lat-heatbath --dims 4,4,4,4 --beta 20000 --thermalise 100 --seed $i --precision double; done | lat-orelax --theta 1e-20 -o w.lat
    lat-gluon --tsv w.lat >gluon
    lat-ghost --tsv w.lat >ghost
    alpha gluon ghost >a.tsv
    awk -F'\t' 'FNR == NR { if (FNR > 1) n[$2] = 24 * $8; next }
        FNR > 1 { r = 16 * atan2(1, 1) * $6 / 3e-4 - 1; s++; m = n[$1 "," $2 "," $3 "," $4]; if (!(r * r <= 25 * 2 / m + 1e-5)) { print; bad++ } }
        END { exit bad || s < 5 }' gluon a.tsv
    command -v gnuplot >/dev/null || skip "no gnuplot"
    gnuplot -c "$P/plots/alpha.gp" a.png a.tsv
    [ -s a.png ]
}

@test "hadrons.sh: tables of some sources that a run has left are not mixed with other sources, parameters or links" {
    local s
    for s in 1 2; do lat-heatbath --dims 4,4,4,4 --beta 6 --thermalise 2 --seed $s -o cfg.$s; done
    export KAPPA=.12 CHANNELS=pion RESIDUAL=1e-6
    # The second source fails.
    SOURCES='point:0,0,0,0 nothing:1' run -1 --separate-stderr "$P/hadrons.sh" cfg.1 out.tsv
    [ -s out.source1.tsv ]
    cp out.source1.tsv kept
    refuses 1 "hadrons.sh: out.source*: expected results of 'SOURCES=point:1,0,0,0 point:0,0,0,2 KAPPA=.12 " \
        env SOURCES='point:1,0,0,0 point:0,0,0,2' "$P/hadrons.sh" cfg.1 out.tsv
    refuses 1 "hadrons.sh: out.source*: expected results of " env SOURCES='point:0,0,0,0 nothing:1' "$P/hadrons.sh" cfg.2 out.tsv
    refuses 1 "hadrons.sh: out.source*: expected results of " env KAPPA=.13 SOURCES='point:0,0,0,0 nothing:1' "$P/hadrons.sh" cfg.1 out.tsv
    cmp kept out.source1.tsv
    [ ! -e out.tsv ]
    SOURCES='point:0,0,0,0 nothing:1' run -1 --separate-stderr "$P/hadrons.sh" cfg.1 out.tsv
    [[ $stderr == *nothing* ]]
    SOURCES='point:0,0,0,0 point:0,0,0,2' "$P/hadrons.sh" cfg.1 two.tsv
    SOURCES='point:0,0,0,1 point:0,0,0,2' "$P/hadrons.sh" cfg.2 two.tsv
    [ "$(find . -name '*.sources')" = ./out.sources ]
}

@test "hadrons.sh and correlators.sh: sources of a light quark share a multigrid, where the first one took one" {
    mkdir raw
    # The same links on any CPU: on those of other vector lengths BiCGstab may be done before a multigrid pays.
    LAT_LANES=base lat-heatbath --dims 8,8,8,8 --beta 6 --thermalise 30 --seed 4 -o raw/cfg
    export KAPPA=.157 RESIDUAL=1e-6
    SOURCES='point:0,0,0,0 point:1,2,3,1 point:4,0,0,2' CHANNELS=pion "$P/hadrons.sh" raw/cfg out.tsv
    # by_mg FILE SIGN NUMBER: all columns were solved by the multigrid, with more (+) or fewer (-) iterations.
    by_mg() { awk -F'\t' -v s="$2" -v n="$3" 'NR > 1 { k++; bad += $9 != "mg" || s * ($6 - n) <= 0 } END { exit bad || k != 12 }' "$1"; }
    by_mg out.source1.lat-solve.tsv 1 100 # of BiCGstab before it
    by_mg out.source2.lat-solve.tsv -1 60
    by_mg out.source3.lat-solve.tsv -1 60
    [ ! -e out.subspace.lat ]
    grep -q 'point:4,0,0,2' out.tsv
    MAKEFLAGS='' MAKELEVEL='' VERTICES='' GHOSTS='' QUARKS=1,1,1,1.5/1,1,0,1.5/1,0,0,0.5 "$P/correlators.sh" raw props >said 2>&1
    by_mg props/each/cfg/1,1,1,1.5.lat-solve.tsv 1 100
    by_mg props/each/cfg/1,1,0,1.5.lat-solve.tsv -1 60
    by_mg props/each/cfg/1,0,0,0.5.lat-solve.tsv -1 60
    [ ! -e props/each/cfg/subspace.lat ]
    MAKEFLAGS='' MAKELEVEL='' VERTICES='' GHOSTS='' QUARKS=1,1,1,1.5/1,1,0,1.5/1,0,0,0.5 "$P/correlators.sh" raw props >said 2>&1
    [ ! -e props/each/cfg/subspace.lat ]
}

@test "correlators.sh: a raw ensemble to propagators, alpha and Z factors; killed and run again it has the same bytes" {
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-ghost" ] || skip "lat-ghost was not built: no FFTW"
    export STEPS=5 QUARKS=1,0,0,.5/1,1,1,1.5 KAPPA=.12 GHOSTS=1 VERTICES=3 OMP_NUM_THREADS=1
    correlators() { MAKEFLAGS='' MAKELEVEL='' "$P/correlators.sh" "$@"; }
    raw 2
    run -0 --separate-stderr env JOBS=2 "$P/correlators.sh" raw out
    [ "${lines[-1]}" = "2 configurations: out" ]
    # Tables are those of the tools on all configurations at once.
    lat-gluon --tsv --mean --cylinder 1 out/landau/*.lat | cut -f 2,4 >want
    cut -f 1,3 out/gluon.tsv | cmp - want
    lat-gluon --vertex --momenta 3 --mean --tsv out/landau/*.lat | cut -f 2,3,7-18 >want
    # Ten digits of means; T of two configurations may cancel in part.
    cut -f 1,2,6-17 out/vertex.tsv | awk -F'\t' '
        FNR == NR { for (i = 1; i <= NF; i++) w[FNR, i] = $i; n++; next }
        { for (i = 1; i <= NF; i++) if (FNR == 1 || $i == "nan" ? $i != w[FNR, i] : i > 2 ? !(($i - w[FNR, i])^2 <= (1e-7 * w[FNR, i])^2) : $i != w[FNR, i]) { print i, $0; bad++ } }
        END { exit bad || FNR != n || n < 4 }' want -
    lat-ghost --tsv --momenta 1 out/landau/*.lat >ghosts
    lat-stat ghosts | cmp - out/ghost.tsv
    lat-gluon --tsv --cylinder 1 out/landau/*.lat >gluons
    lat-stat --alpha gluons ghosts | cmp - out/alpha.tsv
    for n in 1,0,0,.5 1,1,1,1.5; do
        for i in 1 2; do lat-solve --kappa .12 --source momentum:$n out/landau/cfg.$i.lat; done
    done >props
    lat-quark --mean props | cmp - out/quark.tsv
    lat-quark --vertex --mean props | cmp - out/z.tsv
    if command -v gnuplot >/dev/null; then [ -s out/gluon.png ] && [ -s out/vertex.pdf ] && [ -s out/ghost.pdf ] && [ -s out/alpha.png ] && [ -s out/quark.pdf ]; fi
    # Nothing is computed twice, and what is missing alone is made.
    export PICTURES=
    find out/each out/landau -name '*.lat' -printf '%p %i\n' | sort >before
    rm out/each/cfg.2/1,0,0,.5.legs.lat
    correlators raw out >said 2>&1
    find out/each out/landau -name '*.lat' -printf '%p %i\n' | sort | diff - before >changed || true
    [ "$(grep -c '^<' changed)" -le 1 ]
    # A stream, killed twice on its way.
    lat-convert raw/cfg.1 raw/cfg.2 -o both.lat
    for wait in 0.4 0.9; do
        MAKEFLAGS='' setsid "$P/correlators.sh" both.lat stream >/dev/null 2>&1 3>&- &
        sleep $wait
        kill -9 -- -$! 2>/dev/null || true
        wait $! || true
    done
    correlators both.lat stream >said 2>&1
    for name in gluon vertex ghost alpha quark z; do cmp out/$name.tsv stream/$name.tsv; done
    correlators - stream <both.lat >said 2>&1
    [ "$(cd stream/raw && echo *)" = "cfg.0000.lat cfg.0001.lat" ]
    nothing_left
    # Two at once.
    MAKEFLAGS='' "$P/correlators.sh" raw twice >one 2>&1 3>&- &
    correlators raw twice >two 2>&1
    wait $!
    for name in gluon vertex ghost alpha quark z; do cmp out/$name.tsv twice/$name.tsv; done
    # Gluons alone.
    VERTICES='' GHOSTS='' QUARKS='' correlators raw alone >said 2>&1
    cmp alone/gluon.tsv out/gluon.tsv
    [ ! -e alone/vertex.tsv ]
    [ ! -e alone/ghost.tsv ]
    [ ! -e alone/quark.tsv ]
    # Others refused: parameters, a file that is damaged, momenta that the boundary does not have.
    run -1 --separate-stderr env KAPPA=.11 "$P/correlators.sh" raw out
    [[ $stderr == *"name another OUT"* ]]
    run -1 --separate-stderr env QUARKS=1,0,0,1 "$P/correlators.sh" raw whole
    [[ $stderr == *"failed (1): cfg.1: lat-"*"not all configurations are measured"* ]]
    [ ! -e whole/quark.tsv ]
    head -c 30000 raw/cfg.1 >raw/cfg.3
    run -1 --separate-stderr env "$P/correlators.sh" raw out
    [[ $stderr == *"failed (1): cfg.3: lat-convert: raw/cfg.3: truncated"*"not all configurations are in Landau gauge"* ]]
    run -2 "$P/correlators.sh" raw
    run -2 env JOBS=0 "$P/correlators.sh" raw new
    run -1 "$P/correlators.sh" nowhere new
    [ ! -e new ]
}

@test "correlators: means are of the configurations that are in RAW now, others of the same names are refused, copies are named" {
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-ghost" ] || skip "lat-ghost was not built: no FFTW"
    export STEPS=5 QUARKS=1,0,0,.5 KAPPA=.12 GHOSTS='' VERTICES='' PICTURES='' OMP_NUM_THREADS=1
    correlators() { MAKEFLAGS='' MAKELEVEL='' "$P/correlators.sh" "$@"; }
    counted() { # N QUARKS
        [ "${lines[-1]}" = "$1 configurations: out" ]
        [ "$(awk -F'\t' 'NR == 1 { for (c = 1; c <= NF; c++) if ($c == "configurations") n = c } END { print $n }' out/gluon.tsv)" = "$1" ]
        [ "$(tail -n 1 out/quark.tsv | cut -f 1)" = "${2-$1}" ]
    }
    raw 2
    run -0 correlators raw out
    counted 2
    mv raw/cfg.2 gone
    run -0 correlators raw out
    counted 1
    mv gone raw/cfg.2
    run -0 correlators raw out
    counted 2
    cp out/gluon.tsv two
    # Another configuration of the same name and date.
    mkdir others
    rough others/cfg.1 --dims 4,4,4,4 --seed 7
    touch -r raw/cfg.1 others/cfg.1
    cp -p raw/cfg.2 others
    run -1 --separate-stderr correlators others out
    [[ $stderr == *"failed (1): cfg.1: links.sh: others/cfg.1: expected the links that out/landau/cfg.1.lat was made of, CRC "*": remove out/landau/cfg.1.lat, or name another folder"*"not all configurations are measured"* ]]
    # Numbers of what was fixed before are not those of what is fixed now.
    rm out/landau/cfg.1.lat
    run -0 correlators others out
    counted 2
    : >out/.z.tsv.1.tmp # of a run that was killed
    run -0 correlators others fresh
    for name in gluon quark z; do cmp out/$name.tsv fresh/$name.tsv; done
    run ! cmp out/gluon.tsv two
    # lat-quark knows a configuration by its links.
    cp others/cfg.1 others/copy
    run -0 --separate-stderr correlators others out
    [[ $stderr == *"warning: copy is cfg.1 again, with the same links: it counts as an independent one"* ]]
    counted 3 2
    # A file of several: the stream that was split, or another.
    lat-convert raw/cfg.1 raw/cfg.2 -o both.lat
    run -0 correlators both.lat stream
    cmp two stream/gluon.tsv
    lat-convert raw/cfg.2 raw/cfg.1 -o both.lat
    run -1 --separate-stderr correlators both.lat stream
    [[ $stderr == "links.sh: both.lat: expected the links that stream/raw was made of, CRC "*": remove stream/raw, or name another folder" ]]
    run -0 --separate-stderr correlators - stream </dev/null
    [[ $stderr == "correlators: stream/raw is there: a stream is not read again"* ]]
    nothing_left
}
