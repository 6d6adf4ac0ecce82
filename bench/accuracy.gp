# SPDX-License-Identifier: BSD-3-Clause
# det U and the functional over the sweeps of every run, from the table of accuracy.sh:
#   gnuplot -c accuracy.gp OUT.png|OUT.pdf TABLE
usage = 'accuracy.gp: expected OUT.png|OUT.pdf TABLE'
needs = 2
wide = 18; high = 20; panels = 1; rows_of_panels = 3; above = 1.8; between = 0.6; beside = 0.9
call system("dirname '".ARG0."'").'/../pipelines/plots/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
runs = values_of(given[2], 'run')
final(run) = cell_where(given[2], 'run='.run, 'functional')
of(run) = rows_of(given[2], 'run='.run, '')
reference(run) = real(final(run[1:4] eq 'ours' ? 'ours-double' : 'in-place-double'))
positive(y) = y > 0 ? y : NaN
@begin_panels
@log_y
set key noenhanced vertical maxrows 3
set xrange [0:*]
set offsets 0, 0, graph 0.05, graph 0.03
set format x ''
set ylabel 'mean |1 - det U|'
plot for [i = 1:words(runs)] of(word(runs, i)) using (column('sweep')):(positive(column('det_mean'))) with lines ls 10 + index(i) title word(runs, i)
@drawn
set ylabel 'max |1 - det U|'
plot for [i = 1:words(runs)] of(word(runs, i)) using (column('sweep')):(positive(column('det_max'))) with lines ls 10 + index(i) notitle
@drawn
set format x '%g'
set xlabel 'sweeps'
set ylabel '|F / F in double - 1|'
plot for [i = 1:words(runs)] of(word(runs, i)) using (column('sweep')):(abs(column('functional') / reference(word(runs, i)) - 1) + 1e-17) \
    with lines ls 10 + index(i) notitle
@drawn
unset multiplot
