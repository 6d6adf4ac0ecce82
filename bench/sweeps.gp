# SPDX-License-Identifier: BSD-3-Clause
# The picture of sweeps.tsv: gnuplot -e "table='FILE'; set output 'FILE'" sweeps.gp
set terminal svg size 1000,1100 background 'white'
set datafile separator '\t'
set key outside right
set logscale y
set xlabel 'omega'
set ylabel 'sweeps to theta < 1e-12'
list(column, gauge) = system("awk -F'\t' -v g=".gauge." 'NR > 1 && $3 == g && !seen[$1, $4]++ { print ".column." }' ".table)
name(gauge, i) = word(list('$1', gauge), i).' '.word(list('$4', gauge), i)
chosen(gauge, i, y) = strcol(3) eq gauge && strcol(1) eq word(list('$1', gauge), i) && strcol(4) eq word(list('$4', gauge), i) && strcol(5) ne 'auto' ? y : NaN
set multiplot layout 3,1
do for [gauge in 'landau coulomb mag'] {
    set title gauge
    lines = words(list('$1', gauge))
    if (lines > 0) {
        plot for [i = 1:lines] table skip 1 using 5:(chosen(gauge, i, $8)) with linespoints lw 2 title name(gauge, i)
    }
}
