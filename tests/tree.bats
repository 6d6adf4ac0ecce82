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
        [ -e "$ROOT/${file%/*}/$header" ] && good=yes
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
    done < <(find "$ROOT/lib" -mindepth 2 -name '*.[ch]*' -printf '%P\n' | sed 's#/[^/]*$##' | sort -u)
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
        only "lib/$name" "$name" $allowed || bad=1
    done < <(grep '^[a-z]' "$ROOT/lib/LAYERS")
    return "$bad"
}

# What a folder may include, and what these may, and so on.
all_below() {
    local name allowed folder
    while read -r name allowed; do
        [ "$name" = "$1" ] || continue
        for folder in $allowed; do
            echo "$folder"
            all_below "$folder"
        done
    done < <(grep '^[a-z]' "$ROOT/lib/LAYERS")
}

@test "code that certifies sees no operator and no solver, however far below" {
    run all_below certify
    [ "${#lines[@]}" -gt 5 ]
    for folder in dirac solve modes overlap ghost fix generate; do
        [[ " ${lines[*]} " != *" $folder "* ]] || { echo "certify includes $folder"; return 1; }
    done
}

@test "Krylov solvers see vectors and no operator, however far below" {
    run all_below solve
    [ "${#lines[@]}" -gt 5 ]
    for folder in dirac wilson overlap ghost; do
        [[ " ${lines[*]} " != *" $folder "* ]] || { echo "solve includes $folder"; return 1; }
    done
}

@test "tools include only lib, and nothing of each other but what lies beside them" {
    # shellcheck disable=SC2046 # a list of words
    only tools $(layers)
}

@test "a header that is for its folder alone is included there alone" {
    local header name bad=0
    while read -r header; do
        name=${header#"$ROOT/lib/"}
        ! grep -rn "include \"$name\"" "$ROOT/lib" "$ROOT/tools" | grep -v -e "^$ROOT/lib/${name%%/*}/" -e "^$ROOT/lib/not_built.c:" || { echo "$name is for its folder alone"; bad=1; }
    done < <(find "$ROOT/lib" -name '*_internal.h')
    return "$bad"
}

@test "every folder of lib has a README of at most 60 lines, a screen" {
    local name
    for name in $(layers); do
        [ -e "$ROOT/lib/$name/README.md" ] || { echo "lib/$name has none"; return 1; }
        [ "$(wc -l < "$ROOT/lib/$name/README.md")" -le 60 ] || { echo "lib/$name/README.md: more than a screen"; return 1; }
    done
}

@test "a README of lib that lists what its folder may include lists what lib/LAYERS has" {
    local name allowed listed bad=0
    while read -r name allowed; do
        # shellcheck disable=SC2016 # backquotes
        listed=$(tr '\n' ' ' <"$ROOT/lib/$name/README.md" | grep -oP 'ay include(\*\*:)? *\K[^.;:]*' |
            grep -oE '`[a-z/]+`' | tr -d '`' | sort | xargs)
        [ -z "$listed" ] || [ "$listed" = "$(xargs -n 1 <<< "$allowed" | sort | xargs)" ] ||
            { echo "lib/$name/README.md: expected $allowed, found $listed"; bad=1; }
    done < <(grep '^[a-z]' "$ROOT/lib/LAYERS")
    return "$bad"
}

@test "no C file includes CUDA, and none but the MPI communicator includes MPI" {
    run -1 grep -rnE '^ *# *include *[<"](cuda|cufft|cub|mpi)[a-z_/]*\.(h|cuh)[>"]' "$ROOT"/{lib,tools,bench} --include='*.[ch]' \
        --exclude=comm_mpi.c
}

@test "memory of a GPU is taken and given back in one file" {
    # cudaFree(NULL) makes the context.
    run -1 grep -rnE 'cuda(Malloc|MallocAsync|Free|FreeAsync)\(' "$ROOT/lib" --include='*.cu' --include='*.cuh' --exclude=cuda_memory.cu --exclude=cuda_device.cu
    [ "$(grep -cE 'cuda(Malloc|MallocAsync|Free|FreeAsync)\(' "$ROOT/lib/grid/cuda_device.cu")" -eq 1 ]
}

@test "no tool asks the preprocessor which backends were built" {
    run -1 grep -rnE '^ *# *if.*(CUDA|MPI)' "$ROOT/tools"
}

@test "every header compiles alone" {
    local header
    while read -r header; do
        echo "$header"
        echo "#include \"$header\"" | "${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -I"$ROOT/lib" -Wall -Wextra -Werror -Wno-unused-function -Wno-psabi -fsyntax-only -xc -
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

@test "the size gates of make lint see functions, parameters, files and lines that are too large, and no others" {
    mkdir -p tests lib tools bench
    ln -s "$ROOT/tests/gates" tests
    run -0 tests/gates
    {
        printf '#ifdef A\nint a(void)\n{\n#ifdef B\n    if (1) {\n#else\n    {\n#endif\n    }\n}\n#else\n'
        printf 'int f(int a, int b, int c, int d, int e, int g, int h, int i, int (*j)(int, int))\n{\n'
        yes '    a++; /* } */' | head -n 58
        printf '    return "}";\n}\n#endif\nstatic const int list[] = {\n'
        yes '    1,' | head -n 80
        printf '};\n'
    } >lib/a.c
    {
        printf 'template <class T> struct x {\n    T t;\n};\nstruct y {\n    void operator()(int i) const\n    {\n'
        yes '        i++;' | head -n 58
        printf '    }\n};\nstatic __device__ x<int> LAT_(g)(int i = 1)\n{\n'
        yes '    i++;' | head -n 57
        printf '}\n%0101d\n' 0
        yes '' | head -n 375
    } >bench/b.cu
    tests/gates | grep -v ': layout' | tee found
    diff found - <<'END'
gates: bench/b.cu: operator(): 61 lines, expected at most 60
gates: bench/b.cu: 502 lines, expected at most 500
gates: bench/b.cu:127: 101 columns, expected at most 100
gates: lib/a.c: f: 62 lines, expected at most 60
gates: lib/a.c: f: 9 parameters, expected at most 8
END
}

@test "no word that the glossary has retired is in code or docs, except where it says why" {
    local words passes word file bad=0
    # The rows of its last table: words, and phrases that may stay.
    while IFS='|' read -r _ words _ passes _; do
        local phrases=()
        # shellcheck disable=SC2016 # backquotes
        while read -r word; do
            phrases+=(-e "s/${word// /[ _]}//Ig")
        done < <(grep -oE '`[^`]+`' <<< "$passes" | tr -d '`')
        for word in ${words//,/ }; do
            (cd "$ROOT" && grep -rniE "(^|[^a-z])${word}(s|ed|ing)?([^a-z]|$)" lib tools docs README.md CONTRIBUTING.md \
                --include='*.c' --include='*.h' --include='*.cu' --include='*.cuh' --include='*.md' --include='*.scd') |
                grep -v '^docs/glossary.md' | sed -E -e 's/^([^:]+:[0-9]+:)/\1 /' "${phrases[@]}" |
                grep -iE "(^|[^a-z])${word}(s|ed|ing)?([^a-z]|$)" && { echo "$word: see docs/glossary.md"; bad=1; }
        done
    done < <(sed -n '/^## Words that we do not use/,$p' "$ROOT/docs/glossary.md" | grep -E '^\| [a-z]' | grep -v '^| not ')
    return "$bad"
}
