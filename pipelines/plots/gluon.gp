# SPDX-License-Identifier: BSD-3-Clause
# The gluon propagator, as phat^2 D against phat, from tables of lat-stat, or of lat-gluon --tsv:
#   gnuplot -c gluon.gp OUT.png|OUT.pdf TABLE...
# A table is named by its file. With --mean it has errors over configurations; without, its configurations lie above each other.
# phat^2 D is g0^2 at all momenta for a weak field; it has a maximum near 1 GeV, and falls to 0 with the momentum.
usage = 'gluon.gp: expected OUT.png|OUT.pdf TABLE...'
needs = 2
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
@from_zero
set xlabel momentum('p̂').',   a p̂_μ = 2 sin(a p_μ / 2)'
set ylabel 'p̂^2 D(p̂)   of the field a g_0 A'
point(y) = column('phat2') > 0 ? y : NaN # of p = 0 it says nothing
plot for [i = 1:tables] for [d in values_of(given[i + 1], 'direction')] rows_of(given[i + 1], 'direction='.d, 'direction D_error') \
    using (gev * sqrt(column('phat2'))):(point(column('phat2') * column('D'))):(column('phat2') * error(column('D_error'))) \
    with yerrorbars lc rgb colour[colour_of(i, d)] pt symbol(d) title series(d) @key_of_tables
@drawn
