#!/usr/bin/env bats
# tests/run and tests/closing.awk: which tests run, how they are counted, and what is a failure.
# shellcheck disable=SC2154  # status and lines are set by run
load helper

close_with() {
    awk -f "$ROOT/tests/closing.awk" "$@"
}

# check NAME LINE...: a check program that prints these lines.
check() {
    local name=$1
    shift
    { echo '#!/bin/sh'; printf "echo '%s'\n" "$@"; } > "$name"
    chmod +x "$name"
}

@test "the last lines of a run count skipped tests by reason, and passed and failed ones" {
    cat > tap <<'END'
# a.bats
1..4
ok 1 one
ok 2 two # skip no GPU here
ok 3 three # skip
ok 4 four # skip no GPU here
# check_b
ok 1 - five # skip built without CUDA
ok 2 - six
1..2
END
    run -0 close_with tap
    [ "${lines[-5]}" = "# 4 skipped:" ]
    [ "${lines[-4]}" = "#     2  no GPU here" ]
    [ "${lines[-3]}" = "#     1  built without CUDA" ]
    [ "${lines[-2]}" = "#     1  no reason given" ]
    [ "${lines[-1]}" = "2 passed, 0 failed" ]
    printf '%s\n' '# a.bats' '1..1' 'ok 1 one' > tap
    run -0 close_with tap
    [ "${lines[-1]}" = "1 passed, 0 failed" ]
    [ "${#lines[@]}" = 4 ]
}

@test "a test that fails, that does not run, a program without a plan and one that dies count as failed" {
    printf '%s\n' '# a.bats' '1..2' 'ok 1 one' 'not ok 2 two' > failed
    printf '%s\n' '# a.bats' '1..3' 'ok 1 one' > few
    printf '%s\n' '# check_a' 'ok 1 - one' > none
    printf '%s\n' '# check_a' 'ok 1 - one' '1..1' '# exit status 139' > died
    printf '%s\n' '# a.bats' '1..1' 'ok 1 one # skip all' > nothing
    run -1 close_with failed
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
    run -1 close_with few
    [ "${lines[-1]}" = "1 passed, 2 failed" ]
    run -1 close_with none
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
    run -1 close_with died
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
    run -1 close_with nothing
    [ "${lines[-1]}" = "0 passed, 1 failed" ]
}

@test "LAT_TESTS names tests, or has patterns of them" {
    mkdir bin
    check check_one_a 'ok 1 - a' '1..1'
    check check_one_b 'ok 1 - b' '1..1'
    check check_two 'not ok 1 - c' '1..1'
    LAT_TESTS='check_one_*' run -0 "$ROOT/tests/run" bin ./check_one_a ./check_one_b ./check_two
    [ "${lines[-1]}" = "2 passed, 0 failed" ]
    LAT_TESTS='check_one_b check_two' run -1 "$ROOT/tests/run" bin ./check_one_a ./check_one_b ./check_two
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
    LAT_TESTS='check_one' run -1 "$ROOT/tests/run" bin ./check_one_a ./check_one_b
    [ "${lines[-1]}" = "0 passed, 1 failed" ]
}
