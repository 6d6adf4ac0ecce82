# SPDX-License-Identifier: BSD-3-Clause
# The static potential, its effective energies and its fit, from the tables of potential.sh:
#   gnuplot -c potential.gp OUT.png|OUT.pdf potential.tsv energies.tsv results.tsv
# The line is V0 - alpha/R + sigma R. Effective energies with an error above a quarter are left out.
usage = 'potential.gp: expected OUT.png|OUT.pdf potential.tsv energies.tsv results.tsv'
needs = 4
wide = 24; high = 11; panels = 2; rows_of_panels = 1
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
letter = 'R'
array direction[3] = ['(1,0,0)', '(1,1,0)', '(1,1,1)']
result(name) = number(cell_of(given[4], name))
V = has_column(given[2], 'V') ? 'V' : 'm0' # a row of energies, or a plateau of lat-fit
along = values_of(given[2], 'direction')
axes = words(values_where(given[3], 'direction=1', 'r'))
axes = axes < 8 ? axes : 8
v0 = result('V0'); alpha = result('alpha'); sigma = result('sigma')
first = result('t_min')
last = 0.0
do for [r in values_of(given[2], 'r')] { if (number(r) > last && number(r) <= result('t_max')) { last = number(r) } }
@begin_panels
set xlabel 'R / a'
set ylabel 'a V(R),   fit of V_0 - α/R + σR'
set xrange [0:*]
plot for [d in along] rows_of(given[2], 'direction='.d, 'direction') using (column('r')):(column(V)):(error(column(V.'_error'))) \
        with yerrorbars lc rgb colour[int(d)] pt shape[int(d)] title direction_name(d), \
    [x = first:last] v0 - alpha / x + sigma * x ls 20 \
        title 'fit, r_0/a = '.with_error(result('r0'), result('r0_error'))
@drawn
set xlabel 'T / a'
set ylabel 'a V(R, T),   R on an axis'
set xrange [0.5:*]
set offsets 0, 0.5, graph 0.05, graph 0.03
good(e, x) = e >= 0.25 ? NaN : x
plot for [i = 1:axes] rows_of(given[3], 'direction=1;r='.i, 'direction') \
    using (column('T') + 0.05 * (i - axes / 2.0)):(good(column('V_error'), column('V'))):(error(column('V_error'))) \
    with yerrorbars ls i title sprintf('R = %d a', i)
@drawn
unset multiplot
