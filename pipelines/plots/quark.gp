# SPDX-License-Identifier: BSD-3-Clause
# Quarks in momentum space: M(p), Z_q(p), Lambda and the Z factors of RI'/MOM or RI/SMOM, from tables of lat-quark --mean:
#   gnuplot -c quark.gp OUT.png|OUT.pdf quark.tsv z.tsv
# quark.tsv has the propagator, z.tsv the vertices of --vertex. Points at the same momentum stand beside each other.
usage = 'quark.gp: expected OUT.png|OUT.pdf quark.tsv z.tsv'
needs = 3
wide = 24; high = 18; panels = 2; rows_of_panels = 2
call system("dirname '".ARG0."'").'/style.gp' ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7 ARG8 ARG9
set xlabel momentum('p').',   p_μ = 2π n_μ / L_μ'
set xrange [0:*]
bilinears = 'S P V A T'
x(i) = gev * (sqrt(column('p2')) + 0.012 * i)
of(g) = rows_of(given[3], 'gamma='.g, '')
@begin_panels
set ylabel 'a M(p)'
plot given[2] using (x(-1)):(column('M_additive')):(error(column('M_additive_error'))) with yerrorbars ls 1 title 'additive tree-level correction', \
    '' using (x(1)):(column('M_multiplicative')):(error(column('M_multiplicative_error'))) with yerrorbars ls 2 title 'multiplicative'
@drawn
set ylabel "Z_q(p)   (RI'/MOM)"
plot for [d in values_of(given[2], 'direction')] rows_of(given[2], 'direction='.d, 'direction') \
    using (x(0)):(column('Zq')):(error(column('Zq_error'))) with yerrorbars lc rgb colour[parts(d)] pt symbol(d) title direction_name(d)
@drawn
set ylabel 'Λ_Γ(p)   (amputated)'
plot for [i = 1:words(bilinears)] of(word(bilinears, i)) using (x(i - 3)):(column('Lambda')):(error(column('Lambda_error'))) \
    with yerrorbars ls i title word(bilinears, i)
@drawn
set ylabel 'Z_Γ(p)'
plot for [i = 1:words(bilinears)] of(word(bilinears, i)) using (x(i - 3)):(column('Z')):(error(column('Z_error'))) \
    with yerrorbars ls i title word(bilinears, i)
@drawn
unset multiplot
