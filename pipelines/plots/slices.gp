# SPDX-License-Identifier: BSD-3-Clause
# Theta of every slice in Coulomb gauge as sweeps go on, from a --slice-log file of one configuration:
#   gnuplot -c slices.gp OUT.png|OUT.pdf LOG [COPY]
if (ARGC < 2) { print 'slices.gp: expected OUT.png|OUT.pdf LOG [COPY]'; exit status 2 }
form = ARG1[strlen(ARG1) - 3:] eq '.pdf' ? 'pdfcairo size 16cm,10cm font "Sans,10"' : 'pngcairo size 1000,625 font "Sans,12"'
set terminal @form
set output ARG1
set datafile separator tab
set datafile columnheaders
set datafile missing NaN # what belongs to another slice interrupts no line

copy = ARGC > 2 ? ARG3 + 0 : 0
stats ARG2 using 'slice' name 'S' nooutput
set logscale y
set format y '10^{%T}'
set xlabel 'sweeps'
set ylabel 'theta of each slice'
set palette defined (0 '#30123b', 1 '#28bceb', 2 '#a4fc3c', 3 '#fb7e21', 4 '#7a0403')
set cbrange [0:S_max > 0 ? S_max : 1]
set cblabel 'slice'
of(s, y) = column('slice') == s && column('copy') == copy ? y : NaN
plot for [s = 0:int(S_max)] ARG2 using 'sweep':(of(s, column('theta'))) with lines lw 1.5 lc palette cb s notitle
