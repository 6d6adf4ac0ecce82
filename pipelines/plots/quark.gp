# SPDX-License-Identifier: BSD-3-Clause
# Quarks in momentum space: M(p), Z_q(p), Lambda and the Z factors of RI'/MOM or RI/SMOM, from tables of lat-quark --mean:
#   gnuplot -c quark.gp OUT.png|OUT.pdf quark.tsv z.tsv
# quark.tsv is that of the propagator, z.tsv that of --vertex.
if (ARGC != 3) { print 'quark.gp: expected OUT.png|OUT.pdf quark.tsv z.tsv'; exit status 2 }
form = ARG1[strlen(ARG1) - 3:] eq '.pdf' ? 'pdfcairo size 24cm,18cm font "Sans,10"' : 'pngcairo size 1440,1080 font "Sans,12"'
set terminal @form
set output ARG1
set datafile separator tab
set datafile columnheaders
set datafile missing 'nan'
set xlabel '(p^2)^{1/2} a'
set xrange [0:*]
set key bottom right
error(e) = e == e ? e : 0
of(gamma) = sprintf("< LC_ALL=C awk -F'\\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"gamma\") c = i } NR == 1 || $c == \"%s\"' '%s'", gamma, ARG3)
set multiplot layout 2, 2
set title 'mass function, with the tree-level correction'
set ylabel 'a M(p)'
plot ARG2 using (sqrt(column('p2'))):(column('M_additive')):(error(column('M_additive_error'))) with yerrorbars pointtype 7 title 'additive', \
    '' using (sqrt(column('p2'))):(column('M_multiplicative')):(error(column('M_multiplicative_error'))) with yerrorbars pointtype 6 title 'multiplicative'
set title "Z_q of RI'/MOM"
set ylabel 'Z_q(p)'
plot ARG2 using (sqrt(column('p2'))):(column('Zq')):(error(column('Zq_error'))) with yerrorbars pointtype 7 notitle
set title 'amputated vertices'
set ylabel '{/Symbol L}_{/Symbol G}(p)'
plot for [g in 'S P V A T'] of(g) using (sqrt(column('p2'))):(column('Lambda')):(error(column('Lambda_error'))) with yerrorbars pointtype 7 title g
set title 'Z of bilinears'
set ylabel 'Z_{/Symbol G}(p)'
plot for [g in 'S P V A T'] of(g) using (sqrt(column('p2'))):(column('Z')):(error(column('Z_error'))) with yerrorbars pointtype 7 title g
unset multiplot
