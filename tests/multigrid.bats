#!/usr/bin/env bats
# Purpose: light quarks: lat-solve's multigrid gives certified solutions, the same bytes however it runs, and is taken where it pays.
# shellcheck disable=SC2154  # output and stderr are set by run
load helper

# light NAME: links of 8^4, in a folder that all tests of this file share. Quarks at kappa .158 are light there: BiCGstab stagnates.
light() {
    local kept=$BATS_FILE_TMPDIR/light.lat
    [ -e "$kept" ] || lat-heatbath --dims 8,8,8,8 --beta 6 --thermalise 30 --seed 3 -o "$kept"
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

@test "--solver mg is refused where there is none" {
    light u.lat
    for words in '--even-odd none' '--precision double'; do
        # shellcheck disable=SC2086
        refuses 1 'multigrid: expected even-odd preconditioning, and iterations in single' \
            lat-solve $words --kappa .15 --solver mg "${point[@]}" u.lat
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
