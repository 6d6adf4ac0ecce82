# SPDX-License-Identifier: BSD-3-Clause
# The autocorrelation function of a chain, and the integrated autocorrelation time against the window, from lat-stat --autocorrelation:
#   gnuplot -c autocorrelation.gp OUT.png|OUT.pdf TABLE [NUMBER...]
# NUMBER is a number of the table, as plaquette, or a condition, as 'number=C;channel=pion;px=0;py=0;pz=0;t=5'; without it, the first.
# The dashed lines are the windows that the Gamma method has chosen. tau is 1/2 for independent configurations.
usage = 'autocorrelation.gp: expected OUT.png|OUT.pdf TABLE [NUMBER...]'
needs = 2
wide = 24; high = 11; panels = 2; rows_of_panels = 1; tables_at_most = 1
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
array wanted[8]
numbers = arguments > 2 ? arguments - 2 : 1
do for [i = 1:numbers] { wanted[i] = arguments > 2 ? given[i + 2] : word(values_of(given[2], 'number'), 1) }
is(i) = strstrt(wanted[i], '=') ? wanted[i] : 'number='.wanted[i]
do for [i = 1:numbers] {
    if (words(values_where(given[2], is(i), 'window')) < 1) { print "autocorrelation.gp: expected a number of ".given[2].", found '".wanted[i]."'"; exit status 1 }
    set arrow i from number(word(values_where(given[2], is(i), 'window'), 1)), graph 0 to number(word(values_where(given[2], is(i), 'window'), 1)), graph 1 nohead lc rgb colour[i] dt 2
}
beside(i) = column('lag') + 0.15 * (i - (numbers + 1) / 2.0)
last(i, name) = values_where(given[2], is(i).';lag='.word(values_where(given[2], is(i), 'window'), 1), name)
tau_of(i) = 'τ_{int} = '.with_error(number(last(i, 'tau')), number(last(i, 'tau_error')))
@begin_panels
set xlabel 't / configurations'
set ylabel 'ρ(t) = Γ(t) / Γ(0)'
set xzeroaxis ls 20
set xrange [-1:*]
set offsets 0, graph 0.02, graph 0.05, graph 0.03
set key noenhanced
plot for [i = 1:numbers] rows_of(given[2], is(i), '') using (beside(i)):(column('rho')):(column('rho_error')) with yerrorbars ls i title wanted[i]
@drawn
set xlabel 'W / configurations'
set ylabel 'τ_{int}(W) = 1/2 + Σ_{t=1}^W ρ(t)'
set key enhanced
plot for [i = 1:numbers] rows_of(given[2], is(i), '') using (column('lag')):(column('tau') - column('tau_error')):(column('tau') + column('tau_error')) \
        with filledcurves ls i notitle, \
    for [i = 1:numbers] rows_of(given[2], is(i), '') using (column('lag')):(column('tau')) with linespoints ls i title tau_of(i)
@drawn
unset multiplot
