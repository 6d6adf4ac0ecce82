#!/usr/bin/env bats
# Purpose: campaigns of docs/robustness.md that take minutes.
load ../helper

@test "whatever call of any tool fails, all is said and nothing is left" {
    [ -n "${LAT_FAULTS-}" ] || skip "LAT_FAULTS, the program check_faults, is not set"
    "$LAT_FAULTS" full
}

@test "100,000 damaged HDF5 files end in numbers or a sentence, open no other file, and take no memory for what is not there" {
    [ -n "${LAT_CHECKS-}" ] || skip "LAT_CHECKS, the folder of check programs, is not set"
    cd "$ROOT"
    LAT_HDF5_DAMAGED=100000 "$LAT_CHECKS/../fuzz/check_hdf5"
}

# files OUT: what there is, hidden files too, without what has a time or a process number in it.
files() {
    (cd "$1" && find . -type f ! -name '*.tsv' ! -name '*.row' | sort)
}

@test "an ensemble of 20, killed and started again 100 times at random moments, ends with exactly the files of an undisturbed run" {
    local i kills=0 round=0 pid
    local -a ensemble=(env MAKEFLAGS='' MAKELEVEL='' make -f "$ROOT/pipelines/ensemble.mk" -j2)
    export STEPS=60 EVERY=0
    mkdir raw
    for ((i = 1; i <= 20; i++)); do lat-start weak --epsilon 0.9 --dims 6,6,6,6 --seed "$i" -o "raw/cfg.$i"; done
    "${ensemble[@]}" OUT=straight >/dev/null
    # Where it is done before it was killed often enough, there is another one.
    while [ $kills -lt 100 ]; do
        round=$((round + 1))
        while :; do
            setsid "${ensemble[@]}" OUT="cut$round" >/dev/null 2>&1 3>&- &
            pid=$!
            [ $kills -ge 100 ] || sleep "$(awk -v r=$RANDOM 'BEGIN { print 0.05 + 0.8 * r / 32768 }')"
            if [ $kills -lt 100 ] && kill -9 -- -$pid 2>/dev/null; then
                wait $pid || kills=$((kills + 1))
            else
                wait $pid
                break
            fi
        done
        for ((i = 1; i <= 20; i++)); do cmp "straight/cfg.$i.lat" "cut$round/cfg.$i.lat"; done
        diff <(files straight) <(files "cut$round")
        diff <(cut -f1-7,9- straight/table.tsv) <(cut -f1-7,9- "cut$round/table.tsv")
    done
    echo "# $kills times killed, $round ensembles" >&3
    [ $kills -ge 100 ]
}
