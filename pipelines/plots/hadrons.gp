# SPDX-License-Identifier: BSD-3-Clause
# Correlators and effective masses of an ensemble, from the table of lat-stat (hadrons.mk):
#   gnuplot -c hadrons.gp OUT.png|OUT.pdf masses.tsv [fits.tsv]
# Fits of lat-fit are bands over their windows.
# Channels of momentum 0. Points without an error, or with one above a quarter of the mass, are left out.
if (ARGC < 2) { print 'hadrons.gp: expected OUT.png|OUT.pdf masses.tsv'; exit status 2 }
form = ARG1[strlen(ARG1) - 3:] eq '.pdf' ? 'pdfcairo size 24cm,11cm font "Sans,10"' : 'pngcairo size 1500,690 font "Sans,12"'
set terminal @form
set output ARG1
set datafile separator tab
set datafile columnheaders
set datafile missing NaN
table = ARG2
fits = ARGC >= 3 ? ARG3 : ''

# (lat-stat --apart leaves the directions of rho, a1 and b1 apart: the first of them is drawn.)
channels = system("LC_ALL=C awk -F'\\t' 'NR > 1 && $2 == 0 && $3 == 0 && $4 == 0 && $1 !~ /_[yz]$|backward|axial_t|pcac/ && !($1 in s) { s[$1]; print $1 }' '".table."'")
T = int(system("LC_ALL=C awk -F'\\t' 'NR > 1 && $5 >= T { T = $5 + 1 } END { print T }' '".table."'"))
n = int(system("LC_ALL=C awk -F'\\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"configurations\") c = i } END { print $c }' '".table."'"))
fit_of(c) = sprintf("< LC_ALL=C awk -F'\\t' 'NR == 1 || ($1 == \"%s\" && $2 == 0 && $3 == 0 && $4 == 0)' '%s'", c, fits)
middle(a, b) = (a + b) / 2.0
at_rest(c) = sprintf("< LC_ALL=C awk -F'\\t' 'NR == 1 || ($1 == \"%s\" && $2 == 0 && $3 == 0 && $4 == 0)' '%s'", c, table)
title_of(c) = c eq 'pion' ? '{/Symbol p}' : c eq 'rho' || c eq 'rho_x' ? '{/Symbol r}' : c eq 'nucleon' ? 'N' : c eq 'delta' ? '{/Symbol D}' \
    : c eq 'lambda' ? '{/Symbol L}' : c eq 'sigma' ? '{/Symbol S}' : c eq 'xi' ? '{/Symbol X}' : c

array colour[8] = ['#0060ad', '#d7301f', '#238b45', '#6a3d9a', '#e08214', '#1b9e9e', '#a6761d', '#525252']
array shape[8] = [7, 5, 9, 13, 11, 6, 4, 8]
index(i) = (i - 1) % 8 + 1
aside(i) = 0.1 * (i - (words(channels) + 1) / 2.0) # channels beside each other
good(e, m) = e < 0.25 * m ? m : NaN

set multiplot layout 1, 2 margins 0.07, 0.985, 0.13, 0.92 spacing 0.085
set style line 100 lc rgb '#d0d0d0' lw 0.7
set grid ls 100
set border lw 0.8
set tics scale 0.6
set xlabel 't / a'
set bars 0.6

set title sprintf('correlators at rest, %d configurations', n)
set ylabel 'C(t)'
set logscale y
set format y '10^{%L}'
set xrange [-0.5:T - 0.5]
set key bottom left
plot for [i = 1:words(channels)] at_rest(word(channels, i)) \
    using (column('t') + aside(i)):(column('C') > 0 ? column('C') : NaN):(column('C_error')) with yerrorbars \
    lc rgb colour[index(i)] pt shape[index(i)] ps 0.8 lw 1.2 title title_of(word(channels, i))

unset logscale y
set format y '%g'
set title 'effective masses'
set ylabel 'a m_{eff}(t)'
set xrange [0:T / 2.0 + 0.5]
set yrange [0:*]
plot for [i = 1:words(channels)] at_rest(word(channels, i)) \
    using (column('t') + aside(i)):(good(column('mass_error'), column('mass'))):(column('mass_error')) with yerrorbars \
    lc rgb colour[index(i)] pt shape[index(i)] ps 0.9 lw 1.2 title title_of(word(channels, i)), \
    for [i = 1:(fits eq '' ? 0 : words(channels))] fit_of(word(channels, i)) \
    using (middle(column('t_min'), column('t_max'))):(column('m0')):(middle(column('t_max'), -column('t_min'))):(column('m0_error')) \
    with boxxyerror fs transparent solid 0.3 lc rgb colour[index(i)] lw 0.8 notitle
unset multiplot
