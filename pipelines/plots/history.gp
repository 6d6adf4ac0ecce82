# SPDX-License-Identifier: BSD-3-Clause
# Functional and theta as a configuration is fixed, and the temperature while it is annealed (figure 7 of the cuLGT paper), from
# --log files in the order of the stages:
#   gnuplot -c history.gp OUT.png|OUT.pdf LOG...
# such as x.lat-anneal.tsv x.lat-orelax.tsv. A line for every configuration and copy; a copy has one colour in both panels.
usage = 'history.gp: expected OUT.png|OUT.pdf LOG...'
needs = 2
wide = 16; high = 16; panels = 1; rows_of_panels = 2; between = 1.2
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
set datafile missing NaN # what belongs to another line interrupts none

# Each log begins where the one before it ended; its second column is the temperature's number, or the sweep.
array begin[tables + 1]
array runs[tables]
annealed = '' # which of them
begin[1] = 0
do for [i = 1:tables] {
    stats given[i + 1] using 2 name 'X' nooutput
    begin[i + 1] = begin[i] + X_max
    runs[i] = values_of(given[i + 1], 'run')
    if (has_column(given[i + 1], 'T')) { annealed = annealed.' '.i }
}
x(i) = begin[i] + column(2)
of(i, run) = rows_of(given[i + 1], 'run='.run, '')
first(i, k, name) = i == 1 && k == 1 ? name : ''
do for [i = 2:tables] { set arrow i from begin[i], graph 0 to begin[i], graph 1 nohead ls 21 }

set xrange [0:begin[tables + 1]]
set offsets 0, 0, graph 0.05, graph 0.03
beside = words(annealed) > 0 ? 2.2 : 0.6
@begin_panels
set ylabel 'functional F'
temperature = ''
if (words(annealed) > 0) {
    set y2label 'temperature T'
    set ytics nomirror
    set y2tics
    set y2range [0:1.1 * real(word(values_of(given[int(word(annealed, 1)) + 1], 'T'), 1))]
    temperature = ", for [i in annealed] given[int(i) + 1] using (x(int(i))):(column('T')) axes x1y2 with lines ls 20 dt 2 title 'temperature'"
}
set format x ''
plot for [i = 1:tables] for [k = 1:words(runs[i])] of(i, word(runs[i], k)) using (x(i)):(column('F')) \
         with lines ls 10 + index(k) title first(i, k, 'functional') @temperature
@drawn
set format x '%g'
unset y2tics
unset y2label
set ytics mirror
@log_y
set ylabel 'θ'
set xlabel (words(annealed) == 0 ? 'sweeps' : words(annealed) == tables ? 'temperatures' : 'temperatures, then sweeps')
plot for [i = 1:tables] for [k = 1:words(runs[i])] of(i, word(runs[i], k)) using (x(i)):(column('theta') > 0 ? column('theta') : NaN) \
         with lines ls 10 + index(k) notitle
@drawn
unset multiplot
