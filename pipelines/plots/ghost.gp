# SPDX-License-Identifier: BSD-3-Clause
# The dressing function of the ghost, k^2 G against k, from tables of lat-stat, or of lat-ghost --tsv:
#   gnuplot -c ghost.gp OUT.png|OUT.pdf TABLE...
# A table is named by its file. k^2 G is 1 at all momenta for links 1; it grows towards small momenta.
usage = 'ghost.gp: expected OUT.png|OUT.pdf TABLE...'
needs = 2
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
@from_zero
letter = 'k'
set xlabel momentum('k̂').',   a k̂_μ = 2 sin(a k_μ / 2)'
set ylabel 'k̂^2 G(k)'
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead ls 21 # links 1
plot for [i = 1:tables] for [d in values_of(given[i + 1], 'direction')] rows_of(given[i + 1], 'direction='.d, 'direction G_error') \
    using (gev * sqrt(column('k2'))):(column('k2') * column('G')):(column('k2') * error(column('G_error'))) \
    with yerrorbars lc rgb colour[colour_of(i, d)] pt symbol(d) title series(d) @key_of_tables
@drawn
