#!/usr/bin/env bats
# Purpose: lat-modes finds eigenvectors of Dirac operators: published and dense spectra, covariance, the same bytes however it runs; and
# refuses the rest. lat-start flux and instanton have the charge that they should.
# shellcheck disable=SC2154  # output and stderr are set by run
load helper

# rough NAME [DIMS]: rough links.
rough() { lat-start weak --epsilon .4 --dims "${2:-4,4,4,4}" --seed 3 -o "$1"; }

# values FILE: of a table, ascending.
values() { tail -n +2 "$1" | cut -f 3 | sort -g; }

# same A B TOLERANCE: two lists of numbers.
same() { paste "$1" "$2" | awk -v t="$3" '{ d = $1 - $2; if (NF != 2 || d > t || d < -t) bad = 1 } END { exit bad || NR == 0 }'; }

@test "O5 and D11: published lowest and largest eigenvalues of gamma5 (D_W - 1.4)" {
    need_data lime_pyquda_weak_field.lime lime_qlua_random-gauge.qio
    lat-modes -@ 1 --mass -1.4 --modes 10 --tsv "$DATA/lime_pyquda_weak_field.lime" >found
    values found >a
    printf '%s\n' .6446111061 -.6446429353 .6447951484 -.6448167555 -.6477993550 .6479029643 .6480922404 -.6481331529 \
        -.6549518114 .6551013173 | sort -g >b
    same a b 1e-9
    lat-modes -@ 1 --mass -1.4 --modes 2 --largest --tsv "$DATA/lime_pyquda_weak_field.lime" >found
    values found >a
    printf '%s\n' -6.54721001 6.5472100841 >b
    same a b 5e-9
    lat-modes -@ 1 --mass -1.4 --modes 12 --tsv "$DATA/lime_qlua_random-gauge.qio" >found
    values found >a
    printf '%s\n' .6441055855 -.6441097981 -.6441968936 .6441989751 -.6475945641 .6476033082 -.6477839526 .6478144876 \
        .6551416591 -.6551689441 -.6554002833 .6554490090 | sort -g >b
    same a b 1e-9
}

@test "the spectrum of numpy's dense matrix: values, residuals, gaps and chiralities of gamma5 M with a clover term" {
    need_numpy
    rough u.lat 2,2,2,4
    unit_spinors unit.lat 2,2,2,4
    lat-dirac --apply g5M --force --mass -.4 --csw 1.2 --boundary .3,p,d,a -U u.lat unit.lat -o dense.lat
    lat-modes -@ 1 --mass -.4 --csw 1.2 --boundary .3,p,d,a --modes 7 u.lat -o modes.lat --log table.tsv
    "$PYTHON" - <<'PY'
import lat, numpy
n = 2 * 2 * 2 * 4 * 12
read = lambda name: next(iter(lat.Reader(name)))
a = numpy.moveaxis(read("dense.lat").spinors, 4, -1).reshape(n, n)
assert abs(a - a.conj().T).max() < 1e-13
all = sorted(numpy.linalg.eigvalsh(a), key=abs)
f = read("modes.lat")
v = numpy.moveaxis(f.spinors, 4, 0).reshape(7, n)
assert abs(v.conj() @ v.T - numpy.eye(7)).max() < 1e-12
g5 = numpy.tile(numpy.repeat([1, 1, -1, -1], 3), n // 12)
rows = [line.split("\t") for line in open("table.tsv").read().splitlines()[1:]]
for k, row in enumerate(rows):
    value, rho, gap, chirality = map(float, row[2:6])
    assert int(row[1]) == k and abs(value - all[k]) <= 1e-10 and f.header.eigenvalues[k] - value < 1e-14
    now = numpy.linalg.norm(a @ v[k] - value * v[k])
    assert now < 1e-10 and abs(now - rho) < 1e-13, (now, rho)
    others = [x for i, x in enumerate(all) if i >= 7 or (x < 0) != (value < 0)]
    exact = min(abs(x - value) for x in others)
    assert gap <= exact * (1 + 1e-5) and gap > abs(all[7]) * .998 - abs(value) - 1e-9, (gap, exact)
    assert abs(chirality - (v[k].conj() * g5 * v[k]).sum().real) < 1e-9
assert len(rows) == 7
PY
}

@test "both methods and both matrices agree, and a gauge transformation changes no value" {
    rough u.lat 2,2,4,4
    lat-modes -@ 1 --kappa .16 --csw 1 --modes 3 --residual 1e-8 --tsv u.lat >a
    lat-modes -@ 1 --kappa .16 --csw 1 --modes 3 --residual 1e-8 --method ritz --tsv u.lat >b
    values a >va
    values b >vb
    same va vb 1e-8
    lat-gauge --random --seed 5 u.lat | lat-modes -@ 1 --kappa .16 --csw 1 --modes 3 --residual 1e-8 --tsv >b
    values b >vb
    same va vb 1e-8
    lat-modes -@ 1 --kappa .16 --csw 1 --modes 3 --residual 1e-8 --matrix MdagM --tsv u.lat >b
    values b >vb
    awk '{ print $1 * $1 }' OFMT=%.15g va | sort -g >vv
    same vv vb 1e-8
}

@test "heavy quarks: modes of both signs are found, though many of one sign lie between them and those of the other" {
    rough u.lat 4,4,4,8
    for search in "--kappa .05" "--kappa .08 --matrix g5S" "--kappa .02"; do
        # shellcheck disable=SC2086 # words
        lat-modes -@ 1 $search --modes 6 --method ritz --residual 1e-9 --tsv u.lat >ritz.tsv
        values ritz.tsv >a
        grep -q '^-' a # of both
        grep -qv '^-' a
        for how in "--precision double --residual 1e-9" "--precision single --residual 1e-9" "--residual 1e-5"; do
            # shellcheck disable=SC2086
            lat-modes -@ 1 $search --modes 6 --max-applications 60000 $how --tsv u.lat >found
            values found >b
            same a b 1e-7
        done
    done
}

@test "the same bytes on any number of threads and ranks, and from a stream of several configurations" {
    rough u.lat 2,2,4,8
    lat-modes -@ 1 --kappa .15 --modes 2 --residual 1e-6 u.lat -o one.lat
    lat-modes -@ 2 --kappa .15 --modes 2 --residual 1e-6 u.lat -o three.lat
    cmp one.lat three.lat
    cat u.lat u.lat | lat-modes -@ 1 --kappa .15 --modes 2 --residual 1e-6 --json >found
    [ "$(wc -l <found)" -eq 2 ]
    [ "$(sed 1d found)" = "$(sed '2d; s/"configuration": 0/"configuration": 1/' found)" ]
    lat-info one.lat | grep -q '^modes.matrix *gamma5 M\|modes.matrix.*gamma5 M'
    need_mpi
    for n in 2 4; do
        lat-modes -n $n -@ 1 --kappa .15 --modes 2 --residual 1e-6 u.lat -o ranks.lat
        cmp one.lat ranks.lat
    done
}

@test "the number of modes from LOW to HIGH leaves the widest gap: the free operator has 12 of each sign" {
    lat-start cold --dims 4,4,4,4 | lat-modes -@ 1 --mass .1 --modes 18-26 --residual 1e-9 --tsv >found
    [ "$(tail -n +2 found | wc -l)" -eq 24 ]
    [ "$(values found | grep -c '^-0.808928353')" -eq 12 ]
    [ "$(values found | grep -c '^0.808928353')" -eq 12 ]
}

@test "a degenerate level of more modes than are asked for: the search ends, and none is missed" {
    lat-start flux --dims 4,4,4,4 --n12 2 --n34 2 -o u.lat # 16 modes of .588764
    lat-modes -@ 1 --mass -1.4 --modes 4-12 --residual 1e-12 --max-applications 60000 --tsv u.lat >found
    values found | awk '{ bad += !($1 > .5887 && $1 < .5888) } END { exit bad || NR < 4 || NR > 12 }'
    lat-modes -@ 1 --mass -1.4 --modes 12-20 --residual 1e-12 --max-applications 60000 --tsv u.lat >found
    [ "$(values found | wc -l)" -eq 16 ]
}

@test "--precision single: the same modes, to the residual that is asked for, on any number of ranks; by lanczos alone" {
    rough u.lat 4,4,4,8
    lat-modes -@ 1 --kappa .16 --matrix g5S --modes 6 --residual 1e-9 --tsv u.lat >double.tsv
    lat-modes -@ 1 --kappa .16 --matrix g5S --modes 6 --residual 1e-9 --precision single --tsv u.lat >refined.tsv
    lat-modes -@ 1 --kappa .16 --matrix g5S --modes 6 --residual 1e-4 --tsv u.lat >single.tsv # by default
    values double.tsv >a
    values refined.tsv >b
    values single.tsv >c
    same a b 2e-9
    same a c 2e-4
    awk -F'\t' 'NR > 1 { n++; bad += !($4 <= 1e-4 && $4 > 1e-9) } END { exit bad || n != 6 }' single.tsv # it was in single
    refuses 2 'single is for the lowest modes' lat-modes --kappa .16 --largest --precision single u.lat -o x.lat
    refuses 2 'single is for the lowest modes' lat-modes --kappa .16 --method ritz --precision single u.lat -o x.lat
    need_mpi
    lat-modes -n 2 -@ 1 --kappa .16 --matrix g5S --modes 6 --residual 1e-4 --tsv u.lat | cmp single.tsv -
}

@test "wrong input and a search that does not converge leave nothing behind" {
    rough u.lat
    run -2 lat-modes u.lat
    run -2 lat-modes -@ 1 --kappa .1 --twist .1 u.lat
    [[ $output == *"not Hermitian"* ]]
    for k in 0 x 5-3 3- 99999; do
        run -2 lat-modes -@ 1 --kappa .1 --modes $k u.lat
        [[ $output == *"--modes: expected"* ]]
    done
    run -3 lat-modes -@ 1 --kappa .15 --modes 4 --max-applications 60 u.lat -o out.lat
    [[ $output == *"expected 4 modes with residuals below 1e-10, found none after "* ]]
    run -1 lat-modes -@ 1 --kappa .1 --modes 2000 -o out.lat <(lat-start cold --dims 2,2,2,2)
    [[ $output == *"at most 191"* ]]
    run -1 lat-modes -@ 1 --kappa .1 -o out.lat <(lat-start cold --dims 3,4,4,4)
    run -1 lat-modes -@ 1 --kappa .1 -o out.lat <(lat-start cold --dims 4,4,4,4 --group 4)
    [[ $output == *"SU(4)"* ]]
    [ ! -e out.lat ]
    nothing_left
}

@test "lat-start: flux and instantons have the clover charge of docs/solving.md, for any group" {
    charge() { lat-plaq --json | sed 's/.*"charge": \([^,}]*\).*/\1/'; }
    near "$(lat-start instanton --dims 12,12,12,12 --radius 3 | charge)" -.9027525380926 1e-12
    near "$(lat-start instanton --dims 8,8,8,8 --radius 2 --group 2 | charge)" -.80008320258466 1e-12
    near "$(lat-start instanton --dims 8,8,8,8 --radius 2 --anti | charge)" .80008320258466 1e-12
    # Q = 2 V sin(w12) sin(w34) / (4 pi^2), from F_12 = sin w in both colours
    for n in "1 1" "1 -1" "2 1"; do
        read -r a b <<<"$n"
        near "$(lat-start flux --dims 4,6,4,8 --n12 "$a" --n34 "$b" | charge)" \
            "$(awk -v a="$a" -v b="$b" 'BEGIN { pi = atan2(0, -1); printf "%.15g", 768 * 2 * sin(2 * pi * a / 24) * sin(2 * pi * b / 32) / (4 * pi ^ 2) }')" 1e-12
    done
    lat-start flux --dims 4,6,4,8 --n12 1 --n34 1 --group 4 | lat-theta >found # links are SU(N)
    awk '/distance/ { bad = $NF > 1e-14 } END { exit bad }' found
    for words in "flux --dims 4,4,4,4" "flux --dims 4,4,4 --n12 1" "instanton --dims 4,4,4,4" "instanton --dims 5,4,4,4 --radius 1" \
        "hot --dims 4,4,4,4 --n12 1" "flux --dims 4,4,4,4 --n12 1 --radius 2" "flux --dims 4,4,4,4 --n12 1 --count 2"; do
        # shellcheck disable=SC2086  # words
        run -2 lat-start $words
    done
    # Beyond half the smallest extent it would overlap with its images.
    refuses 2 '--radius: expected at most half the smallest extent, 2, found 2.1' lat-start instanton --dims 6,8,4,8 --radius 2.1
    lat-start instanton --dims 6,8,4,8 --radius 2 >u.lat
    # Beyond half the plaquettes a plane has another flux.
    refuses 2 '--n12: expected at most 7, below half the 4 x 4 plaquettes of a plane, found 8' lat-start flux --dims 4,4,4,8 --n12 8
    refuses 2 '--n34: expected at most 15, below half the 4 x 8 plaquettes of a plane, found -17' lat-start flux --dims 4,4,4,8 --n34 -17
    lat-start flux --dims 4,4,4,8 --n12 7 --n34 -15 >u.lat
}

# cut_off SIGNAL:CODE INPUT TEXT COMMAND...: it gets the signal when its checkpoint ck has this text, and ends with this code.
cut_off() {
    local pid i got=0 input=$2 text=$3 signal=${1%:*} code=${1#*:}
    shift 3
    rm -f ck cut.lat
    env --default-signal=INT "$@" --checkpoint ck "$input" -o cut.lat 2>err 3>&- &
    pid=$!
    for ((i = 0; i < 1000; i++)); do
        [ ! -e ck ] || ! lat-info ck | grep -q "$text" || break
        sleep .01
    done
    kill -"$signal" $pid
    wait $pid || got=$?
    [ "$got" -eq "$code" ] || { cat err; echo "$signal: $got"; return 1; }
    [ ! -e cut.lat ]
    rm -f .cut.lat*.tmp .ck*.tmp # of one that was killed
    [ "$signal" = KILL ] || [ "$(cat err)" = "lat-modes: stopped by SIG$signal: the same command with --resume ck goes on" ]
}

@test "a search that is stopped or killed goes on from its checkpoint, with the same bytes" {
    local dims=4,4,8,8
    ! sanitized || dims=4,4,4,8 # which take as long
    rough a.lat $dims
    rough b.lat 2,2,4,4
    cat b.lat a.lat >u.lat
    local search=(lat-modes -@ 1 --kappa .15 --csw 1 --matrix g5S --modes 8 --residual 1e-8 --degree 4) # slow
    local ritz=(lat-modes -@ 1 --kappa .15 --csw 1 --modes 2 --residual 1e-3 --method ritz)
    "${search[@]}" u.lat -o whole.lat --log whole.tsv
    cut_off KILL:137 u.lat "field of modes" "${search[@]}" # the first configuration is done
    refuses 2 "--resume ck" "${search[@]}" --checkpoint ck u.lat -o cut.lat
    refuses 1 "expected the checkpoint of this run, '--residual 1e-09', found that of another, '--residual 1e-08'" \
        "${search[@]}" --residual 1e-9 --resume ck u.lat -o cut.lat
    # And that of other links, which stays.
    refuses 1 "found that of other links or another subspace, 'config 0 links " "${search[@]}" --checkpoint ck --resume ck <(lat-start weak --dims 2,2,4,4) -o cut.lat
    "${search[@]}" --checkpoint ck --resume ck u.lat -o cut.lat --log cut.tsv
    cmp whole.lat cut.lat
    cmp whole.tsv cut.tsv
    [ ! -e ck ]
    "${search[@]}" a.lat -o whole.lat
    cut_off INT:130 a.lat "config 0 links .*, vector 3 of " "${search[@]}" # in the midst of the search
    "${search[@]}" --resume ck a.lat -o cut.lat
    cmp whole.lat cut.lat
    "${ritz[@]}" a.lat -o ritz.lat
    cut_off USR2:140 a.lat vector "${ritz[@]}"
    "${ritz[@]}" --resume ck a.lat -o cut.lat
    cmp ritz.lat cut.lat
    refuses 1 "a.lat: expected a checkpoint of modes, found a field that is none" lat-modes --kappa .15 --resume a.lat b.lat -o x.lat
    nothing_left
    need_mpi
    cut_off TERM:143 a.lat vector "${search[@]}" -n 2
    "${search[@]}" --resume ck a.lat -o cut.lat
    cmp whole.lat cut.lat
}

@test "modes that cannot be written: a sentence says how to go on, but not with other links" {
    [ -c /dev/full ] || skip "no /dev/full"
    rough u.lat 4,4,4,8
    local search=(lat-modes --kappa .15 --modes 2 --residual 1e-3 --checkpoint ck)
    lat-modes --kappa .15 --modes 2 --residual 1e-3 u.lat -o whole.lat
    run -1 --separate-stderr "${search[@]}" u.lat -o /dev/full
    # shellcheck disable=SC2154 # set by run
    [ "${stderr_lines[-1]}" = "lat-modes: /dev/full: cannot be written: No space left on device; the same command with --resume ck goes on" ]
    # Not with other links.
    refuses 1 "found that of other links" "${search[@]}" --resume ck <(lat-start weak --dims 2,2,4,4) -o cut.lat
    [[ $stderr != *"goes on"* ]]
    "${search[@]}" --resume ck u.lat -o cut.lat
    cmp whole.lat cut.lat
    [ ! -e ck ]
}

@test "a search that is stopped loses nothing, before its first restart either: it ends with the same bytes" {
    rough a.lat 4,4,4,8
    local search=(lat-modes -@ 1 --kappa .15 --csw 1 --modes 24 --residual 1e-8 --degree 100 a.lat)
    local ritz=(lat-modes -@ 1 --kappa .15 --modes 1 --residual 1e-8 --method ritz a.lat)
    local single=(lat-modes -@ 1 --kappa .15 --modes 12 --residual 1e-11 --degree 100 --precision single a.lat)
    "${search[@]}" -o whole.lat
    in_slices .15 .03 "rest of vector" "${search[@]}"
    cmp whole.lat cut.lat
    "${ritz[@]}" -o whole.lat
    in_slices .15 .03 "rest of vector 3" "${ritz[@]}" # of x, p, g and A^2 x
    cmp whole.lat cut.lat
    "${single[@]}" -o whole.lat
    in_slices .15 .03 "refined vector" "${single[@]}"
    cmp whole.lat cut.lat
}

@test "heavy quarks: the search for the other sign is stopped and goes on, with the same bytes" {
    rough a.lat 4,4,4,8
    local search=(lat-modes -@ 1 --kappa .05 --modes 8 --residual 1e-10 a.lat)
    "${search[@]}" -o whole.lat
    in_slices .15 .03 "" "${search[@]}"
    cmp whole.lat cut.lat
    "${search[@]}" --precision single -o whole.lat
    in_slices .15 .03 "" "${search[@]}" --precision single
    cmp whole.lat cut.lat
    need_mpi
    lat-modes -n 2 "${search[@]:1}" --precision single -o cut.lat
    cmp whole.lat cut.lat
}

@test "a checkpoint that claims more modes than the search keeps, with as many vectors, is refused" {
    need_numpy
    rough a.lat 4,4,8,8
    local search=(lat-modes -@ 1 --kappa .15 --csw 1 --matrix g5S --modes 8 --residual 1e-8 --degree 4)
    cut_off INT:130 a.lat "config 0 links .*, vector 3 of " "${search[@]}"
    "$PYTHON" - <<'END'
import copy
import lat

f = next(iter(lat.read("ck")))
key, name = "checkpoint.numbers", f.header.info["checkpoint.modes"].split(",")[0]
number = f.header.info[key].split()
most = int(float.fromhex(number[8]))
number[0:2] = [float(most + 2).hex(), float(most + 1).hex()]
number[11:] = ["0x1p+0"] * (most + 1)


def vector(i):
    v = copy.deepcopy(f)
    v.header.info["checkpoint.modes"] = f"{name}, vector {i} of {most + 2}"
    v.header.info[key] = "-" if i else " ".join(number)
    return v


lat.write("many", [vector(i) for i in range(most + 2)])
END
    refuses 1 "expected a state of --method lanczos, found another" "${search[@]}" --resume many a.lat -o cut.lat
}
