# SPDX-License-Identifier: BSD-3-Clause
# The coupling of the three-gluon vertex against the momentum, from a table of lat-stat, or of lat-gluon --vertex --mean --tsv:
#   gnuplot -c vertex.gp OUT.png|OUT.pdf TABLE
# g is g0 at all momenta for a weak field.
if (ARGC != 2) { print 'vertex.gp: expected OUT.png|OUT.pdf TABLE'; exit status 2 }
form = ARG1[strlen(ARG1) - 3:] eq '.pdf' ? 'pdfcairo size 16cm,10cm font "Sans,10"' : 'pngcairo size 1000,625 font "Sans,12"'
set terminal @form
set output ARG1
set datafile separator tab
set datafile columnheaders
set datafile missing 'nan'
set xlabel 'phat a'
set ylabel 'g(phat)'
set xrange [0:*]
set key top right
set xzeroaxis
error(e) = e == e ? e : 0
of(limit) = sprintf("< LC_ALL=C awk -F'\\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"limit\") c = i } NR == 1 || $c == \"%s\"' '%s'", limit, ARG2)
limits = system("LC_ALL=C awk -F'\\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"limit\") c = i; next } !s[$c]++ { print $c }' '".ARG2."'")
plot for [l in limits] of(l) using (sqrt(column('phat2'))):(column('g')):(error(column('g_error'))) with yerrorbars pointtype 7 title l
