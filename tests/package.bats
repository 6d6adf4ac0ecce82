#!/usr/bin/env bats
# What a package is made of: manual pages, completion, installation, and papers that agree with each other.
load helper

version() {
    sed -n 's/.*LAT_VERSION "\(.*\)"/\1/p' "$ROOT/lib/common/options.h"
}

# All tools; one whose library was not found when it was built (lat-gluon, FFTW) is not there.
tools() {
    local tool
    for tool in "$ROOT"/tools/*/lat-*.c; do
        tool=$(basename "$tool" .c)
        [ ! -x "${LAT_BIN:-$ROOT/bin}/$tool" ] || echo "$tool"
    done
}

# page TOOL: its manual page.
page() {
    local body=$ROOT/docs/man/$1.scd
    [ -e "$body" ] || body=
    "$1" --option-table | awk -f "$ROOT/docs/man/tool.awk" -v version="$(version)" -v body="$body" \
        -v common="$ROOT/docs/man/common.scd" | scdoc
}

# markdown NAME SECTION: the manual page made of docs/NAME.md.
markdown() {
    awk -f "$ROOT/docs/man/markdown.awk" -v page="lat-$1" -v section="$2" -v version="$(version)" "$ROOT/docs/$1.md" | scdoc
}

need_scdoc() {
    command -v scdoc >/dev/null || skip "no scdoc"
}

@test "the manual page of every tool has the options that --help has, with their arguments, and no others" {
    local tool
    need_scdoc
    for tool in $(tools); do
        echo "$tool"
        # Of --help the lines of options, of which "-p, --precision=single|double   of the sweeps" is one.
        "$tool" --help | sed -nE 's/^ {2,6}(-.(, --[^ ]+)?|--[^ ]+)( .*)?$/\1/p' | sort >help
        page "$tool" | sed -nE 's/\\f[BIR]//g; s/\\&//g; s/\\-/-/g; /^-.(, --[^ ]+)?$|^--[^ ]+$/p' | sort >shown
        [ "$(wc -l <help)" -ge 5 ]
        diff help shown
        page "$tool" | grep -q '^.SH EXIT STATUS'
    done
}

@test "the manual page of the format has every word of its description" {
    local name
    need_scdoc
    for name in format gauges conventions; do
        # Markup apart: ** ` | of one, requests and escapes of the other; headings stand in capitals.
        sed -E 's/^#+ //; /^\|[-:| ]+\|$/d; s/\[([^][]*)\]\([^()]*\)/\1/g; s/[`*\\]//g; s/\|/ /g' "$ROOT/docs/$name.md" |
            tr -s ' \n' '\n' | tr '[:upper:]' '[:lower:]' | grep . >text
        markdown "$name" 7 | sed -E '1,/^\.SH NAME/d; s/^\.S[HS] //; /^\./d; s/T[{}]|\t|"//g; s/\\f[BIR]//g; s/\\[&c]//g; s/\\e/\\/g; s/\\(.)/\1/g; s/[*`\\]//g; s/\|/ /g' |
            tr -s ' \n' '\n' | tr '[:upper:]' '[:lower:]' | grep . >page
        sed -i 's/"//g' text
        [ "$(wc -l <text)" -gt 300 ]
        grep -vxF -f page text >missing || true
        [ ! -s missing ] || { echo "$name"; cat missing; return 1; }
    done
}

# complete_line WORD...: what the last word may become, in the order in which it is offered.
complete_line() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _lat_tool "$1"
    printf '%s\n' "${COMPREPLY[@]}"
}

@test "bash completes every option of every tool" {
    local tool
    # shellcheck disable=SC1091
    source "$ROOT/packaging/completion.bash"
    for tool in $(tools); do
        "$tool" --help | grep -oE '^ {2,6}(-., )?--[a-z0-9-]+' | grep -oE -- '--.*' | sort >help
        complete_line "$tool" -- | sed 's/[= ]*$//' | sort >offered
        diff help offered
    done
}

@test "bash completes choices after a blank, after = and after a letter, and names of files" {
    # shellcheck disable=SC1091
    source "$ROOT/packaging/completion.bash"
    [ "$(complete_line lat-theta --gauge '' | xargs)" = "landau coulomb mag" ]
    [ "$(complete_line lat-theta --gauge =)" = "$(complete_line lat-theta --gauge '')" ]
    [ "$(complete_line lat-theta --gauge = c)" = "coulomb " ]
    [ "$(complete_line lat-orelax -p m)" = "mixed " ]
    [ "$(complete_line lat-start h)" = "hot " ]
    [ "$(complete_line lat-theta --req)" = "--require-theta=" ]
    touch cfg.lat
    mkdir raw
    [ "$(complete_line lat-theta cf)" = "cfg.lat " ]
    [ "$(complete_line lat-orelax --log r)" = "raw/" ]
    [ -z "$(complete_line lat-orelax --seed '')" ]
}

@test "zsh reads its completion" {
    command -v zsh >/dev/null || skip "no zsh"
    zsh -n "$ROOT/packaging/completion.zsh"
}

# Everything that make install does once there are tools and pages.
installed() {
    local tool
    mkdir -p pages
    for tool in $(tools); do
        if command -v scdoc >/dev/null; then page "$tool" >"pages/$tool.1"; else echo .TH x 1 >"pages/$tool.1"; fi
    done
    # shellcheck disable=SC2046 # a list of words
    DESTDIR=$PWD/stage "$ROOT/setup/install" "$1" "$(version)" "${LAT_BIN:-$ROOT/bin}" "$PWD/pages" $(tools)
}

@test "what is installed works where it is, and uninstall takes away exactly that" {
    local prefix="/opt/my lat" top tool
    top="$PWD/stage$prefix"
    mkdir -p "$top/bin" "$top/share/man/man1"
    touch "$top/bin/other" "$top/share/man/man1/other.1"
    find stage | sort >before
    installed "$prefix"
    find stage | sort >first
    installed "$prefix" # over an older one
    find stage | sort | diff first -
    for tool in $(tools); do
        [ "$(env -i "$top/bin/$tool" --version | head -n 1)" = "$tool $(version)" ]
        [ -s "$top/share/man/man1/$tool.1" ]
        bash -c 'source "$1" && complete -p "$2"' - "$top/share/bash-completion/completions/$tool" "$tool" | grep -q _lat_tool
        grep -q "^#compdef.* $tool\b" "$top/share/zsh/site-functions/_lat"
    done
    grep -qxF "set prefix {$prefix}" "$top/share/lat/modulefiles/lat/$(version)"
    env -i PATH="$top/bin:/usr/bin:/bin" lat-start cold -d 4,4 -o cold.lat
    PATH=$top/bin:/usr/bin:/bin STEPS=2 bash "$top/share/lat/pipelines/landau.sh" cold.lat fixed.lat
    [ -s fixed.lat ]
    PATH=$top/bin:/usr/bin:/bin bash "$top/share/lat/pipelines/quickstart.sh" cold.lat quick.lat
    [ -s quick.lat ]
    diff -r "$ROOT/pipelines" "$top/share/lat/pipelines"
    DESTDIR=$PWD/stage "$ROOT/setup/install" "$prefix"
    find stage | sort | diff before -
}

@test "a file that somebody else put into an installed folder stays, and its folder" {
    installed /usr
    touch stage/usr/share/lat/pipelines/mine.sh
    DESTDIR=$PWD/stage "$ROOT/setup/install" /usr
    [ "$(find stage -type f)" = stage/usr/share/lat/pipelines/mine.sh ]
}

@test "version and date are the same wherever they stand" {
    local version date
    version=$(version)
    date=$(sed -n "s/^## $version (\(.*\))/\1/p" "$ROOT/CHANGELOG.md")
    [ -n "$date" ]
    grep -qx "version: $version" "$ROOT/CITATION.cff"
    grep -qx "date-released: $date" "$ROOT/CITATION.cff"
    head -n 1 "$ROOT/debian/changelog" | grep -qF "($version"
    grep -qF "version(\"$version\"" "$ROOT/packaging/spack/package.py"
    python3 -c 'compile(open(__import__("sys").argv[1]).read(), "package.py", "exec")' "$ROOT/packaging/spack/package.py"
}

@test "every tool stands in the README, and every page it and the others link to is there" {
    local tool file link
    for tool in $(tools); do
        grep -qF "| \`$tool\` |" "$ROOT/README.md" || { echo "README.md: no line for $tool"; return 1; }
    done
    for file in "$ROOT"/*.md "$ROOT"/docs/*.md; do
        while IFS= read -r link; do
            [ -e "$(dirname "$file")/$link" ] || { echo "$file: $link"; return 1; }
        done < <(grep -oE '\]\([^()# ]+' "$file" | sed 's/^](//' | grep -v '^https\?:')
    done
}
