#!/usr/bin/env bats
# Purpose: docs/robustness.md holds of running tools: long streams, hostile headers and names, shared folders. Beside this file
# stand check_stream_damage (flips, cuts), check_io_paths (links, permissions), check_fuzz and check_faults.
# shellcheck disable=SC2154,SC2016  # run sets stderr; what is not to be expanded is meant so
load helper

# peak COMMAND...: runs it, and appends the most memory it had, in KiB, to the file `peaks`. (Python's own 13 MiB are the least
# that it can tell; GNU time is small.)
peak() {
    if type -P time >/dev/null; then
        "$(type -P time)" -a -o peaks -f "%M $1" "$@"
    else
        python3 -c 'import os, resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
fd = os.open("peaks", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
os.write(fd, b"%d %s\n" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, sys.argv[1].encode()))
sys.exit(code)' "$@"
    fi
}

# stages N: so many configurations of four sites through four tools; prints how many have come out.
stages() {
    rm -f peaks
    peak lat-start hot --dims 2,2 --group 2 --count "$1" | peak lat-gauge --random --no-provenance | peak lat-reunit |
        peak lat-theta --tsv >table || return 1
    awk 'END { print NR - 1 }' table
    sort -k2 peaks >"peaks.$1"
}

@test "10000 configurations go through four tools in the memory of 100, and none is lost" {
    set -o pipefail
    export OMP_NUM_THREADS=1
    local few=100 many=10000
    # The sanitizers' own memory grows, but they find what leaks in 300 as well as in 10000.
    lat-start --version | grep -q sanitizers && many=300
    [ "$(stages $few)" -eq $few ]
    [ "$(stages $many)" -eq $many ]
    [ "$(cut -f1 table | tail -n +2)" = "$(seq 0 $((many - 1)))" ]
    [ "$(wc -l <peaks.$many)" -eq 4 ]
    paste peaks.$few peaks.$many | awk '{ print "# " $2 ": " $1 " KiB for 100, " $3 " KiB for 10000" }' >&3
    [ $many -eq 300 ] || paste peaks.$few peaks.$many | awk '$3 > $1 + 1024 { print; bad = 1 } END { exit bad }'
}

@test "a stream of 32 configurations is solved in the memory of 8, with a checkpoint and without" {
    sanitized && skip "the sanitizers keep what is freed"
    local n how
    for how in "" "--checkpoint ck"; do
        rm -f peaks
        for n in 8 32; do
            lat-start weak --dims 4,4,4,8 --count $n --seed 3 -o links.lat
            # shellcheck disable=SC2086 # words
            peak lat-solve -q --device cpu --mass 1 --source point:0,0,0,0 $how links.lat -o x.lat
        done
        paste -s peaks | awk '{ print "# " $1 " KiB for 8, " $3 " KiB for 32" }' >&3
        # a solution takes 1152 KiB
        paste -s peaks | awk '{ exit $3 > $1 + 4096 }'
    done
}

# Texts that a shell, printf, awk or a terminal would take for more than texts.
evil='$(touch pwned1) `touch pwned2` ; touch pwned3 | touch pwned4 %s%s%n%n %999999d \n "'\''" ../../x & <a> &lt; '

@test "nothing in a header is executed, expanded or looked up, by tools and pipelines" {
    lat-start weak --dims 4,4,4,4 --seed 3 --no-provenance -0 -o plain.lat
    python3 - plain.lat "$evil" <<'END'
import sys, zlib
data = open(sys.argv[1], "rb").read()
head, body = data.split(b"\nend = ")
head += b"\n" + b"".join(b"%s = %s\n" % (k, sys.argv[2].encode()) for k in (b"info.lfn", b"info.source", b"history"))
open("evil.lat", "wb").write(head + b"end = %08x\n" % zlib.crc32(head) + body[9:])
END
    lat-info evil.lat >said
    grep -qF "$evil" said
    lat-gauge --random evil.lat | lat-reunit | lat-reorder --sites parity | lat-anneal --steps 2 |
        lat-orelax --theta 1e-6 -o fixed.lat
    lat-info fixed.lat >said
    [ "$(grep -cF "$evil" said)" -eq 2 ] # the lfn named the file of the links before
    lat-info --json fixed.lat | python3 -c 'import json, sys; assert sys.argv[1] in json.load(sys.stdin)["history"]' "$evil"
    local to
    for to in nersc ildg scidac; do
        lat-convert --to $to evil.lat -o evil.$to
        lat-convert evil.$to -o back.lat
        lat-diff plain.lat back.lat >/dev/null
    done
    mkdir raw
    cp evil.lat raw/evil
    lat-convert --to ildg evil.lat -o raw/evil.ildg
    MAKEFLAGS='' MAKELEVEL='' STEPS=4 EVERY=0 make -f "$ROOT/pipelines/ensemble.mk" -j2
    [ -e landau/evil.lat ]
    [ -e landau/evil.ildg.lat ]
    [ -z "$(find . -name 'pwned*')" ] || { find . -name 'pwned*'; return 1; }
    nothing_left
}

@test "names of files are names, whatever is in them" {
    local name
    mkdir 'a b'
    for name in '$(touch pwned)' '%s%n' '-dash' 'a b/new
line' ';touch pwned' '~'; do
        lat-start cold --dims 2,2 -o "./$name"
        lat-info "./$name" >said
        run -1 --separate-stderr lat-info "./$name.no"
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    [ -z "$(find . -name 'pwned*')" ]
    # In a table, or a line of a report, they are no more than a word.
    name=$'tab\tnew\nline\e[2J'
    lat-start hot --dims 2,2 -o "$name"
    lat-orelax --copies 2 --gauge coulomb --theta 1e-3 --log log --slice-log slices --copies-log copies "$name" -o x.lat
    lat-anneal --steps 2 --log steps "$name" -o x.lat
    for table in log slices copies steps; do
        awk -F'\t' 'NR == 1 { n = NF } !/^#/ && NF != n { print; bad = 1 } END { exit bad || NR < 3 }' $table
        grep -q '^tab?new?line?' $table
    done
    [ "$(lat-info --check "$name" | cut -d: -f 1-3)" = 'tab?new?line?[2J: field 0: OK' ]
}

@test "an entity of XML is neither read from a file nor expanded" {
    echo secret >secret
    lat-start weak --dims 2,2,2,2 | lat-convert --to ildg -o good.ildg
    python3 - <<'END'
import struct
data = open("good.ildg", "rb").read()
def record(type, text, flags=0):
    text = text.encode()
    return struct.pack(">IHHQ128s", 0x456789ab, 1, flags, len(text), type) + text + bytes(-len(text) % 8)
xml = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:secret">]><a><lx>&b;</lx></a>'
open("external.ildg", "wb").write(record(b"ildg-format", xml) + data)
laughs = '<!DOCTYPE a [<!ENTITY a "2">' + "".join('<!ENTITY %s "%s">' % (b, ("&%s;" % a) * 10) for a, b in zip("abcdefgh", "bcdefghi")) + ']><a><lx>&i;</lx></a>'
open("laughs.ildg", "wb").write(record(b"ildg-format", laughs) + data)
END
    local file
    for file in external laughs; do
        run -1 --separate-stderr lat-convert $file.ildg -o x.lat
        [[ $stderr == *"a document type is not accepted"* && $stderr != *secret* ]]
        [ ! -e x.lat ]
    done
}

@test "no tool has a way to start another program, but the launcher of ranks" {
    # threads.c executes the program itself once more, by its own path.
    run -1 bash -c 'grep -rnE "\b(system|popen|execl|execlp|execle|execv|execve|execvp|execvpe|posix_spawnp?|dlopen|wordexp)\(" "$0/lib" "$0/tools" --include="*.[ch]" --exclude-dir=comm | grep -v -e "lib/base/threads.c:.*execv(path, argv)"' "$ROOT"
}

@test "a limit on the size of files kills by its signal, or where that is ignored, is a sentence" {
    env --default-signal=XFSZ true || skip "env has no --default-signal"
    echo old >out
    run -153 --separate-stderr bash -c 'ulimit -f 4; exec env --default-signal=XFSZ lat-start hot --dims 4,4,4,4 -o out'
    [ -z "$stderr" ]
    nothing_left
    run -1 --separate-stderr bash -c 'ulimit -f 4; exec env --ignore-signal=XFSZ lat-start hot --dims 4,4,4,4 -o out'
    [ "$stderr" = "lat-start: out: cannot be written: File too large" ]
    nothing_left
    [ "$(cat out)" = old ]
}

@test "links of 80 MB, whose space was used up meanwhile, are the same bytes on a disk, in memory and through a pipe" {
    local folder=/dev/shm/lat-space.$$ fix=(lat-orelax -q --device cpu --theta 0 --max-sweeps 1 --check-every 1 --keep --no-provenance in.lat)
    [ -w /dev/shm ] || folder=$PWD/memory
    mkdir "$folder"
    lat-start weak --dims 20,20,20,20 --count 2 --seed 3 -o in.lat
    for how in -0 -1; do
        "${fix[@]}" $how 2>/dev/null | cat >pipe.lat
        "${fix[@]}" $how -o disk.lat 2>/dev/null || [ $? = 3 ]
        "${fix[@]}" $how -o "$folder/memory.lat" 2>/dev/null || [ $? = 3 ]
        cmp pipe.lat disk.lat
        cmp pipe.lat "$folder/memory.lat"
        # The sanitizers' shadow alone takes more.
        if lat-orelax --version | grep -q sanitizers; then continue; fi
        (ulimit -v 8000000 && "${fix[@]}" $how -o "$folder/limited.lat" 2>/dev/null) || [ $? = 3 ]
        cmp pipe.lat "$folder/limited.lat"
    done
    rm -r "$folder"
}

@test "an output that will not fit is warned of before the work, and leaves nothing" {
    mkdir small
    unshare -rm mount -t tmpfs tmpfs small 2>/dev/null || skip "nobody here may mount a small file system"
    lat-start weak --dims 20,20,20,20 --seed 3 -0 -o in.lat
    run -1 --separate-stderr unshare -rm bash -c 'mount -t tmpfs -o size=40m tmpfs small
        lat-orelax -q --device cpu --max-sweeps 1 --keep in.lat -o small/out
        status=$?; ls -A small; exit $status'
    [ -z "$output" ]
    [[ ${stderr_lines[0]} == "lat-orelax: small/out: 0.08 GB may not fit: No space left on device" ]]
    [[ ${stderr_lines[-1]} == "lat-orelax: small/out: cannot be written: No space left on device" ]]
}
