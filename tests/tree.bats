#!/usr/bin/env bats
# shellcheck disable=SC2317 # what stands behind the return of one test is another test
# The shape of the tree: who may include whom, and what stands where.
load helper

setup() {
    not_sanitized "the text of the tree"
    cd "$BATS_TEST_TMPDIR" || return 1
}

# includes FOLDER: "file header" for every quoted include in the folder.
includes() {
    (cd "$ROOT" && grep -rnoE '^ *# *include "[^"]+"' "$1" --include='*.[ch]' --include='*.cu' --include='*.cuh') |
        sed -E 's/^([^:]+):[0-9]+: *# *include "([^"]+)"/\1 \2/'
}

# only FOLDER NAME...: every quoted include of the folder lies beside it or in a folder of lib/ that is named.
only() {
    local folder=$1 file header name good bad=0
    shift
    while read -r file header; do
        good=no
        [ -e "$ROOT/$(dirname "$file")/$header" ] && good=yes
        for name; do
            [[ $header == "$name"/* ]] && good=yes
        done
        [ $good = yes ] || { echo "$file includes $header"; bad=1; }
    done < <(includes "$folder")
    return "$bad"
}

# The folders of lib/LAYERS, lowest first.
layers() {
    awk '/^[a-z]/ { print $1 }' "$ROOT/lib/LAYERS"
}

@test "lib/LAYERS has every folder of lib, and names only folders below" {
    local name allowed below=' '
    # A folder with sources is one of them, or lies in one.
    for name in $(layers); do
        [ -d "$ROOT/lib/$name" ] || { echo "lib/$name is missing"; return 1; }
    done
    while read -r name; do
        layers | grep -qxF -e "$name" -e "${name%/*}" || { echo "$name is not in lib/LAYERS"; return 1; }
    done < <(find "$ROOT/lib" -name '*.[ch]*' -printf '%P\n' | sed 's#/[^/]*$##' | sort -u)
    while read -r name allowed; do
        for folder in $allowed; do
            [[ $below == *" $folder "* ]] || { echo "$name names $folder, which is not below"; return 1; }
        done
        below+="$name "
    done < <(grep '^[a-z]' "$ROOT/lib/LAYERS")
}

@test "a folder of lib includes only what lib/LAYERS lets it, in .c, .h, .cu and .cuh" {
    local name allowed bad=0
    while read -r name allowed; do
        # shellcheck disable=SC2086 # a list of words
        only "lib/$name" $allowed || bad=1
    done < <(grep '^[a-z]' "$ROOT/lib/LAYERS")
    return "$bad"
}

@test "tools include only lib, and nothing of each other but what lies beside them" {
    # shellcheck disable=SC2046 # a list of words
    only tools $(layers)
}

@test "a header that is for its folder alone is included there alone" {
    local header name bad=0
    while read -r header; do
        name=${header#"$ROOT/lib/"}
        ! grep -rn "include \"$name\"" "$ROOT/lib" "$ROOT/tools" || { echo "$name is for its folder alone"; bad=1; }
    done < <(find "$ROOT/lib" -name '*_internal.h')
    return "$bad"
}

@test "every folder of lib has a README of a screen" {
    local name
    for name in $(layers); do
        [ -e "$ROOT/lib/$name/README.md" ] || { echo "lib/$name has none"; return 1; }
        [ "$(wc -l < "$ROOT/lib/$name/README.md")" -le 40 ] || { echo "lib/$name/README.md: more than a screen"; return 1; }
    done
}

@test "no C file includes CUDA, and none but the MPI communicator includes MPI" {
    run -1 grep -rlE '#include *<(cuda|mpi)[^>]*>' "$ROOT/lib" "$ROOT/tools" --include='*.[ch]' --exclude='comm_mpi.c'
}

@test "no tool asks the preprocessor which backends were built" {
    run -1 grep -rnE '^ *# *if.*(CUDA|MPI)' "$ROOT/tools"
}

@test "every header compiles alone" {
    local header
    while read -r header; do
        echo "$header"
        echo "#include \"$header\"" | "${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -I"$ROOT/lib" -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only -xc -
    done < <(grep -rL '(template' "$ROOT/lib" --include='*.h')
}

@test "every source file says its licence in the first line" {
    local file
    while read -r file; do
        head -n 1 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || { echo "$file"; return 1; }
    done < <(find "$ROOT/lib" "$ROOT/tools" "$ROOT/bench" "$ROOT/tests" -name '*.[ch]')
}

@test "no line of C or CUDA has more than 100 columns" {
    run -1 grep -rnE '^.{101}' "$ROOT"/{lib,tools,bench,tests} --include='*.[ch]' --include='*.cu' --include='*.cuh'
}

# errexit, which ends a test at a line that fails, passes over "! COMMAND", and over all of "A && B" but B.
@test "no line of a test asks for something in a way that cannot fail" {
    local ask='(\[ |cmp |diff |grep |near |lat-)'
    run -1 bash -o pipefail -c "cd '$ROOT/tests' && grep -nE '^ +(! |$ask.* && $ask)' *.bats long/*.bats | grep -vE '\|\||&& (return 1|continue)'"
    [ -z "$output" ]
}
