# SPDX-License-Identifier: BSD-3-Clause
# The static potential, its effective energies and its fit, from the tables of potential.sh:
#   gnuplot -c potential.gp OUT.png|OUT.pdf potential.tsv energies.tsv results.tsv
# The line is V0 - alpha/R + sigma R. Effective energies with an error above a quarter are left out.
if (ARGC < 4) { print 'potential.gp: expected OUT.png|OUT.pdf potential.tsv energies.tsv results.tsv'; exit status 2 }
form = ARG1[strlen(ARG1) - 3:] eq '.pdf' ? 'pdfcairo size 24cm,11cm font "Sans,10"' : 'pngcairo size 1500,690 font "Sans,12"'
set terminal @form
set output ARG1
set datafile separator tab
set datafile columnheaders
set datafile missing 'nan'
table = ARG2
result(name) = system(sprintf("LC_ALL=C awk -F'\\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"%s\") c = i } END { print $c }' '%s'", name, ARG4))
n = int(result('configurations'))
rows(table, which) = sprintf("< LC_ALL=C awk -F'\\t' 'NR == 1 || (%s)' '%s'", which, table)
V = system("head -n 1 '".table."' | tr '\\t' '\\n' | grep -x -e V -e m0") # a row of energies, or a plateau of lat-fit
on_axis = "$1 !~ /^[0-9]+,.*[1-9]/"
array colour[8] = ['#0060ad', '#d7301f', '#238b45', '#6a3d9a', '#e08214', '#1b9e9e', '#a6761d', '#525252']
array shape[8] = [7, 5, 9, 13, 11, 6, 4, 8]
axes = int(system("LC_ALL=C awk -F'\\t' 'NR > 1 && ".on_axis." { split($1, d, \",\"); if (d[1] > m) m = d[1] } END { print (m < 8 ? m : 8) }' '".ARG3."'"))

set multiplot layout 1, 2 margins 0.07, 0.985, 0.13, 0.92 spacing 0.085
set style line 100 lc rgb '#d0d0d0' lw 0.7
set grid ls 100
set border lw 0.8
set tics scale 0.6
set bars 0.6
set xlabel 'R / a'
set ylabel 'a V(R)'
set title sprintf('static potential, %d configurations, r_0/a = %.3f ± %.3f', n, real(result('r0')), real(result('r0_error')))
set xrange [0:*]
set yrange [0:*]
set key bottom right
set offsets 0, 0.2, 0, 0
v0 = real(result('V0')); alpha = real(result('alpha')); sigma = real(result('sigma'))
plot [0.6:*] rows(table, on_axis) using (column('r')):(column(V)):(column(V.'_error')) with yerrorbars \
        lc rgb colour[1] pt 7 ps 0.9 lw 1.2 title 'on axis', \
    rows(table, '!('.on_axis.')') using (column('r')):(column(V)):(column(V.'_error')) with yerrorbars \
        lc rgb colour[2] pt 5 ps 0.9 lw 1.2 title 'off axis', \
    v0 - alpha / x + sigma * x with lines lc rgb '#525252' lw 1.2 title 'V_0 - {/Symbol a} / R + {/Symbol s} R'
set title 'effective energies on axis'
set xlabel 'T / a'
set ylabel 'a V(R, T)'
set xrange [0.5:*]
set offsets 0, 0.7, 0, 0 # for the key
set key center right
good(e, x) = e < 0.25 ? x : NaN
plot for [i = 1:axes] rows(ARG3, sprintf('$1 ~ /^%d(,0)*$/', i)) using (column('T') + 0.05 * (i - axes / 2.0)):(good(column('V_error'), column('V'))):(column('V_error')) \
    with yerrorbars lc rgb colour[i] pt shape[i] ps 0.9 lw 1.2 title sprintf('R = %d a', i)
unset multiplot
