# SPDX-License-Identifier: BSD-3-Clause
# Sweeps against omega for each gauge, from sweeps.tsv of sweeps.sh:
#   gnuplot -c sweeps.gp OUT.png|OUT.pdf TABLE
usage = 'sweeps.gp: expected OUT.png|OUT.pdf TABLE'
needs = 2
wide = 18; high = 22; panels = 1; rows_of_panels = 3
call system("dirname '".ARG0."'").'/../pipelines/plots/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
@begin_panels
@log_y
set key vertical maxrows 2 noenhanced
set xlabel 'ω'
set offsets graph 0.02, graph 0.02, 0, 0
number(omega) = omega eq 'auto' ? NaN : real(omega)
do for [gauge in values_of(given[2], 'gauge')] {
    set ylabel gauge.': sweeps to θ < 10^{-12}'
    configs = values_where(given[2], 'gauge='.gauge, 'config')
    schemes = values_where(given[2], 'gauge='.gauge, 'scheme')
    plot for [i = 1:words(configs)] for [k = 1:words(schemes)] \
        rows_of(given[2], 'gauge='.gauge.';config='.word(configs, i).';scheme='.word(schemes, k), '') using (number(strcol('omega'))):(column('sweeps')) \
        with linespoints lc rgb colour[index(i)] pt shape[index(k)] dt k title word(configs, i).', '.word(schemes, k)
    @drawn
}
unset multiplot
