#!/usr/bin/env bats
# Purpose: lat-solve gives certified solutions, the same bytes however it runs, and refuses the rest.
# shellcheck disable=SC2154  # output and stderr are set by run
load helper

# thermal NAME: rough links of 4^3 8, in a folder that all tests of this file share.
thermal() {
    local kept=$BATS_FILE_TMPDIR/thermal.lat
    [ -e "$kept" ] || lat-heatbath --dims 4,4,4,8 --beta 5.7 --thermalise 20 --seed 3 -o "$kept"
    cp "$kept" "$1"
}

point=(--source "point:1,0,2,3")

@test "links of an anisotropic lattice want --xi of the quarks" {
    lat-heatbath --dims 4,4,2,4 --beta 6 --xi 2 --thermalise 2 -o a.lat
    for line in 'lat-solve --kappa .12 --source point:0,0,0,0' 'lat-modes --mass 1 --modes 1 --residual 1e-2' 'lat-overlap --index'; do
        # shellcheck disable=SC2086 # words
        refuses 1 'a.lat: the links have anisotropy 2: give --xi of the quarks' $line a.lat
    done
    lat-solve --kappa .12 --xi 2 --source point:0,0,0,0 a.lat -o x.lat
    lat-solve --kappa .12 --xi 1 --source point:0,0,0,0 a.lat -o y.lat
    lat-dirac --check -U a.lat x.lat >/dev/null
    lat-dirac --check -U a.lat y.lat >/dev/null
    refuses 1 'give --xi of the quarks' lat-dirac --check --kappa .12 -U a.lat y.lat
    refuses 1 'give --xi of the quarks' lat-dirac --apply M --kappa .12 -U a.lat y.lat
    lat-reorder --axes t,x,y,z a.lat -o b.lat
    refuses 1 'expected xi of the last direction' lat-solve --kappa .12 --source point:0,0,0,0 b.lat
}

@test "every solver, precision and Schur complement solves, by the word of lat-dirac --check" {
    thermal u.lat
    for solver in auto cg bicgstab bicgstabl gcr; do
        for precision in single double; do
            for form in sym asym none; do
                lat-solve --kappa .14 --csw 1 --columns 0,7 --solver $solver --precision $precision --even-odd $form \
                    "${point[@]}" u.lat >x.lat
                [ "$(lat-info x.lat | grep -c '^residuals')" -eq 2 ]
            done
        done
    done
    for reals in 18 12 8; do
        lat-solve --kappa .14 --csw 1 --columns 0,7 --reals $reals --residual 1e-12 "${point[@]}" u.lat >x.lat
        [ "$(lat-info x.lat | grep -c '^residuals')" -eq 2 ]
    done
    for boundary in p,p,p,p a,p,p,d .3,0,1,-.7; do
        lat-solve --kappa .14 --csw 1 --csw-t .8 --xi 1.5 --nu .9 --twist .05 --boundary $boundary "${point[@]}" u.lat |
            lat-dirac --check -U u.lat >found
        [ "$(grep -c all found)" -eq 12 ]
        [ "$(cut -f 3 found | tail -n +2)" = "$(cut -f 4 found | tail -n +2)" ]
    done
}

@test "heavy quarks: a warning of slices that are noise, and --residual-slices makes each of them exact" {
    lat-start cold --dims 4,4,4,64 -o c.lat
    heavy=(lat-solve --mass 1 --source "point:0,0,0,0" c.lat)
    run -0 --separate-stderr "${heavy[@]}" -o noise.lat
    [[ $stderr == "lat-solve: field 0: 12 of 12 columns have time slices below 100 times their residual, where x may be noise: the least, "*" is slice 32 of column "*" (--residual-slices)" ]]
    for R in 1e-8 1e-13; do
        run -0 --separate-stderr "${heavy[@]}" --residual-slices $R -o $R.lat
        [ -z "$stderr" ]
        lat-dirac --check -U c.lat $R.lat >/dev/null
        lat-dirac --check --residual-slices $R -U c.lat $R.lat >slices
        [ "$(wc -l <slices)" -eq $((1 + 12 * 64)) ]
        [ "$(lat-info $R.lat | sed -n 's/.*residual_slices = //p' | xargs printf %.6e)" = "$(tail -n +2 slices | cut -f 4 | sort -g | tail -n 1)" ]
        run -0 --separate-stderr lat-corr --channels pion $R.lat
        [ -z "$stderr" ]
        cut -f 6,7 <<<"$output" >$R
    done
    paste 1e-8 1e-13 | awk '$1 ~ /^[0-9]/ { n++; if (($2 / $4 - 1)^2 > (1e-8 * 64)^2) exit 1 } END { exit n != 64 }'
    # the exact pion of free Wilson quarks there, of which the solution above has three quarters
    awk '$1 == 32 { found = 1; if (($2 / 2.54109912101e-21 - 1)^2 > 1e-12) exit 1 } END { exit !found }' 1e-8
    refuses_after() { run --separate-stderr "${@:2}"; [ "$status" -eq 3 ] && [[ $stderr == *"$1"* ]]; }
    refuses_after 'expected residuals of time slices below 1e-08, found ' lat-dirac --check --residual-slices 1e-8 -U c.lat noise.lat
    # rounded numbers have other residuals
    lat-convert --precision single 1e-8.lat -o single.lat
    [ "$(lat-info single.lat | grep -c "^residual")" -eq 0 ]
    refuses 2 '--residual-slices is for --operator wilson' lat-solve --operator overlap --mu .1 --residual-slices 1e-8 --source point:0,0,0,0 c.lat
    refuses 2 '--residual-slices is for --check' lat-dirac --apply M --kappa .1 --residual-slices 1e-8 -U c.lat 1e-8.lat
    lat-start cold --dims 2,2,2,512 -o long.lat
    refuses 3 'expected residuals of time slices below 1e-10 of x there, found inf on slice 2' lat-solve --mass 20 --columns 0 --residual-slices 1e-10 --source point:0,0,0,0 long.lat
}

@test "--residual-slices: the same bytes in batches and on ranks, beside a checkpoint; twists, boundaries without hops" {
    lat-start weak --dims 4,4,2,24 -o w.lat
    solve=(lat-solve --kappa .12 --csw 1 --source "point:0,1,0,3" --residual-slices 1e-11)
    "${solve[@]}" w.lat -o a.lat
    "${solve[@]}" --batch 5 w.lat -o b.lat
    "${solve[@]}" --checkpoint ck w.lat -o c.lat
    lat-diff --tolerance 0 a.lat b.lat
    lat-diff --tolerance 0 a.lat c.lat
    for boundary in p,p,p,d p,p,p,o .3,0,0,1; do
        "${solve[@]}" --boundary $boundary w.lat | lat-dirac --check --residual-slices 1e-11 -U w.lat >slices
    done
    "${solve[@]}" --twists .1,.2 w.lat | lat-dirac --check --residual-slices 1e-11 -U w.lat >slices
    [ "$(cut -f 1 slices | sort -u | tr '\n' ' ')" = "0 1 field " ]
    need_mpi
    "${solve[@]}" -n 2 w.lat -o r.lat
    lat-diff --tolerance 0 a.lat r.lat
}

@test "near the critical kappa: mixed and double precision converge, and auto goes on where BiCGstab fails" {
    thermal u.lat
    for kappa in .165 .17 .18; do
        for precision in single double; do
            lat-solve --kappa $kappa --columns 0,5 --precision $precision "${point[@]}" u.lat --log log.tsv >x.lat
            [ "$(field log.tsv iterations)" -gt 40 ]
        done
    done
    lat-solve --kappa .18 --columns 0 "${point[@]}" u.lat --log log.tsv >x.lat
    [ "$(field log.tsv solver)" != auto ]
}

@test "links rounded to single precision are solved for as they are, two rows stored or three" {
    lat-heatbath -q --dims 4,4,4,8 --beta 5.7 --thermalise 5 --seed 3 --precision single -o u.lat
    lat-convert -p double u.lat -o wide.lat # the last row of U, not that of U^+, follows in double
    for u in u.lat wide.lat; do
        lat-solve --kappa .13 --columns 0 --source point:0,0,0,0 $u -o x.lat
    done
}

@test "the same bytes on any number of threads and ranks, and beside any other columns" {
    thermal u.lat
    lat-solve -@ 1 --kappa .15 --csw 1 "${point[@]}" u.lat -o one.lat
    lat-solve -@ 2 --kappa .15 --csw 1 --batch 5 "${point[@]}" u.lat -o two.lat
    cmp one.lat two.lat
    lat-solve --kappa .15 --csw 1 --columns 3 "${point[@]}" u.lat >alone.lat
    lat-solve --kappa .15 --csw 1 --columns 0,3,11 "${point[@]}" u.lat >some.lat
    [ "$(lat-info alone.lat | grep ^residuals)" = "$(lat-info some.lat | grep ^residuals | sed -n 2p)" ]
    [ "$(lat-info alone.lat | grep ^crc)" = "$(lat-info some.lat | grep ^crc | sed -n 2p)" ]
    need_mpi
    for n in 2 3; do
        lat-solve -n $n -@ 1 --kappa .15 --csw 1 "${point[@]}" u.lat -o ranks.lat
        cmp one.lat ranks.lat
    done
    LAT_HALO=first lat-solve -n 2 -@ 2 --kappa .15 --csw 1 "${point[@]}" u.lat -o ranks.lat
    cmp one.lat ranks.lat
}

@test "a solve that is stopped or killed goes on from its checkpoint, with the same bytes" {
    local solve resume how pid i got before=0
    thermal u.lat
    solve="lat-solve --kappa .18 --solver cg --precision double --even-odd none --batch 1 ${point[*]}" # slow
    # shellcheck disable=SC2086 # words
    $solve u.lat -o whole.lat --log log.tsv
    for how in INT:130 USR2:140 KILL:137; do # TERM: below
        got=0
        # shellcheck disable=SC2086
        env --default-signal=INT $solve --checkpoint ck $resume u.lat -o cut.lat 2>err 3>&- &
        pid=$!
        for ((i = 0; i < 500; i++)); do # until one more column is done
            [ ! -e ck ] || [ "$(stat -c %s ck)" -le "$before" ] || break
            sleep .01
        done
        kill -"${how%:*}" $pid
        wait $pid || got=$?
        [ "$got" -eq "${how#*:}" ]
        [ ! -e cut.lat ]
        before=$(stat -c %s ck)
        resume="--resume ck"
        [ "${how%:*}" = KILL ] || [ "$(cat err)" = "lat-solve: stopped by SIG${how%:*}: the same command with --resume ck goes on" ]
    done
    # shellcheck disable=SC2086
    {
        run -2 $solve --checkpoint ck u.lat -o cut.lat
        [[ $output == *"--resume ck"* ]]
        run -1 $solve --residual 1e-9 --resume ck u.lat -o cut.lat
        [[ $output == *"expected the checkpoint of this run, '--residual 1e-09', found that of another, '--residual 1e-10'"* ]]
        # An option without a value in one of the two runs is named, and not the one that stands in its place.
        while IFS='|' read -r mine option its; do
            refuses 1 "expected the checkpoint of this run, '$option', found that of another, '$its'" $solve $mine --resume ck u.lat
        done <<'END'
--boundary p,p,p,p|--boundary p,p,p,p|no --boundary
--columns 0,1|--columns 0,1|no --columns
--smear-links stout:.1,1|--smear-links stout:.1,1|no --smear-links
--csw 1|--csw 1|--csw 0
END
        refuses 1 "expected the checkpoint of this run, '--mass 0.18', found that of another, 'no --mass'" \
            ${solve/--kappa/--mass} --resume ck u.lat
        # One of other links is refused, and stays.
        lat-start weak --dims 4,4,4,4 --epsilon .1 --seed 9 -o v.lat
        run -1 --separate-stderr $solve --checkpoint ck --resume ck v.lat -o other.lat
        [[ $stderr == *"ck: expected the checkpoint of this run, with columns of 'config 0 field 0 "*"', found that of other links or sources, 'config 0 field 0 "* ]]
        [ ! -e other.lat ]
        $solve --batch 3 --checkpoint ck --resume ck u.lat -o cut.lat
    }
    cmp whole.lat cut.lat
    [ ! -e ck ]
    rm -f .cut.lat*.tmp # of the one that was killed
    nothing_left
    # Out of iterations: columns that are done stay.
    # shellcheck disable=SC2086
    {
        run -3 $solve --max-iterations "$(cut -f 6 log.tsv | tail -n +2 | sort -n | head -n 1)" --checkpoint ck u.lat -o cut.lat
        [[ $output == *"; --resume ck with a larger --max-iterations goes on" ]]
        $solve --max-iterations 1000 --checkpoint ck --resume ck u.lat -o cut.lat
    }
    cmp <(lat-info whole.lat | grep '^crc\|^residuals') <(lat-info cut.lat | grep '^crc\|^residuals')
    need_mpi
    rm -f ck
    # shellcheck disable=SC2086
    $solve -n 2 -@ 1 --checkpoint ck u.lat -o cut.lat 2>err 3>&- &
    pid=$!
    for ((i = 0; i < 500; i++)); do [ ! -e ck ] || break; sleep .01; done
    got=0
    kill -TERM $pid
    wait $pid || got=$?
    [ "$got" -eq 143 ]
    grep -qx "lat-solve: stopped by SIGTERM: the same command with --resume ck goes on" err
    # shellcheck disable=SC2086
    $solve --checkpoint ck --resume ck u.lat -o cut.lat
    cmp whole.lat cut.lat
}

# Stops a run by SIGTERM once it has solved $1 configurations, which come through a FIFO that holds more back; the words after
# that run it.
stopped_after() {
    local of=$1 pid got=0 i
    shift
    mkfifo slow
    rm -f log.tsv cut.lat
    "$@" <slow 2>err 3>&- &
    pid=$!
    exec 4>slow
    head -c -16 "$of".lat >&4 # all but the end of the stream
    for ((i = 0; i < 1000; i++)); do
        [[ $(tail -n 1 log.tsv 2>&1 | cut -f 1,5) != $((of - 1))$'\t'11 ]] || break
        sleep .01
    done
    sleep .2 # it writes the solution, and waits for more
    kill -TERM $pid
    wait $pid || got=$?
    exec 4>&-
    rm slow
    [ "$got" -eq 143 ]
    [ "$(cat err)" = "lat-solve: stopped by SIGTERM: the same command with --resume ck goes on" ]
    [ ! -e cut.lat ]
}

@test "of a stream the checkpoint keeps the configuration in work; what is written stays beside the output, and is continued" {
    local solve=(lat-solve --kappa .12 --batch 4 "${point[@]}" --log log.tsv) none='in use by no other run, found none'
    local others="ck: expected the checkpoint of this run, found that of other links or sources"
    for of in 1 2 3; do
        lat-heatbath --dims 4,4,4,8 --beta 5.7 --thermalise 2 --every 1 --count $of --seed 3 -o $of.lat
    done
    "${solve[@]}" 3.lat -o whole.lat
    stopped_after 1 "${solve[@]}" --checkpoint ck -o cut.lat
    solve+=(--resume ck)
    lat-info ck | grep -q "checkpoint.output = 1 inputs "
    stopped_after 2 "${solve[@]}" --checkpoint ck -o cut.lat
    lat-info ck | grep -q "checkpoint.output = 2 inputs "
    [ "$(lat-info ck | grep -c checkpoint.column)" -eq 1 ] # of those that are written
    # Other links, fewer, a pipe, another name, a run that goes on already, other bytes: refused, and nothing is lost.
    lat-gauge --random 3.lat -o other.lat
    refuses 1 "$others" "${solve[@]}" --checkpoint ck other.lat -o cut.lat
    refuses 1 "$others" "${solve[@]}" --checkpoint ck 1.lat -o cut.lat
    refuses 1 "<stdout>: expected the output file that the run of the checkpoint has begun" "${solve[@]}" 3.lat
    refuses 1 "$none" "${solve[@]}" 3.lat -o another.lat
    refuses 1 "$none" flock .cut.lat.part "${solve[@]}" --checkpoint ck 3.lat -o cut.lat
    cp .cut.lat.part kept
    printf x | dd of=.cut.lat.part bs=1 seek=2000 conv=notrunc status=none
    refuses 1 "$none" "${solve[@]}" --checkpoint ck 3.lat -o cut.lat
    cat kept >.cut.lat.part
    echo more >>.cut.lat.part # what a killed run has written after its last checkpoint
    "${solve[@]}" 3.lat -o cut.lat # keeps the checkpoint, and what belongs to it
    cmp whole.lat cut.lat
    rm cut.lat
    cp ck again
    "${solve[@]}" --checkpoint ck 3.lat -o cut.lat
    cmp whole.lat cut.lat
    [ ! -e ck ]
    [ ! -e .cut.lat.part ]
    # Stopped after the output got its name, before the checkpoint was removed.
    mv again ck
    "${solve[@]}" --checkpoint ck 3.lat -o cut.lat
    cmp whole.lat cut.lat
    nothing_left
}

@test "a solve of a stream that is killed again and again ends with the same bytes" {
    local solve=(lat-solve -@ 1 --kappa .16 --solver cg --precision double --even-odd none --batch 1 "${point[@]}") pid pause resume=()
    lat-heatbath --dims 4,4,4,8 --beta 5.7 --thermalise 5 --every 2 --count 3 --seed 3 -o u.lat
    "${solve[@]}" u.lat -o whole.lat
    for pause in part .5 1.3 .9; do
        "${solve[@]}" --checkpoint ck "${resume[@]}" u.lat -o cut.lat 3>&- &
        pid=$!
        if [ $pause = part ]; then
            for ((i = 0; i < 3000; i++)); do [ ! -e .cut.lat.part ] || break; sleep .01; done
        else
            sleep $pause
        fi
        kill -KILL $pid || break
        wait $pid || true
        [ ! -e cut.lat ]
        [ -e .cut.lat.part ]
        [ ! -e ck ] || resume=(--resume ck)
    done
    [ -e cut.lat ] || "${solve[@]}" --checkpoint ck "${resume[@]}" u.lat -o cut.lat
    cmp whole.lat cut.lat
    [ ! -e ck ]
    [ ! -e .cut.lat.part ]
    need_mpi
    rm cut.lat
    "${solve[@]}" -n 2 --checkpoint ck u.lat -o cut.lat 2>err 3>&- &
    pid=$!
    for ((i = 0; i < 3000; i++)); do [ ! -e .cut.lat.part ] || break; sleep .01; done
    kill -TERM $pid
    wait $pid || true
    [ "$(cat err)" = "lat-solve: stopped by SIGTERM: the same command with --resume ck goes on" ]
    lat-info ck | grep -q "checkpoint.output = "
    "${solve[@]}" -n 3 --checkpoint ck --resume ck u.lat -o cut.lat
    cmp whole.lat cut.lat
}

@test "a killed rank, a full disk: one sentence, columns that are done are kept, any ranks go on with the same bytes" {
    local solve
    thermal u.lat
    solve="lat-solve -@ 1 --kappa .17 --solver cg --precision double --even-odd none --batch 1 ${point[*]}" # slow
    # shellcheck disable=SC2086 # words
    $solve u.lat -o whole.lat
    if unshare -rm true 2>/dev/null; then
        mkdir small # has room for some columns, not for all
        # shellcheck disable=SC2016
        run --separate-stderr unshare -rm bash -c 'mount -t tmpfs -o size=1m tmpfs small || exit 77
            $0 --checkpoint small/ck u.lat -o small/x.lat
            code=$?; ls -A small; cp small/ck .; exit $code' "$solve"
        [ "$status" -ne 77 ] || return 0
        echo "$stderr"
        [ "$status" -eq 1 ]
        [ "$output" = ck ]
        [ "${#stderr_lines[@]}" -eq 2 ]
        [ "${stderr_lines[0]}" = "lat-solve: no checkpoint: small/ck: cannot be written: No space left on device" ]
        [ "${stderr_lines[1]}" = "lat-solve: small/x.lat: cannot be written: No space left on device; the same command with --resume small/ck goes on" ]
        [ "$(lat-info ck | grep -c checkpoint.column)" -ge 3 ]
        cp ck full
    fi
    need_mpi
    rm -f ck
    # shellcheck disable=SC2086
    kill_a_rank 3 $solve u.lat
    [ "$(lat-info ck | grep -c checkpoint.column)" -lt 12 ]
    # shellcheck disable=SC2086
    $solve -n 2 --checkpoint ck --resume ck u.lat -o cut.lat
    cmp whole.lat cut.lat
    [ ! -e full ] || $solve --resume full u.lat -o cut.lat
    cmp whole.lat cut.lat
}

@test "as many columns side by side as memory takes, the same bytes; a sentence where one does not fit" {
    local solve=(lat-solve --kappa .13 --csw 1 --residual 1e-6 "${point[@]}" u.lat)
    thermal u.lat
    "${solve[@]}" -o all.lat
    run --separate-stderr "${solve[@]}" -v --memory .006 -o few.lat
    [[ $stderr =~ ([0-9]+)" of 12 columns side by side: all would need 0.01"[0-9]*" GB of memory, 0.006 GB are there" ]]
    [ "${BASH_REMATCH[1]}" -ge 2 ]
    [ "${BASH_REMATCH[1]}" -lt 12 ]
    cmp all.lat few.lat
    refuses 1 "--batch 12 needs 0.01" "${solve[@]}" --batch 12 --memory .006 -o x.lat
    refuses 1 "one column needs 0.00" "${solve[@]}" --memory .001 -o x.lat
    "${solve[@]}" --batch 2 --memory .006 -o few.lat
    cmp all.lat few.lat
}

@test "what does not converge is exit 3, a sentence with column and residual, and no output" {
    thermal u.lat
    run -3 lat-solve --kappa .16 --max-iterations 5 --log log.tsv "${point[@]}" u.lat -o x.lat
    [[ $output == *"column "*" expected a residual below 1e-10, found "*" after 5 iterations: bicgstab out of iterations"* ]]
    [ "${#lines[@]}" -eq 1 ]
    [ ! -e x.lat ]
    # The log has all columns, with the residuals that they came to.
    awk -F'\t' 'NR > 1 && ($5 != NR - 2 || $6 != 5 || !($8 > 1e-10 && $8 < 1)) { bad++ } END { exit bad || NR != 13 }' log.tsv
    lat-start --dims 4,4,4,4 -o cold.lat
    run -3 lat-solve --mass 0 --boundary p,p,p,p --source wall:0 --even-odd none cold.lat -o x.lat
    [[ $output == *"near singular"*"critical"* ]]
    [ ! -e x.lat ]
}

@test "sources of a stream find their links by CRC; those of other lattices and links are refused" {
    thermal u.lat
    lat-start --start weak --dims 4,4,4,8 --seed 2 -o v.lat
    lat-start --start weak --dims 4,4,4,4 -o small.lat
    lat-source point:1,0,2,3 v.lat -o b.lat
    cat u.lat >both.lat
    lat-solve --kappa .12 --source point:1,0,2,3 v.lat | lat-info - | grep '^crc' >own
    lat-solve --kappa .12 -U v.lat b.lat | lat-info - | grep '^crc' | cmp - own
    run -1 lat-solve --kappa .12 -U u.lat b.lat -o x.lat
    [[ $output == *"expected its links, of CRC "* ]]
    lat-source point:1,0,2,3 small.lat -o other.lat
    run -1 lat-solve --kappa .12 -U u.lat other.lat -o x.lat
    [[ $output == *"links"* ]]
    lat-solve --kappa .12 "${point[@]}" v.lat -o prop.lat
    run -1 lat-solve --kappa .12 -U v.lat prop.lat -o x.lat
    [[ $output == *"expected a source, found a solution"* ]]
    run -1 lat-solve --kappa .12 -U v.lat v.lat -o x.lat
    [[ $output == *"expected sources, found a gauge field"* ]]
    # A source that names no links has no choice of them.
    lat-source point:1,0,2,3 --dims 4,4,4,8 -o nameless.lat
    lat-start --start weak --dims 4,4,4,8 --seed 3 | cat v.lat - >two.lat
    refuses 1 "nameless.lat: field 0: expected one configuration in two.lat, as the field does not say of which links it is, found more" \
        lat-solve --kappa .12 -U two.lat nameless.lat -o x.lat
    lat-solve --kappa .12 --force -U two.lat nameless.lat 2>/dev/null | lat-info - | grep '^crc' | cmp - own
    # What an operator was applied to is of its links.
    lat-dirac --apply M --kappa .12 -U v.lat nameless.lat -o mb.lat
    refuses 1 "expected its links, of CRC " lat-solve --kappa .12 -U <(lat-start --start weak --dims 4,4,4,8 --seed 3) mb.lat -o x.lat
    refuses 2 "only one of the inputs can be stdin" lat-solve --kappa .12 -U - - -o x.lat
    [ ! -e x.lat ]
}

@test "a source of many columns after one of few: the solutions that each has alone" {
    lat-start weak --dims 2,2,2,4 --seed 3 -o u.lat
    lat-source noise:z2,seed=1 u.lat -o few.lat
    lat-source point:0,1,0,2 u.lat -o many.lat
    cat few.lat many.lat >both.lat
    local operator
    for operator in "--mass 1 --batch 4" "--operator overlap --mu .3 --residual 1e-6"; do
        # shellcheck disable=SC2086
        for b in few many both; do lat-solve -@ 1 $operator -U u.lat $b.lat -o $b.x.lat; done
        lat-info both.x.lat | grep '^crc' | cmp - <(cat few.x.lat many.x.lat | lat-info - | grep '^crc')
    done
}

@test "several masses are the solutions of each" {
    thermal u.lat
    lat-solve --masses -.6,-.7 --csw 1 --columns 2 "${point[@]}" u.lat -o both.lat
    lat-dirac --check -U u.lat --source-file <(lat-source point:1,0,2,3 u.lat) both.lat >/dev/null 2>&1 || true
    lat-info both.lat | grep ^operator >found
    grep -q 'mass -0.6,' found
    grep -q 'mass -0.7,' found
    run -2 lat-solve --masses .1,x "${point[@]}" u.lat
    refuses 2 "--kappas: expected different numbers, found 0.12 twice" lat-solve --kappas .12,.13,.120 "${point[@]}" u.lat -o never
    refuses 2 "--masses: expected parameters of operator wilson from -1e6 to 1e6, found 1e+07" lat-solve --masses .1,1e7 "${point[@]}" u.lat -o never
    refuses 2 "--kappas: expected parameters" lat-solve --kappas .1,1e-300 "${point[@]}" u.lat -o never
    refuses 2 "--twists: expected parameters" lat-solve --mass .5 --twists .1,1e7 "${point[@]}" u.lat -o never
    refuses 2 "--twists: expected --even-odd none" lat-solve --mass .5 --twists .1 --even-odd asym "${point[@]}" u.lat -o never
    refuses 2 "--twists: expected --precision double" lat-solve --mass .5 --twists .1 --precision single "${point[@]}" u.lat -o never
    refuses 2 "--memory is for --operator wilson" lat-solve --operator overlap --mu .1 --memory 1 "${point[@]}" u.lat -o never
    lat-start --dims 4,4,4,4 -o small.lat
    cat u.lat small.lat >mixed.lat
    refuses 1 "mixed.lat: source point:1,0,2,3 is for SU(3) on 4 4 4 8" lat-solve --mass .5 "${point[@]}" mixed.lat -o never
    refuses 1 "mixed.lat: source point:1,0,2,3 is for SU(3) on 4 4 4 8" lat-source point:1,0,2,3 mixed.lat -o never
    refuses 2 "expected mu between -1 and 1" lat-solve --operator overlap --masses .1,4 "${point[@]}" u.lat -o never
    run -2 lat-solve --masses .1 --kappa .1 "${point[@]}" u.lat
}

@test "several twisted masses from one Krylov space are the solutions of each, certified, resumable, the same bytes" {
    local mu n=0 solve
    thermal u.lat
    solve="lat-solve --kappa .15 --csw 1 --boundary p,a,.3,d --columns 2,5,6 ${point[*]} --twists .2,-.05,.1"
    # shellcheck disable=SC2086 # words
    {
        $solve u.lat -o all.lat --log log.tsv
        [ "$(cut -f 4 log.tsv | tr '\n' ' ')" = "twist 0.2 0.2 0.2 -0.05 -0.05 -0.05 0.1 0.1 0.1 " ]
        for mu in .2 -.05 .1; do
            lat-solve --kappa .15 --csw 1 --boundary p,a,.3,d --columns 2,5,6 --residual 1e-13 "${point[@]}" --twist $mu u.lat
        done >each.lat
        # |x - y| is at most the norm of the inverse, below 1/.05 here, times the residual of 1e-10.
        lat-diff --tolerance 2e-9 all.lat each.lat >difference
        lat-info all.lat | grep ^operator | cut -d, -f 2-8 >found
        lat-info each.lat | grep ^operator | cut -d, -f 2-8 | cmp - found
        [ "$(lat-info all.lat | grep -c '^residuals')" -eq 9 ]
        $solve --batch 1 -@ 1 u.lat -o other.lat
        cmp all.lat other.lat
        # A lower target than the common space can reach (in double M x alone is rounded to 1e-15) is reached by each alone.
        $solve --residual 3e-15 u.lat >/dev/null
        # Twists that are out of iterations are not tried alone, where they would have other bytes.
        run -3 $solve --max-iterations "$(cut -f 6 log.tsv | tail -n +2 | sort -n | head -n 1)" --checkpoint ck u.lat -o other.lat
        [[ $output == *"; --resume ck with a larger --max-iterations goes on" ]]
        lat-info ck | grep -q "checkpoint.column = .* twist "
        $solve --max-iterations 1000 --checkpoint ck --resume ck u.lat -o other.lat
        lat-diff --tolerance 0 all.lat other.lat >difference
        run -2 $solve --solver bicgstab u.lat
        run -2 $solve --twist .1 u.lat
        run -2 $solve --masses .1,.2 u.lat
        need_mpi
        $solve -n 3 -@ 1 u.lat -o other.lat
        cmp all.lat other.lat
    }
}

@test "open time: quarks live between the first and the last slice, as on a lattice that has no others" {
    thermal u.lat
    lat-solve --kappa .14 --csw 1.2 --twist .1 --xi 1.3 --boundary p,a,.3,o "${point[@]}" u.lat -o open.lat
    lat-info open.lat | grep -q '^operator.* boundary p,a,0.29999999999999999,o$'
    lat-dirac --check -U u.lat open.lat >found
    [ "$(grep -c all found)" -eq 12 ]
    lat-corr --channels pion open.lat | awk -F'\t' 'NR > 1 && ($7 == 0) != ($6 == 5 || $6 == 4) { exit 1 }' # t of 8 from slice 3
    run -1 lat-solve --kappa .14 --boundary p,p,p,o --source wall:7 u.lat -o x.lat
    [[ $output == *"--source: expected zeros on slices 0 and 7, as time is open and quarks live on those between, found other numbers on slice 7" ]]
    lat-source wall:0 u.lat -o b.lat
    run -1 lat-solve --kappa .14 --boundary p,p,p,o -U u.lat b.lat -o x.lat
    [[ $output == *"b.lat: expected zeros on slices 0 and 7"* ]]
    run -1 lat-dirac --apply M --kappa .14 --boundary p,p,p,o -U u.lat b.lat -o x.lat
    [[ $output == *"b.lat: expected zeros on slices 0 and 7"* ]]
    run -2 lat-solve --kappa .14 --boundary o,p,p,p "${point[@]}" u.lat -o x.lat
    [ ! -e x.lat ]
    for csw in 0 1; do
        for code in fast plain; do
            lat-dirac --apply Mdag --code $code --kappa .14 --csw $csw --cf .9 --boundary p,p,p,o -U u.lat open.lat -o $code.lat
        done
        lat-diff --tolerance 1e-14 fast.lat plain.lat >difference
    done
    lat-solve --kappa .14 --csw 1.2 --cf .9 --boundary p,a,.3,o --residual 1e-12 "${point[@]}" u.lat -o cf.lat
    lat-info cf.lat | grep -q '^operator.*, cf 0.9, boundary p,a,0.29999999999999999,o$'
    lat-dirac --check -U u.lat cf.lat >found
    lat-dirac --identify -U u.lat cf.lat | grep -qx 'c_F         0.9'
    lat-dirac --identify -U u.lat open.lat | grep -qx 'c_F         1'
    refuses 2 'the operator: expected c_F of operator wilson with open time (boundary o), found c_F = 0.9' \
        lat-solve --kappa .14 --cf .9 "${point[@]}" u.lat
    need_numpy
    lat-dirac --apply M --kappa .14 --csw 1 --boundary p,p,p,o -U u.lat open.lat -o one.lat
    lat-dirac --apply M --kappa .14 --csw 1 --cf 1.25 --boundary p,p,p,o -U u.lat open.lat -o more.lat
    "$PYTHON" - <<'END'
import lat

x, a, b = (next(lat.read(name)) for name in ("open.lat", "one.lat", "more.lat"))
assert next(lat.read("cf.lat")).header.operator.cf == .9
difference = b.spinors - a.spinors
for t in range(8):
    expected = .25 * x.spinors[t] if t in (1, 6) else 0 * x.spinors[t]
    assert abs(difference[t] - expected).max() < 1e-13 * abs(x.spinors).max()
END
    "$PYTHON" - <<'END'
import lat

u, = lat.read("u.lat")
lat.write("short.lat", lat.gauge_field(u.links[1:7]))
END
    lat-solve --kappa .14 --boundary p,a,.3,o --residual 1e-13 "${point[@]}" u.lat -o open.lat
    lat-solve --kappa .14 --boundary p,a,.3,d --residual 1e-13 --source point:1,0,2,2 short.lat -o short-prop.lat
    "$PYTHON" - <<'END'
import lat

a, b = (next(lat.read(name)).spinors for name in ("open.lat", "short-prop.lat"))
assert (a[[0, 7]] == 0).all()
assert abs(a[1:7] - b).max() < 1e-11  # |M^-1| is below 100
END
    need_mpi
    lat-solve -n 3 -@ 1 --kappa .14 --boundary p,a,.3,o --residual 1e-13 "${point[@]}" u.lat -o ranks.lat
    cmp open.lat ranks.lat
}

@test "noise, wall, momentum and smeared sources are solved; the header says which" {
    thermal u.lat
    for source in noise:z4,t=2,seed=5 wall:1 momentum:1,0,0,.5 point:0,0,0,0/gauss:2,6; do
        lat-solve --kappa .14 --source $source u.lat -o x.lat --force
        lat-info x.lat | grep -q "^source *$source"
    done
}

@test "links that are not unitary, columns that are not there, and a gauge that is not imposed are refused" {
    thermal u.lat
    run -1 lat-solve --kappa .12 --columns 12 "${point[@]}" u.lat -o x.lat
    [[ $output == *"expected columns below 12, found 12"* ]]
    run -1 lat-solve --kappa .12 --gauge landau "${point[@]}" u.lat -o x.lat
    [[ $output == *"--gauge landau: the header says that the gauge is none"* ]]
    run -3 lat-orelax --max-sweeps 30 --keep u.lat -o fixed.lat
    # Above a tolerance that was asked for: exit 3, by the name that other tools have; --theta was its name here.
    local over='fixed.lat: --gauge landau: expected theta of the links at most 1e-10, found '
    refuses 3 "$over" lat-solve --kappa .12 --gauge landau "${point[@]}" fixed.lat -o x.lat
    refuses 3 "$over" lat-modes --kappa .12 --gauge landau --modes 1 fixed.lat -o x.lat
    for name in require-theta theta; do
        lat-solve --kappa .12 --gauge landau --$name 1 --columns 0 "${point[@]}" fixed.lat >/dev/null
        refuses 3 "at most 1e-09, found" lat-solve --kappa .12 --gauge landau --$name 1e-9 --columns 0 "${point[@]}" fixed.lat
        refuses 2 "--require-theta" lat-solve --kappa .12 --gauge landau --$name -1 --columns 0 "${point[@]}" fixed.lat
        refuses 2 "--require-theta is for --gauge" lat-solve --kappa .12 --$name 1e-9 --columns 0 "${point[@]}" fixed.lat
    done
    lat-solve --kappa .12 --gauge landau --force --columns 0 "${point[@]}" fixed.lat -o one.lat 2>err
    grep -q '^lat-solve: fixed.lat: theta of the links is .*, above 1e-10 (--force)$' err
    refuses 3 "$over" lat-dirac --check --kappa .12 --gauge landau -U fixed.lat one.lat
    for tool in solve modes dirac; do
        for what in help usage option-table; do ! grep -e --theta <(lat-$tool --$what) || return 1; done
    done
    run -2 lat-solve "${point[@]}" u.lat
    run -2 lat-solve --kappa .12 u.lat
    run -2 lat-solve --kappa .12 --mass .1 "${point[@]}" u.lat
    run -2 lat-solve --kappa .12 --boundary p,p,p "${point[@]}" u.lat
    run -2 lat-solve --kappa .12 --source point:9,0,0,0 u.lat
    [ ! -e x.lat ]
}

@test "links, sources and propagators of other programs are read as their streams are, on ranks too" {
    local format n
    thermal u.lat
    for format in nersc ildg hirep openqcd; do
        lat-convert --to $format u.lat -o u.$format
        lat-convert u.$format -o same.lat
        lat-solve --kappa .13 --columns 1 "${point[@]}" same.lat | lat-info - | grep '^crc\|^links' >expected
        lat-solve --kappa .13 --columns 1 "${point[@]}" u.$format | lat-info - | grep '^crc\|^links' | cmp - expected
        lat-source "${point[1]}" u.$format | lat-solve --kappa .13 --columns 1 --gauge-file u.$format |
            lat-info - | grep '^crc\|^links' | cmp - expected
    done
    grep -q '^links *crc-32 [0-9a-f]\{8\}$' expected
    # A source has the numbers that its file has, and its solution is that of the stream.
    lat-source "${point[1]}" u.lat -o b.lat
    for format in chroma-prop usqcd-prop milc-prop etmc-prop npy-prop; do
        lat-convert --precision single --normalisation mass --force --to $format b.lat -o b.$format
        lat-solve --kappa .13 --columns 1 -U u.nersc b.$format | lat-info - | grep ^crc >crc."$format"
        cmp crc."$format" crc.chroma-prop
    done
    lat-solve --kappa .13 "${point[@]}" u.nersc -o x.lat
    lat-solve --kappa .13 --columns 1 "${point[@]}" u.nersc | lat-info - | grep ^crc | cmp - crc.npy-prop
    lat-corr --channels pion,nucleon x.lat | cut -f 1-8 >expected
    lat-source sequential:g5,3 x.lat | lat-info - | grep ^crc >sequential
    for format in chroma-prop usqcd-prop etmc-prop npy-prop; do
        lat-convert --force --to $format x.lat -o x.$format
        lat-dirac --check --kappa .13 "${point[@]}" -U u.nersc x.$format >found
        [ "$(grep -c all found)" -eq 12 ]
        # The header of such a file may not know that time is antiperiodic.
        lat-corr --origin 1,0,2,3 --boundary p,p,p,a --channels pion,nucleon x.$format | cut -f 1-8 >found
        cmp found expected
        lat-source sequential:g5,3 x.$format | lat-info - | grep ^crc | cmp - sequential
    done
    lat-convert --precision single --kappa .13 --force --to milc-prop x.lat -o x.milc
    lat-dirac --check --residual 1e-5 --kappa .13 "${point[@]}" -U u.nersc x.milc >found
    lat-dirac --identify -U u.nersc x.milc | grep -q '^norm *1/(2 kappa)'
    run -1 lat-corr x.milc
    [[ $output == *"kappa is not known"* ]]
    need_mpi
    for n in 2 3; do
        lat-solve -n $n --kappa .13 --columns 1 -U u.ildg b.chroma-prop | lat-info - | grep ^crc | cmp - crc.npy-prop
        lat-corr -n $n --origin 1,0,2,3 --channels pion,nucleon x.chroma-prop | cut -f 1-8 | cmp - expected
        lat-dirac -n $n --check --kappa .13 "${point[@]}" -U u.nersc x.npy-prop | cmp - <(lat-dirac --check --kappa .13 \
            "${point[@]}" -U u.nersc x.npy-prop)
    done
}

# The same numbers in another order, precision or number of rows have another CRC.
@test "links are known by their numbers, however they are stored; rounded ones are others" {
    lat-start hot --dims 4,4,4,4 --seed 3 -o d.lat
    lat-convert --precision single d.lat -o s.lat
    lat-convert --precision double s.lat -o sd.lat # the numbers of s
    lat-convert --rows 2 s.lat -o s2.lat           # others: the last row is computed in double
    lat-convert --rows 2 d.lat -o d2.lat
    lat-convert --rows 3 d2.lat -o d23.lat # the numbers of d2
    for u in d s d2; do
        lat-reorder --sites parity $u.lat -o ${u}p.lat
        lat-solve --kappa .1 "${point[@]}" --columns 0 $u.lat -o x_$u.lat
        lat-solve --kappa .1 "${point[@]}" --columns 0 ${u}p.lat -o x_${u}p.lat
        [ "$(lat-info ${u}p.lat | grep crc-32)" != "$(lat-info $u.lat | grep crc-32)" ]
    done
    for pair in d:d d:dp dp:d dp:dp s:s s:sd s:sp sp:s sp:sd d2:d23 d2:d2p d2p:d23 d2p:d2; do
        lat-dirac --check -U "${pair#*:}.lat" "x_${pair%:*}.lat" > check.tsv || { echo "$pair"; return 1; }
    done
    for pair in d:s d:sd d:sp dp:s s:d s:dp sp:d2 d2:s; do
        refuses 1 "x_${pair%:*}.lat: field 0: expected its links, of CRC " lat-dirac --check -U "${pair#*:}.lat" "x_${pair%:*}.lat"
        [[ $stderr$output == *"(the same ones rounded are others, too; --force takes them)" ]]
    done
    lat-dirac --check -U <(cat s.lat sp.lat dp.lat) x_d.lat > check.tsv # found behind others
}

@test "ranks know links that are stored otherwise" {
    need_mpi
    lat-start hot --dims 4,4,4,4 --seed 3 -o d.lat
    lat-reorder --links t,x,y,z d.lat -o p.lat
    lat-solve --kappa .1 "${point[@]}" --columns 0 d.lat -o x.lat
    lat-solve -n 2 --kappa .1 "${point[@]}" --columns 0 p.lat -o y.lat
    lat-dirac -n 2 --check -U p.lat x.lat > check.tsv
    lat-dirac --check -U d.lat y.lat > check.tsv
    lat-convert --precision single d.lat -o s.lat
    refuses 1 'expected its links, of CRC ' lat-dirac -n 2 --check -U s.lat x.lat
}

@test "what is not of these links is refused by every tool, unless --force" {
    thermal u.lat
    lat-start --start weak --dims 4,4,4,8 --seed 2 -o v.lat
    lat-start --start weak --dims 4,4,4,4 -o small.lat
    lat-solve --kappa .12 --columns 0 "${point[@]}" v.lat -o x.lat
    lat-source "${point[1]}" v.lat -o b.lat
    lat-solve --kappa .12 "${point[@]}" v.lat -o prop.lat
    for command in "lat-dirac --apply M --kappa .12 -U u.lat x.lat" "lat-dirac --apply hop --kappa .12 -U u.lat b.lat" \
        "lat-dirac --check -U u.lat x.lat" "lat-solve --kappa .12 -U u.lat b.lat" \
        "lat-corr --sink gauss:2,6 -U u.lat prop.lat" "lat-source sequential:g5,2/gauss:2,6 -U u.lat prop.lat"; do
        # shellcheck disable=SC2086  # words
        run -1 $command -o out
        [[ $output == *": field 0: expected its links, of CRC "*", in u.lat, found others, of CRC "* ]] || { echo "$command: $output"; return 1; }
        [ "${#lines[@]}" -eq 1 ]
        [ ! -e out ]
    done
    run -0 lat-dirac --apply M --kappa .12 --force -U u.lat x.lat -o out
    [[ $output == *"is of links of CRC "*", and gets those of u.lat, of CRC "*" (--force)" ]]
    lat-dirac --apply M --kappa .12 -U <(cat small.lat v.lat) x.lat -o out # those of its CRC, wherever they are
    for command in "lat-dirac --apply M --kappa .12 -U small.lat" "lat-solve --kappa .12 -U small.lat"; do
        # shellcheck disable=SC2086  # words
        run -1 $command --force b.lat -o out2
        [[ $output == *"expected the lattice of the links in small.lat, 4 4 4 4 and SU(3), found 4 4 4 8 and SU(3)"* ]]
        [ ! -e out2 ]
    done
    nothing_left
}

@test "bad input: one sentence each, and nothing is left" {
    # A failure of what does not know the file names it: one of many.
    lat-start cold --dims 4,4,3,4 -o odd.lat
    local odd='odd.lat: lattice 4 4 3 4: extent 3 is odd; even and odd sites need even extents'
    refuses 1 "lat-solve: $odd" lat-solve --kappa .12 --source point:0,0,0,0 odd.lat -o x.lat
    refuses 1 "lat-modes: $odd" lat-modes --kappa .12 --modes 1 odd.lat -o x.lat
    refuses 1 "lat-overlap: $odd" lat-overlap --gw odd.lat -o x.tsv
    rough few.lat --dims 2,2,2,2
    refuses 3 "lat-solve: few.lat: field 0, column " lat-solve --kappa .12 --max-iterations 2 --source point:0,0,0,0 few.lat -o x.lat
    refuses 3 "lat-modes: few.lat: configuration 0: expected 1 modes with" \
        lat-modes --kappa .12 --modes 1 --max-applications 100 few.lat -o x.lat
    need_numpy
    thermal u.lat
    lat-source "${point[1]}" u.lat -o b.lat
    # What cannot have a checkpoint says so before the work.
    for tool in "lat-solve --source wall:0" "lat-modes --modes 1"; do
        # shellcheck disable=SC2086
        {
            refuses 2 "--checkpoint log is the log as well" $tool --kappa .1 --log log --checkpoint log u.lat -o x.lat
            refuses 2 "log" $tool --kappa .1 --log log --checkpoint ./log u.lat -o x.lat
        }
        [ ! -e log ]
    done
    refuses 1 'no/ck: cannot create a file in no/' lat-solve --kappa .1 --source wall:0 --checkpoint no/ck u.lat -o x.lat
    refuses 1 'no/ck: cannot create a file in no/' lat-modes --kappa .1 --modes 1 --checkpoint no/ck u.lat -o x.lat
    "$PYTHON" - <<'END'
import lat
import numpy as np

u, = lat.read("u.lat")
links = u.links.copy()
links[3, 1, 2, 0] *= 1.01
lat.write("bent.lat", lat.gauge_field(links))
b, = lat.read("b.lat")
np.save("b.npy", b.spinors.reshape(8, 4, 4, 4, 4, 3, 4, 3).transpose(0, 1, 2, 3, 6, 4, 7, 5).copy())
bad = np.load("b.npy")
bad[2, 1, 0, 3, 0, 0, 0, 0] = float("nan")
np.save("nan.npy", bad)
END
    refuses 1 "nan.npy: expected finite numbers, found NaN" lat-solve --kappa .12 -U u.lat nan.npy -o out
    refuses 1 "bent.lat: expected links within 1e-05 of SU(3)" lat-solve --kappa .12 --reals 12 "${point[@]}" bent.lat -o out
    run -1 --separate-stderr lat-solve --kappa .12 --reals 12 --force "${point[@]}" bent.lat -o out
    [[ ${stderr_lines[0]} == *"are up to 0.0"*" from SU(3)"* && ${stderr_lines[1]} == *": 12 reals a link need SU(3) to "*", found "* ]]
    lat-solve --kappa .12 --columns 0 --force "${point[@]}" bent.lat -o good.lat
    lat-start --dims 4,4,4,4 -o cold.lat
    refuses 3 "near singular: is kappa at or beyond the critical one?" lat-solve --mass 0 --boundary p,p,p,p --source wall:0 --even-odd none \
        cold.lat -o out
    lat-solve --kappa .12 --columns 0,1,2 "${point[@]}" u.lat -o few.lat
    refuses 1 "expected a quark propagator" lat-corr few.lat -o out
    refuses 1 "found 3" lat-convert --join few.lat -o out
    refuses 1 "--gauge coulomb: the header says that the gauge is none" lat-solve --gauge coulomb --kappa .12 -U u.lat b.lat -o out
    refuses 1 "--gauge coulomb: the header says that the gauge is none" lat-dirac --gauge coulomb --kappa .12 --apply M -U u.lat b.lat -o out
}

@test "--tune does nothing, which a warning says" {
    thermal links.lat --thermalise 5
    lat-solve -q --tune --device cpu --kappa .12 --source point:0,0,0,0 --columns 0 links.lat -o x.lat 2>said
    grep -q "^lat-solve: --tune does nothing any more: " said
    [ "$(wc -l <said)" -eq 1 ]
    lat-solve -q --device cpu --kappa .12 --source point:0,0,0,0 --columns 0 links.lat -o y.lat
    cmp x.lat y.lat
}
