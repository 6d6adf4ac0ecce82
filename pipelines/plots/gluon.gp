# SPDX-License-Identifier: BSD-3-Clause
# The gluon propagator, as phat^2 D against phat, from tables of lat-stat, or of lat-gluon --tsv:
#   gnuplot -c gluon.gp OUT.png|OUT.pdf TABLE...
# A table is named by its file. With --mean it has errors over configurations; without, its configurations lie above each other.
# phat^2 D is 1 at all momenta for a free field; it has a maximum near 1 GeV, and falls to 0 with the momentum.
if (ARGC < 2) { print 'gluon.gp: expected OUT.png|OUT.pdf TABLE...'; exit status 2 }
form = ARG1[strlen(ARG1) - 3:] eq '.pdf' ? 'pdfcairo size 16cm,10cm font "Sans,10"' : 'pngcairo size 1000,625 font "Sans,12"'
set terminal @form
set output ARG1
set datafile separator tab
set datafile columnheaders
set datafile missing 'nan'
set xlabel 'phat a'
set ylabel 'phat^2 D(phat)'
set xrange [0:*]
set yrange [0:*]
set key top right
name(path) = system("basename ".path." .tsv")
# A mean over one member has no error.
error(e) = e == e ? e : 0
plot for [i = 2:ARGC] ARGV[i] using (sqrt(column('phat2'))):(column('phat2') * column('D')):(column('phat2') * error(column('D_error'))) \
    with yerrorbars pointtype 7 title name(ARGV[i])
