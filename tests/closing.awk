# Reads TAP streams one after the other, shows them, and closes with the skipped tests, counted by their reasons, and the
# line "N passed, N failed". Tests that a plan promised and that never ran count as failed, and so does a program that
# printed no plan at all.
function settle() {
    if (name != "" && !planned) {
        print "# " name ": no plan"
        failed++
    }
    if (planned && ran < plan) {
        print "# " name ": " plan - ran " of " plan " tests did not run"
        failed += plan - ran
    }
}

# The reason of a skipped test, the text after "# skip".
function reason(line) {
    sub(/^.*# skip */, "", line)
    return line == "" ? "no reason given" : line
}

# Reasons in the order of their counts, the most frequent first.
function print_skipped(    i, best, r) {
    print "# " skipped " skipped:"
    for (i = 0; i < reasons; i++) {
        best = ""
        for (r in skips)
            if (best == "" || skips[r] > skips[best] || (skips[r] == skips[best] && r < best))
                best = r
        printf "# %5d  %s\n", skips[best], best
        delete skips[best]
    }
}

/^# check_|^# [a-z_]+\.bats$/ { settle(); name = $2; planned = ran = plan = bad = 0 }
/^1\.\.[0-9]+/ { planned = 1; plan = substr($1, 4) + 0 }
/^ok .*# skip/ { ran++; skipped++; if (!skips[reason($0)]++) reasons++; print; fflush(); next }
/^ok / { ran++; passed++ }
/^not ok / { ran++; bad = 1; failed++ }
# A program may fail after its last test.
/^# exit status/ { if (!bad) { failed++; bad = 1 } }
{ print; fflush() }
END {
    settle()
    if (skipped)
        print_skipped()
    if (!passed)
        failed++
    printf "%d passed, %d failed\n", passed, failed
    exit failed > 0
}
