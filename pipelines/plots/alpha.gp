# SPDX-License-Identifier: BSD-3-Clause
# The coupling of ghosts and gluons against the momentum, from tables of lat-stat --alpha:
#   gnuplot -c alpha.gp OUT.png|OUT.pdf TABLE...
# A table is named by its file. alpha is g0^2 / 4 pi at all momenta for a weak field.
if (ARGC < 2) { print 'alpha.gp: expected OUT.png|OUT.pdf TABLE...'; exit status 2 }
form = ARG1[strlen(ARG1) - 3:] eq '.pdf' ? 'pdfcairo size 16cm,10cm font "Sans,10"' : 'pngcairo size 1000,625 font "Sans,12"'
set terminal @form
set output ARG1
set datafile separator tab
set datafile columnheaders
set datafile missing 'nan'
set xlabel '(k^2)^{1/2} a, k^2 = sum 4 sin^2(k/2)'
set ylabel '{/Symbol a}(k) = Z J^2 / 4{/Symbol p}'
set xrange [0:*]
set yrange [0:*]
set key top right
name(path) = system("basename ".path." .tsv")
error(e) = e == e ? e : 0
plot for [i = 2:ARGC] ARGV[i] using (sqrt(column('k2'))):(column('alpha')):(error(column('alpha_error'))) \
    with yerrorbars pointtype 7 title name(ARGV[i])
