# SPDX-License-Identifier: BSD-3-Clause
# The dressing function of the ghost, k^2 G against k, from tables of lat-stat, or of lat-ghost --tsv:
#   gnuplot -c ghost.gp OUT.png|OUT.pdf TABLE...
# A table is named by its file. k^2 G is 1 at all momenta for links 1; it grows towards small momenta.
if (ARGC < 2) { print 'ghost.gp: expected OUT.png|OUT.pdf TABLE...'; exit status 2 }
form = ARG1[strlen(ARG1) - 3:] eq '.pdf' ? 'pdfcairo size 16cm,10cm font "Sans,10"' : 'pngcairo size 1000,625 font "Sans,12"'
set terminal @form
set output ARG1
set datafile separator tab
set datafile columnheaders
set datafile missing 'nan'
set xlabel '(k^2)^{1/2} a, k^2 = sum 4 sin^2(k/2)'
set ylabel 'k^2 G(k)'
set xrange [0:*]
set key top right
name(path) = system("basename ".path." .tsv")
has_error(path) = int(system("head -n 1 ".path." | grep -c G_error || true"))
error(e) = e == e ? e : 0
plot for [i = 2:ARGC] ARGV[i] using (sqrt(column('k2'))):(column('k2') * column('G')):(has_error(ARGV[i]) ? column('k2') * error(column('G_error')) : 0) \
    with yerrorbars pointtype 7 title name(ARGV[i])
