#!/usr/bin/env bats
# Purpose: all commands of docs/tutorial.md run, on a smaller lattice.
load helper
load formats

@test "the tutorial runs from its first command to its last" {
    LAT_PIPELINES=$ROOT/pipelines
    export LAT_PIPELINES
    awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$ROOT/docs/tutorial.md" >page.sh
    [ "$(grep -c '^ *lat-' page.sh)" -ge 20 ]
    [ "$(grep -c '12,12,12,12' page.sh)" -eq 2 ]
    sed 's/12,12,12,12/4,4,4,4/; s/1 2 3 4 5 6 7 8 9 10/1 2 3/' page.sh >small.sh
    # Built without FFTW.
    [ -x "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] || sed -i 's/^lat-gluon .*/touch gluon.tsv/; s/^cat .*lat-gluon.*/touch propagator.tsv/
        s/^lat-ghost .*/touch ghosts.tsv/; s/--fp-min//
        s/^.*correlators.sh. .*/touch correlators\/{alpha,z}.tsv/' small.sh
    bash -euo pipefail small.sh >out 2>&1 || { cat out; return 1; }
    # What it says came of it.
    [ "$(find landau -name '*.lat' | wc -l)" -eq 3 ]
    [ "$(grep -c '^3 of 3 fixed' out)" -ge 2 ]
    grep -qx '3 verified' out
    [ "$(tail -n +2 copies.tsv | wc -l)" -eq 8 ]
    [ -s landau.ildg ]
    [ -e gluon.tsv ]
    [ -e correlators/alpha.tsv ]
    [ -e correlators/z.tsv ]
    [ ! -x "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] || [ "$(grep -c '^2,-1.5  [SPVAT]  ' out)" -eq 5 ] || { cat out; return 1; }
    [ "$(tail -n 1 out)" = "exit status 1, and no copy.lat" ]
    [ ! -e copy.lat ]
    nothing_left
}

@test "every command of the recipes runs" {
    local i
    LAT_PIPELINES=$ROOT/pipelines
    # Loops of four slices in space: no separations of 3 and more.
    export LAT_PIPELINES T_POTENTIAL=1 R_MIN=1
    lat-heatbath --dims 4,4,4,8 --beta 5.7 --thermalise 20 --seed 3 -o cfg.lat
    mkdir raw
    for i in 1 2 3; do lat-heatbath --dims 4,4,4,8 --beta 5.7 --thermalise 20 --seed $i | lat-convert --to nersc -o raw/cfg.$i; done
    # Two configurations of openQCD with open time, of eight slices.
    for i in 10 11; do
        lat-heatbath --dims 4,4,4,8 --beta 5.7 --thermalise 20 --seed $i | lat-convert --to ildg -o periodic.ildg
        "$MAKE" openqcd periodic.ildg run1n$i.oqcd spoil=open
    done
    awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$ROOT/docs/recipes.md" |
        sed 's/--slices 24,71/--slices 2,5/; s/--kappa 0.1372 --csw 1.986 \(.*\) point:0,0,0,24/--kappa 0.12 --csw 1 \1 point:0,0,0,3/' >page.sh
    [ "$(grep -c '^lat-' page.sh)" -ge 20 ]
    # Built without FFTW or GSL.
    [ -x "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] || sed -i '/correlators.sh/d' page.sh
    [ -x "${LAT_BIN:-$ROOT/bin}/lat-fit" ] || sed -i '/potential.sh\|^lat-fit\|plateau.gp/d' page.sh
    bash -euo pipefail page.sh >out 2>&1 || { cat out; return 1; }
    [ "$(tail -n +2 corr.tsv | cut -f 2 | sort -u | wc -l)" -eq 5 ]
    [ "$(lat-info --tsv both.lat | tail -n +2 | wc -l)" -eq 2 ]
    [ ! -e run.ck ]
    [ "$(cut -f 2 light.tsv | tail -n 1)" = pion ]
    [ "$(field hadrons/masses.tsv configurations)" = 3 ]
    [ ! -x "${LAT_BIN:-$ROOT/bin}/lat-fit" ] || { [ "$(field potential/results.tsv configurations)" = 3 ] && [ -s hadrons/fits.tsv ]; }
    [ ! -x "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] || [ "$(field correlators/alpha.tsv configurations)" = 3 ]
    [ "$(cut -f 1,4 t0.tsv | tail -n 2)" = "$(printf 't0\t3\nw0\t3')" ] # on so small a lattice t^2 E never reaches 0.3
    grep -qx '3 verified' out
    [ "$(field plaquette.tsv configurations)" = 4 ]
    # All pictures that the page names.
    if command -v gnuplot >/dev/null && [ -x "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] && [ -x "${LAT_BIN:-$ROOT/bin}/lat-fit" ]; then
        for i in hadrons/masses.png hadrons/masses.pdf pion.png potential/potential.png correlators/{gluon,ghost,alpha,vertex}.png flow.png \
            history.png slices.png copies/copies.png modes.png overlap.png tau.png; do [ -s "$i" ] || { echo "no $i"; return 1; }; done
    fi
    nothing_left
}
