#!/usr/bin/env bats
# Purpose: ranks read and write files and pipes, their own and foreign ones, as one rank does.
# shellcheck disable=SC2154,SC2030,SC2031  # status, output and stderr are set by run; each test has its own TMPDIR
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    need_mpi
}

# Slices of 1.2 MB, seven of them a portion: two portions a rank, eight on three slots.
@test "portions between ranks: by shared memory and by MPI, of files and pipes, whole and cut" {
    lat-start hot --dims 16,16,16,42 -p single --rows 2 -0 -o a.lat
    lat-reunit --no-provenance -0 a.lat -o one.lat
    for how in yes no; do
        export LAT_SHARED=$how
        lat-reunit -n 5 --no-provenance -0 a.lat -o file.lat
        cmp one.lat file.lat
        lat-reunit -n 5 --no-provenance <a.lat | cat >pipe.lat
        cmp one.lat pipe.lat
        head -c 25000000 a.lat >cut.lat
        run -1 --separate-stderr lat-reunit -n 5 cut.lat -o never.lat
        [[ $stderr == "lat-reunit: cut.lat: truncated"* && $stderr != *$'\n'* ]]
        run -1 --separate-stderr lat-reunit -n 5 -o never.lat < <(cat cut.lat)
        [[ $stderr == "lat-reunit: <stdin>: truncated after 25000000 bytes" ]]
        run -1 --separate-stderr lat-reunit -n 5 -0 a.lat -o /dev/full
        [[ $stderr == "lat-reunit: /dev/full: cannot be written: No space left on device" ]]
        # Less than they would share; an OpenMPI that knows GPUs would have a file of 128 MB of its own.
        run -0 bash -c 'ulimit -f 20000; OMPI_MCA_btl=^smcuda,uct,openib,ofi lat-theta -n 5 a.lat >t.txt'
        [ ! -e never.lat ]
    done
    nothing_left
}

# Blocks begin in one rank's slices and end in another one's; of 4^3x10 all ranks read one block.
@test "ranks of two hosts read and write one file side by side: the bytes and the sentences of one rank" {
    lat-start hot --dims 16,16,16,21 -p single --rows 2 --seed 1 --count 2 -0 -o plain.lat
    lat-reunit --no-provenance -1 plain.lat -o packed.lat
    lat-start hot --dims 4,4,4,10 --count 3 -o small.lat
    local at bytes places file how n k=0 ranks=(2 3 5)
    for file in plain packed small; do
        for how in -0 -1 "-p single"; do # as they are, compressed, and what is usual
            # shellcheck disable=SC2086 # words
            lat-reunit --no-provenance $how $file.lat -o one.lat
            n=${ranks[(k + k / 3) % 3]} # in turn: each of them with each file, and each way
            k=$((k + 1))
            # shellcheck disable=SC2086 # words
            two_hosts lat-reunit -v -n $n --no-provenance $how $file.lat -o two.lat 2>said
            cmp one.lat two.lat
            grep -q "$file.lat: each rank reads its slices" said
            [ $file = small ] || grep -q "two.lat: each rank writes its slices" said
        done
    done
    for file in plain packed; do
        bytes=$(stat -c %s $file.lat)
        places="500000 $((bytes / 3))"
        [ $file = plain ] || places="7000000 $((bytes / 2 - 300000))"
        for at in $places $((bytes - 28)); do
            cp $file.lat bad.lat
            printf xxxx | dd of=bad.lat bs=1 seek="$at" conv=notrunc status=none
            run -1 --separate-stderr lat-reunit bad.lat -o never.lat
            local sentence=$stderr
            [[ $sentence == "lat-reunit: bad.lat: "*"damaged?"* ]]
            run -1 --separate-stderr two_hosts lat-reunit -n 5 bad.lat -o never.lat
            [ "$stderr" = "$sentence" ]
        done
    done
    nothing_left
}

@test "a file that one host does not have goes through rank 0, and so do pipes and stdout" {
    lat-start hot --dims 16,16,16,21 -p single --rows 2 -0 -o a.lat
    lat-reunit --no-provenance -0 a.lat -o one.lat
    for missing in /a.lat /.two; do # the input, the output until it is complete
        ELSEWHERE=$missing two_hosts lat-reunit -v -n 3 --no-provenance -0 "$PWD/a.lat" -o "$PWD/two.lat" 2>said
        cmp one.lat two.lat
        grep -c "each rank" said | grep -qx 1
    done
    two_hosts lat-reunit -v -n 3 --no-provenance -0 <a.lat 2>said | cat >two.lat
    cmp one.lat two.lat
    run -1 grep "each rank" said
}

# both N FILE: one rank and N ranks of two hosts make the same of a foreign file: output, sentences and status; `said` has what -v says.
both() {
    local at=0 n=0
    rm -f one.lat two.lat
    lat-smear stout:0.1,1 -@ 1 --no-provenance "$2" -o one.lat 2>one.err || at=$?
    two_hosts lat-smear stout:0.1,1 -@ 1 -v -n "$1" --no-provenance "$2" -o two.lat 2>said || n=$?
    grep -v -e ' on this host, ' -e ' each rank reads ' -e ' each rank writes ' said >two.err || true
    diff one.err two.err || { echo "$1 ranks, $2"; return 1; }
    [ "$at" = "$n" ] || { echo "$1 ranks, $2: status $at and $n"; return 1; }
    [ -e one.lat ] || [ ! -e two.lat ] || return 1
    [ ! -e one.lat ] || cmp one.lat two.lat
}

beside() { both "$@" && grep -q "$2: each rank reads its slices" said; }

# foreign: samples of formats in the folder s, by a writer that has no line of our code; made once for all tests.
foreign() {
    command -v python3 >/dev/null || skip "no python3"
    export PYTHONDONTWRITEBYTECODE=1 MAKE=$BATS_TEST_DIRNAME/make_foreign.py
    [ -e "$BATS_FILE_TMPDIR/foreign" ] || (mkdir "$BATS_FILE_TMPDIR/new" && cd "$BATS_FILE_TMPDIR/new" && make_foreign && mv ../new ../foreign)
    cp -r "$BATS_FILE_TMPDIR"/foreign/* .
}

make_foreign() {
    lat-start weak --dims 6,4,2,10 --seed 3 -o double.lat
    lat-convert --to ildg double.lat -o double.ildg
    lat-convert --to ildg --precision single double.lat -o single.ildg
    lat-start weak -N 2 --dims 6,4,2,10 --seed 4 | lat-convert --to ildg -o su2.ildg
    mkdir s
    "$BATS_TEST_DIRNAME/make_samples.py" s single.ildg double.ildg su2.ildg
    lat-convert double.lat -o s/npy.npy
    lat-convert double.lat -o s/hdf5.h5
    "$MAKE" openqcd double.ildg s/pyquda header=tzyx
}

@test "ranks read foreign files side by side, whose slices have places: the field of one rank, in every order and byte order" {
    local file n=1
    foreign
    for file in nersc_big32 nersc_little32_bare nersc_su2 ildg_double_xlf scidac_single milc_big milc_double fnal_little bmw \
        openqcd ddalphaamg pyquda hirep_quaternions vogt_double szin npy.npy; do
        n=$((n % 4 + 1))
        beside $((n > 1 ? n : 5)) s/$file
        [ -e two.lat ]
    done
    for file in milc_list_of_sites hdf5.h5; do # a list of sites, chunks: through rank 0
        both 3 s/$file
        run -1 grep "each rank reads" said
    done
    nothing_left
}

@test "damage in the part of any rank, and files too short and too long, are found as by one rank" {
    local file at bytes places n=1 k=0
    foreign
    for file in nersc_big64_3x3 ildg_double_qio milc_little openqcd; do
        bytes=$(stat -c %s s/$file)
        places=($((bytes / 10)) $((bytes / 2)) $((bytes - 2000)))
        [ $k -eq 0 ] || places=("${places[k % 3]}") # all three in the first format
        for at in "${places[@]}"; do
            n=$((n % 3 + 1))
            cp s/$file bad
            printf '\377%.0s' {1..9} | dd of=bad bs=1 seek="$at" conv=notrunc status=none # a number that is not finite
            beside $((n + 1)) bad
            [ ! -e two.lat ]
        done
        if [ $((k % 2)) -eq 0 ]; then
            head -c $((bytes / 2)) s/$file >bad
        else
            { cat s/$file; echo and more; } >bad
        fi
        both 3 bad
        [ ! -e two.lat ]
        k=$((k + 1))
    done
    nothing_left
}

@test "ranks that read side by side find boundaries, and links that are not in the group, as one rank does" {
    local of
    foreign
    for of in antiperiodic antiperiodic:x open open:z:0,antiperiodic open:t:4 fat nan zero:xy:3; do
        "$MAKE" lime double.ildg bad records=format,data,checksum spoil=$of
        beside 3 bad
    done
    "$MAKE" openqcd double.ildg bad spoil=open
    beside 4 bad
    nothing_left
}

@test "a foreign file that one host does not have, or from a pipe, is read by rank 0" {
    local file
    foreign
    for file in nersc_big32 openqcd; do
        beside 3 "$PWD/s/$file"
        mv two.lat three.lat
        ELSEWHERE=/s/$file both 3 "$PWD/s/$file"
        run -1 grep "each rank reads" said
        cmp three.lat two.lat
        two_hosts lat-smear stout:0.1,1 -@ 1 -v -n 3 --no-provenance - <s/$file -o two.lat 2>said
        run -1 grep "each rank reads" said
        cmp three.lat two.lat
    done
}

# spinors: a propagator s.lat and s4.lat, a spinor psi.lat and links u.lat of one lattice; numpy's arrays of the first.
spinors() {
    need_numpy
    "$PYTHON" - <<'END'
import lat
import numpy as np

rng = np.random.default_rng(20)
s = rng.normal(size=(10, 2, 6, 4, 12, 4, 3, 2)).view(complex)[..., 0]
lat.write("s.lat", lat.propagator(s, operator=lat.Operator("wilson", mass=.7)))
lat.write("s4.lat", lat.propagator(s, "f32"))
lat.write("psi.lat", lat.spinor(s[..., 0, :, :]))
a = s.reshape(10, 2, 6, 4, 4, 3, 4, 3).transpose(0, 1, 2, 3, 6, 4, 7, 5)
np.save("c.npy", np.ascontiguousarray(a))
np.save("fortran.npy", np.asfortranarray(a))
END
    lat-start hot --dims 4,6,2,10 --seed 1 -o u.lat
}

# made FORMAT STREAM: its numbers as `file`, in this format, of HDF5 in this kind; or this array of numpy.
made() {
    case $1 in
    *-*) "$PYTHON" "$ROOT/tests/make_quarks.py" make "$1" "$2.lat" file .0625 ;;
    *.npy) cp "$1" file ;;
    *) "$PYTHON" "$ROOT/tests/make_hdf5.py" "$1" "$2.lat" file </dev/null ;;
    esac
}

# dirac N FILE: one rank and N ranks make the same of foreign spinors: output, sentences and status; `said` has what -v says.
dirac() {
    local at=0 n=0 apply=(lat-dirac --apply hop --kappa .0625 -U u.lat --no-provenance -0 -@ 1)
    rm -f one.lat two.lat
    timeout 120 "${apply[@]}" "$2" -o one.lat 2>one.err || at=$?
    timeout 120 "${apply[@]}" -v -n "$1" "$2" -o two.lat 2>said || n=$?
    grep -v -e ' on this host, ' -e ' each rank reads ' -e ' by cpu' said >two.err || true
    diff one.err two.err || { echo "$1 ranks, $2"; return 1; }
    [ "$at" = "$n" ] || { echo "$1 ranks, $2: status $at and $n"; return 1; }
    [ -e one.lat ] || [ ! -e two.lat ] || return 1
    [ ! -e one.lat ] || cmp one.lat two.lat
}

@test "ranks read foreign spinors and propagators side by side, of every format that states its extents: the field of one rank" {
    local name stream n=1
    spinors
    while read -r name stream; do
        made "$name" "$stream"
        n=$((n % 3 + 1)) # 2, 3 and 5 ranks in turn
        dirac $((n == 1 ? 5 : n)) file
        [ -e two.lat ]
        grep -q " file: each rank reads its slices" said
    done <<'END'
chroma-prop s
chroma-prop s4
grid-prop s
usqcd-prop s
etmc-prop s
etmc-prop psi
milc-prop s4
fermilab-prop s4
openqcd-sfld psi
npy-prop psi
c.npy s
fortran.npy s
qdp s
qdp s4
qlua s
qlua s4
pyquda s
chunked s
all s
single s4
latest s
END
    for name in c.npy file; do # from a pipe: through rank 0
        timeout 60 lat-dirac --apply hop --kappa .0625 -U u.lat --no-provenance -0 "$name" -o one.lat
        timeout 60 lat-dirac --apply hop --kappa .0625 -U u.lat --no-provenance -0 -v -n 3 -o two.lat < <(cat "$name") 2>said
        [ "$(grep "each rank reads" said)" = "lat-dirac: u.lat: each rank reads its slices" ]
        cmp one.lat two.lat
    done
    run -2 --separate-stderr lat-dirac --apply hop --kappa .0625 -U u.lat -n 12 c.npy -o never.lat
    [[ $stderr == "lat-dirac: lattice 4 6 2 10: expected at most 10 ranks, a slice each, found 12"$'\n'"Try "* ]]
    nothing_left
}

@test "damage in the part of any rank, and files of spinors too short and too long, are found as by one rank" {
    local name stream at bytes n=1
    spinors
    while read -r name stream; do
        made "$name" "$stream"
        bytes=$(stat -c %s file)
        for at in $((bytes / 10)) $((bytes * 9 / 10)); do
            n=$((n % 2 + 1))
            cp file bad
            printf '\377%.0s' {1..9} | dd of=bad bs=1 seek="$at" conv=notrunc status=none # a number that is not finite
            dirac $((n + 1)) bad
            [ ! -e two.lat ]
        done
        head -c $((bytes / 2)) file >bad
        dirac 3 bad
        [ ! -e two.lat ]
        [ "$(wc -l <two.err)" -eq 1 ]
        { cat file; echo and more; } >bad
        dirac 2 bad
    done <<'END'
chroma-prop s
usqcd-prop s
milc-prop s4
openqcd-sfld psi
fortran.npy s
qdp s
qlua s4
deflated s4
END
    nothing_left
}

# 95 MiB: a rank of four has 6 slices of 24, two ghosts, and a part of the file on the way.
@test "no rank holds a whole propagator of another program" {
    not_sanitized "memory"
    spinors
    "$PYTHON" -c 'import numpy as np
np.save("big.npy", np.random.default_rng(1).normal(size=(24, 12, 12, 12, 4, 4, 3, 3, 2)).view(complex)[..., 0])'
    cat >most.py <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
    local whole base part corr=(timeout 120 lat-corr -n 4 -@ 4 --boundary "p,p,p,a")
    whole=$(($(stat -c %s big.npy) / 1024))
    base=$("$PYTHON" most.py "${corr[@]}" c.npy)
    part=$("$PYTHON" most.py "${corr[@]}" big.npy)
    echo "whole $whole, a run of little $base, the largest rank $part KiB"
    [ $((part - base)) -lt $((whole * 8 / 24 + 2 * 4096 + 4096)) ]
}

# Ranks of one host copy what is not compressed into a map, side by side; else rank 0 has the threads of all, where they are shared.
@test "links of 80 MB that ranks bring into a file in memory are the same bytes as on a disk and through a pipe" {
    local folder=/dev/shm/lat-ranks.$$ fix=(lat-orelax -q --device cpu --theta 1e9 --no-provenance in.lat)
    [ -w /dev/shm ] || folder=$PWD/memory
    mkdir "$folder"
    for rows in 2 3; do
        local how=-$((rows - 2)) # stored as they are, compressed
        lat-start weak --dims 20,20,20,24 --rows $rows --seed 3 -o in.lat
        "${fix[@]}" "$how" -n 2 | cat >pipe.lat
        for shared in yes no; do
            LAT_SHARED=$shared "${fix[@]}" "$how" -v -n 3 -o "$folder/memory.lat" 2>said
            cmp pipe.lat "$folder/memory.lat"
            grep -q "in.lat: each rank reads its slices" said
            case $shared$how-$(stat -f -c %T "$folder") in
            yes-0-tmpfs | no*) grep -q "memory.lat: each rank writes its slices" said ;;
            *) run -1 grep "each rank writes" said ;;
            esac
        done
        OMP_NUM_THREADS=4 "${fix[@]}" "$how" -n 2 -o "$folder/memory.lat"
        cmp pipe.lat "$folder/memory.lat"
        "${fix[@]}" "$how" -o disk.lat
        cmp pipe.lat disk.lat
    done
    rm -r "$folder"
}

@test "an output of ranks that will not fit is warned of, and leaves nothing" {
    mkdir small
    unshare -rm mount -t tmpfs tmpfs small 2>/dev/null || skip "nobody here may mount a small file system"
    lat-start weak --dims 20,20,20,20 --seed 3 -0 -o in.lat
    # shellcheck disable=SC2016 # the shell that has the small disk expands
    run -1 --separate-stderr unshare -rm bash -c 'mount -t tmpfs -o size=40m tmpfs small
        lat-orelax -q -n 3 --device cpu --max-sweeps 1 --keep -0 in.lat -o small/out
        status=$?; ls -A small; exit $status'
    [ -z "$output" ]
    [[ ${stderr_lines[0]} == "lat-orelax: small/out: 0.09 GB may not fit: No space left on device" ]]
    [[ ${stderr_lines[-1]} == "lat-orelax: small/out: cannot be written: No space left on device" ]]
}
