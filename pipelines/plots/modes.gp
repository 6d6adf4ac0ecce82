# SPDX-License-Identifier: BSD-3-Clause
# Eigenvalues by configuration, and their chirality, from a table of lat-modes --tsv:
#   gnuplot -c modes.gp OUT.png|OUT.pdf TABLE
# Residuals are far smaller than the symbols.
usage = 'modes.gp: expected OUT.png|OUT.pdf TABLE'
needs = 2
wide = 24; high = 11; panels = 2; rows_of_panels = 1
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
sign(x, want) = x * want > 0 ? x : NaN
set xzeroaxis ls 20
@begin_panels
set xlabel 'configuration'
set offsets 0.5, 0.5, graph 0.05, graph 0.03
set autoscale xfix
set ylabel 'eigenvalue a λ'
plot given[2] using (column('configuration')):(sign(column('value'), 1)) with points ls 1 title 'λ > 0', \
    '' using (column('configuration')):(sign(column('value'), -1)) with points ls 2 title 'λ < 0'
@drawn
set offsets graph 0.02, graph 0.02, graph 0.05, graph 0.03
set autoscale x
stats given[2] using (abs(column('value'))) name 'v' nooutput
decade = 10.0 ** floor(log10(v_max))
set xtics v_max < 2 * decade ? decade / 2 : v_max < 5 * decade ? decade : 2 * decade # so few that their labels do not touch
set xlabel 'eigenvalue a λ'
set ylabel 'chirality  (v, γ_5 v)'
set yrange [-1.1:1.1]
set yzeroaxis ls 20
plot given[2] using (sign(column('value'), 1)):(column('chirality')) with points ls 1 title 'λ > 0', \
    '' using (sign(column('value'), -1)):(column('chirality')) with points ls 2 title 'λ < 0'
@drawn
unset multiplot
