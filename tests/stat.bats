#!/usr/bin/env bats
# lat-stat: means, errors and autocorrelation times of tables.
load helper

# chains N TAU SEED [ROWS]: N configurations; column a is a chain a' = r a + noise, whose integrated autocorrelation time is TAU, its
# variance 1 and its mean 5; b is white, of mean 2. With ROWS each configuration has so many, of column t. The random numbers are Lehmer's.
chains() {
    awk -v n="$1" -v tau="$2" -v seed="$3" -v rows="${4-}" '
        function uniform() { seed = (16807 * seed) % 2147483647; return seed / 2147483647 }
        function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()) }
        BEGIN {
            r = (2 * tau - 1) / (2 * tau + 1); seed = seed * 7919 + 12345
            for (i = 0; i < 20; i++) uniform()
            print "config\t" (rows ? "t\t" : "") "a\tb"
            x = normal()
            for (i = 0; i < n; i++) {
                x = r * x + sqrt(1 - r * r) * normal()
                if (!rows) printf "%d\t%.12f\t%.12f\n", i, 5 + x, 2 + normal()
                for (t = 0; t < rows; t++) printf "%d\t%d\t%.6f\t%.6f\n", i, t, 5 + x + t, t
            }
        }'
}

# corr CONFIGURATION LINKS SOURCE [BOUNDARY] <ROWS: a table of lat-corr on 4^3 x 8, of rows `channel px py pz t re`.
corr() {
    printf 'configuration\tchannel\tpx\tpy\tpz\tt\tre\tim\toperator\tsource\tsink\tdims\tgroup\tlinks\tensemble\n'
    awk -v OFS='\t' -v c="$1" -v links="$2" -v source="$3" -v boundary="${4-p,p,p,a}" '
        { print c, $1, $2, $3, $4, $5, $6, 0, "kappa 0.12 (mass 0.1666666667), boundary " boundary, source, "none", "4,4,4,8", "SU(3)", links, "beta 6, xi 1" }'
}

# cells FILE COLUMN...: of all rows, with blanks between.
cells() {
    awk -F'\t' -v names="${*:2}" 'BEGIN { n = split(names, name, " ") }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { for (i = 1; i <= n; i++) printf "%s%s", $at[name[i]], i < n ? " " : "\n" }' "$1"
}

@test "lat-stat: errors by the Gamma method are those of pyerrors, for a chain, a white series, and an effective mass" {
    # pyerrors 2.17.0, S = 1.5, of columns a and b of this table: value and dvalue of Obs([column], ["chain"]).gamma_method(S=1.5). Its
    # tau is normalised by an uncorrected variance, a part of 1/N; ours as in Wolff's own program.
    chains 2000 4 1 >table
    lat-stat --gamma --tau --value a,b table >found
    near "$(field found a)" 4.900004833524411 5e-10
    near "$(field found a_error)" 0.06510302843659531 1e-11
    near "$(field found a_tau)" 4.062234665925953 .02
    near "$(field found b)" 2.00954251620884 5e-10
    near "$(field found b_error)" 0.02296393108078391 1e-11
    # ln(a / b) of it as a mass: linear propagation there, the jackknife here, which differ by parts of 1/N.
    awk -F'\t' 'NR > 1 { print "nucleon 0 0 0 0", $2; print "nucleon 0 0 0 1", $3 }' table | corr 0 unknown point:0,0,0,0 |
        awk -F'\t' -v OFS='\t' 'NR > 1 { $1 = int((NR - 2) / 2) } 1' >made
    lat-stat --gamma made >found 2>said
    lat-stat --gamma --bin 3 --samples binned made 2>/dev/null | cmp - found
    [ "$(cells binned bin | tail -n 1)" = 3 ]
    run -2 lat-stat --gamma --bin 3 made
    [ "${lines[0]}" = "lat-stat: --bin is for the jackknife: with --gamma expected it with --samples alone" ]
    near "$(field found mass)" 0.8913290992605556 1e-9
    near "$(field found mass_error)" 0.017027655589573008 1e-6
}

@test "lat-stat: tau of chains of known autocorrelation is right within its error, and so is the error of the mean" {
    local tau i
    for tau in .5 4 15; do
        for i in $(seq 1 40); do
            chains 2000 $tau "$i" | lat-stat --gamma --tau --value a --ignore b 2>/dev/null | tail -n 1
        done >all
        # Pulls of tau and of the mean have a mean within 5 sigma of 0 (tau has a bias of a few 1/N), and a spread of 1 +- 5 / sqrt 80.
        awk -F'\t' -v tau=$tau '{ p = ($3 - tau) / ($4 ? $4 : 1); q = ($1 - 5) / $2; s += p; ss += p * p; m += q; mm += q * q; n++; t += $3 / 40 }
            END {
                print tau, t, s / n, sqrt(ss / n), m / n, sqrt(mm / n)
                if (tau > 1 && ((s / n)^2 > .8^2 || sqrt(ss / n) < .44 || sqrt(ss / n) > 1.56)) bad++
                if ((m / n)^2 > 25 / n || sqrt(mm / n) < .44 || sqrt(mm / n) > 1.56) bad++
                if ((t / tau - 1)^2 > .15^2) bad++
                exit bad
            }' all
    done
}

@test "lat-stat: --autocorrelation has rho of a known chain within its errors, and tau of each window" {
    local i
    chains 2000 4 1 >table
    lat-stat --tau --value a,b --autocorrelation rho table >found 2>/dev/null
    [ "$(head -n 1 rho)" = "$(printf 'number\tlag\trho\trho_error\ttau\ttau_error\twindow\tconfigurations')" ]
    # At the chosen window tau is that of --tau; rows go to twice the window and ten further; tau is 1/2 + sum of rho.
    for i in a b; do
        awk -F'\t' -v n=$i '$1 == n && $2 == $7 { print $5, $6 }' rho >chosen
        [ "$(cat chosen)" = "$(field found ${i}_tau) $(field found ${i}_tau_error)" ]
    done
    awk -F'\t' 'NR > 1 { s[$1] += $3; n[$1]++; w[$1] = $7; d = $5 - (s[$1] - .5); if (d * d > 1e-10 || $2 != n[$1] - 1) bad++ }
        END { for (k in n) if (n[k] != 2 * w[k] + 10) bad++; exit bad || w["a"] < 8 || w["b"] > 4 }' rho
    # rho(t) = r^t, r = 7/9. Pulls of lag 1 and 6 of 80 chains: a mean within 5 / sqrt 80 and a bias of a few 1/N, a spread of 1 within 5 / sqrt 160.
    for ((i = 1; i <= 80; i++)); do
        chains 2000 4 "$i" | lat-stat --value a --ignore b --autocorrelation /dev/stderr 2>&1 >/dev/null | awk -F'\t' '$2 == 1 || $2 == 6'
    done | awk -F'\t' '{ p = ($3 - (7 / 9) ^ $2) / $4; s[$2] += p; ss[$2] += p * p; n[$2]++ }
        END { for (t in n) { m = s[t] / n[t]; v = sqrt(ss[t] / n[t] - m * m); print t, n[t], m, v; if (n[t] != 80 || m * m > .8 ^ 2 || v < .6 || v > 1.4) bad++ }; exit bad }'
    # Tables of means name what all configurations share.
    lat-start weak --dims 4,4,2,4 --epsilon .2 --seed 1 | lat-plaq --tsv >one
    lat-stat one | head -n 1 | grep -q $'\tconfigurations\tbin\tdims\tgroup\tensemble$'
}

@test "lat-stat: bins of the jackknife, a warning where they are too small, a bootstrap that is the same for a seed" {
    chains 1000 4 2 >table
    run -0 --separate-stderr lat-stat --value a --ignore b table
    [[ $stderr == "lat-stat: warning: bins of 1 configurations are too small: 1 of 1 errors are below those of the Gamma method, a of all by a factor of "* ]]
    run -0 --separate-stderr lat-stat --value b --ignore a table
    [ -z "$stderr" ]
    run -0 --separate-stderr lat-stat --bin 50 --value a --ignore b table
    [ -z "$stderr" ]
    # By hand: bins of 30, the last of which has the ten behind them, too.
    lat-stat --bin 30 --value a --ignore b table >found
    awk -F'\t' 'NR > 1 { b = int((NR - 2) / 30); if (b > 32) b = 32; s[b] += $2; c[b]++; all += $2; n++ }
        END {
            for (b = 0; b < 33; b++) { j[b] = (all - s[b]) / (n - c[b]); m += j[b] / 33 }
            for (b = 0; b < 33; b++) v += (j[b] - m)^2 * 32 / 33
            printf "%.10g %.10g 1000 30\n", all / n, sqrt(v)
        }' table >want
    cells found a a_error configurations bin | cmp - want
    lat-stat --bin 30 --bootstrap 2000 --value a --ignore b table >boot
    near "$(field boot a_error)" "$(field found a_error)" "$(awk -v e="$(field found a_error)" 'BEGIN { print 5 * e / sqrt(2 * 2000) + e / 30 }')"
    lat-stat --bin 30 --bootstrap 2000 --seed 1 --value a --ignore b table | cmp - boot
    run ! cmp <(lat-stat --bin 30 --bootstrap 2000 --seed 2 --value a --ignore b table) boot
    refuses 2 "--seed is for --bootstrap" lat-stat --seed 2 --value a table
}

@test "lat-stat: two sources on one configuration are one sample, in one table, in several, in any order" {
    local i
    for i in 0 1 2; do
        awk -v i=$i 'BEGIN { for (t = 0; t < 8; t++) print "nucleon 0 0 0", t, 8 - t + i }' | corr $i 0000000$i point:0,0,0,0 >a.$i
        awk -v i=$i 'BEGIN { for (t = 0; t < 8; t++) print "nucleon 0 0 0", t, 8 - t - i * i }' | corr $i 0000000$i point:1,2,3,4 >b.$i
    done
    lat-stat a.? b.? >found 2>said
    # means at t = 0: 8, 8, 7
    [ "$(cells found C C_error configurations | head -n 1)" = "7.666666667 0.3333333333 3" ]
    cat a.0 b.0 a.1 b.1 b.2 a.2 | lat-stat 2>/dev/null | cmp - found
    cat a.? b.? | lat-stat 2>/dev/null | cmp - found
    # Sources of unequal number: each configuration counts once. Merged ones cannot be told apart any more.
    cat a.? b.1 | lat-stat 2>/dev/null >found
    [ "$(cells found C configurations | head -n 1)" = "$(awk 'BEGIN { printf "%.10g 3", (8 + 8 + 10) / 3 }')" ]
    cat a.? b.1 >unequal
    refuses 1 "expected as many sources on each configuration, where 2 of them are merged" lat-stat --most 2 unequal
    # Where a source is missing in the middle of a configuration, it is said.
    sed '$d' b.2 >short
    refuses 1 ": expected as many rows of 'nucleon 0 0 0 7' as of 'nucleon 0 0 0 0' in each configuration, found 0 and 1 in number 3 (links 00000002)" \
        lat-stat b.0 b.1 short
    # Without the CRC each counts, which is said.
    sed 's/\t0000000.\t/\tunknown\t/' a.0 >none
    run -0 --separate-stderr lat-stat none
    [[ $stderr == "lat-stat: warning: none: does not say of which links it is: each propagator counts as a configuration" ]]
}

@test "lat-stat: a table or a configuration that is there twice gets a word, of any tool, and tables of others do not" {
    local warning='to the last digit: is a table, or a configuration, there twice?' table
    lat-heatbath -q -d 4,4,4,4 --beta 6 --thermalise 2 --every 1 --count 3 -o all.lat
    lat-plaq --tsv all.lat >plaq.tsv
    lat-flow --tsv --until .1 all.lat >flow.tsv
    lat-gluon --tsv --force all.lat >gluon.tsv 2>/dev/null
    for table in plaq flow gluon; do
        run -0 --separate-stderr lat-stat --force $table.tsv
        [[ $stderr != *"$warning"* ]]
        run -0 --separate-stderr lat-stat --force $table.tsv $table.tsv
        [ "$(grep -c "warning: $table.tsv: number 4 (.*) has the numbers of an earlier source or configuration, $warning" <<<"$stderr")" = 1 ]
        cat $table.tsv $table.tsv >two.tsv
        run -0 --separate-stderr lat-stat --force two.tsv
        [[ $stderr == *"two.tsv: number 4 "*"$warning"* ]]
    done
    printf 'a\n1\n1\n2\n' >others.tsv
    run -0 --separate-stderr lat-stat --value a others.tsv
    [[ $stderr != *"$warning"* ]]
}

@test "lat-stat: equivalent momenta and directions are averaged first, where boundaries and extents say that they are equivalent" {
    local b
    rows() {
        for t in 0 1; do
            printf '%s '"$t"' %s\n' 'rho_x 0 0 0' 1 'rho_y 0 0 0' 2 'rho_z 0 0 0' 6 'rho_x 1 0 0' 1 'rho_y 1 0 0' 2 'rho_z 1 0 0' 4 \
                'rho_x 0 0 -1' 8 'rho_y 0 0 -1' 16 'rho_z 0 0 -1' 3 'pion 0 1 0' 5 'pion -1 0 0' 7 'gx:1 0 0 1' 3 'gx:1 0 0 -1' -3
        done
    }
    rows | corr 0 00000001 point:0,0,0,0 >table
    averaged() { lat-stat "$@" 2>/dev/null >found; cells found channel px py pz C t | sed -n 's/ 0$//p' | paste -sd ';'; }
    [ "$(averaged table)" = "rho 0 0 0 3;rho_x 1 0 0 2;rho_x 0 1 0 7.5;pion 1 0 0 6;gx:1 0 0 1 3;gx:1 0 0 -1 -3" ]
    lat-stat --apart table 2>/dev/null | tail -n +2 | wc -l | grep -qx 26
    # z is another direction: longer, or antiperiodic.
    rows | corr 0 00000001 point:0,0,0,0 p,p,a,a >other
    b="rho_x 0 0 0 1.5;rho_z 0 0 0 6;rho_x 1 0 0 1;rho_x 0 1 0 2;rho_z 1 0 0 4;rho_x 0 0 1 12;rho_z 0 0 1 3;pion 1 0 0 6;gx:1 0 0 1 3;gx:1 0 0 -1 -3"
    [ "$(averaged other)" = "$b" ]
    # As numbers, in units of pi: -1 is antiperiodic, 0 and 2 are periodic.
    rows | corr 0 00000001 point:0,0,0,0 0,-2,-1,1 >other
    [ "$(averaged other)" = "$b" ]
    sed 's/4,4,4,8/4,4,6,8/' table >other
    [ "$(averaged other)" = "$b" ]
    # Nothing is known of these: all stay apart.
    for b in 's/point:0,0,0,0/momentum:1,0,0,0/' 's/point:0,0,0,0/wall:0,1,0,0/' 's/kappa[^\t]*/unknown/' 's/p,p,p,a/d,p,p,a/' 's/p,p,p,a/0.5,p,p,a/' 's/xi 1/xi 2, xi_axis x/'; do
        sed "$b" table >other
        lat-stat other 2>/dev/null | tail -n +2 | wc -l | grep -qx 26
    done
}

@test "lat-stat: mesons are folded where all quarks have a phase of 0 or pi in time, by a letter or as a number" {
    local b
    folded() {
        for t in 0 1 2 3 4 5 6 7; do echo pion 0 0 0 $t $t; done | corr 0 00000001 point:0,0,0,0 "$1" >table
        lat-stat table 2>/dev/null >found
        cells found C | paste -sd ' '
    }
    for b in p,p,p,a p,p,p,-1 p,p,p,1 p,p,p,0 p,p,p,-2 'p,p,p,-1 | kappa 0.11 (mass 0.5454545455), boundary p,p,p,a'; do
        [ "$(folded "$b")" = "0 4 4 4 4 4 4 4" ]
    done
    for b in p,p,p,d p,p,p,o p,p,p,0.5 p,p,p,-1.5 'p,p,p,-1 | kappa 0.11 (mass 0.5454545455), boundary p,p,p,2'; do
        [ "$(folded "$b")" = "0 1 2 3 4 5 6 7" ]
    done
}

@test "lat-stat: samples give means, errors and masses to other programs" {
    local i
    for i in 0 1 2 3; do
        awk -v i=$i 'BEGIN { for (t = 0; t < 8; t++) print "nucleon 0 0 0", t, exp(-.5 * t) * (1 + .01 * i * i + .001 * t * i) }' |
            corr $i 0000000$i point:0,0,0,0
    done >table
    lat-stat --samples samples table >found 2>said
    [ "$(head -n 1 samples)" = "$(printf 'channel\tpx\tpy\tpz\tt\tsample\tC\tmass\tC_im\tresampling\tconfigurations\tbin\toperator\tsource\tsink\tdims\tgroup\tensemble')" ]
    awk -F'\t' 'NR > 1 && $6 == 0 { c[$5] = $7; m[$5] = $8 }
        NR > 1 && $6 > 0 { n[$5]++; s[$5] += $7; ss[$5] += $7 * $7; u[$5] += $8; uu[$5] += $8 * $8 }
        END { for (t = 0; t < 7; t++) printf "%d %.10g %.5g %.10g %.5g\n", t, c[t], sqrt(3 * (ss[t] / 4 - (s[t] / 4)^2)), m[t], sqrt(3 * (uu[t] / 4 - (u[t] / 4)^2)) }' samples >want
    awk -F'\t' 'NR > 1 && $5 < 7 { printf "%d %.10g %.5g %.10g %.5g\n", $5, $6, $7, $8, $9 }' found | diff - want
    lat-stat --bootstrap 10 --samples samples table >found 2>said
    [ "$(cells samples sample resampling | tail -n 1)" = "10 bootstrap" ]
}

@test "lat-stat: 10000 configurations in a pipe take the memory of 2000; merged ones have the errors of all" {
    not_sanitized "the memory of a process"
    peak() { # COMMAND...: its largest memory in KiB
        python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
    }
    for n in 2000 10000; do
        chains $n 4 3 50 | peak lat-stat --most 500 --value a,b --key t -o found.$n >peak.$n 2>/dev/null
    done
    # 60 bytes for the name of each configuration, and 500 units: 8000 more take less than 2 MiB
    near "$(cat peak.10000)" "$(cat peak.2000)" 2048
    [ "$(cells found.10000 configurations bin | head -n 1)" = "10000 32" ]
    chains 10000 4 3 >table
    lat-stat --most 500 --tau --gamma --value a --ignore b table >merged 2>/dev/null
    lat-stat --tau --gamma --value a --ignore b table >all
    near "$(field merged a)" "$(field all a)" 1e-9
    near "$(field merged a_tau)" 4 "$(awk -v e="$(field merged a_tau_error)" 'BEGIN { print 3 * e }')"
    near "$(field all a_tau)" 4 "$(awk -v e="$(field all a_tau_error)" 'BEGIN { print 3 * e }')"
    # 1 / sqrt N times sqrt(2 tau)
    near "$(field all a_error)" .0283 .003
    near "$(field merged a_error)" .0283 .005
}

@test "lat-stat: tables of other programs by the roles of their columns, aligned ones, tables one after the other; what has no role is refused" {
    chains 30 .5 4 2 >table
    lat-stat --key t --value a,b table >found
    [ "$(head -n 1 found)" = "$(printf 't\ta\ta_error\tb\tb_error\tconfigurations\tbin')" ]
    awk '{ printf "%-12s%-6s%-18s%s\n", $1, $2, $3, $4 }' table | lat-stat --key t --value a,b | cmp - found
    refuses 1 "table: expected a column c (--value), found columns 'config,t,a,b'" lat-stat --key t --value a,c table
    refuses 1 "table: column t is none of the table: say what it is (--key, --value, --sample or --ignore t)" lat-stat --value a,b table
    refuses 1 "table: expected a table of a measuring tool (--tsv), one configuration after the other, or --value COLUMNS, found columns 'config,t,a,b'" lat-stat table
    lat-start weak --epsilon .1 --dims 4,4,4,4 --count 3 | lat-modes --kappa .1 --modes 2 --tsv >modes
    refuses 1 "modes: a table of lat-modes: mode K of two configurations are two eigenvalues, which may differ in sign; --value COLUMNS averages" lat-stat modes
    lat-stat --value value modes 2>/dev/null >found.modes
    near "$(field found.modes value 2)" "$(awk -F'\t' '$2 == 1 { s += $3 / 3 } END { printf "%.15g", s }' modes)" 1e-9
    # A heading begins another table, whose configurations are others.
    cat table table | lat-stat --key t --value a,b >twice
    [ "$(field twice configurations)" -eq 60 ]
    near "$(field twice a)" "$(field found a)" 1e-9
    lat-start weak --epsilon .1 --dims 4,4,4,4 -o cfg.lat
    lat-plaq cfg.lat >text
    lat-plaq --json cfg.lat >json
    refuses 1 "text: expected a table of a measuring tool (--tsv)" lat-stat text
    refuses 1 "json: expected a table with names of columns (--tsv), found JSON" lat-stat json
    # Numbers: names of files in their order, and none that is a word.
    lat-plaq --tsv cfg.lat >a.10
    cp a.10 a.9
    lat-start weak --epsilon .1 --seed 2 --dims 4,4,4,4 | lat-plaq --tsv >a.1
    lat-stat a.* >found 2>said
    grep -q "errors are those of 3 independent configurations" said
    near "$(field found plaquette)" "$(awk -v a="$(field a.1 plaquette)" -v b="$(field a.10 plaquette)" 'BEGIN { printf "%.15g", (a + 2 * b) / 3 }')" 1e-9
    lat-plaq --tsv cfg.lat cfg.lat cfg.lat | sed '2s/[^\t]*$/c.1/; 3s/[^\t]*$/c.10/; 4s/[^\t]*$/c.2/' >names
    run -0 --separate-stderr lat-stat names
    [[ $stderr == *"warning: column file is not in the order of the numbers in its names"* ]]
    sed '3s/\t0\.[0-9]*/\tnan/' names >bad
    refuses 1 "bad: row 3: expected a number in column plaquette, found 'nan'" lat-stat bad
    sed '3s/\t0\.[0-9]*/\t0.5x/' names >bad
    refuses 1 "bad: row 3: expected a number in column plaquette, found '0.5x'" lat-stat bad
}

@test "lat-stat: options leave the columns of known tables in their places; what would move a column that is needed is refused" {
    local i table options
    lat-heatbath -q -d 4,4,4,4 --beta 6 --thermalise 2 --count 3 | lat-orelax -q --gauge landau --theta 1e-12 -o all.lat
    lat-plaq --sd --tsv all.lat >plaq.tsv
    lat-gluon --tsv all.lat >gluon.tsv
    lat-ghost --tsv all.lat >ghost.tsv
    for i in 0 1 2; do
        awk -v i=$i 'BEGIN { for (t = 0; t < 8; t++) print "pion 0 0 0", t, 8 - t + i; for (t = 0; t < 8; t++) print "pcac 0 0 0", t, .1 + i }' |
            corr $i 0000000$i point:0,0,0,0
    done | awk 'NR == 1 || !/^configuration/' >corr.tsv
    for table in corr gluon ghost plaq; do lat-stat $table.tsv >$table.mean 2>/dev/null; done
    while read -r table options; do
        # shellcheck disable=SC2086 # words
        lat-stat $options $table.tsv 2>/dev/null | cmp - $table.mean
    done <<'EOF'
corr --value re
corr --value im,re
corr --key channel,t
corr --sample links,configuration
gluon --value D
gluon --key momentum --value longitudinal,D --ignore residual,theta
ghost --value G --key kt
plaq --value sd_trace
plaq --value charge,plaquette --ignore sd_beta
EOF
    # Values that nothing needs are left out, and others are added.
    lat-stat --ignore im corr.tsv 2>/dev/null | cmp - <(awk -F'\t' -v OFS='\t' '{ for (i = 10; i < NF - 1; i++) $i = $(i + 2); NF -= 2 } 1' corr.mean)
    lat-stat --ignore sd_force plaq.tsv 2>/dev/null >found
    [ "$(head -n 1 found | tr '\t' '\n' | grep -c '^sd_')" = 2 ]
    [ "$(field found sd_trace)" = "$(field plaq.mean sd_trace)" ]
    lat-stat --value theta gluon.tsv 2>/dev/null >found
    [ "$(cells found D longitudinal)" = "$(cells gluon.mean D longitudinal)" ]
    near "$(field found theta)" "$(awk -F'\t' '$2 == "0,0,0,0" { s += $12 / 3 } END { print s }' gluon.tsv)" 1e-16
    while read -r table options; do
        # shellcheck disable=SC2086 # words
        refuses 2 "$table.tsv: a table of lat-$table: expected " lat-stat $options $table.tsv
    done <<'EOF'
corr --value t
corr --ignore re
corr --ignore operator
corr --sample source
gluon --ignore D
gluon --value phat2
ghost --value k2
ghost --key gauge
plaq --ignore group
plaq --value sd_beta
EOF
    refuses 2 "ghost.tsv: a table of lat-ghost: expected column k2 as one that names rows, found --value k2: leave it out, or cut columns of the results" \
        lat-stat --value k2 ghost.tsv
    awk -v OFS='\t' -F'\t' '{ print $0, NR == 1 ? "light" : .14 }' corr.tsv >more.tsv
    refuses 2 "more.tsv: a table of lat-corr: expected rows by channel px py pz t alone, found --key light" lat-stat --key light more.tsv
    lat-stat --ignore light more.tsv 2>/dev/null | cmp - corr.mean
    [ "$(lat-stat --value light more.tsv 2>/dev/null | cut -f 12 | sort -u | paste -sd ' ')" = "0.14 light" ]
}
