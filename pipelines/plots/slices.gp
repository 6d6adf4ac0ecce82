# SPDX-License-Identifier: BSD-3-Clause
# Theta of every slice in Coulomb gauge as sweeps go on, from a --slice-log file of one configuration:
#   gnuplot -c slices.gp OUT.png|OUT.pdf LOG [COPY]
usage = 'slices.gp: expected OUT.png|OUT.pdf LOG [COPY]'
needs = 2
tables_at_most = 1
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
set datafile missing NaN # what belongs to another slice interrupts no line
copy = arguments > 2 ? given[3] : '0'
last = 0
do for [s in values_of(given[2], 'slice')] { last = s > last ? int(s) : last }
@log_y
set xrange [0:*]
set offsets 0, 0, graph 0.05, graph 0.03
set style fill solid
set xlabel 'sweeps'
set ylabel 'θ of a slice'
set cbrange [0:last > 0 ? last : 1]
set cblabel 'slice'
set rmargin 8
set tmargin 1
plot for [s = 0:last] rows_of(given[2], sprintf('slice=%d;copy=%s', s, copy), '') using (column('sweep')):(column('theta') > 0 ? column('theta') : NaN) \
    with lines ls 11 lc palette cb s notitle
@drawn
