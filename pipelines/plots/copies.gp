# SPDX-License-Identifier: BSD-3-Clause
# How far copies lie below the best of them all (figure 8 of the cuLGT paper), from --copies-log files of one configuration:
#   gnuplot -c copies.gp OUT.png|OUT.pdf LOG...
# A log is named by its file. Copies that have not converged are left out. Copies that differ by less than SAME of F count as
# one maximum: that is rounding, and theta that is not 0.
usage = 'copies.gp: expected OUT.png|OUT.pdf LOG...'
needs = 2
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
set datafile missing NaN
bins = 20
same = 1e-9

functional = 'column("converged") == 1 ? column("functional") : NaN'
best = -1
least = 1
most = 0
do for [i = 1:tables] {
    stats given[i + 1] using (@functional) name 'F' nooutput
    best = F_max > best ? F_max : best
    least = F_min < least ? F_min : least
    most = F_records > most ? F_records : most
}
width = (1 - least / best) / bins
if (width < same) { width = same }
bin(f) = int((1 - f / best) / width)
place(b, i) = width * ((b < bins ? b : bins - 1) + (i - 0.5) / tables) # boxes of the logs beside each other

power = 10.0 ** floor(log10(bins * width))
set xlabel sprintf('1 - F / F_{best}   [10^{%d}]', floor(log10(bins * width)))
set ylabel 'copies'
if (most <= 10) { set ytics 1 } # no half copies
set xrange [0:bins * width / power]
set yrange [0:*]
set offsets 0, 0, 0.5, 0
set style fill solid 0.8 border lt -1
set boxwidth 0.9 * width / tables / power
if (1 - least / best < same) { set label 1 sprintf('all copies end in one maximum, to %.0e', same) at graph 0.97, graph 0.93 right }
plot for [i = 1:tables] given[i + 1] using (place(bin(@functional), i) / power):(1.0) smooth frequency with boxes lc rgb colour[i] title name_of(given[i + 1]) noenhanced
@drawn
