# shellcheck shell=bash
# For the tests of lat-convert: `load formats` after `load helper`. CHECK and MAKE have no line of our code.
CHECK=$BATS_TEST_DIRNAME/check_foreign.py
MAKE=$BATS_TEST_DIRNAME/make_foreign.py
export CHECK MAKE PYTHONDONTWRITEBYTECODE=1

# number KEY STREAM, from lat-info's text
number() {
    lat-info "$2" | awk -v key="$1" 'index($0, key) == 1 { print $NF }'
}

# manifest FOLDER: of each file of a collection name, extents, plaquette, link trace, crc and options, from MANIFEST.tsv, whose
# first line names the columns; "-" for a column that is not there.
manifest() {
    awk -F'\t' -v OFS='\t' -v want='file dims_xyzt plaquette_computed linktrace_computed crc options' '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, name, " "); next }
        { for (i = 1; i <= n; i++) printf "%s%s", at[name[i]] && $at[name[i]] != "" ? $at[name[i]] : "-", i < n ? OFS : "\n" }' "$1/MANIFEST.tsv"
}

# extents STREAM: 4x6x2x8
extents() {
    lat-info "$1" | awk '/^lattice/ { gsub(",", "", $5); print $2 "x" $3 "x" $4 "x" $5 }'
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
