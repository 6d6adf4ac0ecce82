#!/usr/bin/env bats
# Purpose: propagators and correlators of other people's codes, from their configurations (Chroma, lalibe, MILC): lat-solve, lat-corr.
# Numbers of Chroma are of its regression outputs, lalibe's of its known results, MILC's of its sample outputs; where a second list
# has more digits, it is a calculation of our own that shares nothing with the tools.
# shellcheck disable=SC2154
load helper

weak=lime_pyquda_weak_field.lime     # Chroma's weak field, 4^3 x 8
random=lime_qlua_random-gauge.qio    # the same of another seed

# Before the test: in a pipe nothing is skipped.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    need_data $weak $random milc_lat.sample.l4448.gf quark/milc_lat.sample.l4448.ll
}

# solve CONFIG OPTION...: the propagator of one of the configurations.
solve() {
    lat-convert "$DATA/$1" | lat-solve --residual 1e-13 "${@:2}"
}

# is BOUND NUMBER...: column re of the table on stdin, t rising, relative to each number; absolute for a bound that ends with "abs".
is() {
    awk -F'\t' -v bound="$1" -v list="${*:2}" '
        BEGIN { n = split(list, want, " "); absolute = sub(/abs$/, "", bound) }
        $1 == "configuration" { next }
        {
            i++; d = $7 - want[i]; if (d < 0) d = -d
            size = absolute ? 1 : want[i] < 0 ? -want[i] : want[i]
            if (!(d <= bound * size)) { print "t = " $6 ": " $7 ", expected " want[i] ", off by " d / size; bad++ }
        }
        END { exit bad || i != n || !n }'
}

@test "Chroma: Wilson, point source, antiperiodic (O7)" {
    solve $weak --kappa .11 --source point:0,0,0,0 | lat-corr --channels pion | is 1e-10 \
        .694933018701801 .0370980388015783 .00800041400185419 .0030600917498557 .00205689989202911 .00305772218009647 \
        .00799671628465021 .0370952428222122
}

@test "Chroma: Wilson, Dirichlet in time, smeared source (O1)" {
    solve $weak --kappa .11 --boundary p,p,p,d --force --source gauss:2,5,0,0,0,6 | lat-corr --channels pion --force --origin 0,0,0,0 | is 1e-10 \
        .000171809638534064 .000420969105594192 .00103332200151086 .0025387939070557 .00626143806225583 .01651517863739 \
        .195116545587354 .0165409060130105
}

@test "Chroma: anisotropic Wilson and clover, smeared source (O2, O3)" {
    solve $weak --kappa .135 --xi 2.464 --nu .95 --force --source gauss:2,5,0,0,0,0 | lat-corr --channels pion >found
    is 1e-6 .749881669999327 .127559084732057 .0488181675046557 .0261707085282163 .0205313421547321 .0261869827813914 \
        .0488589470882021 .127618665495695 <found
    is 1e-10 .74988174261727 .12755909599055 .048818162185163 .02617069901203 .020531332467396 .026186974588717 \
        .048858943066863 .12761867855596 <found
    solve $weak --kappa .115 --xi 2.464 --nu .95 --csw .91 --csw-t 1.07 --force --source gauss:2,5,0,0,0,0 | lat-corr --channels pion >found
    is 1e-6 .588734367199896 .0440054663488397 .0154934281038289 .00913658310242971 .00757904288702887 .00913718577511021 \
        .015501454298906 .0440099963469373 <found
    is 1e-10 .58873435828358 .04400546172726 .015493424086224 .0091365796924074 .0075790396687752 .0091371822354223 \
        .015501450551027 .044009990367046 <found
}

@test "Chroma: anisotropic clover on spatially stout links, the source on thin ones (O4)" {
    solve $weak --kappa .115 --xi 2.464 --nu .95 --csw .91 --csw-t 1.07 --smear-links stout:.22,2,spatial \
        --force --source gauss:2,5,0,0,0,0 >a.lat
    lat-corr --channels pion a.lat | is 5e-9 \
        .588521549252684 .04400138286878 .0155092661480697 .00915533368346644 .00759727583393361 .00915717615857341 \
        .0155204098494388 .0440131376793199
    # The check knows how the links were smeared, by the header.
    lat-convert "$DATA/$weak" -o u.lat
    lat-info a.lat | grep -q 'smeared_links'
    lat-dirac --check --residual 1e-12 -U u.lat a.lat >checked
    run -3 lat-dirac --check --residual 1e-6 --smear-links stout:.2,2,spatial -U u.lat a.lat
}

@test "Chroma: twisted mass (D19)" {
    solve $weak --kappa .205 --twist .01 --force --source gauss:2,5,0,0,0,0 | lat-corr --channels pion >found
    is 2e-6 0.240750708407748 0.0924521379717651 0.0263446081626488 0.00841285501062902 0.00460240144675925 0.00841235905947049 \
        0.026282941570381 0.0924746705481609 <found
    is 1e-10 .24075072292607 .092452145402839 .02634462037864 .0084128623646752 .0046024067428123 .0084123667473464 \
        .026282954481788 .092474678574888 <found
}

@test "lalibe: two clover quarks: pion, pion of p = (1,0,0), non-relativistic nucleon and Delta (D02 to D05, D07)" {
    for m in .1 .2; do solve $weak --residual 1e-14 --mass $m --csw 1.17 --force --source gauss:2,5,0,0,0,0 >m$m.lat; done
    lat-corr --channels pion --second m.2.lat m.1.lat | is 1e-11 \
        0.215136207070388 0.0364157504621039 0.0274281127815896 0.0232303657398653 0.0218948189861614 0.0232255571449122 \
        0.0274265653989624 0.036391674255206
    lat-corr --channels pion --momenta 1,0,0 --second m.2.lat m.1.lat | is 1e-13abs \
        0.0549251141648528 0.00171193592215133 0.000390054820811197 0.000142076600366632 8.46785318547982e-05 \
        0.000141913097938471 0.000395575293819265 0.00170273310439345
    lat-corr --channels sigma_nr --second m.2.lat m.1.lat | is 1e-10 \
        0.00377969903365535 0.000404088940308115 0.000223963468638617 0.000145702743817013 9.75423084739782e-05 \
        6.73800677395409e-05 4.84693508639799e-05 3.66560821890529e-05
    lat-corr --channels delta_nr m.1.lat | is 1e-10 \
        0.0147605661018845 0.00162854824159787 0.000978874955573997 0.000693737268345026 0.000506612864685016 \
        0.000381943770169346 0.000299132171141544 0.000244964316679306
    lat-corr --channels pion m.1.lat | is 1e-11 \
        0.212605150234524 0.040727029268632 0.033110815135365 0.029602653907262 0.028472457937753 0.029598695135875 \
        0.033111866364104 0.040703621482248
}

@test "lalibe: the source at t = 4, time counted from there (D06)" {
    solve $weak --mass .1 --csw 1.17 --force --source gauss:2,5,0,0,0,4 | lat-corr --channels pion | is 1e-11 \
        0.212957464914296 0.040787362958291 0.033172449496185 0.029668168334757 0.028550691287927 0.029680155783141 \
        0.033178777076444 0.040804457136814
}

@test "lalibe: a whole clover propagator, 73728 complex numbers (D01)" {
    need_numpy
    need_data quark/lalibe_PS_prop_u.npy
    solve $weak --residual 1e-14 --mass .02 --csw 1.17 --force --source gauss:2,5,0,1,0,0 >a.lat
    "$PYTHON" - "$DATA/quark/lalibe_PS_prop_u.npy" <<'END'
import sys
import lat
import numpy as np

theirs = np.load(sys.argv[1])  # [t][z][y][x][sink spin][source spin][sink colour][source colour]
ours = next(lat.read("a.lat")).spinors.reshape(8, 4, 4, 4, 4, 3, 4, 3)  # source spin, source colour, sink spin, sink colour
ours = ours.transpose(0, 1, 2, 3, 6, 4, 7, 5)
theirs = theirs.reshape(ours.shape)
off = abs(ours - theirs).max() / abs(theirs).max()
assert off < 1e-11, off
END
}

@test "Chroma: smeared source, and smeared source and sink (D08, D09)" {
    solve $random --kappa .11 --force --source gauss:2,5,0,0,0,0 >a.lat
    lat-corr --channels pion a.lat >found
    is 2e-6 0.191409111252783 0.015839687330169 0.00612670437398005 0.0028177478355503 0.00196730091434856 0.00281711309715927 \
        0.00612162672333501 0.0158367229149183 <found
    is 1e-10 .1914091300134 .0158396939671 .0061267082707 .0028177502278 .0019673029108 .0028171155679 .0061216308542 \
        .0158367300999 <found
    lat-convert "$DATA/$random" -o u.lat
    lat-corr --channels pion --force --sink gauss:2,5 --gauge-file u.lat a.lat >found
    is 2e-6 2.73462025078345 0.0376392686546566 0.00632471075272154 0.00273802029477382 0.00190721121963739 0.00273924391204928 \
        0.00631206399590858 0.0376226620851016 <found
    is 1e-10 2.7346206892767 .037639284705641 .0063247159740833 .0027380231491732 .0019072135582440 .0027392468991931 \
        .0063120697897904 .037622676429726 <found
}

@test "MILC: clover in Coulomb gauge, wall source exp(-r^2/1.5^2), momenta of length 1 (M2)" {
    need_data milc_lat.sample.l4444
    lat-convert "$DATA/milc_lat.sample.l4444" | lat-orelax --gauge coulomb --theta 1e-20 |
        lat-solve --residual 1e-12 --kappa .1 --csw 1.2 --boundary p,p,p,p --source ball:1.5,0,0,0,0 |
        lat-corr --channels pion --momenta 1 >found
    # Their propagator is M^-1 / (2 kappa).
    awk -F'\t' -v OFS='\t' 'FNR > 1 { $7 *= 25 } 1' found >theirs
    awk -F'\t' '$3 $4 $5 == "000"' theirs | is 1e-5 282.1280 17.83301 3.974405 16.84038
    awk -F'\t' '$3 $4 $5 == "100"' theirs | is 1e-5 113.3122 5.395127 .8326622 4.874432
    awk -F'\t' -v OFS='\t' '$3 ^ 2 + $4 ^ 2 + $5 ^ 2 == 1 { sum[$6] += $7 / 6 }
        END { for (t = 0; t < 4; t++) print 0, "pion", 1, 0, 0, t, sum[t] }' theirs | is 1e-5 113.2146 5.398233 .8120558 4.695981
}

@test "MILC: norms of a propagator of its own sample, solved to 1e-5 there (D12)" {
    # csw 1.1 / u0^3, u0 = .9; the configuration is in Coulomb gauge already.
    solve milc_lat.sample.l4448.gf --kappa .1 --csw 1.50891632373114 --boundary p,p,p,p --source ball:1,0,0,0,0 |
        lat-corr --channels pion | awk -F'\t' -v OFS='\t' 'FNR > 1 { $7 *= 25 } 1' | is 1.5e-4 \
        62.8294237 3.16036773 0.290458076 0.0273378100 0.00491619148 0.0227763810 0.247583947 2.84606054
}

@test "MILC: a whole propagator in Fermilab's format, basis and normalisation (D23)" {
    need_numpy
    need_data quark/milc_lat.sample.l4448.ll quark/milc_wprop_fm.sample.l4448.ll
    lat-convert --kappa .124 "$DATA/quark/milc_wprop_fm.sample.l4448.ll" -o theirs.lat # M^-1/(2 kappa) in the file
    solve quark/milc_lat.sample.l4448.ll --kappa .124 --csw 1.476 --boundary p,p,p,p --source point:0,0,0,0 >ours.lat
    lat-corr --channels pion ours.lat | awk -F'\t' -v OFS='\t' 'FNR > 1 { $7 /= 4 * .124 ^ 2 } 1' | is 1e-3 \
        16.74417 1.09079 .1442 .025133 .009058 .029623 .158405 1.123284
    "$PYTHON" - <<'END'
import lat

ours, theirs = (next(lat.read(name + ".lat")).spinors for name in ("ours", "theirs"))
off = abs(ours - theirs).max() / abs(ours).max()
assert off < 1e-6, off
END
}
