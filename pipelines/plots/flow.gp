# SPDX-License-Identifier: BSD-3-Clause
# t^2 E along the gradient flow, and t0 where it is 0.3, from tables of lat-stat and lat-stat --scales of one table of lat-flow:
#   gnuplot -c flow.gp OUT.png|OUT.pdf MEANS [T0]
# t0 is drawn if it was reached; it belongs to E of the clover field.
usage = 'flow.gp: expected OUT.png|OUT.pdf MEANS [T0]'
needs = 2
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
if (has_column(given[2], 'slice')) { print 'flow.gp: '.given[2].': expected one row for each t, found rows of slices'; exit status 1 }
@from_zero
set xlabel 't / a^2'
set ylabel 't^2 E(t)'
scale(name) = number(values_where(given[3], 'scale='.name, 'value'))
t0 = tables > 1 ? scale('t0') : NaN
t0_error = tables > 1 ? number(values_where(given[3], 'scale=t0', 'error')) : NaN
if (t0 == t0) {
    set arrow 1 from t0, graph 0 to t0, graph 1 nohead ls 21
    set arrow 2 from graph 0, first 0.3 to graph 1, first 0.3 nohead ls 21
    set label 1 ' t_0/a^2 = '.with_error(t0, t0_error) at t0, graph 0.06 left
}
t2(E) = column('t') ** 2 * column(E)
plot given[2] using (column('t')):(t2('E_clover') - t2('E_clover_error')):(t2('E_clover') + t2('E_clover_error')) \
        with filledcurves ls 1 notitle, \
    '' using (column('t')):(t2('E_clover')) with lines ls 11 title 'clover', \
    '' using (column('t')):(t2('E_plaquette') - t2('E_plaquette_error')):(t2('E_plaquette') + t2('E_plaquette_error')) \
        with filledcurves ls 2 notitle, \
    '' using (column('t')):(t2('E_plaquette')) with lines ls 12 dt 4 title 'plaquette'
@drawn
