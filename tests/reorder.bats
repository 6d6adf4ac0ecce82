#!/usr/bin/env bats
# Purpose: lat-reorder changes the order of the numbers and nothing else; symmetries of the lattice leave what is measured.
load helper

names="natural standard reversed parity timeslice timeslice-parity"

stranger() {
    need_numpy
    "$PYTHON" "$ROOT/tests/stranger.py" "$@"
}

# line FILE KEY: that line of the header.
line() {
    LC_ALL=C sed -n "/^end = /q; s/^$2 = //p" "$1"
}

# gauged FILE [OPTION]...: a small rough configuration, fixed.
gauged() {
    local name=$1
    shift
    rough r.lat --dims 4,2,6,4
    lat-orelax --theta 1e-20 "$@" r.lat -o "$name"
}

# table FILE: what lat-theta measures, a name and a number a line.
table() {
    lat-theta --tsv "$1" | awk -F'\t' 'NR == 1 { split($0, name) } NR == 2 { for (i = 1; i <= NF; i++) print name[i] "\t" $i }'
}

# agree A B TOLERANCE NAME...: two tables agree in these numbers. NAME may be NAME=OTHER or NAME=-OTHER: what B has
# under NAME is what A has under OTHER, perhaps with the other sign.
agree() {
    local a=$1 b=$2 tolerance=$3 names
    shift 3
    names="$*"
    awk -F'\t' -v names="$names" -v t="$tolerance" '
        NR == FNR { was[$1] = $2; next }
        { is[$1] = $2 }
        END {
            n = split(names, pair, " ")
            for (i = 1; i <= n; i++) {
                parts = split(pair[i], p, "=")
                old = parts > 1 ? p[2] : p[1]
                sign = sub("^-", "", old) ? -1 : 1
                d = is[p[1]] - sign * was[old]
                if (!(p[1] in is) || !(old in was) || !(d <= t && -d <= t)) { print pair[i], is[p[1]], was[old]; bad = 1 }
            }
            exit bad || n == 0
        }' "$a" "$b"
}

# ---- orders

@test "there and back again is the same bytes, for every order by name, group, precision and number of rows" {
    for shape in "4,3,2,6 3 3 double" "4,3,2,6 3 2 single" "3,5,7 2 1 double" "5,4 2 2 single" "7 4 4 double"; do
        read -r dims group rows precision <<< "$shape"
        lat-start hot --dims "$dims" --group "$group" --rows "$rows" --precision "$precision" > a.lat
        lat-gauge --random --no-provenance --save-g g.lat a.lat > a2.lat
        cat g.lat >> a2.lat
        lat-reorder --no-provenance a2.lat | cat > a3.lat # not compressed, as into any pipe
        for order in $names; do
            lat-reorder --sites "$order" --no-provenance a2.lat -o b.lat
            lat-reorder --no-provenance b.lat | cmp a3.lat -
            lat-info --check b.lat
            lat-diff --tolerance 0 <(lat-reorder --sites "$order" a.lat) a.lat
        done
    done
}

@test "orders that are lists, and orders of directions, come back as well, compressed in several blocks" {
    rough a.lat --dims 8,6,8,9
    for order in x,y,z,t t,links,parity,x,y,z links,parity,z,t,y,x "parity x links t y z" y,t,parity,x,z; do
        lat-reorder --sites "$order" --links t,z,x,y --no-provenance a.lat -o b.lat
        [ "$(line b.lat sites)" = "${order//,/ }" ]
        [ "$(line b.lat links)" = "t z x y" ]
        run -1 cmp -s a.lat b.lat
        lat-reorder --no-provenance b.lat -o c.lat
        cmp a.lat c.lat
    done
}

@test "a stranger reads every order and finds the same numbers" {
    for shape in "4,3,2,3 3 3 ytxz" "2,3,3,5 2 1 tzyx" "3,5,3 3 2 yzx" "3,4 4 4 yx" "5 2 2 x"; do
        read -r dims group rows axes <<< "$shape"
        lat-start hot --dims "$dims" --group "$group" --rows "$rows" > u.lat
        lat-gauge --random --save-g g.lat u.lat > rotated.lat
        cat u.lat g.lat > a.lat
        for order in $names; do
            lat-reorder --sites "$order" --links "$axes" a.lat
        done > b.lat
        stranger a.lat a.f64 > a.txt
        stranger b.lat b.f64 > b.txt
        cat a.f64 a.f64 a.f64 a.f64 a.f64 a.f64 | cmp b.f64 -
        # All but the CRC, which is that of the bytes as stored, and the last digits of the sums.
        cut -d' ' -f 1-6 a.txt > fields
        cat fields fields fields fields fields fields | cmp - <(cut -d' ' -f 1-6 b.txt)
        [ "$dims" = 5 ] || [ "$(cut -d' ' -f 7 b.txt | sort -u | wc -l)" -ge 6 ]
    done
}

@test "every tool reads every order and makes the same of it" {
    rough a.lat --dims 4,6,2,4
    lat-gauge --random --save-g g.lat --no-provenance a.lat -o rotated.lat
    lat-orelax --no-provenance --theta 1e-8 a.lat -o fixed.lat
    lat-theta --tsv a.lat > a.tsv
    lat-convert --no-provenance --to nersc a.lat > a.nersc
    for order in $names; do
        lat-reorder --sites "$order" --links z,t,y,x --no-provenance a.lat > b.lat
        lat-reorder --sites "$order" --no-provenance g.lat > h.lat
        lat-theta --tsv b.lat | cmp a.tsv -
        lat-gauge --apply h.lat --no-provenance b.lat -o out.lat
        cmp rotated.lat out.lat
        lat-orelax --no-provenance --theta 1e-8 b.lat -o out.lat
        cmp fixed.lat out.lat
        lat-reunit --no-provenance b.lat -o out.lat
        lat-diff --tolerance 1e-14 a.lat out.lat
        lat-diff --tolerance 0 a.lat b.lat
        lat-convert --no-provenance --to nersc b.lat | cmp a.nersc -
        [ "$(line out.lat sites)" = "t z y x" ]
    done
}

@test "copies between tools travel in any order, and end in the same bytes" {
    rough a.lat --dims 4,2,4,4
    lat-anneal --copies 3 --steps 10 --no-provenance a.lat -o copies.lat
    lat-orelax --theta 1e-8 --no-provenance copies.lat -o best.lat
    for order in reversed timeslice-parity; do
        lat-reorder --sites "$order" --links t,x,y,z --no-provenance copies.lat |
            lat-orelax --theta 1e-8 --no-provenance -o out.lat
        cmp best.lat out.lat
    done
}

@test "header, history and lat-info say the order, and lines stay" {
    lat-start hot --dims 4,4,4,4 | lat-reorder --sites timeslice-parity --links t,x,y,z -o a.lat
    [ "$(line a.lat sites)" = "t parity links z y x" ]
    [ "$(line a.lat links)" = "t x y z" ]
    lat-info a.lat > info
    grep -qx 'order       sites t parity links z y x, links t x y z' info
    grep -q 'lat-reorder 0\.1\.0 | --sites timeslice-parity --links t,x,y,z | sites t parity links z y x, links t x y z | of [0-9a-f]\{8\}$' info
    grep -q 'lat-start 0\.1\.0' info
    lat-info --json a.lat | grep -q '"sites": "t parity links z y x", "links": "t x y z"'
    [ "$(lat-info --tsv a.lat | tail -n 1 | cut -f 19,20)" = "t parity links z y x"$'\t'"t x y z" ]
    lat-reorder a.lat | lat-info | grep -qx 'order       sites t z y x, links x y z t (natural)'
    lat-gauge --random --save-g g.lat a.lat > rotated.lat
    lat-reorder --sites timeslice-parity g.lat | lat-info | grep -qx 'order       sites t parity z y x'
}

@test "a stream in another order that was cut or changed is refused" {
    lat-start hot --dims 8,7,8,4 | lat-reorder --sites parity --links t,z,y,x -o whole.lat
    size=$(wc -c < whole.lat)
    for n in 1 300 700 $((size / 2)) $((size - 17)) $((size - 16)) $((size - 1)); do
        head -c "$n" whole.lat > cut.lat
        for tool in "lat-info --check" lat-reorder lat-theta; do
            run -1 bash -c "$tool cut.lat > out"
            [[ $output == *truncated* ]]
            run -1 bash -c "cat cut.lat | $tool > out"
            [[ $output == *truncated* ]]
        done
    done
    for at in 150 400 900 $((size / 3)) $((size / 2)) $((size - 20)) $((size - 1)); do
        cp whole.lat bad.lat
        byte=$(tail -c +$((at + 1)) whole.lat | head -c 1 | od -An -tu1)
        # shellcheck disable=SC2059
        printf "\\$(printf %o $((byte ^ 4)))" | dd of=bad.lat bs=1 seek="$at" conv=notrunc status=none
        run -1 lat-info --check bad.lat
        run -1 lat-reorder bad.lat -o out.lat
        [ ! -e out.lat ]
    done
}

# lie FILE FROM TO: the header with that line changed, its CRC made right.
lie() {
    python3 - "$@" <<'END'
import sys, zlib
path, old, new = sys.argv[1:]
data = open(path, "rb").read()
end = data.index(b"end = ")
head = data[:end].replace(old.encode(), new.encode(), 1)
assert head != data[:end]
sys.stdout.buffer.write(head + b"end = %08x\n" % zlib.crc32(head) + data[data.index(b"\n", end) + 1:])
END
}

@test "another order than that of the numbers is found out by plaquette and link trace, where they depend on it" {
    command -v python3 > tool.txt || skip "no python3"
    lat-start hot --dims 4,4,4,4 -o a.lat
    for order in "x y z t" "parity t z y x" "t links z y x"; do
        lie a.lat "sites = t z y x" "sites = $order" > bad.lat
        run -1 lat-info --check bad.lat
        [[ $output == *"bad.lat: plaquette "* ]]
        stranger bad.lat && return 1
    done
    lie a.lat "links = x y z t" "links = t z y x" > bad.lat
    run -1 lat-info --check bad.lat
}

@test "an order that is none is one clear sentence" {
    command -v python3 > tool.txt || skip "no python3"
    lat-start hot --dims 4,4,4,4 -o a.lat
    for order in "t z y" "t z y y" "t z y x x" "t z y x links" "t z y x parity" "t z y parity links" "parity t parity z y x" \
        "t  z y x" "t z y x " "t,z,y,x" hilbert "" "links t links z y x" "t z y x w"; do
        lie a.lat "sites = t z y x" "sites = $order" > bad.lat
        run -1 lat-info bad.lat
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == "lat-info: bad.lat: expected an order of the sites of 4 dimensions such as 't z y x', slowest first, found '$order', an order that this version does not read" ]]
        [[ $order != *[pl]* ]] || ! stranger bad.lat
    done
    for order in "x y z" "x y z z" "x y z t parity" txyz; do
        lie a.lat "links = x y z t" "links = $order" > bad.lat
        run -1 lat-info bad.lat
        [[ $output == *"order of the links"*"found '$order'"* ]]
    done
    for wrong in "--sites hilbert" "--sites t,z,y" "--sites t,z,y,x,parity" "--sites t,,z,y,x" "--sites=" "--links x,y,z" \
        "--links x,y,z,w" "--axes t,x,y" "--axes t,x,y,t" "--axes=" "--reflect w" "--reflect x,x" "--reflect=" "--shift 1,2,3" \
        "--shift 1,2,3,4,5" "--shift 1,2,3,x" "--shift 1,2,3,99999999999" "--shift 1,2,3,-99999999999999999999" "--shift=" "--links="; do
        # shellcheck disable=SC2086
        run -2 lat-reorder $wrong a.lat -o out.lat
        [[ ${lines[0]} == "lat-reorder: ${wrong%%[ =]*}"* ]] || { echo "$output"; return 1; }
        [ ! -e out.lat ]
    done
    run -2 lat-reorder --reflect z <(lat-start cold --dims 4,4) -o out.lat
    lat-gauge --random --save-g g.lat a.lat -o b.lat
    refuses 2 '--links x,y,z: expected all 4 directions, each once' lat-reorder --links x,y,z g.lat -o out.lat
}

@test "--links alone is refused where there are no links, and takes copies behind links" {
    lat-start hot --dims 4,4,4,4 -o u.lat
    lat-gauge --random --save-g g.lat u.lat -o b.lat
    lat-source point:0,0,0,0 --dims 4,4,4,4 -o s.lat
    refuses 1 'g.lat: --links: expected links, whose directions it orders, found a gauge transformation (--sites takes it)' \
        lat-reorder --links t,x,y,z g.lat -o out.lat
    refuses 1 's.lat: --links: expected links, whose directions it orders, found a quark propagator' lat-reorder --links t,x,y,z s.lat -o out.lat
    lat-reorder --sites parity --links t,x,y,z g.lat >there.lat
    cat u.lat g.lat | lat-reorder --links t,x,y,z >both.lat
    [ "$(lat-info --tsv both.lat | tail -n +2 | cut -f 20)" = 't x y z' ]
}

# ---- symmetries

@test "each link lands where docs/conventions.md says, in every dimension, of either kind" {
    command -v python3 > tool.txt || skip "no python3"
    for shape in "4,3,2,3 3 axes=t,x,y,z axes=y,z,x,t axes=z,y,t,x shift=1,0,0,0 shift=-1,2,5,-7 reflect=x reflect=y reflect=z reflect=t" \
        "3,2,4 2 axes=z,x,y axes=y,x,z shift=0,1,-2 reflect=x reflect=y reflect=z" \
        "3,5 3 axes=y,x shift=1,1 shift=0,-7 reflect=x reflect=y" "5 2 axes=x shift=2 shift=-1 reflect=x"; do
        read -r dims group cases <<< "$shape"
        lat-start hot --dims "$dims" --group "$group" > gauge.lat
        lat-gauge --random --save-g transform.lat gauge.lat > rotated.lat
        for kind in gauge transform; do
            for case in conjugate $cases; do
                lat-reorder --"$case" $kind.lat
            done > new.lat
            stranger $kind.lat old.f64 > old.txt
            stranger new.lat new.f64 > new.txt
            # shellcheck disable=SC2086
            python3 "$ROOT/tests/symmetry.py" $kind "$group" "$dims" old.f64 new.f64 conjugate $cases
        done
    done
}

@test "symmetries undone are the same bytes" {
    # No extent of 2 along an axis that is reflected alone: for a transformation that is no change.
    for shape in "4,3,2,6 3 3 single" "3,5,4,3 2 1 double" "3,5,2,7 4 4 double"; do
        read -r dims group rows precision <<< "$shape"
        lat-start hot --dims "$dims" --group "$group" --rows "$rows" --precision "$precision" -0 > u.lat
        lat-gauge --random --no-provenance --save-g g.lat -0 u.lat > rotated.lat
        for f in u g; do
            for pair in "--shift=0,0,0,1 --shift=0,0,0,-1" "--shift=-1,2,30,7 --shift=1,-2,-30,-7" "--reflect=t --reflect=t" \
                "--reflect=xyz --reflect=z,y,x" "--axes=t,x,y,z --axes=y,z,t,x" "--conjugate --conjugate" "--shift=1,1,1,1 --shift=-1,-1,-1,-1"; do
                read -r one other <<< "$pair"
                lat-reorder --no-provenance "$one" $f.lat > there.lat
                run cmp -s <(lat-reorder --no-provenance there.lat) $f.lat
                [ "$status" -eq 1 ]
                lat-reorder --no-provenance "$other" there.lat | cmp $f.lat -
            done
        done
        # Several at once: first the shift, then reflections, then axes.
        lat-reorder --no-provenance --shift 1,2,-1,0 --reflect y,t --axes z,t,y,x --conjugate -0 u.lat > once.lat
        lat-reorder --no-provenance --shift 1,2,-1,0 u.lat | lat-reorder --no-provenance --reflect t,y |
            lat-reorder --no-provenance --axes z,t,y,x | lat-reorder --no-provenance --conjugate | cmp once.lat -
    done
}

@test "two rows of SU(3) become three when links are daggered, and are the same two again when dropped" {
    lat-start hot --dims 4,3,2,6 --rows 2 -0 > u.lat
    for what in "--shift 1,2,3,4" --conjugate "--axes y,x,t,z"; do
        # shellcheck disable=SC2086
        lat-reorder $what u.lat > v.lat
        [ "$(line v.lat reals)" = 12 ]
    done
    lat-reorder --no-provenance --reflect t u.lat > v.lat
    [ "$(line v.lat reals)" = 18 ]
    lat-reorder --no-provenance --reflect t v.lat > w.lat
    lat-diff --tolerance 0 u.lat w.lat
    lat-convert --rows 2 --no-provenance w.lat | cmp u.lat -
}

@test "plaquette and theta stay, Polyakov loops are permuted with the axes" {
    rough u.lat --dims 4,3,2,5
    table u.lat > u
    # Sums of at most 720 numbers of modulus at most 60, in another order: 720 eps 60 = 1e-11.
    while read -r what loops; do
        # shellcheck disable=SC2086
        lat-reorder ${what//\// } u.lat | table - > v
        agree u v 1e-11 plaquette link_trace functional theta theta_max
        # shellcheck disable=SC2046,SC2001
        agree u v 1e-14 $(sed 's/\<\([xyzt]_\)/polyakov_\1/g' <<< "$loops")
    done <<'END'
--shift/1,2,3,4 x_re y_re z_re t_re x_im y_im z_im t_im
--reflect/t x_re y_re z_re t_re x_im y_im z_im t_im=-t_im
--reflect/x,y x_re y_re z_re t_re x_im=-x_im y_im=-y_im z_im t_im
--conjugate x_re y_re z_re t_re x_im=-x_im y_im=-y_im z_im=-z_im t_im=-t_im
--axes/t,x,y,z x_re=t_re y_re=x_re z_re=y_re t_re=z_re x_im=t_im y_im=x_im z_im=y_im t_im=z_im
END
}

@test "a field in a gauge is in it afterwards, weights and the time axis turned with the lattice" {
    gauged landau.lat
    gauged weighted.lat --weights 1,2,3,0.5
    gauged coulomb.lat --gauge coulomb
    gauged coulomb-y.lat --gauge coulomb --time y
    gauged mag.lat --gauge mag
    for f in landau weighted coulomb coulomb-y mag; do
        table $f.lat > u
        grep -aE '^(functional|theta|sweeps|plaquette|link_trace) = ' $f.lat > lines
        for what in "--shift 1,1,3,2" "--reflect x,t" --conjugate "--axes t,x,y,z" "--axes y,x,t,z"; do
            # shellcheck disable=SC2086
            lat-reorder $what $f.lat > v.lat
            table v.lat > v
            agree u v 2e-13 functional plaquette # 192 terms of modulus at most 3: 192 eps 3 = 1.3e-13
            agree u v 1e-19 theta theta_max      # both are next to nothing: 1e-20, and rounding of 1e-30
            grep -aE '^(functional|theta|sweeps|plaquette|link_trace) = ' v.lat | cmp lines -
        done
    done
    [ "$(line <(lat-reorder --axes t,x,y,z weighted.lat) weights)" = "0.5 1 2 3" ]
    [ "$(line <(lat-reorder --axes t,x,y,z coulomb.lat) gauge)" = coulomb.x ]
    [ "$(line <(lat-reorder --axes y,x,t,z coulomb.lat) gauge)" = coulomb.z ]
    [ "$(line <(lat-reorder --axes z,x,t,y coulomb-y.lat) gauge)" = coulomb ]
    [ "$(line <(lat-reorder --shift 0,0,0,1 coulomb-y.lat) gauge)" = coulomb.y ]
}

@test "g and U that change together still belong together" {
    rough u.lat --dims 4,3,2,5
    lat-gauge --random --save-g g.lat u.lat -o rotated.lat
    for what in "--shift 1,2,3,-4" "--reflect t" "--reflect x,z" --conjugate "--axes z,t,x,y" \
        "--shift 3,0,1,2 --reflect y --axes y,x,t,z --conjugate --sites parity --links tzyx"; do
        # shellcheck disable=SC2086
        {
            lat-reorder $what u.lat > u2.lat
            lat-reorder $what g.lat > g2.lat
            lat-reorder $what rotated.lat > rotated2.lat
        }
        # Two products of three terms, multiplied from the other side where links were daggered: 16 N eps = 1.1e-14.
        lat-gauge --apply g2.lat u2.lat | lat-diff --tolerance 1.1e-14 rotated2.lat -
    done
}

@test "a gauge that this version does not know is passed on by orders and refused by symmetries" {
    command -v python3 > tool.txt || skip "no python3"
    gauged a.lat
    lie a.lat "gauge = landau" "gauge = axial" > b.lat
    [ "$(line <(lat-reorder --sites parity b.lat) gauge)" = axial ]
    run -1 lat-reorder --shift 1,0,0,0 b.lat -o out.lat
    [[ $output == *"gauge axial"* ]]
    [ ! -e out.lat ]
}
