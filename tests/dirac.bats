#!/usr/bin/env bats
# Purpose: lat-dirac applies operators as the plain code does, checks solutions, and identifies the operator of a solution.
# shellcheck disable=SC2154  # output and stderr are set by run
load helper

links() { lat-start --start weak --epsilon .4 --dims 4,4,2,6 --seed "${2:-1}" -o "$1"; }

@test "the fast and the plain operator agree, M and its adjoint" {
    links u.lat
    lat-solve --mass .5 --columns 0,5 --source point:1,2,0,3 u.lat -o x.lat
    for word in M Mdag; do
        for more in "" "--csw 1.3 --twist .2" "--csw 1 --csw-t .7 --xi 2 --nu .9" "--boundary .3,a,d,d --csw 1"; do
            # shellcheck disable=SC2086
            lat-dirac --apply $word --mass .1 $more -U u.lat x.lat >fast.lat
            # shellcheck disable=SC2086
            lat-dirac --apply $word --code plain --mass .1 $more -U u.lat x.lat >plain.lat
            # Numbers are below 1; a dozen products of them are rounded.
            near "$(lat-diff fast.lat plain.lat | awk '$1 == "largest" { print $2; exit }')" 0 1e-14
        done
    done
}

@test "the plain operator gives the same bytes whatever the vector length" {
    local lanes
    links u.lat
    lat-solve --mass .5 --columns 0,5,7 --source point:1,2,0,3 u.lat -o x.lat
    for lanes in base avx2 avx512; do
        LAT_LANES=$lanes lat-dirac -U u.lat --code plain --apply M --kappa .13 --csw 1.3 --boundary .3,p,p,a x.lat --no-provenance -o "$lanes.lat"
    done
    cmp base.lat avx2.lat
    cmp base.lat avx512.lat
}

@test "--check takes operator and source of the header, and exits 3 above --residual" {
    links u.lat
    links v.lat 2
    lat-solve --kappa .12 --csw 1 --source point:1,2,0,3/gauss:2,6 u.lat -o x.lat
    lat-dirac --check -U u.lat x.lat >found
    [ "$(grep -c 'all$' found)" -eq 12 ]
    run -3 lat-dirac --check --residual 1e-14 -U u.lat x.lat
    [[ $output == *"expected residuals below 1e-14"* ]]
    run -3 lat-dirac --check --kappa .121 --csw 1 -U u.lat x.lat
    run -1 lat-dirac --check -U v.lat x.lat
    [[ $output == *"CRC"* ]]
    lat-source point:1,2,0,3/gauss:2,6 u.lat -o b.lat
    lat-dirac --check --source-file b.lat -U u.lat x.lat | cmp - found
    cat b.lat b.lat >two.lat
    refuses 1 "two.lat: expected as many sources as solutions, 1, found more" lat-dirac --check --source-file two.lat -U u.lat x.lat -o never
    run -3 lat-dirac --check --source point:1,2,0,2 -U u.lat x.lat
}

@test "--check knows the sources of columns, of fields of noise, and of each configuration" {
    lat-start weak --dims 2,2,2,4 --seed 3 --count 2 -o u.lat
    lat-solve -@ 1 --mass 1 --source momentum:0,0,1,.5 --columns 3,7 u.lat -o a.lat
    lat-solve -@ 1 --mass 1 --source noise:z4,seed=5,dilute=spin-evenodd u.lat -o b.lat
    lat-solve -@ 1 --mass 1 --source noise:z2,dilute=spin-colour-time --columns 11 u.lat -o c.lat
    for f in a b c; do
        lat-dirac --check --residual 1e-9 -U u.lat $f.lat >found
        awk -F'\t' 'NR > 1 && $5 != "all" { bad = 1 } END { exit bad }' found
    done
    [ "$(wc -l <found)" -eq 9 ] # a line of names, four slices of two configurations
    # Noise of the second configuration alone is that of a first one.
    lat-convert --split -o v.lat u.lat
    lat-solve -@ 1 --mass 1 --source noise:z2 v.0001.lat -o d.lat
    lat-dirac --check --residual 1e-9 -U u.lat d.lat >found
    lat-dirac --check --residual 1e-9 -U v.0001.lat d.lat | cmp - found
    # Its header says which numbers it has; nothing but these takes it.
    local noise=noise:z2,t=1,dilute=spin-colour
    lat-solve -@ 1 --mass 1 --source $noise u.lat | lat-convert --split -o n.lat
    lat-info n.0000.lat | grep -qx "source *$noise"
    lat-info n.0001.lat | grep -qx "source *$noise,config=1"
    lat-dirac --check --residual 1e-9 -U v.0001.lat n.0001.lat >found
    lat-solve -@ 1 --mass 1 --source $noise,config=1 v.0001.lat -o same.lat
    lat-diff --tolerance 0 n.0001.lat same.lat >difference
    lat-corr --channels pion --second same.lat n.0001.lat >found
    lat-solve -@ 1 --mass .9 --source $noise v.0001.lat -o other.lat
    refuses 1 "other.lat: expected the source of the first propagator, $noise,config=1, found $noise (--force takes it)" \
        lat-corr --channels pion --second other.lat n.0001.lat
    refuses 2 "config=N (some of these, each once), found 'config=-1'" lat-source noise:z2,config=-1 u.lat
    run -1 lat-dirac --check --source momentum:0,0,1,.5 -U u.lat a.lat
    [[ $output == *"--source momentum:0,0,1,.5: expected one of 1 columns"* ]]
}

@test "--identify finds kappa, clover, twist, anisotropy, boundary, and where the source is" {
    links u.lat
    lat-solve --kappa .117 --csw 1.3 --csw-t 1.1 --twist .07 --xi 2.5 --nu 1 --boundary p,a,.25,d --residual 1e-12 \
        --source point:1,2,0,3 u.lat -o x.lat
    lat-dirac --identify -U u.lat x.lat >found
    value() { awk -v name="$1" '$1 == name { print $2; exit }' found; }
    near "$(value mass)" "$(awk 'BEGIN { print 1 / (2 * .117) - 4 }')" 1e-5
    near "$(value csw)" 1.3 1e-6
    near "$(value csw_t)" 1.1 1e-6
    near "$(value twist)" .07 1e-6
    near "$(value nu/xi)" .4 1e-6
    [[ $(value boundary) == p,a,0.2[45]*,d ]]
    [ "$(value slice)" = 3 ]
    grep -q '^basis *degrand-rossi' found
    grep -q 'column 0: 1 at 1,2,0,3, 1 sites' found
}

@test "--identify --save: what other programs wrote becomes our propagator, and hadrons and residuals are as from the stream" {
    need_numpy
    links u.lat
    # saved FILE: found in FILE, s.lat is x.lat, number for number, and says so.
    saved() {
        lat-dirac --identify --save s.lat --force -U u.lat "$1" >found
        lat-diff --tolerance 1e-13 x.lat s.lat >difference
        lat-dirac --check --residual 1e-9 -U u.lat s.lat | grep -c 'all$' >columns
        [ "$(cat columns)" = 12 ]
        for f in x.lat s.lat; do
            lat-info $f | sed -n '/^operator/p; /^source/p; /^links/p' >$f.says
        done
        diff x.lat.says s.lat.says
        lat-corr --channels nucleon,pion s.lat | cut -f 1-6 | cmp - <(lat-corr --channels nucleon,pion x.lat | cut -f 1-6)
    }
    solve=(lat-solve --kappa .117 --csw 1.3 --residual 1e-11 --source "point:1,2,0,3" u.lat -o x.lat)
    "${solve[@]}"
    lat-convert --basis ukqcd --to npy-prop x.lat -o x.npy
    saved x.npy
    grep -q '^basis *ukqcd' found
    lat-convert -p single x.lat -o x.wprop
    lat-dirac --identify --save s.lat --force -U u.lat x.wprop >found
    lat-diff --tolerance 1e-6 x.lat s.lat >difference
    lat-dirac --check --residual 1e-5 -U u.lat s.lat | grep -q 'all$'
    grep -qx 'norm  *1/(2 kappa): the field is the solution / (2 kappa)' found
    "${solve[@]}" --boundary p,p,p,o
    saved x.lat
    grep -qx 'boundary  *p,p,p,o' found
    "${solve[@]}" --boundary .2,p,-.4,a
    "$PYTHON" - <<'END'
import lat
import numpy as np
s, = lat.read("x.lat")
t, z, y, x = np.indices(s.spinors.shape[:4])
for name, theta in ("time", (0, 0, 0, 1)), ("all", (.2, 0, -.3, .9)):
    angle = sum(a * (n - n0) / e for a, n, n0, e in zip(theta, (x, y, z, t), (1, 2, 0, 3), s.spinors.shape[3::-1]))
    lat.write(name + ".lat", lat.propagator(s.spinors * np.exp(-1j * np.pi * angle)[..., None, None, None]))
END
    saved time.lat
    grep -qx 'spread  *0,0,0,1 of it are in all links of an axis' found
    saved all.lat
    grep -qx 'spread  *0.2,0,-0.3,0.9 of it are in all links of an axis' found
    # smeared links of the header; spinors; a source that is no point
    lat-solve --kappa .117 --smear-links stout:.1,2 --residual 1e-11 --columns 4 --source point:1,2,0,3 u.lat -o x.lat
    lat-dirac --identify --save s.lat --force -U u.lat x.lat >found
    lat-info s.lat | grep -q '^source *point:1,2,0,3, column 4$'
    lat-dirac --check --residual 1e-9 -U u.lat s.lat | grep -q 'all$'
    lat-solve --kappa .117 --residual 1e-11 --source wall:2 u.lat -o x.lat
    run -0 --separate-stderr lat-dirac --identify --save s.lat --force -U u.lat x.lat
    [ "$stderr" = "lat-dirac: x.lat: field 0: its source is no point with the unit vectors of a basis: s.lat has the operator, and no source" ]
    [ "$(lat-info s.lat | grep -c '^source')" -eq 0 ]
    refuses 2 '--save is for --identify' lat-dirac --check --save no.lat -U u.lat x.lat
    lat-source noise:z4 u.lat -o x.lat
    refuses 1 'found none' lat-dirac --identify --save no.lat -U u.lat x.lat
}

@test "--identify refuses what solves nothing" {
    links u.lat
    lat-source noise:z4 u.lat -o x.lat
    refuses 1 'found none' lat-dirac --identify -U u.lat x.lat
    lat-modes --mass 1 --modes 1 --residual 1e-3 u.lat -o m.lat
    refuses 1 'm.lat: field 0: expected solutions, found a field of modes' lat-dirac --check -U u.lat m.lat
    refuses 1 'm.lat: field 0: expected solutions, found a field of modes' lat-dirac --identify -U u.lat m.lat
}

@test "--check takes the operator of the header or of options, not a part of each" {
    links u.lat
    lat-solve --kappa .12 --source point:0,0,0,0 u.lat -o x.lat
    for option in '--boundary p,p,p,p' '--csw 1.5' '--csw-t 1' '--xi 2' '--nu .9' '--twist .3'; do
        # shellcheck disable=SC2086 # words
        refuses 2 "${option% *}: expected --kappa or --mass with it" lat-dirac --check $option -U u.lat x.lat
        # shellcheck disable=SC2086
        refuses 2 "expected no ${option% *}" lat-dirac --identify $option -U u.lat x.lat
    done
    refuses 2 'expected no --kappa' lat-dirac --identify --kappa .12 -U u.lat x.lat
    refuses 2 '--residual is for --check' lat-dirac --apply M --kappa .12 --residual 1e-3 -U u.lat x.lat -o no
    refuses 2 '--residual is for --check' lat-dirac --identify --residual 1e-3 -U u.lat x.lat
    refuses 2 '--code is for --apply' lat-dirac --check --code plain -U u.lat x.lat
    run -3 lat-dirac --check --kappa .12 --boundary p,p,p,p -U u.lat x.lat
    refuses 1 'expected a solution of --operator overlap, found one of wilson' lat-dirac --check --operator overlap -U u.lat x.lat
}

@test "usage: one of --apply, --check, --identify, and links" {
    links u.lat
    run -2 lat-dirac u.lat
    run -2 lat-dirac --check u.lat
    run -2 lat-dirac --apply M -U u.lat u.lat
    run -1 lat-dirac --apply M --kappa .1 -U u.lat u.lat
    [[ $output == *"expected spinors"* ]]
}

@test "D01, D23: propagators of lalibe and Fermilab are identified: kappa, csw, boundary, source, norm" {
    need_data lime_pyquda_weak_field.lime quark/lalibe_PS_prop_u.npy quark/milc_lat.sample.l4448.ll \
        quark/milc_wprop_fm.sample.l4448.ll
    lat-convert "$DATA/lime_pyquda_weak_field.lime" -o u.lat
    lat-convert "$DATA/quark/lalibe_PS_prop_u.npy" -o s.lat
    lat-dirac --identify -U u.lat s.lat >found
    grep -qx 'mass  *0.02' found
    grep -qx 'csw  *1.17' found
    grep -qx 'boundary  *p,p,p,a' found
    lat-convert "$DATA/quark/milc_lat.sample.l4448.ll" -o u.lat
    lat-convert --normalisation mass "$DATA/quark/milc_wprop_fm.sample.l4448.ll" -o s.lat
    lat-dirac --identify -U u.lat s.lat >found
    grep -qx 'kappa  *0.124' found
    grep -qx 'csw  *1.476' found
    grep -qx 'boundary  *p,p,p,p' found
    grep -q 'at 0,0,0,0, 1 sites' found
    grep -q '^norm  *1/(2 kappa)' found
}
