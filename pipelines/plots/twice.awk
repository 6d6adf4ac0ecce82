# SPDX-License-Identifier: BSD-3-Clause
# Configurations that are there twice: awk -f twice.awk OUT/links/NAME...  (of links.sh: the CRC of the links of NAME, and more). Errors take
# configurations as independent, so that it is said, as lat-gluon --mean does; -v as=TEXT says how it counts otherwise.
{ name = FILENAME; sub(/.*\//, "", name) }
$1 in first { print "warning: " name " is " first[$1] " again, with the same links: " (as ? as : "it counts as an independent one") >"/dev/stderr"; next }
{ first[$1] = name }
