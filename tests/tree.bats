#!/usr/bin/env bats
# The shape of the tree: who may include whom, and what stands where.
load helper

# includes FOLDER: "file: header" for every quoted include in the folder.
includes() {
    (cd "$ROOT" && grep -rnoE '^#include "[^"]+"' "$1" --include='*.[ch]' --include='*.cu') |
        sed -E 's/^([^:]+):[0-9]+:#include "([^"]+)"/\1 \2/'
}

# own FILE HEADER: the header lies beside the file.
own() {
    [ -e "$ROOT/$(dirname "$1")/$2" ]
}

# only FOLDER PREFIX...: every quoted include of the folder is beside it or begins with a prefix.
only() {
    local folder=$1 file header prefix good bad=0
    shift
    while read -r file header; do
        good=no
        own "$file" "$header" && good=yes
        for prefix; do
            [[ $header == "$prefix"/* ]] && good=yes
        done
        [ $good = yes ] || { echo "$file includes $header"; bad=1; }
    done < <(includes "$folder")
    return $bad
}

@test "lib/site includes nothing of ours but itself" {
    only lib/site
}

@test "lib/comm and lib/common include only each other and lib/site" {
    only lib/comm common
    only lib/common common comm site
}

@test "lib/backend includes only lib/common, lib/comm and lib/site beside itself" {
    only lib/backend common comm site
}

@test "tools include only lib, and nothing of each other but what lies beside them" {
    only tools common comm site backend fixing
}

@test "lib/fixing, the run that fixing tools share, includes the layers below" {
    only lib/fixing common comm site backend
}

@test "only cuda.cu knows CUDA, and only the MPI communicator knows MPI" {
    run -1 grep -rlE '#include *<(cuda|mpi)[^>]*>' "$ROOT/lib" "$ROOT/tools" --include='*.[ch]' --exclude='comm_mpi.c'
}

@test "no tool asks the preprocessor which backends were built" {
    run -1 grep -rnE '^ *# *if.*(CUDA|MPI)' "$ROOT/tools"
}

@test "every header compiles alone" {
    local header
    for header in "$ROOT"/lib/common/*.h "$ROOT"/lib/fixing/*.h "$ROOT"/lib/comm/*.h "$ROOT"/lib/backend/{backend,fourier,generate,host,lanes,layout,links}.h "$ROOT"/lib/site/{random,sun}.h; do
        echo "$header"
        echo "#include \"$header\"" | "${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -I"$ROOT/lib" -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only -xc -
    done
}

@test "every source file says its licence in the first line" {
    local file
    while read -r file; do
        head -n 1 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || { echo "$file"; return 1; }
    done < <(find "$ROOT/lib" "$ROOT/tools" "$ROOT/bench" "$ROOT/tests" -name '*.[ch]')
}

@test "every test that docs/robustness.md names is there, with the words that it quotes" {
    local name words file n=0
    # shellcheck disable=SC2016 # backquotes
    while read -r name words; do
        file=$(find "$ROOT/tests" -name "$name" -o -name "$name.c" | head -n 1)
        [ -n "$file" ] || { echo "no $name"; return 1; }
        [ -z "$words" ] || grep -qF "$words" "$file" || { echo "no '$words' in $name"; return 1; }
        n=$((n + 1))
    done < <(grep -oE '`(check_[a-z]+|[a-z]+\.bats)`( \("[^"]+")?' "$ROOT/docs/robustness.md" | sed 's/`//g; s/ ("/ /; s/"$//')
    [ "$n" -ge 25 ]
}
