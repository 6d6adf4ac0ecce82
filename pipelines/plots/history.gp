# SPDX-License-Identifier: BSD-3-Clause
# Functional and theta as a configuration is fixed, and the temperature while it is annealed (figure 7 of the cuLGT paper), from
# --log files in the order of the stages:
#   gnuplot -c history.gp OUT.png|OUT.pdf LOG...
# such as x.lat-anneal.tsv x.lat-orelax.tsv. A line for every configuration and copy.
if (ARGC < 2) { print 'history.gp: expected OUT.png|OUT.pdf LOG...'; exit status 2 }
form = ARG1[strlen(ARG1) - 3:] eq '.pdf' ? 'pdfcairo size 16cm,16cm font "Sans,10"' : 'pngcairo size 1000,1000 font "Sans,12"'
set terminal @form
set output ARG1
set datafile separator tab
set datafile columnheaders
set datafile missing NaN # what belongs to another line interrupts none

# Each log begins where the one before it ended; its second column is the temperature's number, or the sweep.
array begin[ARGC + 1]
array runs[ARGC]
annealed = '' # which of them
begin[2] = 0
do for [i = 2:ARGC] {
    stats ARGV[i] using 2 name 'X' nooutput
    begin[i + 1] = begin[i] + X_max
    runs[i] = system("LC_ALL=C awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"copy\") c = i; next } ! /^#/ && ! seen[$1, $c]++ { print $1 \"/\" $c }' '".ARGV[i]."'")
    if (system("head -n 1 '".ARGV[i]."' | cut -f3") eq 'T') { annealed = annealed.' '.i }
}
of(run, y) = strcol(1).'/'.strcol('copy') eq run ? y : NaN
x(i) = begin[i] + column(2)
first(i, k, name) = i == 2 && k == 1 ? name : ''

set multiplot layout 2,1
set lmargin 12
set rmargin 10
set xrange [0:begin[ARGC + 1]]
set key bottom right
do for [i = 3:ARGC] { set arrow from begin[i], graph 0 to begin[i], graph 1 nohead dashtype 3 }

set ylabel 'F'
temperature = ''
if (words(annealed) > 0) {
    set y2label 'T'
    set ytics nomirror
    set y2tics
    set y2range [0:*]
    temperature = ", for [i in annealed] ARGV[i + 0] using (x(i + 0)):3 axes x1y2 with lines lw 2 dt 2 lc 'gray40' title 'temperature'"
}
plot for [i = 2:ARGC] for [k = 1:words(runs[i])] ARGV[i] using (x(i)):(of(word(runs[i], k), column('F'))) \
         with lines lw 2 lc k title first(i, k, 'functional') @temperature

unset y2tics
unset y2label
set ytics mirror
set logscale y
set format y '10^{%T}'
set ylabel 'theta'
set xlabel (words(annealed) == 0 ? 'sweeps' : words(annealed) == ARGC - 1 ? 'temperatures' : 'temperatures, then sweeps')
plot for [i = 2:ARGC] for [k = 1:words(runs[i])] ARGV[i] using (x(i)):(of(word(runs[i], k), column('theta'))) \
         with lines lw 2 lc k title first(i, k, 'theta')
unset multiplot
