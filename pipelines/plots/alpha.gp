# SPDX-License-Identifier: BSD-3-Clause
# The coupling of ghosts and gluons against the momentum, from tables of lat-stat --alpha:
#   gnuplot -c alpha.gp OUT.png|OUT.pdf TABLE...
# A table is named by its file. alpha is g0^2 / 4 pi at all momenta for a weak field.
usage = 'alpha.gp: expected OUT.png|OUT.pdf TABLE...'
needs = 2
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
@from_zero
letter = 'k'
set xlabel momentum('k̂').',   a k̂_μ = 2 sin(a k_μ / 2)'
set ylabel 'α(k) = Z J^2 / 4π   (minimal MOM)'
plot for [i = 1:tables] for [d in values_of(given[i + 1], 'direction')] rows_of(given[i + 1], 'direction='.d, 'direction') \
    using (gev * sqrt(column('k2'))):(column('alpha')):(error(column('alpha_error'))) \
    with yerrorbars lc rgb colour[colour_of(i, d)] pt symbol(d) title series(d) @key_of_tables
@drawn
