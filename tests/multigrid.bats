#!/usr/bin/env bats
# Purpose: light quarks: lat-solve's multigrid gives certified solutions, the same bytes however it runs, and is taken where it pays.
# shellcheck disable=SC2154  # output and stderr are set by run
load helper

# light NAME: links of 8^4, the same on any CPU, in a folder that all tests of this file share. Quarks at kappa .158 are light there: BiCGstab stagnates.
light() {
    local kept=$BATS_FILE_TMPDIR/light.lat
    [ -e "$kept" ] || LAT_LANES=base lat-heatbath --dims 8,8,8,8 --beta 6 --thermalise 30 --seed 3 -o "$kept"
    cp "$kept" "$1"
}

point=(--source "point:1,0,2,3")

# distance A B: the largest difference of two numbers.
distance() { lat-diff "$1" "$2" | awk '/^largest/ && $2 > d { d = $2 } END { print d + 0 }'; }

@test "--solver mg: certified, and the solution of conjugate gradients, for Wilson, clover and twisted quarks" {
    light u.lat
    for action in "--kappa .15" "--kappa .13 --csw 1.5" "--kappa .152 --twist .1"; do
        # shellcheck disable=SC2086 # words
        lat-solve $action --solver mg --columns 0,7 "${point[@]}" u.lat -o mg.lat
        # shellcheck disable=SC2086
        lat-solve $action --solver cg --columns 0,7 "${point[@]}" u.lat -o cg.lat
        lat-dirac --check -U u.lat mg.lat
        lat-info mg.lat | grep -q 'by mg'
        awk -v d="$(distance mg.lat cg.lat)" 'BEGIN { exit !(d < 1e-7) }'
    done
}

@test "multigrid: the same bytes on any number of threads and ranks" {
    light u.lat
    solve=(lat-solve --no-provenance --kappa .156 --solver mg --columns "0,7" "${point[@]}" u.lat)
    "${solve[@]}" -@ 1 -o one.lat
    "${solve[@]}" -@ 3 -o threads.lat
    cmp one.lat threads.lat
    need_mpi
    "${solve[@]}" -@ 1 -n 2 -o ranks.lat
    cmp one.lat ranks.lat
    refuses 1 'an extent of 8 in t has 2 blocks, which 3 ranks cannot share' "${solve[@]}" -n 3 -o none.lat
    [ ! -e none.lat ]
}

@test "multigrid: one of them serves all masses" {
    light u.lat
    lat-solve -v --kappas .158,.15 --solver mg --columns 0 "${point[@]}" u.lat -o both.lat 2>err
    [ "$(grep -c 'rounds of setup' err)" -eq 1 ]
    lat-dirac --check -U u.lat both.lat
}

@test "--solver auto: a multigrid for light quarks, none for heavy ones or few columns" {
    light u.lat
    lat-solve -v --kappa .158 "${point[@]}" u.lat -o light.lat 2>err
    grep -q "a multigrid goes on$\|a multigrid for 12 columns would take .*: it goes on$" err
    lat-info light.lat | grep -q 'by mg'
    lat-dirac --check -U u.lat light.lat
    lat-solve -v --kappa .13 "${point[@]}" u.lat -o heavy.lat 2>err
    run ! grep multigrid err
    lat-solve --kappa .13 --solver bicgstab "${point[@]}" u.lat -o usual.lat
    lat-diff heavy.lat usual.lat
}

@test "multigrid: the columns to come are those of all sources and masses of the command, and one of them serves all" {
    light u.lat
    lat-solve -v --kappas .158,.157 --source noise:z4,t=0,dilute=spin u.lat -o both.lat 2>err # four sources of a column
    grep -q 'a multigrid for 8 columns would take' err
    [ "$(grep -c 'rounds of setup' err)" -eq 1 ]
    lat-dirac --check -U u.lat both.lat
}

@test "--solver mg is refused where there is none" {
    light u.lat
    refuses 1 'multigrid: expected even-odd preconditioning, found none' \
        lat-solve --even-odd none --kappa .15 --solver mg "${point[@]}" u.lat
    refuses 1 'multigrid: expected iterations in single or half, found double' \
        lat-solve --precision double --kappa .15 --solver mg "${point[@]}" u.lat
}

@test "multigrid: heavy quarks, where a cycle or a few powers of S leave nothing, by it alone" {
    lat-heatbath -q --dims 4,4,4,4 --beta 5.8 --thermalise 50 -o small.lat
    lat-heatbath -q --dims 8,8,8,8 --beta 5.9 --thermalise 40 -o u.lat
    for kappa in .05 .09 .11 .12 .13; do
        lat-solve -v --kappa $kappa --solver mg --columns 0,5 "${point[@]}" small.lat -o x.lat 2>err
        run -1 grep stagnated err
        lat-dirac --check -U small.lat x.lat
    done
    lat-solve -v --kappa .135 --solver mg --columns 0,5 "${point[@]}" u.lat -o x.lat 2>err
    run -1 grep stagnated err
    lat-subspace -q --kappa .157 u.lat -o u.sub
    for kappa in .08 .1 .112; do
        lat-solve -v --kappa $kappa --subspace u.sub --columns 0,5 "${point[@]}" u.lat -o x.lat 2>err
        run -1 grep stagnated err
    done
}

@test "multigrid: the same bytes in batches of one column" {
    light u.lat
    for solver in auto mg; do
        solve=(lat-solve --no-provenance --kappa .158 --solver "$solver" --columns "0,1" "${point[@]}" u.lat)
        "${solve[@]}" -o both.lat
        "${solve[@]}" --batch 1 -o batches.lat
        cmp both.lat batches.lat
    done
}

@test "a column that promises no end is given up, by multigrid and by conjugate gradients; one near it is solved" {
    lat-start instanton --radius 1.5 --dims 4,4,4,4 -o u.lat # its real mode is 0 at this mass
    local mass=-0.531922875478
    for solver in cg mg; do
        run -3 --separate-stderr lat-solve --mass $mass --solver $solver --columns 0 --source point:0,0,0,0 u.lat -o none.lat --log log.tsv
        echo "$stderr"
        [[ $stderr == *"cg promised no end within the iterations that are allowed (0 of 1 columns converged"*"it is near singular"* ]]
        awk 'NR == 2 { exit !($6 >= 5000 && $6 < 5100) }' log.tsv
        [ ! -e none.lat ]
        lat-solve --mass "$(awk -v m=$mass 'BEGIN { print m + 1e-4 }')" --solver $solver --columns 0 --source point:0,0,0,0 u.lat | lat-dirac --check -U u.lat
    done
}

# The multigrid takes the real mode for a value of M_c, which rounding moves by some 1e-6: at this distance from 0 cycles stagnate, and
# conjugate gradients see a small singular value like any other. Rounding decides which of 71 masses it is, by compiler and lanes: one of
# six or so.
@test "near-singular links: where the multigrid stagnates conjugate gradients go on from there, and converge" {
    lat-start instanton --radius 1.5 --dims 4,4,4,4 -o u.lat
    local distance found=0
    for distance in $(seq 120 2 260); do
        run --separate-stderr lat-solve --mass "$(awk -v d="$distance" 'BEGIN { printf "%.12f", -0.531922875478 + d * 1e-8 }')" --solver mg --columns 0 \
            --source point:0,0,0,0 u.lat -o x.lat --log log.tsv
        [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
        [ "$status" -eq 0 ] && grep -q 'the multigrid stagnated in 1 of 1 columns at mass .*, which went on by conjugate gradients' <<<"$stderr" || continue
        # Cycles come first, 20 at least, and from where they ended the column takes less than it may.
        awk 'NR == 2 { exit !($9 == "cg" && $6 > 20 && $6 < 5000 && $8 <= 1e-10) }' log.tsv
        lat-info x.lat | grep -q 'by cg'
        lat-dirac --check -U u.lat x.lat
        found=1
        break
    done
    [ $found -eq 1 ]
}

# subspace NAME [OPTION...]: of light links u.lat at kappa .156. kept_subspace NAME: that, made once for all tests of this file.
subspace() { lat-subspace --kappa .156 u.lat -o "$1" "${@:2}"; }
kept_subspace() {
    local kept=$BATS_FILE_TMPDIR/sub.lat
    [ -e "$kept" ] || subspace "$kept"
    cp "$kept" "$1"
}

@test "lat-subspace: a multigrid from a file has the bytes of one in memory, and serves other masses and twists" {
    light u.lat
    kept_subspace sub.lat
    solve=(lat-solve --no-provenance --columns "0,7" "${point[@]}" u.lat)
    lat-solve --no-provenance --kappa .156 --solver mg "${point[@]}" u.lat -o memory.lat
    lat-solve --no-provenance --kappa .156 --subspace sub.lat "${point[@]}" u.lat -o file.lat
    cmp memory.lat file.lat
    "${solve[@]}" --kappas .156,.15 --solver mg -o memory.lat
    "${solve[@]}" --kappas .156,.15 --subspace sub.lat -o file.lat
    lat-diff memory.lat file.lat # a setup for 4 columns may have fewer rounds: then this is no test of bytes
    lat-dirac --check -U u.lat file.lat
    "${solve[@]}" --kappa .152 --twist .1 --subspace sub.lat -o twist.lat
    lat-dirac --check -U u.lat twist.lat
    # The header says how the subspace was made, and so does that of a solution.
    lat-info sub.lat >info
    for key in blocks rounds rate columns applications lowest orthonormal product; do grep -q "subspace.$key = " info; done
    [ "$(awk '/subspace.blocks/ { print $NF }' info)" = 4,4,4,4 ]
    lat-solve --kappa .156 --subspace sub.lat --columns 0 "${point[@]}" u.lat | lat-info |
        grep -q "by mg, mg of 24 vectors, [1-6] rounds, subspace CRC [0-9a-f]\{8\}"
    # The least singular value is that of lat-modes, about.
    lat-modes --kappa .156 --modes 1 --residual 1e-4 --tsv u.lat >modes.tsv
    awk -v found="$(awk '/subspace.lowest/ { print $NF }' info)" 'NR == 2 { v = $3 < 0 ? -$3 : $3; exit !(found > .9 * v && found < 1.2 * v) }' modes.tsv
}

@test "lat-subspace: the same bytes on threads and ranks, and after a stop in each round" {
    light u.lat
    kept_subspace whole.lat
    subspace threads.lat -@ 3
    cmp whole.lat threads.lat
    in_slices .3 .3 "" lat-subspace --kappa .156 -@ 1 u.lat
    cmp whole.lat cut.lat
    need_mpi
    subspace ranks.lat -@ 1 -n 2
    cmp whole.lat ranks.lat
    rm cut.lat
    kill_a_rank 2 lat-subspace --kappa .156 u.lat
    subspace cut.lat --checkpoint ck --resume ck
    cmp whole.lat cut.lat
}

@test "lat-subspace whose output cannot be written says how to go on, and goes on" {
    [ -c /dev/full ] || skip "no /dev/full"
    light u.lat
    kept_subspace whole.lat
    run -1 lat-subspace --kappa .156 --checkpoint ck u.lat -o /dev/full
    [ "$output" = "lat-subspace: /dev/full: cannot be written: No space left on device; the same command with --resume ck goes on" ]
    subspace cut.lat --checkpoint ck --resume ck
    cmp whole.lat cut.lat
    [ ! -e ck ]
}

@test "a rank of lat-solve --solver mg is killed: solved columns are in the checkpoint, which one rank continues, with the same bytes" {
    need_mpi
    light u.lat
    local solve=(lat-solve --kappa .156 --solver mg --batch 3 --no-provenance "${point[@]}" u.lat)
    "${solve[@]}" -o whole.lat
    kill_a_rank 2 "${solve[@]}"
    "${solve[@]}" --checkpoint ck --resume ck -o cut.lat
    cmp whole.lat cut.lat
}

@test "multigrid: as many columns side by side as memory takes, the same bytes; auto has none where there is no memory for it" {
    light u.lat
    local gb counted solve=(lat-solve --no-provenance --kappa .158 --solver mg "${point[@]}" u.lat)
    "${solve[@]}" -o all.lat
    for gb in .17 .13; do
        "${solve[@]}" -v --memory $gb -o few.lat 2>err
        [[ $(cat err) =~ ([0-9]+)" of 12 columns side by side: all would need 0.1"[0-9]*" GB of memory, 0$gb GB are there" ]]
        counted+=" ${BASH_REMATCH[1]}"
        cmp all.lat few.lat
    done
    echo "$counted"
    [[ $counted =~ ^" "[89]" "[1-4]$ ]] # eight columns or fewer than the setup has
    refuses 1 'one column needs 0.1' "${solve[@]}" --memory .1 -o none.lat
    solve=(lat-solve -v --no-provenance --kappa .158 "${point[@]}" u.lat)
    "${solve[@]}" --memory .1 -o auto.lat 2>err
    grep -q 'no multigrid: with it [0-9]* columns would need 0.[0-9]* GB of memory, 0.1 GB are there' err
    run ! grep 'goes on' err
    lat-info auto.lat >info
    run ! grep 'by mg' info
    lat-dirac --check -U u.lat auto.lat
}

@test "lat-subspace --from: one round from the links before, and as good" {
    light u.lat
    kept_subspace sub.lat
    lat-smear stout:0.002,1 u.lat -o v.lat # links nearby
    lat-subspace --kappa .156 --from sub.lat v.lat -o next.lat --log next.tsv
    lat-subspace --kappa .156 v.lat -o own.lat --log own.tsv
    awk 'FNR == 2 { rounds[FILENAME] = $4; rate[FILENAME] = $5; applied[FILENAME] = $6 }
        END { exit !(rounds["next.tsv"] >= 1 && rate["next.tsv"] < rate["own.tsv"] + .1 && applied["next.tsv"] < applied["own.tsv"]) }' next.tsv own.tsv
    lat-solve --kappa .156 --subspace next.lat --columns 0 "${point[@]}" v.lat | lat-dirac --check -U v.lat
    # A checkpoint is of its start.
    run -1 lat-subspace --kappa .156 --from sub.lat --checkpoint ck v.lat -o /dev/full
    refuses 1 'found that of other links or another start' lat-subspace --kappa .156 --from own.lat --resume ck v.lat
    refuses 1 "found that of another, '--vectors 0'" lat-subspace --kappa .156 --resume ck v.lat
}

@test "a subspace of other links or another operator is refused, and modes are no subspace" {
    light u.lat
    kept_subspace sub.lat
    solve=(lat-solve --subspace sub.lat --columns 0 "${point[@]}")
    lat-start hot --dims 8,8,8,8 --seed 5 -o v.lat
    refuses 1 'lat-solve: sub.lat: expected a subspace of the links of CRC' "${solve[@]}" --kappa .156 v.lat
    for words in '--csw 1' '--boundary p,p,p,p' '--xi 2'; do
        # shellcheck disable=SC2086
        refuses 1 'sub.lat: expected a subspace of the operator' "${solve[@]}" --kappa .156 $words u.lat
    done
    refuses 1 "expected a subspace on links with the smearing 'stout:0.1,1', found 'none'" "${solve[@]}" --kappa .156 --smear-links stout:0.1,1 u.lat
    refuses 1 "expected modes of gamma5 M, M^+ M, gamma5 S or D^+ D, found 'none'" \
        lat-solve --kappa .156 --deflate sub.lat --columns 0 "${point[@]}" u.lat
    lat-modes --kappa .156 --modes 2 --residual 1e-2 u.lat -o modes.lat
    refuses 1 'modes.lat: expected a subspace of lat-subspace, found modes that are none' \
        lat-solve --kappa .156 --subspace modes.lat --columns 0 "${point[@]}" u.lat
    refuses 2 '--solver mg or auto' "${solve[@]}" --kappa .156 --solver cg u.lat
    refuses 2 '--vectors: expected a multiple of 8, found 12' lat-subspace --kappa .156 --vectors 12 u.lat
    lat-heatbath --dims 4,4,4,8 --beta 6 --thermalise 2 --seed 3 -o small.lat
    refuses 1 'sub.lat: expected a subspace on the lattice of the links, 4 4 4 8 and SU(3), found 8 8 8 8' \
        lat-subspace --kappa .156 --from sub.lat small.lat
}

# same_modes A B: two tables of the same modes: values agree to their residuals, gaps and chiralities roughly.
same_modes() {
    paste "$1" "$2" | awk -F'\t' 'NR > 1 { d = $3 - $12; if (d < 0) d = -d; n++; if (!(d <= $4 + $13 + 1e-13)) bad = 1 }
        END { exit bad || n == 0 }'
}

@test "lat-modes --subspace: the modes of Lanczos, of gamma5 M and gamma5 S, also with a subspace of another mass" {
    light u.lat
    kept_subspace subu.lat
    # Without even-odd preconditioning Lanczos takes four times as long: on fewer sites.
    LAT_LANES=base lat-heatbath --dims 4,4,8,8 --beta 6 --thermalise 30 --seed 3 -o v.lat
    lat-subspace --kappa .156 v.lat -o subv.lat
    for words in 'u .156 --matrix g5S' 'v .15 --matrix g5M'; do
        # shellcheck disable=SC2206
        modes=(lat-modes --kappa ${words#* } --modes 6 --residual 1e-9 --tsv "${words%% *}.lat")
        "${modes[@]}" >lanczos.tsv
        "${modes[@]}" --subspace "sub${words%% *}.lat" >mg.tsv
        [ "$(wc -l <mg.tsv)" -eq 7 ]
        same_modes lanczos.tsv mg.tsv
    done
    lat-modes --kappa .156 --matrix g5S --modes 6 --residual 1e-9 --subspace subu.lat u.lat -o modes.lat
    lat-solve --kappa .156 --deflate modes.lat --columns 0 "${point[@]}" u.lat | lat-dirac --check -U u.lat
    refuses 3 'expected 6 modes with residuals below 1e-09, found none after' \
        lat-modes --kappa .156 --modes 6 --residual 1e-9 --max-applications 100 --subspace subu.lat u.lat -o none.lat
    [ ! -e none.lat ]
}

@test "lat-modes --subspace: a level of more copies than a batch has columns" {
    lat-start flux --dims 4,4,4,4 --n12 2 --n34 2 -o flux.lat # 16 modes of one value
    local mass modes value
    for mass in -1.4 -1.35; do # vectors of a level mix from one look at them to the next
        value=.588764
        [ $mass = -1.4 ] || value=.594377
        lat-subspace --mass $mass flux.lat -o sub.lat
        for modes in 12-20 16; do
            lat-modes --mass $mass --modes $modes --residual 1e-8 --subspace sub.lat --tsv flux.lat >found
            awk -F'\t' -v value=$value 'NR > 1 { n++; bad += !($3 > value && $3 < value + 1e-6) } END { exit bad || n != 16 }' found
        done
    done
}

@test "lat-modes --subspace: the same bytes on threads and ranks, and after stops" {
    light u.lat
    kept_subspace sub.lat
    modes=(lat-modes --kappa .156 --matrix g5S --modes 3 --residual 1e-9 --subspace sub.lat u.lat)
    "${modes[@]}" -@ 1 -o whole.lat
    "${modes[@]}" -@ 3 -o threads.lat
    cmp whole.lat threads.lat
    in_slices .3 .1 "" "${modes[@]}" -@ 1
    cmp whole.lat cut.lat
    need_mpi
    "${modes[@]}" -@ 1 -n 2 -o ranks.lat
    cmp whole.lat ranks.lat
}

@test "lat-modes --resume is refused with another subspace than the checkpoint was begun with" {
    light u.lat
    kept_subspace sub.lat
    subspace other.lat --vectors 8
    modes=(lat-modes --kappa .156 --modes 2 --residual 1e-4)
    run -1 "${modes[@]}" --subspace sub.lat --checkpoint ck u.lat -o /dev/full
    refuses 1 "ck: expected the checkpoint of this run, with modes of 'config 0 links " "${modes[@]}" --subspace other.lat --resume ck u.lat -o cut.lat
    [[ $stderr == *"', found that of other links or another subspace, 'config 0 links "*" subspace "* ]]
    [ ! -e cut.lat ]
    "${modes[@]}" --subspace sub.lat --checkpoint ck --resume ck u.lat -o cut.lat
    "${modes[@]}" --subspace sub.lat u.lat | cmp - cut.lat
    [ ! -e ck ]
}

@test "lat-modes --subspace is refused for other links, operators and searches" {
    light u.lat
    kept_subspace sub.lat
    modes=(lat-modes --subspace sub.lat --modes 2 --residual 1e-6 -o none.lat)
    lat-start hot --dims 8,8,8,8 --seed 5 -o v.lat
    refuses 1 'lat-modes: sub.lat: expected a subspace of the links of CRC' "${modes[@]}" --kappa .156 v.lat
    for words in '--csw 1' '--boundary p,p,p,p' '--xi 2'; do
        # shellcheck disable=SC2086
        refuses 1 'sub.lat: expected a subspace of the operator' "${modes[@]}" --kappa .156 $words u.lat
    done
    refuses 1 "expected a subspace on links with the smearing 'stout:0.1,1', found 'none'" "${modes[@]}" --kappa .156 --smear-links stout:0.1,1 u.lat
    lat-modes --kappa .156 --modes 2 --residual 1e-2 u.lat -o modes.lat
    refuses 1 'modes.lat: expected a subspace of lat-subspace, found modes that are none' \
        lat-modes --kappa .156 --subspace modes.lat --modes 2 u.lat -o none.lat
    refuses 2 '--subspace: expected --device cpu or auto' "${modes[@]}" --kappa .156 --device gpu u.lat
    for words in '--matrix MdagM' --largest '--method ritz' '--precision double' '--degree 20'; do
        # shellcheck disable=SC2086
        refuses 2 '--subspace finds the lowest modes of gamma5 M and gamma5 S, and excludes' "${modes[@]}" --kappa .156 $words u.lat
    done
    [ ! -e none.lat ]
}
