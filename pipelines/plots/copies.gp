# SPDX-License-Identifier: BSD-3-Clause
# How far copies lie below the best of them all (figure 8 of the cuLGT paper), from --copies-log files of one configuration:
#   gnuplot -c copies.gp OUT.png|OUT.pdf LOG...
# A log is named by its file. Copies that have not converged are left out. Copies that differ by less than SAME of F count as
# one maximum: that is rounding, and theta that is not 0.
if (ARGC < 2) { print 'copies.gp: expected OUT.png|OUT.pdf LOG...'; exit status 2 }
form = ARG1[strlen(ARG1) - 3:] eq '.pdf' ? 'pdfcairo size 16cm,10cm font "Sans,10"' : 'pngcairo size 1000,625 font "Sans,12"'
set terminal @form
set output ARG1
set datafile separator tab
set datafile columnheaders
set datafile missing NaN
bins = 20
same = 1e-9

functional = 'column("converged") == 1 ? column("functional") : NaN'
best = -1
least = 1
do for [i = 2:ARGC] {
    stats ARGV[i] using (@functional) name 'F' nooutput
    best = F_max > best ? F_max : best
    least = F_min < least ? F_min : least
}
width = (1 - least / best) / bins
if (width < same) width = same
bin(f) = int((1 - f / best) / width)
logs = ARGC - 1.0
place(b, i) = width * ((b < bins ? b : bins - 1) + (i - 1.5) / logs) # boxes of the logs beside each other

power = 10.0 ** floor(log10(bins * width))
set xlabel sprintf('1 - F / F_{best}, in units of 10^{%d}', floor(log10(bins * width)))
set ylabel 'copies'
set xrange [0:bins * width / power]
set yrange [0:*]
set offsets 0, 0, 0.5, 0
set style fill solid 0.7 border
set boxwidth 0.9 * width / logs / power
set key top right
if (1 - least / best < same) set title sprintf('all copies end in one maximum, to %.0e', same)
name(path) = system("basename ".path." .tsv")
plot for [i = 2:ARGC] ARGV[i] using (place(bin(@functional), i) / power):(1.0) smooth frequency with boxes title name(ARGV[i])
