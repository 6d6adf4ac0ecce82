# SPDX-License-Identifier: BSD-3-Clause
# The picture of accuracy.tsv: gnuplot -e "table='FILE'; set output 'FILE'" accuracy.gp
set terminal svg size 1000,900 background 'white'
set datafile separator '\t'
set key outside right
set logscale y
set format y '10^{%T}'
set xlabel 'sweeps'
runs = system("awk 'NR > 1 && $1 != last { print last = $1 }' ".table)
final(run) = system("awk -v r=".run." '$1 == r { f = $5 } END { print f }' ".table) + 0
of(run, column) = strcol(1) eq run ? column : NaN
set multiplot layout 3,1
set ylabel 'mean |1 - det U|'
plot for [r in runs] table skip 1 using 2:(of(r, $3)) with lines lw 2 title r
set ylabel 'max |1 - det U|'
plot for [r in runs] table skip 1 using 2:(of(r, $4)) with lines lw 2 title r
set ylabel '|F / F in double - 1|'
theirs = final('in-place-double')
ours = final('ours-double')
reference(r) = r[1:4] eq 'ours' ? ours : theirs
plot for [r in runs] table skip 1 using 2:(of(r, abs($5 / reference(r) - 1) + 1e-17)) with lines lw 2 title r
