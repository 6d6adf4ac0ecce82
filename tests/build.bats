#!/usr/bin/env bats
# shellcheck disable=SC2154  # status, output and lines are set by run
# Purpose: make builds what it says, says why, and make install installs what was built. Compilers that only make files stand
# in for the real ones.
load helper

# A tree with these sources and a build of its own, and a machine that has gcc, g++ and ar alone.
setup() {
    local name
    not_sanitized "make alone"
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir tree here
    for name in Makefile lib tools tests bench setup docs packaging pipelines python README.md CHANGELOG.md CITATION.cff LICENSE; do
        ln -s "$ROOT/$name" tree
    done
    for name in bash sh sed awk seq head tail tr sort find mkdir touch rm cat printf dirname basename realpath fold nproc make \
        install ln tac rmdir chmod ar cmp; do
        ln -s "$(command -v "$name")" here
    done
    # Makes the file of -o, and notes its arguments.
    compiler gcc
    compiler g++
}

# compiler NAME [COMMAND]: COMMAND answers questions.
compiler() {
    {
        echo '#!/bin/bash'
        # shellcheck disable=SC2016 # of the script
        echo 'case $1 in -dumpmachine) echo x86_64-linux-gnu; exit ;; '"${2-}"' esac'
        # shellcheck disable=SC2016
        echo '[[ " $* " != *" - "* ]] || cat >/dev/null'
        # shellcheck disable=SC2016
        echo 'while [ $# -gt 0 ]; do [ "$1" != -o ] || { [ "$2" = /dev/null ] || echo "#!/bin/sh" >"$2"; chmod -f +x "$2"; }; shift; done'
    } >"here/$1"
    chmod +x "here/$1"
}

with_nvcc() {
    compiler nvcc '--list-gpu-arch) printf "compute_%s\n" 75 80 86 87 90 100 120; exit ;;'
}

# with_gpu CAPABILITY...: nvidia-smi knows these GPUs.
with_gpu() {
    { echo '#!/bin/bash'; printf 'echo %s\n' "$@"; } >here/nvidia-smi
    chmod +x here/nvidia-smi
}

build() {
    env -i PATH="$PWD/here" HOME="$PWD" make -C tree --no-print-directory -j2 DEPS=no "$@"
}

# plan WHAT [SWITCH]...: the line about WHAT that make prints first.
plan() {
    rm -rf tree/build
    build "${@:2}" build/gcc/plan | sed -n "s/^  $1 *//p"
}

# compiled: how many files of GPU code make would compile, for SU(5) or any.
compiled() {
    build -n "${@:2}" | grep -c "nvcc.*$1"
}

@test "GPU code is built for the GPU that is here, or if it is asked for, and make says for which and why" {
    local here name
    if compgen -G '/dev/nvidia[0-9]' >/dev/null || [ -e /dev/dxg ]; then skip "a GPU is here"; fi
    [ "$(plan CUDA)" = "no GPU code (nvcc not found)" ]
    with_nvcc
    here=$PWD/here/nvcc
    [ "$(plan CUDA)" = "no GPU code (no GPU here: CUDA=1 builds GPU code all the same)" ]
    [ "$(compiled . || true)" = 0 ]
    [ "$(plan CUDA CUDA=1)" = "$here, for compute capability 80 90 100, others by PTX (CUDA=1); SU(2) to SU(4)" ]
    [ "$(compiled kernels CUDA=1)" -ge 13 ]
    [ "$(compiled 'LAT_N=5' CUDA=1 || true)" = 0 ]
    [ "$(plan CUDA GPU_ARCH='80 86')" = "$here, for compute capability 80 86 (GPU_ARCH=80 86); SU(2) to SU(4)" ]
    for name in 80,86 'sm_80 8.6' compute_80,sm_86; do
        [ "$(plan CUDA GPU_ARCH="$name")" = "$here, for compute capability 80 86 (GPU_ARCH=80 86); SU(2) to SU(4)" ]
    done
    for name in 70 '80 70' x 90x; do
        run -2 build GPU_ARCH="$name"
        [[ $output == *"GPU_ARCH=$name: expected some of 75 80 86 87 90 100 120, for which $here compiles, or any, found '${name##* }'"* ]]
    done
    [ "$(plan CUDA GPU_ARCH=any)" = "$here, for every GPU by PTX (GPU_ARCH=any); SU(2) to SU(4)" ]
    [ "$(plan CUDA CUDA=1 GPU_GROUPS=16)" = "$here, for compute capability 80 90 100, others by PTX (CUDA=1); SU(2) to SU(16)" ]
    [ "$(compiled 'LAT_N=5' CUDA=1 GPU_GROUPS=16)" -ge 4 ]
    with_gpu 9.0 8.6 9.0
    [ "$(plan CUDA)" = "$here, for compute capability 86 90, others by PTX (the GPU here); SU(2) to SU(4)" ]
    [ "$(plan CUDA CUDA=0)" = "no GPU code (CUDA=0)" ]
    [ "$(plan CUDA CUDA=1)" = "$here, for compute capability 80 90 100, others by PTX (CUDA=1); SU(2) to SU(4)" ]
    # What is no answer of nvidia-smi counts as none.
    with_gpu 'NVIDIA-SMI has failed'
    [ "$(plan CUDA)" = "no GPU code (no GPU here: CUDA=1 builds GPU code all the same)" ]
    rm here/nvcc
    run -2 build CUDA=1
    [[ $output == *"CUDA=1, but nvcc not found"* ]]
}

@test "the GPU code of each kind of GPU is what nvcc is told to make" {
    with_nvcc
    build -n CUDA=1 build/cuda/lib/fix/kernels_3_4.o >all
    grep -q 'code=sm_80 .*code=sm_90 .*code=sm_100 .*code=compute_75 .*code=compute_100 ' all
    build -n GPU_ARCH=any build/cuda/lib/fix/kernels_3_4.o >any
    grep -q 'arch=compute_75,code=compute_75 ' any
    run -1 grep -q 'code=sm_' any
    with_gpu 8.6
    build -n build/cuda/lib/fix/kernels_4_8.o >native
    grep -q 'arch=compute_86,code=sm_86 .*arch=compute_86,code=compute_86 ' native
    run -1 grep -qE '(75|80|90)( |$)' native
    # Behind another command, as a compiler cache is; the kinds of GPU are asked of nvcc itself.
    build -n CUDA=1 NVCC='cache nvcc' build/cuda/lib/fix/kernels_3_4.o >cached
    grep -q '^cache nvcc .*code=sm_80 .*code=compute_100 ' cached
}

@test "make says a line a file, what it builds before it builds it, and make -s nothing" {
    build FFTW=0 >said
    grep -qx 'with gcc' <(head -n 1 said)
    grep -qx '  CPU     vector lanes: base avx2 avx512; threads: OpenMP; SU(2) to SU(16)' <(head -n 2 said)
    local step='\[[0-9]*/[0-9]*\]'
    grep -qx "$step CC    lib/base/error.c" said
    grep -qx "$step CC    lib/fix/fix_lanes.c: avx2, SU(8)" said
    grep -qx "$step CC    lib/generate/link_lanes.c: base, SU(3)" said
    grep -qx "$step LINK  bin/lat-theta" said
    [ "$(grep -c "^$step CC " said)" = "$(find tree/build -name '*.o' | wc -l)" ]
    # It counts what is to be done, and does that.
    step=$(grep "^$step" said | tail -n 1 | cut -d ' ' -f 1)
    [ "$step" = "[$(grep -c '^\[' said)/$(grep -c '^\[' said)]" ]
    tail -n 3 said | tr '\n' ' ' | grep -q 'built .*lat-theta.* in bin/'
    # Nothing is left to do, and nothing to say.
    build FFTW=0 >again
    [ ! -s again ]
    rm -rf tree/build
    build -s >silent
    [ ! -s silent ]
}

@test "make quickstart builds SU(2) and SU(3), with CUDA=1 for every GPU; make builds the other groups" {
    with_nvcc
    build -n quickstart >said
    grep -q "make.* all QUICK=1 *\$" said
    build -n quickstart CUDA=1 >said
    grep -q "make.* all QUICK=1 GPU_ARCH='any'" said
    build -n quickstart CUDA=1 GPU_ARCH=90 >said
    grep -q "make.* all QUICK=1 *\$" said
    with_gpu 9.0
    build -n quickstart CUDA=1 >said
    grep -q "make.* all QUICK=1 GPU_ARCH='90'" said
    rm here/nvidia-smi
    build QUICK=1 >quick
    grep -q 'SU(2) to SU(3)$' quick
    grep -q 'fix_lanes.c: avx512, SU(3)' quick
    run -1 grep -q 'lanes.c: .*SU(4)' quick
    build >rest
    grep -q 'fix_lanes.c: avx512, SU(8)' rest
    run -1 grep -q 'lanes.c: .*SU([23])' rest
    run -2 build GPU_GROUPS=17
    [[ $output == *"GPU_GROUPS=17: expected a number from 2 to 16"* ]]
    run -2 build CPU_GROUPS=all
    [[ $output == *"CPU_GROUPS=all: expected a number from 2 to 16"* ]]
}

@test "make install goes by the switches of the last build, unless it gets others" {
    with_nvcc
    compiler clang
    local to=$PWD/to
    build CUDA=1 GPU_GROUPS=3 CFLAGS='-DA="x y" -g' >/dev/null
    build install PREFIX="$to" >said
    # Nothing is compiled for what was built.
    run -1 grep -qE '^\[.*\] (CC|NVCC|LINK) ' said
    grep -q '^installing what was built with CUDA=1 GPU_GROUPS=3 CFLAGS=' said
    [ -x "$to/bin/lat-theta" ]
    build CC=clang CUDA=0 >/dev/null
    build install PREFIX="$to" >said
    run -1 grep -qE '^\[.*\] (CC|NVCC|LINK) ' said
    grep -qx 'installing what was built with CC=clang CUDA=0' said
    cmp tree/build/clang/bin/lat-theta "$to/bin/lat-theta"
    build install PREFIX="$to" CC=gcc >said
    grep -qx 'with gcc' said
    # make install alone, without a build, takes what it finds, and so does a build without switches.
    build >/dev/null
    build install PREFIX="$to" >said
    run -1 grep -q '^installing' said
    # A build for tests is not what is installed.
    build SAN=1 CUDA=0 >/dev/null
    build install PREFIX="$to" >said
    run -1 grep -qE '^\[.*\] (CC|NVCC|LINK) |^installing' said
    # What make quickstart built is installed, and that it is not all; all groups are to be had by a word.
    build QUICK=1 CUDA=0 >/dev/null
    build install PREFIX="$to" >said
    run -1 grep -qE '^\[.*\] (CC|NVCC|LINK) ' said
    grep -qx 'installing what was built with CUDA=0 QUICK=1 (SU(2) and SU(3); QUICK=0 builds all groups)' said
    build -n install QUICK=0 PREFIX="$to" >said
    grep -q "installing what was built with CUDA=0 QUICK=0'" said
}

# gcc 12 fuses re u - im v, re v + im u for AVX-512 in spite of -ffp-contract=off: residuals had other last bits there.
@test "what has the same bits with all vectors has no fused products" {
    local o n=0
    command -v objdump >/dev/null || skip "objdump not found"
    while read -r o; do
        for o in "$ROOT"/build/*/lib/"$o".o; do
            [[ -e $o && $o != */build/fuzz/* ]] || continue # which has switches of its own
            n=$((n + 1))
            run ! grep -E '[[:space:]]vfn?m(add|sub)' <(objdump -d "$o")
        done
    done < <(sed -n 's/^same_bits := //p' "$ROOT/lib/lib.mk" | tr ' ' '\n')
    [ "$n" -ge 4 ] || skip "no objects here"
}

# kernels FILE [SWITCH]...: PTX of it.
kernels() {
    nvcc -std=c++17 -O3 -I"$ROOT/lib" -diag-suppress 550 -arch=compute_80 "${@:2}" -ptx -o - "$1"
}

# Stack coloring of nvcc 12.4 and 13.0 gave matrices that were still needed the same local memory as others: wrong links of
# SU(5), and of all larger groups (bench/history). What is in registers and shared memory it cannot confuse.
@test "kernels of larger groups have no array in local memory, where nvcc has confused two of them" {
    local kind
    command -v nvcc >/dev/null || skip "nvcc not found"
    echo '__global__ void f(int *p) { int a[2] = {p[0], p[1]}; *p = a[p[2]]; }' >array.cu
    kernels array.cu | grep -q '\.local .*__local_depot'
    for kind in fix generate; do
        kernels "$ROOT/lib/$kind/${kind}_kernels.cu" -DLAT_N=5 -DLAT_SIZE=8 >kernels.ptx
        grep -q '\.entry .*d5' kernels.ptx
        run -1 grep '\.local .*__local_depot' kernels.ptx
    done
}

# sass NAME < INSTRUCTIONS: as cuobjdump prints a kernel, an address every 16 bytes.
sass() {
    printf '\t\tFunction : %s\n' "$1"
    awk '{ printf "        /*%04x*/                   %s ;   /* 0x0 */\n", 16 * (NR - 1), $0 }'
}

@test "early_loads.py finds what is above the wait of a programmatic launch, on any path, and nothing else" {
    # Addresses: 0, 10, 20, ... The load is behind the wait, at the end of a reconvergence of the same barrier, in a loop.
    printf '%s\n' 'BSSY B0, 0x30' '@P0 BRA 0x20' 'BSYNC B0' 'ACQBULK' 'BSSY B0, 0x70' 'LDG.E.128 R4, [R2.64]' \
        '@!P1 BRA 0x50' 'BSYNC B0' 'EXIT' | sass _Z7hop_oneILi0EEv4args >good.sass
    {
        # No programmatic launch, no wait, no rule.
        printf '%s\n' 'LDG.E.128 R4, [R2.64]' 'EXIT' | sass _Z4fillv
        # Which site a thread visits is known before.
        printf '%s\n' 'LDG.E R4, [R2.64]' '@P0 LDG.E.64 R4, [R2.64]' 'ACQBULK' 'STG.E.128 [R2.64], R4' 'EXIT' | sass _Z7half_f3ILi1EEv4work
        # Its first link, of larger groups.
        printf '%s\n' 'LDG.E R4, [R2.64]' 'LDGSTS.E.BYPASS.128 [R4], [R2.64]' 'ACQBULK' 'EXIT' | sass _Z7half_d84work
    } >>good.sass
    run -0 python3 "$ROOT/tests/early_loads.py" --sass good.sass
    [ "$output" = "3 kernels wait for the one before, 0 of them load or store before" ]
    bad() { # bad WHAT NAME INSTRUCTION...
        printf '%s\n' "${@:3}" | sass "$2" >bad.sass
        run -1 python3 "$ROOT/tests/early_loads.py" --sass bad.sass
        [ "${lines[0]}" = "bad.sass: $2: before its wait: $1" ]
    }
    bad "1 LDG.E.NA.128.CONSTANT" _Z8hop_manyv 'LDG.E.NA.128.CONSTANT R4, [R2.64]' 'ACQBULK' 'EXIT'
    bad "1 ATOMG.E.ADD.STRONG.GPU" _Z8hop_tilev 'ATOMG.E.ADD.STRONG.GPU PT, R4, [R2.64], R5' 'ACQBULK' 'EXIT'
    # Behind a branch that comes back; on the path around the wait; in what is called; after a wait that may be skipped.
    bad "1 LDG.E.64" _Z5visitv '@P0 BRA 0x30' 'ACQBULK' 'EXIT' 'LDG.E.64 R4, [R2.64]' 'BRA 0x10'
    bad "1 STG.E" _Z5statev 'BRA.U UP0, 0x20' 'ACQBULK' 'STG.E [R2.64], R4' 'EXIT'
    bad "1 LD.E" _Z5statev 'CALL.REL.NOINC 0x30' 'ACQBULK' 'EXIT' 'LD.E R4, [R2.64]' 'RET.REL.NODEC R2 0x0'
    bad "1 LDG.E" _Z5statev '@P0 ACQBULK' 'LDG.E R4, [R2.64]' 'ACQBULK' 'EXIT'
    bad "5 LDG.E" _Z7half_d3v 'LDG.E R4, [R2.64]' 'LDG.E R5, [R2.64]' 'LDG.E R6, [R2.64]' 'LDG.E R7, [R2.64]' 'LDG.E R8, [R2.64]' 'ACQBULK' 'EXIT'
    bad "1 LDGSTS.E.BYPASS.128" _Z7half_d3v 'LDGSTS.E.BYPASS.128 [R4], [R2.64]' 'ACQBULK' 'EXIT'
    run -2 python3 "$ROOT/tests/early_loads.py" --sass /dev/null
}

@test "setup/deps says what it installs, and where apt-get's own words are; the last of them when that fails" {
    local log
    mkdir -p fake tmp
    printf '#!/bin/sh\nexit 1\n' >fake/gcc # nothing is there
    printf '#!/bin/sh\nexec "$@"\n' >fake/sudo
    printf '#!/bin/sh\necho "Reading package lists $*"\n[ ! -e broken ] || { echo "E: no such mirror" >&2; exit 100; }\n' >fake/apt-get
    chmod +x fake/*
    run -0 --separate-stderr env TMPDIR="$PWD/tmp" PATH="$PWD/fake:$PATH" "$ROOT/setup/deps" build
    log=$(ls tmp/*)
    [[ $output == "setup/deps: installing"*" zlib1g-dev "*" (apt-get's own words: $PWD/$log)" && -z $stderr ]]
    grep -q 'Reading package lists install .* zlib1g-dev' "$log"
    touch broken
    rm "$log"
    run -1 --separate-stderr env TMPDIR="$PWD/tmp" PATH="$PWD/fake:$PATH" "$ROOT/setup/deps" build
    [[ $stderr == *"E: no such mirror
setup/deps: apt-get failed: $PWD/$(ls tmp/*) has the rest" ]]
}
