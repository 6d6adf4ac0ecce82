# SPDX-License-Identifier: BSD-3-Clause
# The lowest eigenvalues of the overlap operator D on its circle, from a table of lat-overlap --spectrum:
#   gnuplot -c overlap.gp OUT.png|OUT.pdf TABLE
# An eigenvalue of D^+ D that both chiralities have is a pair of D; a zero mode has one.
usage = 'overlap.gp: expected OUT.png|OUT.pdf TABLE'
needs = 2
wide = 14; high = 14
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
set xlabel 'Re λ,   D = (1 + γ_5 sign H) / 2'
set ylabel 'Im λ'
set size ratio -1
set xrange [-0.05:1.05]
set yrange [-0.55:0.55]
set offsets 0, 0, 0, 0
set xzeroaxis ls 21
set parametric
of(chirality) = rows_of(given[2], 'chirality='.chirality, '')
plot [t = 0:2 * pi] 0.5 + 0.5 * cos(t), 0.5 * sin(t) ls 20 title '|λ - 1/2| = 1/2', \
    for [i = 1:words(values_of(given[2], 'chirality'))] of(word(values_of(given[2], 'chirality'), i)) \
    using (column('re')):(column('im')) with points lc rgb colour[i] pt (i == 1 ? 6 : 7) ps (i == 1 ? 1.8 : 0.8) title 'chirality '.word(values_of(given[2], 'chirality'), i), \
    for [i = 1:words(values_of(given[2], 'chirality'))] of(word(values_of(given[2], 'chirality'), i)) \
    using (column('re')):(-column('im')) with points lc rgb colour[i] pt (i == 1 ? 6 : 7) ps (i == 1 ? 1.8 : 0.8) notitle
@drawn
