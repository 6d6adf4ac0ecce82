# shellcheck shell=bash
# For the tests of lat-convert: `load formats` after `load helper`. CHECK and MAKE have no line of our code.
CHECK=$BATS_TEST_DIRNAME/check_foreign.py
MAKE=$BATS_TEST_DIRNAME/make_foreign.py
export CHECK MAKE PYTHONDONTWRITEBYTECODE=1

# number KEY STREAM, from lat-info's text
number() {
    lat-info "$2" | awk -v key="$1" 'index($0, key) == 1 { print $NF }'
}

crc() { number crc-32 "$1"; }

# same A B: identical links, as two streams.
same() {
    local a b
    a=$(crc "$1")
    b=$(crc "$2")
    if [ -z "$a" ] || [ "$a" != "$b" ]; then
        echo "$1 ($a) and $2 ($b) differ"
        return 1
    fi
}

# refused PHRASE ARGUMENTS...: exit 1, one line that has the phrase, nothing on stdout, no file.
refused() {
    local phrase=$1
    shift
    run --separate-stderr -1 lat-convert "$@" -o never
    [ -z "$output" ]
    # shellcheck disable=SC2154
    [ "${#stderr_lines[@]}" -eq 1 ]
    # shellcheck disable=SC2154
    [[ $stderr == "lat-convert: "*"$phrase"* ]] || { echo "said: $stderr"; echo "expected: $phrase"; return 1; }
    [ ! -e never ]
    nothing_left
}
