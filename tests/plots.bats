#!/usr/bin/env bats
# Purpose: pictures: one style, PNG and PDF without a warning, errors that are not cut, where the data are from.
load helper

P=$ROOT/pipelines/plots

setup() {
    not_sanitized "gnuplot"
    cd "$BATS_TEST_TMPDIR" || return 1
}

need_gnuplot() {
    command -v gnuplot >/dev/null || skip "gnuplot not found"
    gnuplot -e 'print GPVAL_TERMINALS' 2>&1 | grep -q 'pdfcairo.*pngcairo' || skip "gnuplot has no cairo"
}

# drawn NAME ARGUMENT...: by NAME.gp, to NAME.png and NAME.pdf, without a word. File ranges has the axes of their panels.
drawn() {
    local form
    rm -f ranges
    for form in png pdf; do
        LAT_RANGES=ranges gnuplot -c "$P/$1.gp" "$1.$form" "${@:2}" 2>said || { cat said; return 1; }
        [ ! -s said ] || { cat said; return 1; }
    done
    [ "$(head -c 4 "$1.png" | tail -c 3)" = PNG ]
    [ "$(head -c 4 "$1.pdf")" = %PDF ]
    # Empty axes take 20 kB and 8 kB.
    [ "$(stat -c %s "$1.png")" -gt 22000 ]
}

# inside PANEL X Y ERROR <TABLE: all points and both ends of their errors lie between the frames of the panel, not on them (on 0 they may);
# X, Y and ERROR are expressions of awk with columns c["NAME"].
inside() {
    awk -F'\t' -v frame="$(awk -F'\t' -v panel="$1" '$2 == panel' ranges | cut -f 3-6 | head -n 1)" "
        NR == 1 { split(frame, f); for (i = 1; i <= NF; i++) name[i] = \$i; next }
        { for (i = 1; i <= NF; i++) c[name[i]] = \$i; x = $2; y = $3; e = $4
          if (y \"\" ~ /nan/ || e \"\" ~ /nan/) next
          n++
          low = y - e > f[3] || (f[3] == 0 && y - e >= 0)
          if (!(x >= f[1] && x <= f[2] && low && y + e < f[4])) { print x, y, e, frame; bad++ } }
        END { exit bad || !n }"
}

# momenta: n of directions that differ, of 8,8,8,16, in lines of nx ny nz nt and 4 sum sin^2(p / 2).
momenta() {
    printf '%s\n' '0 0 0 1' '1 0 0 0' '2 0 0 0' '1 1 0 0' '1 1 0 1' '1 1 1 0' '1 1 1 2' '2 2 2 4' '3 3 3 5' | awk '
        { pi = atan2(0, -1); s = 0; for (i = 1; i <= 4; i++) s += 4 * sin(pi * $i / (i < 4 ? 8 : 16)) ^ 2; print $0, s }'
}

@test "all pictures have one style: no script has a terminal, a colour, a font or a line width of its own" {
    local file
    for file in "$P"/*.gp "$ROOT"/bench/*.gp; do
        [ "${file##*/}" != style.gp ] || continue
        grep -q "^call .*/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9\$" "$file" || { echo "$file: no style"; return 1; }
        grep -q '^ *@drawn$' "$file" || { echo "$file: says no ranges"; return 1; }
        run -1 grep -nE "set (terminal|output|grid|border|tics|linetype|palette)|#[0-9a-f]{6}|rgb '|font|(^| )lw |gray|pointtype" "$file"
    done
}

# Machado, Oliveira, Fernandes (IEEE Trans. Vis. Comput. Graph. 15 (2009) 1291), severity 1, on linear light: how the colours look to those
# who lack a cone. The distances are in CIE L*a*b*; 2 can just be told apart.
@test "the colours of the style can be told apart without red, green or blue cones" {
    sed -n "s/^array colour.*\[\(.*\)\]/\1/p" "$P/style.gp" | tr -d "', " | tr '#' '\n' | tail -n +2 >colours
    [ "$(wc -l <colours)" -eq 8 ]
    awk '
        function hex(s) { return (index("0123456789abcdef", substr(s, 1, 1)) - 1) * 16 + index("0123456789abcdef", substr(s, 2, 1)) - 1 }
        function f(t) { return t > .008856 ? t ^ (1 / 3) : 7.787 * t + 16 / 116 }
        function lab(r, g, b, out, X, Y, Z) {
            r = r < 0 ? 0 : r; g = g < 0 ? 0 : g; b = b < 0 ? 0 : b
            X = f((.4124 * r + .3576 * g + .1805 * b) / .9505); Y = f(.2126 * r + .7152 * g + .0722 * b); Z = f((.0193 * r + .1192 * g + .9505 * b) / 1.089)
            out[1] = 116 * Y - 16; out[2] = 500 * (X - Y); out[3] = 200 * (Y - Z)
        }
        BEGIN {
            split("1 0 0 0 1 0 0 0 1 .152286 1.052583 -.204868 .114503 .786281 .099216 -.003882 -.048116 1.051998 " \
                ".367322 .860646 -.227968 .280085 .672501 .047413 -.011820 .042940 .968881 " \
                "1.255528 -.076749 -.178779 -.078411 .930809 .147602 .004733 .691367 .303900", m, " ")
        }
        { for (i = 1; i <= 3; i++) { v = hex(substr($1, 2 * i - 1, 2)) / 255; c[NR, i] = v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ^ 2.4 } }
        END {
            for (eye = 0; eye < 4; eye++) for (j = 1; j <= NR; j++) for (k = 1; k < j; k++) {
                for (i = 0; i < 3; i++) {
                    p[i] = q[i] = 0
                    for (l = 0; l < 3; l++) { w = m[9 * eye + 3 * i + l + 1]; p[i] += w * c[j, l + 1]; q[i] += w * c[k, l + 1] }
                }
                lab(p[0], p[1], p[2], a); lab(q[0], q[1], q[2], b)
                d = sqrt((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2 + (a[3] - b[3]) ^ 2)
                if (least == "" || d < least) { least = d; which = eye " " j " " k }
            }
            print least, which
            exit least < 10
        }' colours
}

@test "directions: the nearest of an axis and of the diagonals, in units of 2 pi / L; separations in units of a" {
    printf 'momentum\tdims\twant\n' >table
    printf '%s\t%s\t%s\n' 1,0,0,0 8,8,8,16 1 0,0,0,-3 8,8,8,16 5 3,0,0,1 8,8,8,16 1 1,1,0,0 8,8,8,8 2 0,-2,1,0 8,8,8,8 2 1,1,1,0 8,8,8,8 3 \
        1,1,1,2 8,8,8,16 4 1,1,1,1 8,8,8,16 4 1,0,0,2 8,8,8,16 6 1,1,0,0 8,8,8,16 2 0,0,0,0 8,8,8,8 1 1,1,1 8,8,8 3 >>table
    awk -f "$P/table.awk" -v more=direction -- table | awk -F'\t' '$3 != $4 && NR > 1 { print; bad++ } END { exit bad || NR != 13 }'
    [ "$(awk -f "$P/table.awk" -v where='direction=4' -v values=momentum -- table | paste -sd ' ')" = '1,1,1,2 1,1,1,1' ]
    printf 'kx\tky\tkz\tkt\n0\t1\t1\t0\n' | awk -f "$P/table.awk" -v values=direction | grep -qx 2
    printf 'separation\tdims\n2,2,2\t4,4,4,8\n' | awk -f "$P/table.awk" -v values=direction | grep -qx 3
}

@test "propagators: pictures of means with large errors, of several tables, of single configurations; nothing is cut" {
    need_gnuplot
    # Errors end at ticks, and below 0.
    momenta | awk -v OFS='\t' 'BEGIN { print "momentum", "phat2", "D", "D_error", "configurations", "gauge", "dims", "group", "ensemble" }
        { D = 1 / $5; print $1 "," $2 "," $3 "," $4, $5, D, NR == 3 ? 1.5 * D : NR == 6 ? D : .1 * D, 7, "landau", "8,8,8,16", "SU(3)", "beta 6, xi 1" }' >gluon.tsv
    drawn gluon gluon.tsv
    inside 1 'sqrt(c["phat2"])' 'c["phat2"] * c["D"]' 'c["phat2"] * c["D_error"]' <gluon.tsv
    # The same test finds what is cut.
    sed -i 's/\t[^\t]*$/\t1.5/' ranges
    run -1 inside 1 'sqrt(c["phat2"])' 'c["phat2"] * c["D"]' 'c["phat2"] * c["D_error"]' <gluon.tsv
    A_INVERSE=2 drawn gluon gluon.tsv
    inside 1 '2 * sqrt(c["phat2"])' 'c["phat2"] * c["D"]' 'c["phat2"] * c["D_error"]' <gluon.tsv
    A_INVERSE=much run -2 gnuplot -c "$P/gluon.gp" x.png gluon.tsv
    [[ $output == "A_INVERSE: expected 1/a in GeV, found 'much'" ]]
    sed 's/D_error/x/' gluon.tsv >"q'q one.tsv"
    drawn gluon gluon.tsv "q'q one.tsv"
    momenta | awk -v OFS='\t' 'BEGIN { print "kx", "ky", "kz", "kt", "k2", "G", "G_error", "configurations" } { print $1, $2, $3, $4, $5, 2 / $5, NR == 4 ? 2 / $5 : "nan", 1 }' >ghost.tsv
    drawn ghost ghost.tsv
    inside 1 'sqrt(c["k2"])' 'c["k2"] * c["G"]' 'c["k2"] * c["G_error"]' <ghost.tsv
    momenta | awk -v OFS='\t' 'BEGIN { print "kx", "ky", "kz", "kt", "k2", "alpha", "alpha_error" } { print $1, $2, $3, $4, $5, 1 / $5, .2 }' >alpha.tsv
    drawn alpha alpha.tsv
    inside 1 'sqrt(c["k2"])' 'c["alpha"]' 'c["alpha_error"]' <alpha.tsv
    momenta | awk -v OFS='\t' 'BEGIN { print "limit", "momentum", "phat2", "g", "g_error", "dims" }
        { print NR % 3 ? "soft" : "symmetric", $1 "," $2 "," $3 "," $4, $5, 1 - $5 / 9, NR == 5 ? 3 : .3, "8,8,8,16" }' >vertex.tsv
    drawn vertex vertex.tsv
    inside 1 'sqrt(c["phat2"])' 'c["g"]' 'c["g_error"]' <vertex.tsv
    momenta | awk -v OFS='\t' 'BEGIN { print "px", "py", "pz", "pt", "p2", "M_additive", "M_additive_error", "M_multiplicative", "M_multiplicative_error", "Zq", "Zq_error" }
        { print $1, $2, $3, $4, $5, .2, .1, .3, NR == 2 ? .5 : .1, 1 + .02 * NR, .08 }' >quark.tsv
    momenta | awk -v OFS='\t' 'BEGIN { print "px", "py", "pz", "pt", "p2", "gamma", "Lambda", "Lambda_error", "Z", "Z_error"; split("S P V A T gx", g) }
        { for (i = 1; i <= 6; i++) print $1, $2, $3, $4, $5, g[i], 1 + i / 10, .1, i == 6 ? 99 : .8, NR == 3 ? .5 : .05 }' >z.tsv
    drawn quark quark.tsv z.tsv
    inside 1 'sqrt(c["p2"])' 'c["M_multiplicative"]' 'c["M_multiplicative_error"]' <quark.tsv
    inside 2 'sqrt(c["p2"])' 'c["Zq"]' 'c["Zq_error"]' <quark.tsv
    grep -v gx z.tsv >five.tsv
    inside 3 'sqrt(c["p2"])' 'c["Lambda"]' 'c["Lambda_error"]' <five.tsv
    inside 4 'sqrt(c["p2"])' 'c["Z"]' 'c["Z_error"]' <five.tsv
}

@test "hadrons and their fits: correlators that lose their sign, masses at rest, good fits alone" {
    need_gnuplot
    awk -v OFS='\t' 'BEGIN {
        print "channel", "px", "py", "pz", "t", "C", "C_error", "mass", "mass_error", "configurations", "bin", "operator"
        split("pion rho_x nucleon pcac", channel)
        for (k = 1; k <= 4; k++) for (n = 0; n < 2; n++) for (t = 0; t < 16; t++) {
            c = exp(-.3 * k * t) * (k == 3 && t > 12 ? -1 : 1); e = k == 3 && t > 9 ? 2 * exp(-9) : c / 20
            print channel[k], n, 0, 0, t, k == 4 ? "nan" : c, k == 4 ? "nan" : e, .3 * k * (1 + exp(-t)), t == 2 ? .24 * .3 * k : .02, 12, 1, "kappa 0.15" } }' >masses.tsv
    awk -v OFS='\t' 'BEGIN {
        print "channel", "px", "py", "pz", "t_min", "t_max", "m0", "m0_error", "good"
        for (t = 1; t < 6; t++) print "pion", 0, 0, 0, t, 8, .3 + .1 / t, .01 * t, (t > 2 ? 1 : 0) }' >scan.tsv
    { head -n 1 scan.tsv; tail -n 1 scan.tsv; printf 'nucleon\t0\t0\t0\t1\t8\t9\t.1\t0\n'; } >fits.tsv
    drawn hadrons masses.tsv
    drawn hadrons masses.tsv fits.tsv
    # Of a few configurations no mass may be clear.
    awk -F'\t' -v OFS='\t' 'NR > 1 { $9 = NR % 2 ? "nan" : 9 } 1' masses.tsv >few.tsv
    drawn hadrons few.tsv
    drawn plateau few.tsv scan.tsv
    drawn hadrons masses.tsv fits.tsv
    inside 2 'c["t"]' 'c["channel"] != "pcac" && c["px"] == 0 && c["t"] < 8 && c["mass_error"] < c["mass"] / 4 ? c["mass"] : "nan"' 'c["mass_error"]' <masses.tsv
    inside 1 'c["t"]' 'c["channel"] != "pcac" && c["px"] == 0 && c["C"] > c["C_error"] ? c["C"] : "nan"' 'c["C_error"]' <masses.tsv
    drawn plateau masses.tsv scan.tsv
    inside 1 'c["t"]' 'c["channel"] == "pion" && c["px"] == 0 && c["mass_error"] < c["mass"] / 4 ? c["mass"] : "nan"' 'c["mass_error"]' <masses.tsv
    inside 2 'c["t_min"]' 'c["m0"]' 'c["m0_error"]' <scan.tsv
    grep -v '1$' scan.tsv >poor.tsv # no good fit
    drawn plateau masses.tsv poor.tsv
    { head -n 1 scan.tsv; printf 'pion\t0\t0\t0\tnan\tnan\tnan\tnan\t0\n'; } >none.tsv
    drawn plateau masses.tsv none.tsv
}

@test "potential, flow, autocorrelation, eigenvalues" {
    need_gnuplot
    awk -v OFS='\t' 'BEGIN {
        print "separation", "r", "T", "V", "V_error", "configurations", "dims", "group", "ensemble"
        split("1,0,0 2,0,0 3,0,0 4,0,0 1,1,0 2,2,0 1,1,1 2,1,0", s)
        for (k = 1; k <= 8; k++) { split(s[k], d, ","); r = sqrt(d[1] ^ 2 + d[2] ^ 2 + d[3] ^ 2)
            for (t = 1; t < 7; t++) print s[k], r, t, t == 6 && k == 4 ? "nan" : .6 - .25 / r + .05 * r, k == 4 ? .24 : .01 * t, 40, "8,8,8,16", "SU(3)", "beta 6, xi 1" } }' >energies.tsv
    awk -F'\t' 'NR == 1 || $3 == 3' energies.tsv >potential.tsv
    printf 'T\tt_min\tt_max\tV0\talpha\tsigma\tr0\tr0_error\tconfigurations\n3\t2\t1e+06\t.6\t.25\t.05\t5.29\t.3\t40\n' >results.tsv
    drawn potential potential.tsv energies.tsv results.tsv
    inside 1 'c["r"]' 'c["V"]' 'c["V_error"]' <potential.tsv
    inside 2 'c["T"]' 'c["separation"] ~ /,0,0/ ? c["V"] : "nan"' 'c["V_error"]' <energies.tsv
    awk -v OFS='\t' 'BEGIN { print "t", "E_clover", "E_clover_error", "E_plaquette", "E_plaquette_error", "configurations"
        for (t = 0; t < 3; t += .1) print t, .2 / (t + .1), (t > 2.8 ? .08 : .01), .25 / (t + .1), .02, 20 }' >flow.tsv
    printf 'scale\tvalue\terror\nt0\t1.6\t.1\nw0\t1.3\t.1\n' >t0.tsv
    drawn flow flow.tsv t0.tsv
    inside 1 'c["t"]' 'c["t"] ^ 2 * c["E_clover"]' 'c["t"] ^ 2 * c["E_clover_error"]' <flow.tsv
    inside 1 'c["t"]' 'c["t"] ^ 2 * c["E_plaquette"]' 'c["t"] ^ 2 * c["E_plaquette_error"]' <flow.tsv
    sed -i 's/1.6\t.1/nan\tnan/' t0.tsv # not reached
    drawn flow flow.tsv t0.tsv
    drawn flow flow.tsv
    # 200 numbers of a chain.
    awk -v OFS='\t' 'BEGIN { print "config", "a", "b"; srand(3); for (i = 0; i < 200; i++) { a = .8 * a + rand() - .5; print i, a, a + rand() } }' >chain
    lat-stat --value a,b --autocorrelation rho.tsv --tau chain >means 2>said
    drawn autocorrelation rho.tsv
    drawn autocorrelation rho.tsv a number=b
    inside 1 'c["lag"]' 'c["rho"]' 'c["rho_error"]' <rho.tsv
    inside 2 'c["lag"]' 'c["tau"]' 'c["tau_error"]' <rho.tsv
    run -1 gnuplot -c "$P/autocorrelation.gp" x.png rho.tsv z
    [[ $output == "autocorrelation.gp: expected a number of rho.tsv, found 'z'" ]]
    printf 'configuration\tmode\tvalue\tresidual\tgap\tchirality\n0\t0\t-.25\t1e-15\t.4\t-1\n0\t1\t.3\t1e-15\t.4\t.6\n1\t0\t.2\t1e-15\t.4\t.9\n' >modes.tsv
    drawn modes modes.tsv
    inside 1 'c["configuration"]' 'c["value"]' 0 <modes.tsv
    inside 2 'c["value"]' 'c["chirality"]' 0 <modes.tsv
    printf 'configuration\tchirality\tmode\tD+D\tre\tim\n0\t1\t0\t.03\t.03\t.17\n0\t-1\t0\t0\t0\t0\n0\t-1\t1\t.03\t.03\t.17\n' >overlap.tsv
    drawn overlap overlap.tsv
    inside 1 'c["re"]' 'c["im"]' 0 <overlap.tsv
}

@test "pictures are drawn of logs, as PNG and PDF" {
    need_gnuplot
    rough a.lat --dims 4,4,4,4 --epsilon 1.3
    lat-anneal --copies 3 --steps 20 --check-every 2 --log anneal.tsv --copies-log started.tsv a.lat | lat-orelax --log relax.tsv --copies-log copies.tsv -o b.lat
    lat-orelax --gauge coulomb --slice-log slices.tsv a.lat -o b.lat
    drawn history anneal.tsv
    drawn history relax.tsv
    inside 2 'c["sweep"]' 'c["theta"] > 0 ? c["theta"] : "nan"' 0 <relax.tsv
    cp history.png relax.png
    # Lines are there: another log is another picture.
    head -n 30 relax.tsv >less.tsv
    drawn history less.tsv
    run ! cmp -s relax.png history.png
    drawn history anneal.tsv relax.tsv
    inside 1 'c["step"]' 'c["F"]' 0 <anneal.tsv
    drawn copies copies.tsv
    drawn copies copies.tsv started.tsv
    drawn slices slices.tsv
    inside 1 'c["sweep"]' 'c["theta"] > 0 ? c["theta"] : "nan"' 0 <slices.tsv
}

# in_text: scripts that draw with letters.
in_text() {
    cp -r "$P" plots
    sed -i 's/^set terminal @form/set terminal dumb noenhanced size 220,60/; s/^set output .*//' plots/style.gp
}

@test "a picture says where its data are from: ensemble, lattice, configurations, table, day of the data, version" {
    need_gnuplot
    in_text
    printf 'momentum\tphat2\tD\tD_error\tconfigurations\tbin\tgauge\tdims\tgroup\tensemble\n1,0,0,0\t1\t2\t.1\t40\t1\tlandau\t8,8,8,16\tSU(3)\tbeta 6, xi 1\n' >gluon.tsv
    touch -d '2024-05-06 12:00' gluon.tsv
    want="beta 6, xi 1 | 8x8x8x16 SU(3) | landau gauge | 40 configurations | gluon.tsv of 2024-05-06 | $(lat-stat --version | sed -n '1s/lat-stat/lat/p')"
    [ "$("$P/provenance.sh" gluon.tsv)" = "$want" ]
    gnuplot -c plots/gluon.gp x.png gluon.tsv | grep -qF "$want"
    if command -v pdftotext >/dev/null; then
        drawn gluon gluon.tsv
        pdftotext gluon.pdf - | grep -qxF "$want"
    fi
    # Of the youngest table; of single configurations; of a log.
    printf 'config\tcopy\tfunctional\tconverged\n' >copies.tsv
    for i in 0 1 2 3 4 5 6 7; do printf 'a.lat:0\t%d\t0.85000000000000%d\t1\n' $i $i >>copies.tsv; done
    touch -d '2025-01-02 12:00' copies.tsv
    [[ "$("$P/provenance.sh" copies.tsv gluon.tsv)" == *"copies.tsv gluon.tsv of 2025-01-02 | lat "* ]]
    [[ "$("$P/provenance.sh" copies.tsv)" == "configuration a.lat:0 | copies.tsv of 2025-01-02 | lat "* ]]
    printf 'config\tplaquette\tfile\n0\t.5\ta\n0\t.6\tb\n1\t.6\tb\n' >plaq.tsv
    [[ "$("$P/provenance.sh" plaq.tsv)" == "3 configurations | plaq.tsv of "* ]]
    # Copies that differ by rounding are one maximum, in one box.
    gnuplot -c plots/copies.gp same.png copies.tsv >text
    grep -q 'all copies end in one maximum, to 1e-09' text
    grep -q '^ *8 [|+-]' text
}

@test "draw.sh draws both forms whole or not at all, and says what is missing" {
    need_gnuplot
    printf 'momentum\tphat2\tD\tD_error\n1,0,0,0\t1\t2\t.1\n' >gluon.tsv
    "$P/draw.sh" gluon.gp "a b" gluon.tsv 2>said
    [ ! -s said ]
    [ -s "a b.png" ]
    [ -s "a b.pdf" ]
    PICTURES=pdf "$P/draw.sh" gluon.gp one gluon.tsv
    [ ! -e one.png ]
    [ -s one.pdf ]
    run ! "$P/draw.sh" gluon.gp none gone.tsv
    [[ $output == *"gone.tsv: not there"* ]]
    run -2 "$P/draw.sh" gluons.gp none gluon.tsv
    run -2 "$P/draw.sh" gluon.gp none
    run -2 gnuplot -c "$P/gluon.gp" alone.png
    [[ $output == "gluon.gp: expected OUT.png|OUT.pdf TABLE..."* ]]
    run -2 gnuplot -c "$P/gluon.gp" none.jpg gluon.tsv
    [[ $output == *"found 'none.jpg'"* ]]
    # A gnuplot without cairo, as scripts see it.
    cp -r "$P" plots
    sed -i "s/^has(terminal) = .*/has(terminal) = terminal eq 'png'/" plots/style.gp
    run -1 gnuplot -c plots/gluon.gp none.pdf gluon.tsv
    [ "$output" = "none.pdf: expected a gnuplot with pdfcairo (Debian: gnuplot-nox), found none: no PDF" ]
    [ -z "$(ls none* 2>/dev/null)" ]
    # No gnuplot at all: numbers stay, and the exit status says so.
    mkdir bin
    for name in bash dirname realpath env; do ln -s "$(command -v $name)" bin; done
    PATH=$PWD/bin run -0 "$P/draw.sh" gluon.gp out/none gluon.tsv
    [ "$output" = "draw.sh: out/none: no picture: expected gnuplot (Debian: gnuplot-nox), found none" ]
}
