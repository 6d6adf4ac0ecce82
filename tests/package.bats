#!/usr/bin/env bats
# Purpose: manual pages, completion and installation are complete, and the version is the same in all files.
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

@test "manual pages in git are those that make man makes, and have no warning" {
    command -v scdoc >/dev/null || skip "no scdoc"
    local page
    mkdir made
    "$ROOT/docs/man/make-pages" "${LAT_BIN:-$ROOT/bin}" made
    [ "$(find made -type f | wc -l)" -ge 16 ] # all but that of lat-gluon, if there is no FFTW
    for page in made/*; do
        cmp "$page" "$ROOT/docs/man/pages/${page##*/}" || { echo "out of date: run make man"; return 1; }
        ! command -v mandoc >/dev/null || mandoc -T lint -W warning "$page"
    done
    # None of a tool that is gone.
    find "$ROOT/docs/man/pages" -name '*.1' | sed 's|.*/||; s|\.1$||' | sort >paged
    find "$ROOT/tools" -name 'lat-*.c' | sed 's|.*/||; s|\.c$||' | sort | diff - paged
}

@test "the manual page of every tool has the options that --help has, with their arguments, and no others" {
    local tool page
    for tool in $(tools); do
        page=$ROOT/docs/man/pages/$tool.1
        echo "$tool"
        # Of --help the lines of options, of which "-p, --precision=single|double   of the sweeps" is one.
        "$tool" --help | sed -nE 's/^ {2,6}(-.(, --[^ ]+)?|--[^ ]+)( .*)?$/\1/p' | sort >help
        sed -nE 's/\\f[BIR]//g; s/\\&//g; s/\\-/-/g; /^-.(, --[^ ]+)?$|^--[^ ]+$/p' "$page" | sort >shown
        [ "$(wc -l <help)" -ge 5 ]
        diff help shown
        grep -q '^.SH EXIT STATUS' "$page"
    done
}

@test "the manual page of the format has every word of its description" {
    local name
    for name in format gauges conventions; do
        # Markup apart: ** ` | of one, requests and escapes of the other; headings stand in capitals.
        sed -E 's/^#+ //; /^\|[-:| ]+\|$/d; s/\[([^][]*)\]\([^()]*\)/\1/g; s/[`*\\]//g; s/\|/ /g' "$ROOT/docs/$name.md" |
            tr -s ' \n' '\n' | tr '[:upper:]' '[:lower:]' | grep . >text
        sed -E '1,/^\.SH NAME/d; s/^\.S[HS] //; /^\./d; s/T[{}]|\t|"//g; s/\\f[BIR]//g; s/\\[&c]//g; s/\\e/\\/g; s/\\(.)/\1/g; s/[*`\\]//g; s/\|/ /g' "$ROOT/docs/man/pages/lat-$name".[57] |
            tr -s ' \n' '\n' | tr '[:upper:]' '[:lower:]' | grep . >page
        sed -i 's/"//g' text
        [ "$(wc -l <text)" -gt 300 ]
        grep -vxF -f page text >missing || true
        [ ! -s missing ] || { echo "$name"; cat missing; return 1; }
    done
}

@test "a letter is the same option in all tools, and an option has the same letter" {
    local tool
    for tool in $(tools); do
        "$tool" --option-table | awk -F'\t' -v t="$tool" '$1 == "option" && $3 != "-" && $4 != "-" { print $3, $4, t }'
    done >letters
    [ "$(wc -l <letters)" -gt 60 ]
    awk '{ if ($1 in name && name[$1] != $2) { print "-" $1 ": --" name[$1] " of " tool[$1] ", --" $2 " of " $3; bad = 1 }
           if ($2 in letter && letter[$2] != $1) { print "--" $2 ": -" letter[$2] ", -" $1 " of " $3; bad = 1 }
           name[$1] = $2; tool[$1] = $3; letter[$2] = $1 }
         END { exit bad }' letters
}

@test "lat(7) names every tool, exit status and variable of the environment, and says how to cite and report" {
    local page=$ROOT/docs/man/pages/lat.7 tool word
    for tool in $(tools); do grep -q "^\\\\fB$tool\\\\fR(1)" "$page"; done
    for word in "INPUT AND OUTPUT" "EXIT STATUS" ENVIRONMENT REPORTING AUTHORS COPYING; do grep -qE "^\.SH \"?$word" "$page"; done
    # Those that the programs ask for, but those of batch systems and MPI.
    grep -rhoE 'getenv\("[A-Z_]+"\)' "$ROOT/lib" "$ROOT/tools" | cut -d'"' -f2 | grep -E '^(LAT_|TMPDIR|OMP_|GOMP_)' | sort -u >asked
    [ "$(wc -l <asked)" -ge 5 ]
    while read -r word; do
        sed 's/\\&//g; s/\\//g' "$page" | grep -q "$word" || { echo "lat(7) does not name $word"; return 1; }
    done <asked
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

@test "lat lists every tool, runs it by its name, says what it does, and guesses at names that are misspelt" {
    local tool bin=${LAT_BIN:-$ROOT/bin}
    "$bin/lat" >list
    for tool in $(tools); do grep -q "^  lat ${tool#lat-} " list || { echo "lat does not list $tool"; return 1; }; done
    "$bin/lat" help | cmp - list
    run -1 grep -n '.\{80\}' list
    "$bin/lat" start cold -d 4,4 | "$bin/lat" theta --tsv >t.tsv
    [ "$(field t.tsv plaquette)" = 1 ]
    "$bin/lat" help theta | cmp - <(lat-theta --help)
    "$bin/lat" help lat-theta | cmp - <(lat-theta --help)
    "$bin/lat" fix --help | cmp - <(lat-orelax --help)
    for tool in orlax orelaxx roelax; do refuses 2 "lat: there is no tool '$tool' (did you mean orelax?)" "$bin/lat" $tool --help; done
    refuses 2 "lat: there is no tool 'fixx' (did you mean fix?)" "$bin/lat" fixx
    refuses 2 "lat: there is no tool 'nothing': lat lists them" "$bin/lat" nothing
    refuses 2 "lat: there is no tool 'doctr' (did you mean doctor?)" "$bin/lat" doctr
    refuses 2 "lat: there is no tool or subject 'precison' (did you mean precision?)" "$bin/lat" help precison
    refuses 2 "lat: there is no tool '../bin/lat-theta'" "$bin/lat" ../bin/lat-theta
    # shellcheck disable=SC1091
    source "$ROOT/packaging/completion.bash"
    [ "$(COMP_WORDS=(lat ore) COMP_CWORD=1; PATH=$bin:$PATH _lat lat; echo "${COMPREPLY[@]}")" = "orelax " ]
    [ "$(COMP_WORDS=(lat theta --req) COMP_CWORD=2; PATH=$bin:$PATH _lat lat; echo "${COMPREPLY[@]}")" = "--require-theta=" ]
    [ "$(COMP_WORDS=(lat help gaug) COMP_CWORD=2; PATH=$bin:$PATH _lat lat; echo "${COMPREPLY[@]}")" = "gauge-fixing  gauge " ]
}

@test "lat help SUBJECT prints every subject, whose sources, channels and steps of smearing are what the tools accept" {
    local bin=${LAT_BIN:-$ROOT/bin} name text
    "$bin/lat" --subjects >names
    [ "$(wc -l <names)" -ge 10 ]
    while read -r name; do
        "$bin/lat" help "$name" >text
        tr '\n' ' ' <text | grep -qE 'More: [^ ].*\.md'
        [ "$(grep -c '^[A-Z, ]*$' text)" -ge 1 ]
        run -1 grep -nE '`|^## |.{80}' text
        # What it refers to is there.
        for text in $(grep -oE 'docs/[a-z]+\.md' text) $(grep -oE 'lat(-[a-z]+)?\([157]\)' text | sed 's|^|docs/man/pages/|; s/(/./; s/)//'); do
            [ -e "$ROOT/$text" ] || { echo "$name: no $text"; return 1; }
        done
    done <names
    "$bin/lat" help gauge fixing | cmp - <("$bin/lat" help gauge-fixing)
    "$bin/lat" help sources | sed -n 's/^    \([a-z][^ ]*\).*/\1/p' >texts
    [ "$(wc -l <texts)" -eq 7 ]
    lat-start weak --dims 4,4,4,16 -o u.lat
    lat-solve --kappa .1 --source point:0,0,0,0 u.lat -o prop.lat
    while read -r name; do
        if [[ $name == sequential* ]]; then lat-source "$name" prop.lat >made; else lat-source --force "$name" u.lat >made; fi
    done <texts
    "$bin/lat" help channels | sed -n 's/^    \([a-z][^ ]*\).*/\1/p' >lists
    [ "$(wc -l <lists)" -eq 4 ]
    while read -r name; do lat-corr --channels "$name" prop.lat >made; done <lists
}

@test "lat doctor says what is there, and fails if a tool is of another version or does not work" {
    local bin=${LAT_BIN:-$ROOT/bin}
    need_mpi
    "$bin/lat" doctor >said
    grep -q "^tools: .*$(lat-info --version | sed -n '1s/.* //p')" said
    grep -q '^cpu: *works: cpu' said
    grep -q '^ranks: *works' said
    grep -q '^formats: *[0-9]* are read' said
    mkdir other
    cp "$bin"/lat* other/
    printf '#!/bin/sh\necho lat-theta 9.9\n' >other/lat-theta
    run -1 other/lat doctor
    [[ $output == *"tools:     FAILED: of several versions: "*9.9* ]]
    cp "$bin/lat-theta" other
    # shellcheck disable=SC2016 # $1 is that of the script
    printf '#!/bin/sh\n[ "$1" != --version ] || exec "%s" --version\necho broken >&2\nexit 1\n' "$bin/lat-orelax" >other/lat-orelax
    run -1 other/lat doctor
    [[ $output == *"cpu:       FAILED: broken"* ]]
    rm other/lat-orelax
    run -1 other/lat doctor
    refuses 2 "lat: doctor: expected no argument, found 'now'" "$bin/lat" doctor now
}

@test "an interactive bash completes names of files with blanks and quotes in them" {
    mkdir 'my folder'
    touch 'x y.lat' "q'.lat"
    python3 - "$ROOT/packaging/completion.bash" <<'END'
import os, pty, select, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execlp("bash", "bash", "--norc", "--noprofile", "-i")
said = b""
def wait(expected):
    global said
    end = time.time() + 30
    while expected not in said:
        assert time.time() < end and select.select([terminal], [], [], 30)[0], (expected, said)
        said += os.read(terminal, 4096)
def type(keys, expected):
    global said
    said = b""
    os.write(terminal, keys)
    wait(expected)
    os.write(terminal, b"\x15") # away with the line
type(b"PS1='$ '; source '%s'; complete -o nospace -F _lat_tool lat-info; echo re''ady\n" % sys.argv[1].encode(), b"ready\r\n")
type(b"lat-info x\t", b"x\\ y.lat ")
type(b'lat-info "x\t', b'"x y.lat" ')
type(b"lat-info my\\ \t", b"my\\ folder/")
type(b"lat-info q\t", b"q\\'.lat ")
type(b"lat-info --js\t", b"--json ")
os.kill(pid, 9)
END
}

@test "zsh reads its completion" {
    command -v zsh >/dev/null || skip "no zsh"
    zsh -n "$ROOT/packaging/completion.zsh"
}

# Everything that make install does once there are tools.
installed() {
    # shellcheck disable=SC2046 # a list of words
    DESTDIR=$PWD/stage "$ROOT/setup/install" "$1" "$(version)" "${LAT_BIN:-$ROOT/bin}" $(tools)
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
    env -i PATH=/usr/bin:/bin "$top/bin/lat" | grep -q '^  lat theta '
    grep -q "^#compdef lat " "$top/share/zsh/site-functions/_lat"
    bash -c 'source "$1" && complete -p lat' - "$top/share/bash-completion/completions/lat" | grep -q '_lat lat'
    for tool in $(tools); do
        [ "$(env -i "$top/bin/$tool" --version | head -n 1)" = "$tool $(version)" ]
        [ -s "$top/share/man/man1/$tool.1" ]
        bash -c 'source "$1" && complete -p "$2"' - "$top/share/bash-completion/completions/$tool" "$tool" | grep -q _lat_tool
        grep -q "^#compdef.* $tool\b" "$top/share/zsh/site-functions/_lat"
    done
    grep -qxF "set prefix {$prefix}" "$top/share/lat/modulefiles/lat/$(version)"
    # shellcheck disable=SC2016 # as it stands in the file
    grep -qxF 'prepend-path PYTHONPATH $prefix/share/lat/python' "$top/share/lat/modulefiles/lat/$(version)"
    env -i PATH="$top/bin:/usr/bin:/bin" lat-start cold -d 4,4 -o cold.lat
    PATH=$top/bin:/usr/bin:/bin STEPS=2 bash "$top/share/lat/pipelines/landau.sh" cold.lat fixed.lat
    [ -s fixed.lat ]
    PATH=$top/bin:/usr/bin:/bin bash "$top/share/lat/pipelines/quickstart.sh" cold.lat quick.lat
    [ -s quick.lat ]
    diff -r "$ROOT/pipelines" "$top/share/lat/pipelines"
    diff -r -x __pycache__ "$ROOT/python/lat" "$top/share/lat/python/lat"
    if (need_numpy); then
        need_numpy
        PYTHONPATH=$top/share/lat/python "$PYTHON" -m lat cold.lat | grep -q '^  dims *4 4$'
    fi
    DESTDIR=$PWD/stage "$ROOT/setup/install" "$prefix"
    find stage | sort | diff before -
}

@test "what is installed can be used by others, whatever the umask and the name of the folder" {
    local prefix="/opt/a|b&c" version
    version=$(version)
    umask 077
    installed "$prefix"
    [ -z "$(find "stage$prefix" ! -type l ! -perm -004)" ]
    [ -z "$(find "stage$prefix" -type d ! -perm -005)" ]
    grep -qxF "set prefix {$prefix}" "stage$prefix/share/lat/modulefiles/lat/$version"
    grep -q "lat $version:" "stage$prefix/share/lat/modulefiles/lat/$version"
    # A module file has no use for a name that holds in one folder alone.
    mkdir -p "here/setup" && cp "$ROOT/setup/install" here/setup && cp -r "$ROOT"/{docs,packaging,pipelines,python,README.md,CHANGELOG.md,CITATION.cff,LICENSE} here
    # shellcheck disable=SC2046 # a list of words
    here/setup/install in "$version" "${LAT_BIN:-$ROOT/bin}" $(tools) >said
    grep -qxF "$PWD/here/in/bin is not in PATH yet: PATH=$PWD/here/in/bin:\$PATH" said
    # shellcheck disable=SC2046 # a list of words
    [ -z "$(PATH=$PATH:$PWD/here/in/bin here/setup/install in "$version" "${LAT_BIN:-$ROOT/bin}" $(tools))" ]
    grep -qxF "set prefix {$PWD/here/in}" "here/in/share/lat/modulefiles/lat/$version"
    here/setup/install in
    [ -z "$(find here/in -type f)" ]
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
    grep -qx "__version__ = \"$version\"" "$ROOT/python/lat/__init__.py"
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
