# shellcheck shell=bash
# Loaded by pipelines.bats and long/ensemble.bats: ensembles whose make is killed alone, and two makes on one OUT.

export STEPS=${STEPS-10} EVERY=${EVERY-0}

# ensemble [ARGUMENT]...: make -f ensemble.mk, without what a make above this one says.
ensemble() {
    MAKEFLAGS='' MAKELEVEL='' make -f "$ROOT/pipelines/ensemble.mk" -j2 "$@"
}

# started ARGUMENT...: the same in the background; $! is make itself.
started() {
    env MAKEFLAGS='' MAKELEVEL='' make -f "$ROOT/pipelines/ensemble.mk" -j2 "$@" >>said 2>&1 3>&- &
}

# nap SECONDS: up to so many, at random.
nap() {
    sleep "$(awk -v r=$RANDOM -v most="$1" 'BEGIN { print most * r / 32768 }')"
}

# campaign ROUNDS: ensembles of six, each in a folder of its own. In odd rounds make alone is killed, six times at most, and started
# again while what it has started goes on; in even rounds two makes work on one OUT, one of them killed and started again in every fourth.
# A run that ends by itself has to say "6 of 6 fixed" and to be right: whatever the others do, six results are there then, byte for byte
# those of an undisturbed run, and they stay. A run is killed within half the time that an undisturbed one takes.
campaign() {
    local i round pid kills=0 begin half
    mkdir raw
    for i in 1 2 3 4 5 6; do lat-start weak --epsilon 0.9 --dims 6,6,6,6 --seed "$i" -o raw/cfg.$i; done
    begin=$EPOCHREALTIME
    STEPS=60 ensemble OUT=straight >said 2>&1 || { cat said; return 1; }
    half=$(awk -v b="$begin" -v e="$EPOCHREALTIME" 'BEGIN { print (e - b) / 2 }')
    export STEPS=60
    for ((round = 1; round <= $1; round++)); do
        : >said
        if [ $((round % 2)) -eq 1 ]; then
            for i in 1 2 3 4 5 6; do
                started OUT="out.$round"
                pid=$!
                nap "$half"
                if kill -9 $pid 2>/dev/null; then kills=$((kills + 1)); fi
                wait $pid || true
            done
        else
            started OUT="out.$round"
            pid=$!
            if [ $((round % 4)) -eq 0 ]; then
                nap "$half"
                if kill -9 $pid 2>/dev/null; then kills=$((kills + 1)); fi
                wait $pid || true
                started OUT="out.$round"
                pid=$!
            fi
        fi
        ensemble OUT="out.$round" >>said 2>&1 || { echo "round $round: status $?"; cat said; return 1; }
        right "out.$round" || { echo "round $round"; cat said; return 1; }
        wait $pid || [ $((round % 2)) -eq 1 ] || { echo "round $round, the other run: status $?"; cat said; return 1; }
        right "out.$round" || { echo "round $round, the other run"; cat said; return 1; }
        [ "$(tail -n 1 said)" = "6 of 6 fixed" ] || { cat said; return 1; }
        if grep -E '^[0-5] of 6 fixed|failed|not converged|missing' said; then echo "round $round"; return 1; fi
        ensemble OUT="out.$round" verify >>said 2>&1 || { echo "round $round: verify"; cat said; return 1; }
        nothing_left
    done
    echo "# $1 rounds, make alone killed $kills times" >&3
    [ $((4 * kills)) -ge $((3 * $1)) ] # the first time in a round it is in the middle of its work
}

# right OUT: its six results and the table are those of the folder straight, and no configuration counts as failed.
right() {
    local i
    for i in 1 2 3 4 5 6; do cmp "straight/cfg.$i.lat" "$1/cfg.$i.lat" || return 1; done
    diff <(cut -f1-7,9- straight/table.tsv) <(cut -f1-7,9- "$1/table.tsv") || return 1
    [ -z "$(find "$1" -name '*.failed' -o -name '*.ck')" ]
}
