#!/bin/bash
# Did a multigrid solve a column of the log LOG of lat-solve?   multigrid.sh LOG
# Then the next sources of this configuration may share one, by lat-subspace (docs/multigrid.md).
export LC_ALL=C # awk reads numbers with a point
exec awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "solver") c = i } NR > 1 && $c == "mg" { found = 1; exit } END { exit !found }' "$1"
