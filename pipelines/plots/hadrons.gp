# SPDX-License-Identifier: BSD-3-Clause
# Correlators and effective masses of an ensemble, from the table of lat-stat (hadrons.mk):
#   gnuplot -c hadrons.gp OUT.png|OUT.pdf masses.tsv [fits.tsv]
# Good fits of lat-fit are bands over their windows.
# Channels of momentum 0. Points without an error, and masses with one above a quarter, are left out. Where an error reaches below 0 its
# lower end is that of the axis: a logarithm has no other.
usage = 'hadrons.gp: expected OUT.png|OUT.pdf masses.tsv [fits.tsv]'
needs = 2
wide = 24; high = 11; panels = 2; rows_of_panels = 1
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
rest = 'px=0;py=0;pz=0'
# (lat-stat --apart leaves the directions of rho, a1 and b1 apart: each has its own name.)
no_meson(c) = strstrt(c, 'backward') || strstrt(c, 'axial_t') || strstrt(c, 'pcac')
channels = ''
do for [c in values_where(given[2], rest, 'channel')] { if (!no_meson(c)) { channels = channels.' '.c } }
T = 1 + cell_of(given[2], 't')
aside(i) = 0.12 * (i - (words(channels) + 1) / 2.0) # channels beside each other
middle(a, b) = (a + b) / 2.0
at_rest(c) = rows_of(given[2], rest.';channel='.c, '')
fit_of(c) = rows_of(given[3], rest.';good=1;channel='.c, '')
fitted = ''
if (tables > 1) { do for [c in channels] { if (strlen(values_where(given[3], rest.';good=1;channel='.c, 'm0'))) { fitted = fitted.' '.c } } }
number_of(c) = sum [i = 1:words(channels)] (word(channels, i) eq c ? i : 0)
set xlabel 't / a'
@begin_panels
set ylabel 'C(t)   at rest'
set xrange [-0.5:T - 0.5]
# (Smallest lower end.)
low(c, e) = c > e ? c - e : c > 0 ? c : NaN
least = 1e300
do for [c in channels] {
    stats at_rest(c) using (low(column('C'), column('C_error'))) name 'L' nooutput
    least = L_min < least ? L_min : least
}
@log_y
set yrange [least / 2:*]
plot for [i = 1:words(channels)] at_rest(word(channels, i)) \
    using (column('t') + aside(i)):(column('C') > 0 ? column('C') : NaN):(column('C') > column('C_error') ? column('C') - column('C_error') : 1e-300):(column('C') + column('C_error')) \
    with yerrorbars ls index(i) title title_of(word(channels, i))
@drawn
unset logscale y
set format y '%g'
set ylabel 'a m_{eff}(t)'
set xrange [0:T / 2.0 + 0.5]
set yrange [*<0:*]
set offsets 0, 0, graph 0.05, 0
bands = fitted eq '' ? '' : "for [c in fitted] fit_of(c) \
    using (middle(column('t_min'), column('t_max'))):(column('m0')):(middle(column('t_max'), -column('t_min'))):(column('m0_error')) \
    with boxxyerror ls index(number_of(c)) notitle,"
clear = ''
do for [c in channels] { if (strlen(values_where(given[2], rest.';clear=1;channel='.c, 't'))) { clear = clear.' '.c } }
if (clear eq '') {
    set label 1 'no mass has an error below a quarter' at graph 0.5, graph 0.5 center
    plot [0:1] [0:1] NaN notitle
} else {
    plot @bands for [c in clear] rows_of(given[2], rest.';clear=1;channel='.c, '') \
        using (column('t') + aside(number_of(c))):(column('mass')):(column('mass_error')) with yerrorbars ls index(number_of(c)) title title_of(c)
}
@drawn
unset multiplot
