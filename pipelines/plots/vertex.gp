# SPDX-License-Identifier: BSD-3-Clause
# The coupling of the three-gluon vertex against the momentum, from a table of lat-stat, or of lat-gluon --vertex --mean --tsv:
#   gnuplot -c vertex.gp OUT.png|OUT.pdf TABLE
# g is g0 at all momenta for a weak field. The soft limit (p, -p, 0) and the symmetric one have their own colours.
usage = 'vertex.gp: expected OUT.png|OUT.pdf TABLE'
needs = 2
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
set xrange [0:*]
set xlabel momentum('p̂').',   a p̂_μ = 2 sin(a p_μ / 2)'
set ylabel 'g(p̂)   (MOM)'
set xzeroaxis ls 21
colour_of_limit(l, d) = index(parts(d) + (l eq 'symmetric' ? 4 : 0))
plot for [l in values_of(given[2], 'limit')] for [d in values_where(given[2], 'limit='.l, 'direction')] \
    rows_of(given[2], 'limit='.l.';direction='.d, 'direction') \
    using (gev * sqrt(column('phat2'))):(column('g')):(error(column('g_error'))) \
    with yerrorbars lc rgb colour[colour_of_limit(l, d)] pt symbol(d) title l.', '.direction_name(d)
@drawn
