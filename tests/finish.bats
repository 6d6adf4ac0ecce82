#!/usr/bin/env bats
# Purpose: lat-orelax --finish newton ends in the maximum where sweeps alone end, in fewer of them, with the theta asked for.
# shellcheck disable=SC2154  # status, output and stderr are set by run
load helper

setup_file() {
    export CUDA_VISIBLE_DEVICES= # on the CPU; gpu.bats has the GPU
    cd "$BATS_FILE_TMPDIR" || return 1
    thermal three.lat
    thermal two.lat --group 2 --beta 2.4
}

# need_fftw: skip where the program was built without FFTW in single precision.
need_fftw() {
    lat-start weak --dims 4,4,4,4 --epsilon 0.01 -o weak.lat
    run lat-orelax --finish newton weak.lat -o fixed.lat
    [[ $output != *"needs FFTW"* ]] || skip "built without FFTW in single precision"
    [ "$status" -eq 0 ]
    rm weak.lat fixed.lat
}

# same_maximum FILE OPTION...: all copies end alike, and those with Newton's method in fewer sweeps.
same_maximum() {
    local file=$1
    shift
    lat-orelax "$@" "$file" --copies-log none.tsv -o none.lat
    lat-orelax --finish newton "$@" "$file" --copies-log newton.tsv --log log.tsv -o newton.lat
    # F is a mean of numbers of size 1, and quadratic in what theta leaves.
    paste none.tsv newton.tsv | awk -F'\t' 'NR > 1 { d = $4 - $12; if (d < -1e-12 || d > 1e-12) exit 1; a += $6; b += $14 }
        END { exit !(NR > 1 && b < a) }'
    grep -q "^# .* newton slices=.* converged=.* ritz=0\.[0-9]" log.tsv
    strings newton.lat | grep -q "^history = lat-orelax.* newton [0-9]* steps [0-9]* iterations, ritz 0\.[0-9]*, theta"
}

@test "SU(3) and SU(2), Landau and Coulomb gauge: the same maxima in fewer sweeps, to the theta asked for" {
    need_fftw
    for file in three.lat two.lat; do
        for gauge in landau coulomb; do
            same_maximum "$BATS_FILE_TMPDIR/$file" --gauge $gauge --copies 2 --theta 1e-15
            lat-theta --require-theta 1e-15 newton.lat
            lat-info --check newton.lat
        done
    done
    same_maximum "$BATS_FILE_TMPDIR/three.lat" --weights 1,1,1,0.5 --theta 1e-24 --precision double
    lat-theta --require-theta 1e-24 newton.lat
    same_maximum "$BATS_FILE_TMPDIR/three.lat" --gauge coulomb --time x --theta 1e-10 --precision single
    lat-theta --require-theta 1e-10 newton.lat
}

@test "a maximum that Newton's method ends in is one: fp-min is above 0, and below the eigenvalue of the lattice" {
    need_fftw
    lat-orelax --finish newton --theta 1e-18 "$BATS_FILE_TMPDIR/three.lat" --log log.tsv -o b.lat
    lat-theta --fp-min --tsv b.lat >t.tsv
    # The Ritz value is that of L^-1 M, whose lowest eigenvalue is below that of M over that of L, 4 sin^2(pi/8).
    awk -v fp="$(field t.tsv fp_min)" -v ritz="$(sed -n 's/.* ritz=\([^ ]*\) .*/\1/p' log.tsv | tail -n 1)" \
        'BEGIN { l = 4 * sin(3.14159265358979 / 8)^2; exit !(fp > 0 && ritz > 0 && ritz < 1 && fp < l) }'
}

# In Coulomb gauge slices may end in other attempts than the last one, and all of them again where double precision begins.
@test "the header has the lowest Ritz value of all slices that Newton's method has ended, the log that of each attempt" {
    need_fftw
    for gauge in coulomb landau; do
        lat-orelax --finish newton --gauge $gauge --theta 1e-15 "$BATS_FILE_TMPDIR/three.lat" --log log.tsv -o b.lat
        lat-info b.lat | sed -n 's/.* iterations, ritz \([^,]*\), theta.*/\1/p' >stated
        sed -n 's/^# .* newton slices=\([0-9]*\) converged=\([0-9]*\) .* ritz=\([^ ]*\) .*/\1 \2 \3/p' log.tsv >attempts
        awk 'FNR == NR { stated = $1; next }
            !n++ || $3 < low { low = $3 }
            $1 == $2 && (!whole++ || $3 < ended) { ended = $3 }
            END { exit !(n > 0 && whole && stated <= ended * 1.0005 && stated >= low * .9995) }' stated attempts
    done
}

@test "any number of threads gives the same bytes, and other vectors the same maximum" {
    need_fftw
    for gauge in landau coulomb; do
        for threads in 1 3; do
            lat-orelax --finish newton --gauge $gauge -c 2 -@ $threads "$BATS_FILE_TMPDIR/three.lat" -o $threads.lat
        done
        cmp 1.lat 3.lat
        LAT_LANES=base lat-orelax --finish newton --gauge $gauge -c 2 "$BATS_FILE_TMPDIR/three.lat" -o base.lat
        near "$(column 1.lat functional)" "$(column base.lat functional)" 1e-12
    done
}

@test "a run that was killed goes on to the same bytes" {
    need_fftw
    for how in "--gauge landau -c 3 --select all" "--gauge coulomb -c 2 --select all -p double" "--gauge landau"; do
        # shellcheck disable=SC2086
        lat-orelax --no-provenance --finish newton $how --check-every 5 --theta 1e-16 "$BATS_FILE_TMPDIR/two.lat" --copies-log t.tsv -o straight.lat
        # Each limit ends it at another place: before Newton's method, and between copies that it has finished and others.
        local resume="" sweeps
        for sweeps in 15 40 60 90 5000; do
            # shellcheck disable=SC2086
            lat-orelax --no-provenance --finish newton $how --check-every 5 --theta 1e-16 --max-sweeps $sweeps --checkpoint ck $resume \
                "$BATS_FILE_TMPDIR/two.lat" --copies-log u.tsv -o cut.lat || [ $? -eq 3 ]
            [ ! -e ck ] || resume="--resume ck"
            [ ! -e cut.lat ] || break
        done
        [ "$sweeps" -gt 15 ] # it was cut
        cmp straight.lat cut.lat
        cmp t.tsv u.tsv
        rm cut.lat
    done
}

@test "a run that was killed between copies that Newton's method has finished and others goes on to the same bytes" {
    need_fftw
    local how=(lat-orelax --finish newton -c 8 --select all --check-every 5 --theta 1e-16 "$BATS_FILE_TMPDIR/three.lat")
    "${how[@]}" -o straight.lat
    "${how[@]}" --checkpoint ck --every 0 -o cut.lat &
    local pid=$!
    until strings ck 2>/dev/null | grep -q "stage 0 done . finished 1"; do kill -0 $pid; done
    kill -9 $pid
    wait $pid || true
    find . -name '.*.tmp' -delete # what kill -9 leaves
    [ ! -e cut.lat ]
    strings ck | grep -q "stage 0 done . finished 1 measured 0"
    strings ck | grep -q "stage 0 done . finished 0 measured 0"
    "${how[@]}" --checkpoint ck --resume ck -o cut.lat
    cmp straight.lat cut.lat
}

@test "auto is newton where that pays, and otherwise none" {
    need_fftw
    rough a.lat --dims 4,4,4,12
    lat-orelax --finish auto a.lat -o auto.lat
    lat-orelax --finish newton a.lat -o newton.lat
    strings auto.lat | grep -q " newton [0-9]* steps"
    cmp <(lat-convert --to raw auto.lat) <(lat-convert --to raw newton.lat)
    for how in "--gauge mag --theta 1e-6" "--gauge landau"; do # 8^4
        # shellcheck disable=SC2086
        lat-orelax --finish auto $how "$BATS_FILE_TMPDIR/three.lat" -o auto.lat
        # shellcheck disable=SC2086
        lat-orelax $how "$BATS_FILE_TMPDIR/three.lat" -o none.lat
        cmp <(lat-convert --to raw auto.lat) <(lat-convert --to raw none.lat)
    done
}

@test "where Newton's method cannot be, a sentence says why" {
    need_fftw
    need_group 4
    rough a.lat --dims 4,4,4,4
    rough four.lat --dims 4,4,4,4 --group 4
    refuses 1 "a.lat:0: Newton's method is here for Landau and Coulomb gauge, not for maximally Abelian gauge" \
        lat-orelax --finish newton --gauge mag a.lat -o b.lat
    refuses 1 "Newton's method is here for SU(2) to SU(3), found SU(4)" lat-orelax --finish newton four.lat -o b.lat
    refuses 1 "Newton's method needs weights above 0, found 0 along z" \
        lat-orelax --finish newton --weights 1,1,0,1 a.lat -o b.lat
    refuses 2 "--finish newton: expected a --theta of at least" \
        lat-orelax --finish newton --theta 0 --max-sweeps 10 a.lat -o b.lat
}

@test "Newton's method on several ranks is refused, and auto does without" {
    need_mpi
    need_fftw
    rough a.lat --dims 4,4,4,12
    refuses 1 "Newton's method runs on one rank, found 2" lat-orelax -n 2 --finish newton a.lat -o b.lat
    lat-orelax -n 2 --finish auto a.lat -o b.lat
    lat-orelax a.lat -o c.lat
    cmp <(lat-convert --to raw b.lat) <(lat-convert --to raw c.lat)
}
