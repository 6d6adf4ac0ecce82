# Reads TAP streams one after the other, shows them, and closes with "N passed, N failed".
# Tests that a plan promised and that never ran count as failed, and so does a program that
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
/^# check_|^# [a-z_]+\.bats$/ { settle(); name = $2; planned = ran = plan = bad = 0 }
/^1\.\.[0-9]+/ { planned = 1; plan = substr($1, 4) + 0 }
/^ok / { ran++; if ($0 ~ /# skip/) skipped++; else passed++ }
/^not ok / { ran++; bad = 1; failed++ }
# A program may fail after its last test.
/^# exit status/ { if (!bad) { failed++; bad = 1 } }
{ print; fflush() }
END {
    settle()
    if (skipped)
        print "# " skipped " skipped"
    if (!passed)
        failed++
    printf "%d passed, %d failed\n", passed, failed
    exit failed > 0
}
