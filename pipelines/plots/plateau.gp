# SPDX-License-Identifier: BSD-3-Clause
# The effective mass of a correlator with its fit as a band, and fits of all begins of the window, from the tables of lat-stat and of
# lat-fit --scan:
#   gnuplot -c plateau.gp OUT.png|OUT.pdf masses.tsv scan.tsv
# The correlator is the first one of scan.tsv, and the band its first good fit: the one that lat-fit takes. Masses with an error above a
# quarter are left out.
usage = 'plateau.gp: expected OUT.png|OUT.pdf masses.tsv scan.tsv'
needs = 3
wide = 24; high = 11; panels = 2; rows_of_panels = 1
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
first(name) = word(values_of(given[3], name), 1)
which = 'channel='.first('channel').';px='.first('px').';py='.first('py').';pz='.first('pz')
begin = word(values_where(given[3], which.';good=1', 't_min').' '.first('t_min'), 1)
chosen = which.';t_min='.begin
fit(name) = number(word(values_where(given[3], chosen, name), 1))
m0 = fit('m0'); m0_error = fit('m0_error'); from = fit('t_min'); to = fit('t_max')
@begin_panels
set xlabel 't / a'
set ylabel 'a m_{eff}(t)   '.title_of(first('channel')).' ('.first('px').','.first('py').','.first('pz').')'
if (m0 == m0) {
    set arrow 1 from from - 0.5, m0 to to + 0.5, m0 nohead ls 12
    set object 1 rectangle from from - 0.5, m0 - m0_error to to + 0.5, m0 + m0_error fc rgb colour[2] fs transparent solid 0.3 noborder
}
clear = which.';clear=1'
points = strlen(values_where(given[2], clear, 't')) ? "rows_of(given[2], clear, '') using (column('t')):(column('mass')):(column('mass_error')) with yerrorbars ls 1 \
    title 'effective mass'," : ''
if (points eq '') {
    set label 1 'no mass has an error below a quarter' at graph 0.5, graph 0.5 center
    set xrange [0:1]
    set yrange [0:1]
}
plot @points NaN ls 12 title (m0 == m0 ? 'fit: a m = '.with_error(m0, m0_error) : '')
@drawn
unset arrow 1
unset object 1
unset label 1
set xrange [*:*]
set yrange [*:*]
set xlabel 't_{min} / a'.(m0 == m0 ? sprintf('   (window to t_{max} = %g a)', to) : '')
set ylabel 'a m'
if (m0 == m0) {
    set object 1 rectangle from graph 0, first m0 - m0_error to graph 1, first m0 + m0_error fc rgb colour[2] fs transparent solid 0.3 noborder
} else {
    set label 1 'no window has a fit' at graph 0.5, graph 0.5 center
    set xrange [0:1]
    set yrange [0:1]
}
if (words(values_where(given[3], which, 't_min')) < 12) { set xtics 1 }
fits = "using (column('t_min')):(column('m0')):(column('m0_error')) with yerrorbars"
masses(good) = values_where(given[3], which.';good='.good, 'm0')
some(good) = words(masses(good)) > 0 && masses(good) ne 'nan'
good_ones = some(1) ? "rows_of(given[3], which.';good=1', '') @fits ls 2 title 'good fits'" : ''
others = some(0) ? "rows_of(given[3], which.';good=0', '') @fits lc rgb colour[8] pt 4 title 'others'" : ''
comma = some(1) && some(0) ? ',' : ''
none = some(1) || some(0) ? '' : 'NaN notitle'
plot @good_ones @comma @others @none
@drawn
unset multiplot
