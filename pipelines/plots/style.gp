# SPDX-License-Identifier: BSD-3-Clause
# The style of all pictures. A script sets `usage` and `needs`, the number of its arguments at least, and calls this one:
#   call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
# ARG1 is OUT.png or OUT.pdf, the others are tables, 8 at most. `wide` and `high` are the size in cm, 16 and 10 if not set; `panels` is the
# number of columns of a multiplot, and `rows_of_panels` of its rows.
# The colours are by Okabe and Ito (jfly.uni-koeln.de/color), and wine by Tol: people who see no difference of red and green tell
# them apart. Each has a symbol of its own. In the environment: A_INVERSE, 1/a in GeV, for momenta in GeV; LAT_RANGES, a file, gets the ranges of the axes.
array given[9] = [ARG1, ARG2, ARG3, ARG4, ARG5, ARG6, ARG7, ARG8, ARG9]
here = system("dirname '".ARG0."'")
reset
arguments = 0
do for [i = 1:9] { if (given[i] ne '') { arguments = i } }
if (arguments < needs) { print usage; exit status 2 }
out = given[1]
tables = arguments - 1

# ---- terminal ----
# (Cairo draws UTF-8 in any locale; the width of keys is right where this is known.)
if (system('locale charmap 2>/dev/null') eq 'UTF-8') { set encoding utf8 }
if (!exists('wide')) { wide = 16; high = 10 }
ending = strlen(out) > 4 ? out[strlen(out) - 3:*] : ''
if (ending ne '.pdf' && ending ne '.png') { print usage.", found '".out."'"; exit status 2 }
has(terminal) = strstrt(' '.GPVAL_TERMINALS, ' '.terminal.' ') > 0
pixels = sprintf('size %d,%d', 100 * wide, 100 * high)
if (ending eq '.pdf' && !has('pdfcairo')) { print out.': expected a gnuplot with pdfcairo (Debian: gnuplot-nox), found none: no PDF'; exit status 1 }
if (ending eq '.png' && !has('pngcairo') && !has('png')) { print out.': expected a gnuplot with pngcairo (Debian: gnuplot-nox), found none: no PNG'; exit status 1 }
if (ending eq '.png' && !has('pngcairo')) { print out.': no pngcairo: drawn by the terminal png, with fewer symbols in its text' }
form = ending eq '.pdf' ? sprintf('pdfcairo size %gcm,%gcm font "Sans,11" fontscale 0.72 linewidth 1.4 pointscale 0.62', wide, high) \
    : has('pngcairo') ? 'pngcairo '.pixels.' font "Sans,11" fontscale 2.6 linewidth 3 pointscale 2.4' \
    : 'png '.pixels.' medium'
set terminal @form

# ---- lines, symbols, axes ----
array colour[8] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#882255']
array shape[8] = [7, 5, 9, 13, 11, 6, 4, 8]
index(i) = (i + 7) % 8 + 1
line_colour = '#404040' # of fits and of what theory says
faint = '#d0d0d0'
do for [i = 1:8] {
    set linetype i lc rgb colour[i] lw 1.2 pt shape[i] ps 1
    set style line i lc rgb colour[i] lw 1.2 pt shape[i] ps 1      # points
    set style line 10 + i lc rgb colour[i] lw 1 pt shape[i] ps 1.0 # lines
}
set linetype cycle 8
set style line 20 lc rgb line_colour lw 1.2         # fits
set style line 21 lc rgb line_colour lw 1 dt 2      # windows, levels
set style line 22 lc rgb faint lw 0.5
set style fill transparent solid 0.25 noborder
set grid ls 22
set border lw 0.8
set tics scale 0.6
set bars 0.6
set key outside top center horizontal Left reverse samplen 2 spacing 1.1 width 1 font ',9'
set rmargin 2.5
# No point and no error bar ends at the frame.
set offsets graph 0.02, graph 0.02, graph 0.05, graph 0.03
# Both axes begin at 0, or y below errors that reach below 0: drawn looks for these.
lowest = NaN
from_zero = "lowest = 0.0; set xrange [0:*]; set yrange [*<0:*]; set offsets graph 0, graph 0.02, graph 0.05, graph 0"
log_y = "set logscale y; set format y '10^{%T}'; unset mytics"
# Panels, with centimetres beside and above all of them, and between two rows.
if (!exists('beside')) { beside = 0.5 }
if (!exists('above')) { above = 1.2 }
if (!exists('between')) { between = 2.7 }
begin_panels = "set key at graph 0.5, graph 1.02 center bottom vertical maxrows 2; set multiplot layout rows_of_panels, panels \
    margins 2.3 / wide, 1 - beside / wide, (1.9 + 0.25 * further) / high, 1 - above / high spacing 2.6 / wide, between / high"
set palette defined (0 '#440154', 0.25 '#3b528b', 0.5 '#21918c', 0.75 '#5ec962', 1 '#fde725') # viridis

# A value with its error, as 1.234(56).
decimals(e) = e < 10 ? 1 - floor(log10(e)) : 0
with_error(v, e) = e > 0 ? sprintf('%.'.sprintf('%d', decimals(e)).'f(%.0f)', v, e * 10 ** decimals(e)) : sprintf('%.4g', v)

# ---- tables ----
set datafile separator tab
set datafile columnheaders
set datafile missing 'nan'
quoted(s) = " '".inside(s)."'"
inside(s) = strstrt(s, "'") == 0 ? s : s[1:strstrt(s, "'") - 1]."'\\''".inside(s[strstrt(s, "'") + 1:*])
table_awk(what, path) = 'LC_ALL=C awk -f'.quoted(here.'/table.awk').' '.what.' --'.(path eq '' ? '' : quoted(path))
# Rows of a table that meet a condition 'NAME=VALUE;..', with more columns (table.awk).
rows_of(path, where, more) = '< '.table_awk(sprintf("-v where='%s' -v more='%s'", where, more), path)
# Plots of these values alone have points.
values_of(path, name) = system(table_awk("-v values=".name, path))
values_where(path, where, name) = system(table_awk(sprintf("-v where='%s' -v values=%s", where, name), path))
cell_of(path, name) = system(table_awk("-v cell=".name, path))
cell_where(path, where, name) = system(table_awk(sprintf("-v where='%s' -v cell=%s", where, name), path))
has_column(path, name) = strlen(system(table_awk("-v column=".name, path))) > 0
name_of(path) = system('basename'.quoted(path).' .tsv')
title_of(c) = c eq 'pion' ? 'π' : c[1:3] eq 'rho' ? 'ρ'.c[4:*] : c eq 'nucleon' ? 'N' : c eq 'delta' ? 'Δ' : c eq 'lambda' ? 'Λ' : c eq 'sigma' ? 'Σ' \
    : c eq 'xi' ? 'Ξ' : strlen(c) == 2 ? c[1:1].'_'.c[2:2] : c
number(text) = text eq '' || text eq 'nan' ? NaN : real(text)
error(e) = e == e ? e : 0 # a mean of one has no error

# ---- momenta ----
a_inverse = system('printf %s "${A_INVERSE-}"')
gev = real(system('printf %s "${A_INVERSE:-1}" | grep -xE "[0-9]*[.]?[0-9]+" || echo 0'))
if (gev == 0) { print "A_INVERSE: expected 1/a in GeV, found '".a_inverse."'"; exit status 2 }
momentum(symbol) = a_inverse eq '' ? 'a '.symbol : symbol.' / GeV'
# A direction is 1 to 7: the nearest (table.awk). Tables have their colours, directions their symbols; directions of one table have both.
# Symbols of directions with a part along t are hollow, where t is another direction than x, y and z.
array direction[7] = ['(1,0,0,0)', '(1,1,0,0)', '(1,1,1,0)', '(1,1,1,1)', '(0,0,0,1)', '(1,0,0,1)', '(1,1,0,1)']
parts(d) = int(d) > 4 ? int(d) - 4 : int(d)
symbol(d) = shape[parts(d)] - (int(d) > 4)
letter = 'p'
direction_name(d) = letter.' near '.direction[int(d)]
series(d) = tables > 1 ? '' : direction_name(d)
key_of_tables = tables < 2 ? '' : ", for [i = 1:tables] NaN with points ls index(i) pt 5 title name_of(given[i + 1]) noenhanced, \
    for [d in system(table_awk('-v values=direction', '').paths)] NaN with points lc rgb line_colour pt symbol(d) title direction_name(d)"
colour_of(i, d) = index(tables > 1 ? i : parts(d))

# ---- where the data are from ----
paths = ''
if (!exists('tables_at_most')) { tables_at_most = 8 } # further arguments are none
if (tables > tables_at_most) { tables = tables_at_most }
do for [i = 2:tables + 1] { paths = paths.quoted(given[i]) }
provenance = system(quoted(here.'/provenance.sh').paths.' | '.sprintf('fold -s -w %d', 8.5 * wide))
if (provenance eq '') { exit status 1 } # which has said why
further = int(system('printf "%s\n"'.quoted(provenance).' | wc -l')) - 1 # lines
set bmargin 4.8 + 0.7 * further
set output out
set label 99 provenance at screen 1 - 0.15 / wide, screen (0.17 + 0.27 * further) / high right font ',6' textcolor rgb '#606060' noenhanced
# After each plot:
ranges = system('printf %s "${LAT_RANGES-}"')
panel = 0
drawn = "if (GPVAL_DATA_Y_MIN < lowest) { set offsets graph 0, graph 0.02, graph 0.05, graph 0.03; set output out; replot }; \
    panel = panel + 1; unset label 99; if (ranges ne '') { set print ranges append; \
    print sprintf('%s\t%d\t%.10g\t%.10g\t%.10g\t%.10g', out, panel, GPVAL_X_MIN, GPVAL_X_MAX, GPVAL_Y_MIN, GPVAL_Y_MAX); set print }"
