#!/usr/bin/env bats
# Spinors and quark propagators of other programs: lat-convert against files that tests/make_quarks.py makes, and against samples of
# those programs where they are there.
# shellcheck disable=SC2154  # status, output and stderr are set by run
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    need_numpy
    "$PYTHON" - <<'END'
import lat
import numpy as np

rng = np.random.default_rng(20)


def numbers(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


s = numbers(5, 2, 4, 3, 12, 4, 3)
lat.write("s.lat", lat.propagator(s, operator=lat.Operator("wilson", mass=.7)))
lat.write("s4.lat", lat.propagator(s, "f32"))
lat.write("psi.lat", lat.spinor(s[..., 0, :, :]))
END
}

quarks() { "$PYTHON" "$ROOT/tests/make_quarks.py" "$@"; }

# taken FORMAT STREAM TOLERANCE [OPTIONS]: what make_quarks.py makes of the stream is read as it is, and what lat-convert writes of it
# is what make_quarks.py makes.
taken() {
    local format=$1 stream=$2 tolerance=$3 kappa=()
    shift 3
    case $format in milc-prop | fermilab-prop) kappa=(--kappa .0625) ;; esac
    quarks make "$format" "$stream" file .0625
    lat-convert "$@" "${kappa[@]}" file -o back.lat
    lat-diff --tolerance "$tolerance" "$stream" back.lat >difference || { cat difference; return 1; }
    [ $# -gt 0 ] || diff <(lat-info --tsv file | cut -f 2-5) <(lat-info --tsv "$stream" | cut -f 2-5)
    lat-convert --to "$format" "${kappa[@]}" --force "$stream" -o written
    quarks compare "$format" "$stream" written .0625
    lat-convert "$@" "${kappa[@]}" written -o again.lat
    lat-diff --tolerance "$tolerance" "$stream" again.lat >difference || { cat difference; return 1; }
}

# Numbers are below 6; a change of basis with a root adds four in double precision and halves the sum, twice, and rounds once.
f32=1e-6 f64=1e-14

@test "propagators of every format are read and written, in the basis and the normalisation of each" {
    taken chroma-prop s.lat 0
    taken chroma-prop s4.lat 0
    taken usqcd-prop s.lat 0
    taken usqcd-prop s4.lat 0
    taken npy-prop s.lat 0
    taken npy-prop s4.lat 0
    taken etmc-prop s.lat 0
    taken milc-prop s4.lat 0 # kappa 1/16 is exact
    taken fermilab-prop s4.lat $f32
    taken kyu-prop s.lat $f64 --from kyu-prop --dims 3,4,2,5
    taken xqcd-prop s4.lat $f32 --from xqcd-prop --dims 3,4,2,5
}

@test "spinors of openQCD, DDalphaAMG, tmLQCD and numpy are read and written" {
    taken openqcd-sfld psi.lat 0
    taken ddalphaamg-vector psi.lat 0 --from ddalphaamg-vector --dims 3,4,2,5
    taken etmc-prop psi.lat 0
    taken npy-prop psi.lat 0
}

@test "--join makes a propagator of twelve spinors, of every format that holds one, and takes no others" {
    local c files n
    "$PYTHON" - <<'END'
import lat

s, = lat.read("s.lat")
for c in range(12):
    lat.write(f"{c:02}.lat", lat.spinor(s.spinors[..., c, :, :], operator=lat.Operator("wilson", mass=.7), source=f"point:0,0,0,0, column {c}",
                                        residuals=[c * 1e-12]))
END
    for n in openqcd-sfld ddalphaamg-vector etmc-prop npy-prop; do
        files=()
        for c in [01]?.lat; do
            lat-convert --to $n --force "$c" -o "${c%.lat}.$n"
            files+=("${c%.lat}.$n")
        done
        lat-convert --join --source-basis degrand-rossi --from $n --dims 3,4,2,5 "${files[@]}" -o joined.lat
        lat-diff --tolerance 0 s.lat joined.lat >difference || { echo "$n"; cat difference; return 1; }
    done
    lat-convert --join [01]?.lat -o joined.lat
    lat-diff --tolerance 0 s.lat joined.lat >difference
    [ "$(lat-info joined.lat | grep -c '^source *point:0,0,0,0$')" -eq 1 ]
    lat-info joined.lat | grep -q '^residuals *12 numbers, the largest 1.1e-11'
    lat-info joined.lat | grep -q '^operator *wilson, mass 0.7'
    cat [01]?.lat [01]?.lat | lat-convert --join | lat-info - | grep -c '^field' | grep -qx 2
    lat-convert --join --to chroma-prop [01]?.lat -o joined.cprop
    lat-convert joined.cprop | lat-diff --tolerance 0 s.lat - >difference
    run -1 --separate-stderr lat-convert --join 0[0-7].lat -o x.lat
    [ "$stderr" = "lat-convert: --join: expected 12 spinors for a propagator, found 8" ]
    for option in "--normalisation kappa" "--basis milc" "--kappa .12" --no-checksum; do
        # shellcheck disable=SC2086 # words
        refuses 1 "s.lat: is in format lat, and --basis, --normalisation, --kappa, --dataset and --no-checksum are for spinors" \
            lat-convert $option s.lat -o never
    done
    run -1 --separate-stderr lat-convert --join 00.lat 02.lat -o x.lat
    [ "$stderr" = "lat-convert: 02.lat: expected column 1 of the propagator, found column 2" ]
    refuses 1 '01.openqcd-sfld: expected column 2 of the propagator, found column 1 again' \
        lat-convert --join --source-basis chiral --from openqcd-sfld --dims 3,4,2,5 00.openqcd-sfld 01.openqcd-sfld 01.openqcd-sfld
    run -1 --separate-stderr lat-convert --join 00.lat psi.lat -o x.lat
    [[ $stderr == "lat-convert: psi.lat: expected the operator of column 0, kappa "*", boundary "*", found none" ]]
    run -1 --separate-stderr lat-convert --join s.lat -o x.lat
    [ "$stderr" = "lat-convert: s.lat: expected a spinor, to be joined with others, found a quark propagator" ]
    cat [01]?.lat [01]?.lat >twice
    run -1 --separate-stderr lat-convert --join --to npy-prop twice -o x.npy
    [[ $stderr == *"belongs to a second propagator"* ]]
    [ ! -e x.lat ]
    [ ! -e x.npy ]
    nothing_left
}

# stated COLUMN FORMAT: the cell of the table in docs/formats.md.
stated() {
    awk -F' *[|] *' -v column="$1" -v format="\`$2\`" '
        $2 == "file" { for (i = 2; i < NF; i++) if ($i == column) c = i; next }
        c && $2 == format { print $c; found = 1 }
        END { exit !found }' "$ROOT/docs/formats.md"
}

# through FORMAT STREAM RESULT: the propagator in that format and back; of a format of spinors its twelve columns.
through() {
    local format=$1 c how=(--from "$1")
    case $format in kyu-prop | xqcd-prop | ddalphaamg-vector) how+=(--dims "2,2,2,8") ;; milc-prop | fermilab-prop) how+=(--kappa .11) ;; esac
    case $format in
    openqcd-sfld | ddalphaamg-vector)
        "$PYTHON" -c 'import lat, sys
s, = lat.read(sys.argv[1])
for c in range(12):
    lat.write(f"column.{c:02}", lat.spinor(s.spinors[..., c, :, :]))' "$2"
        for c in column.??; do lat-convert --force --to "$format" "$c" -o "$format.$c"; done
        lat-convert --join --source-basis degrand-rossi "${how[@]}" "$format".column.?? -o "$3"
        ;;
    *)
        lat-convert --force --to "$format" "$2" -o file # kappa is in the header
        lat-convert "${how[@]}" file -o "$3"
        ;;
    esac
}

@test "a propagator through each format, from a source at t != 0: the stream's baryons, or a refusal until the boundary is stated" {
    local format tolerance options
    lat-start weak --dims 2,2,2,8 --seed 3 -o u.lat
    lat-solve --kappa .11 --source point:0,0,0,3 u.lat -q -o p8.lat
    lat-convert -p single p8.lat -o p4.lat
    numbers() { lat-corr --channels pion,nucleon,delta "$@" | cut -f 2-8; }
    for format in $(lat-convert --list | sed -n '/-prop\|-sfld\|-vector/s/ .*//p'); do
        case $format in milc-prop | fermilab-prop | xqcd-prop) p=p4.lat tolerance=1e-5 ;; *) p=p8.lat tolerance=1e-12 ;; esac
        through "$format" $p r.lat
        options=(--boundary "p,p,p,a" --origin "0,0,0,3")
        for column in boundary operator source links; do
            lat-info --json r.lat | "$PYTHON" -c 'import json, sys
key = {"links": "links_crc"}.get(sys.argv[1], sys.argv[1])
assert (key in json.load(sys.stdin)) == (sys.argv[2] == "stated"), sys.argv' $column "$(stated $column "$format")"
        done
        if [ "$(stated boundary "$format")" = - ]; then
            refuses 1 'r.lat: channel nucleon: expected the boundary of the quarks in the header, found none' \
                lat-corr --channels nucleon --origin 0,0,0,3 r.lat
            refuses 1 'r.lat: expected an operator in the header, found none (--boundary p,p,p,a states that of isotropic quarks' \
                lat-quark --force --source point:0,0,0,3 r.lat || refuses 3 r.lat: lat-quark --source point:0,0,0,3 r.lat
            lat-corr --channels pion r.lat >pion.tsv 2>&1
            lat-convert --boundary p,p,p,a --source point:0,0,0,3 r.lat -o said.lat
            numbers said.lat | diff - <(numbers "${options[@]}" r.lat)
            refuses 1 'said.lat: expected boundary p,p,p,a, which the header states, found --boundary p,p,p,p' \
                lat-corr --boundary p,p,p,p said.lat
        fi
        numbers $p >want
        numbers "${options[@]}" r.lat >got
        "$PYTHON" - "$tolerance" <<'END'
import sys
want, got = ([line.split("\t") for line in open(name)][1:] for name in ("want", "got"))
assert len(want) == len(got) and [w[:5] for w in want] == [g[:5] for g in got]
scale = {}
for w in want:
    scale[w[0], w[4]] = max(scale.get((w[0], w[4]), 0), abs(complex(float(w[5]), float(w[6]))))
off = max(abs(complex(float(w[5]) - float(g[5]), float(w[6]) - float(g[6]))) / scale[w[0], w[4]] for w, g in zip(want, got))
assert off <= float(sys.argv[1]), off
END
    done
}

@test "--join wants one smearing of the links, and keeps no residual of slices" {
    lat-start weak --dims 2,2,2,4 -o u.lat
    for s in stout:.1,1 stout:.1,2; do
        lat-solve --kappa .1 --smear-links $s --residual-slices 1e-9 --columns 0,1,2,3,4,5,6,7,8,9,10,11 --source point:0,0,0,0 u.lat -o $s.lat
        lat-convert --split $s.lat -o $s.col.lat
    done
    lat-convert --join stout:.1,1.col.*.lat -o whole.lat
    lat-info whole.lat | grep -q 'smeared_links = stout:.1,1'
    [ "$(lat-info whole.lat | grep -c residual_slices)" -eq 0 ]
    refuses 1 'stout:.1,2.col.0011.lat: expected smeared_links stout:.1,1, like column 0, found stout:.1,2' \
        lat-convert --join stout:.1,1.col.000?.lat stout:.1,1.col.0010.lat stout:.1,2.col.0011.lat -o no.lat
}

@test "twelve spinors of another basis are joined as their sources are: unit vectors of that basis, which is said" {
    # by make_quarks.py, each column of the propagator as the program has it, both spins in its basis
    for format in etmc-prop openqcd-sfld ddalphaamg-vector; do
        ROOT=$ROOT "$PYTHON" - <<'END'
import lat, runpy, sys
import numpy as np
import os
sys.argv = ["make_quarks.py", "make", "npy-prop", "s.lat", "unused", "1"]
module = runpy.run_path(os.environ["ROOT"] + "/tests/make_quarks.py")
s, = lat.read("s.lat")
for name in ("CHIRAL", "DDALPHAAMG"):
    t = module["basis_change"](module[name])
    v = s.spinors.reshape(s.spinors.shape[:4] + (4, 3, 4, 3))
    v = np.einsum("tzyxPCsc,PQ->tzyxQCsc", v, t).reshape(s.spinors.shape)  # sources: unit vectors of the basis; sinks in ours
    for c in range(12):
        lat.write(f"{name}.{c:02}", lat.spinor(v[..., c, :, :]))
END
        case $format in ddalphaamg-vector) of=DDALPHAAMG ;; *) of=CHIRAL ;; esac
        for c in "$of".??; do lat-convert --force --to $format "$c" -o "$c.file"; done
        run -0 --separate-stderr lat-convert --join --from $format --dims 3,4,2,5 $of.??.file -o joined.lat
        [[ $stderr == *"the sources are taken as the unit vectors of the basis of the file, "*" (--source-basis says another one)" ]]
        lat-diff --tolerance 0 s.lat joined.lat >difference || { echo "$format"; cat difference; return 1; }
    done
}

@test "a boundary angle that is spread over the links is taken off, with the source's place" {
    lat-start weak --dims 2,2,2,4 --seed 3 -o u.lat
    lat-solve --kappa .12 --boundary .2,.4,p,a --source point:1,0,1,2 u.lat -q -o p.lat
    "$PYTHON" - <<'END'
import lat
import numpy as np
s, = lat.read("p.lat")
t, z, y, x = np.indices(s.spinors.shape[:4])
phase = np.exp(-1j * np.pi * (.2 * (x - 1) / 2 + .4 * y / 2 + (t - 2) / 4))
lat.write("spread.lat", lat.propagator(s.spinors * phase[..., None, None, None]))
END
    lat-convert --to npy-prop spread.lat -o spread.npy
    refuses 1 'spread.npy: --spread: expected the boundary of the quarks (--boundary)' lat-convert --order t,z,y,x --spread .2,.4,0,1 spread.npy -o x.lat
    refuses 1 'spread.npy: --spread: expected the boundary' lat-convert --order t,z,y,x --spread .2,.4,0,1 --boundary .2,.4,p,a spread.npy -o x.lat
    refuses 2 "--spread: expected four numbers with commas between, found '.2'" lat-convert --order t,z,y,x --spread .2 spread.npy -o x.lat
    lat-convert --order t,z,y,x --spread .2,.4,0,1 --boundary .2,.4,p,a --source point:1,0,1,2 spread.npy -o off.lat
    lat-diff --tolerance 1e-14 p.lat off.lat >difference
    lat-info off.lat | grep -qx 'operator    unknown, boundary 0.20000000000000001,0.40000000000000002,p,a'
    "$PYTHON" -c 'import lat
s, = lat.read("off.lat")
assert s.header.operator.name == "unknown" and s.header.operator.boundary[3] == "a"
lat.write("again.lat", s)'
    lat-info --check again.lat
}

# with_xml XML FILE: s.lat in chroma-prop with this in place of its XML.
with_xml() {
    quarks make chroma-prop s.lat file
    "$PYTHON" - "$1" "$2" <<'END'
import struct
import sys

xml, out, at = sys.argv[1].encode() + b"\0", b"", 0
file = open("file", "rb").read()
while at < len(file):
    length = struct.unpack(">Q", file[at + 8:at + 16])[0]
    record = file[at:at + 144 + length + -length % 8]
    if record[16:].startswith(b"scidac-record-xml\0"):
        record = record[:8] + struct.pack(">Q", len(xml)) + record[16:144] + xml + bytes(-len(xml) % 8)
    out += record
    at += 144 + length + -length % 8
open(sys.argv[2], "wb").write(out)
END
}

@test "Chroma's XML: the boundary of every action, the operator of those that are known word by word, stout links" {
    xml() { echo "<Propagator><ForwardProp><FermionAction>$1</FermionAction></ForwardProp></Propagator>"; }
    local bc='<FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>1 1 1 -1</boundary></FermionBC>' w='<FermAct>WILSON</FermAct><Mass>1</Mass>'
    local expected xml stout='<Name>STOUT_FERM_STATE</Name><rho>0.125</rho><n_smear>2</n_smear>'
    while IFS='|' read -r expected xml; do
        with_xml "$(xml "$xml")" c.lime
        lat-convert c.lime -o r.lat
        lat-info r.lat | sed -n 's/^operator *//p; s/^.* smeared_links = /links /p' | tr '\n' ';' >found
        [ "$(cat found)" = "$expected" ] || { echo "$xml: expected '$expected', found '$(cat found)'"; return 1; }
    done <<END
wilson, mass 1, kappa 0.1, boundary p,p,p,a;|$w$bc
wilson, mass 1, kappa 0.1, boundary p,p,p,a;|$w<AnisoParam><anisoP>false</anisoP><t_dir>3</t_dir></AnisoParam>$bc
unknown, boundary p,p,p,a;|$w<AnisoParam><anisoP>true</anisoP><t_dir>3</t_dir><xi_0>2</xi_0><nu>1</nu></AnisoParam>$bc
unknown, boundary p,p,p,a;|<FermAct>DWF</FermAct><Mass>1</Mass>$bc
unknown, boundary p,p,p,a;|$w<Kappa>.11</Kappa>$bc
wilson, mass 1, kappa 0.1, boundary p,p,p,a;|$w<Kappa>.1</Kappa>$bc
wilson, mass 1, kappa 0.1, boundary p,p,p,a;|$w$bc$bc
|$w$bc${bc/-1/1}
unknown, boundary p,p,p,a;|$w<FermState><Name>SIMPLE_FERM_STATE</Name><Name>HEX_FERM_STATE</Name>$bc</FermState>
unknown, boundary p,p,p,a;|<FermAct>CLOVER</FermAct><Mass>1</Mass><clovCoeff>1</clovCoeff><TwistedM>.1</TwistedM>$bc
|$w<FermionBC><FermBC>TWISTED_FERMBC</FermBC><boundary>1 1 1 -1</boundary><phases_by_pi>.2 .4 0</phases_by_pi></FermionBC>
unknown, boundary p,p,p,a;|$w<FermState><Name>HEX_FERM_STATE</Name><n_smear>2</n_smear>$bc</FermState>
wilson, mass 1, kappa 0.1, boundary p,p,p,a;links stout:0.125,2;|$w<FermState>$stout<orthog_dir>-1</orthog_dir>$bc</FermState>
wilson, mass 1, kappa 0.1, boundary p,p,p,a;links stout:0.125,2,spatial;|$w<FermState>$stout<orthog_dir>3</orthog_dir>$bc</FermState>
unknown, boundary p,p,p,a;|$w<FermState>$stout<orthog_dir>1</orthog_dir>$bc</FermState>
END
    # and as we write it
    lat-start weak --dims 4,4,4,8 -o w.lat
    lat-solve --smear-links stout:.1,1 --kappa .12 --csw 1.1 --source point:0,0,0,0 w.lat -q -o s.lat
    lat-convert --force --to chroma-prop s.lat -o s.lime
    lat-convert s.lime -o r.lat
    lat-dirac --check --source point:0,0,0,0 -U w.lat r.lat >check
    lat-solve --smear-links hyp:.75,.6,.3,1 --kappa .12 --source point:0,0,0,0 w.lat -q -o s.lat
    lat-convert --force --to chroma-prop s.lat -o s.lime
    lat-convert s.lime | lat-info - | grep -qx 'operator    unknown, boundary p,p,p,a'
}

@test "Chroma's XML states the source, in LIME and in HDF5's record_xml, and is written to both" {
    local head='<Propagator><ForwardProp><FermionAction><FermAct>WILSON</FermAct><Mass>1</Mass><FermionBC><FermBC>SIMPLE_FERMBC</FermBC>'
    head+='<boundary>1 1 1 -1</boundary></FermionBC></FermionAction></ForwardProp>'
    local point='<SourceType>POINT_SOURCE</SourceType><j_decay>3</j_decay><t_srce>1 0 3 4</t_srce>' shell said source
    shell='<SourceType>SHELL_SOURCE</SourceType><t_srce>1 0 3 4</t_srce><SmearingParam><wvf_kind>GAUGE_INV_GAUSSIAN</wvf_kind>'
    shell+='<wvf_param>2.5</wvf_param><wvfIntPar>10</wvfIntPar><no_smear_dir>3</no_smear_dir></SmearingParam>'
    while IFS='|' read -r said source; do
        xml="$head<PropSource><version>6</version><Source><version>2</version>$source</Source></PropSource></Propagator>"
        with_xml "$xml" c.lime
        hdf5 record s.lat c.h5 <<<"$xml"
        for file in c.lime c.h5; do
            lat-convert $file -o r.lat
            [ "$(lat-info r.lat | sed -n 's/^source *//p')" = "$said" ]
            lat-info r.lat | grep -qx 'operator    wilson, mass 1, kappa 0.1, boundary p,p,p,a'
            lat-convert --force --to chroma-prop r.lat -o again.lime
            lat-convert --force --to hdf5-prop r.lat -o again.h5
            for back in again.lime again.h5; do
                lat-convert $back -o back.lat
                lat-diff --tolerance 0 r.lat back.lat >difference
                diff <(lat-info back.lat | sed -n '/^source/p; /^operator/p') <(lat-info r.lat | sed -n '/^source/p; /^operator/p')
            done
        done
    done <<END
point:1,0,3,4|$point
point:1,0,3,4/gauss:2.5,10|$shell
|${shell/GAUGE_INV_GAUSSIAN/WUPPERTAL}
|${shell/<no_smear_dir>3/<no_smear_dir>0}
|${point/<j_decay>3/<j_decay>0}
|${point/1 0 3 4/1 0 3}
|${point/1 0 3 4/1 -1 3 4}
|$point<Displacement><disp_length>1</disp_length></Displacement>
|${point/POINT/RAND_Z2_WALL}
END
    # a wall is read; a smeared sink solves nothing; a source without a boundary would be a source itself
    with_xml "$head<PropSource><Source><SourceType>WALL_SOURCE</SourceType><j_decay>3</j_decay><t_source>4</t_source></Source></PropSource></Propagator>" c.lime
    lat-convert c.lime | lat-info - | grep -qx 'source *wall:4'
    with_xml "$head<PropSource><Source>$point</Source></PropSource><PropSink><SinkType>SHELL_SINK</SinkType></PropSink></Propagator>" c.lime
    lat-convert c.lime | lat-info - | grep -qx 'operator    unknown, boundary p,p,p,a'
    with_xml "<Propagator><PropSource><Source>$point</Source></PropSource></Propagator>" c.lime
    [ "$(lat-convert c.lime | lat-info - | grep -c '^source\|^operator')" -eq 0 ]
}

@test "D01: lalibe's HDF5 propagators are solutions, by the operator and the smeared source of their record_xml" {
    need_data lime_pyquda_weak_field.lime quark/lalibe_test_propagator_t4.h5
    lat-convert "$DATA/lime_pyquda_weak_field.lime" -o u.lat
    while read -r name kappa; do
        lat-convert --dataset "sh_sig2p0_n5/PS_${name}_4" "$DATA/quark/lalibe_test_propagator_t4.h5" -o p.lat
        lat-info p.lat | grep -q "kappa $kappa.*, csw 1.17, boundary p,p,p,a$"
        lat-info p.lat | grep -qx 'source *point:0,0,0,4/gauss:2,5'
        lat-dirac --check --residual 1e-11 -U u.lat p.lat | grep -c 'all$' >columns
        [ "$(cat columns)" = 12 ]
    done <<<$'up 0.12195\ndn 0.11904'
}

@test "a USQCD file that MILC wrote wants its basis and norm said, and then is the same propagator" {
    # the propagator as MILC has it: in its basis, over 2 kappa
    lat-convert --to usqcd-prop --basis milc --normalisation kappa --force s.lat -o plain.uprop
    "$PYTHON" - <<'END'
import struct
out, at, file = b"", 0, open("plain.uprop", "rb").read()
info = b"gauge.fix.description No gauge fixing\nquark.description Clover\nquark.kappa 0.120000\n"
while at < len(file):
    length = struct.unpack(">Q", file[at + 8:at + 16])[0]
    head, data = file[at:at + 144], file[at + 144:at + 144 + length]
    at += 144 + length + -length % 8
    if head[16:].startswith(b"scidac-file-xml\0"):
        data = data.replace(b"</usqcdPropFile>", b"<info>" + info + b"</info></usqcdPropFile>")
        assert info in data
    out += head[:8] + struct.pack(">Q", len(data)) + head[16:] + data + bytes(-len(data) % 8)
open("milc.uprop", "wb").write(out)
END
    refuses 1 "milc.uprop: its file record is MILC's, whose propagators are in the basis milc and divided by 2 kappa: expected --basis milc --normalisation kappa" \
        lat-convert milc.uprop -o x.lat
    lat-convert --basis milc --normalisation kappa --kappa "$(awk 'BEGIN { printf "%.17g", 1 / 9.4 }')" milc.uprop -o x.lat
    lat-diff --tolerance 1e-14 s.lat x.lat >difference
    lat-convert --force milc.uprop -o forced.lat 2>err
    grep -q 'found neither' err
    run -3 lat-diff --tolerance 1e-3 s.lat forced.lat
}

@test "the operator of Chroma's XML comes into the header, and goes back" {
    quarks make chroma-prop s.lat file
    lat-convert file -o back.lat
    lat-info back.lat | grep -qx 'operator    wilson, mass 0.545454545454546, kappa 0.11, csw 1.25, boundary p,p,p,a'
    lat-convert --to chroma-prop --force back.lat -o file2
    lat-convert file2 | lat-info - | grep -qx 'operator    wilson, mass 0.545454545454546, kappa 0.11, csw 1.25, boundary p,p,p,a'
}

@test "a basis and a normalisation can be said, and kappa comes from the header" {
    quarks make chroma-prop s.lat file
    lat-convert --basis milc file -o milc.lat
    "$PYTHON" - <<'END'
import lat
import numpy as np

s, = lat.read("s.lat")
m, = lat.read("milc.lat")
sign = np.array([1, 1, -1, -1])
expected = s.spinors.reshape(5, 2, 4, 3, 4, 3, 4, 3) * sign[:, None, None, None] * sign[:, None]
assert (m.spinors.reshape(expected.shape) == expected).all()
END
    lat-convert --to milc-prop -p single s.lat --force -o by-header
    lat-convert --to milc-prop -p single --kappa "$(awk 'BEGIN { printf "%.17g", 1 / 9.4 }')" --force s.lat -o by-option
    cmp by-header by-option
    lat-convert --to milc-prop -p single --normalisation mass --force s.lat -o as-is
    lat-convert --normalisation mass as-is | lat-diff --tolerance $f32 s.lat - >difference
    run -1 --separate-stderr lat-convert by-header -o x.lat
    [[ $stderr == *"M^-1/(2 kappa), and kappa is not known: give --kappa"* ]]
    [ ! -e x.lat ]
}

@test "lat-info shows and checks spinors of other programs" {
    quarks make milc-prop s4.lat file .0625
    lat-info file | grep -q '^stored .*milc-prop'
    lat-info --json <file | "$PYTHON" -c 'import json, sys; o = json.load(sys.stdin); assert o["kind"] == "propagator", o'
    [ "$(lat-info --check file)" = "file: field 0: OK: propagator SU(3) 3 4 2 5 f32, format milc-prop" ]
    cp file damaged
    dd if=/dev/zero of=damaged bs=1 seek=3000 count=8 conv=notrunc status=none
    refuses 1 'damaged: checksums ' lat-info damaged
}

@test "damaged, cut and unfit files are refused in a sentence, and nothing is left" {
    local at kappa
    for format in chroma-prop usqcd-prop etmc-prop milc-prop openqcd-sfld; do
        case $format in milc-prop) stream=s4.lat ;; openqcd-sfld) stream=psi.lat ;; *) stream=s.lat ;; esac
        quarks make $format $stream file .0625
        at=$(($(wc -c <file) * 11 / 24)) # in the middle of numbers
        [ $format != openqcd-sfld ] || at=830 # an exponent: the norm does not see the lowest bits
        cp file bad
        [ "$(tail -c +$((at + 1)) file | head -c 1)" != U ]
        printf 'U' | dd of=bad bs=1 seek="$at" conv=notrunc status=none
        [ $format = milc-prop ] && kappa=(--kappa .1) || kappa=()
        run --separate-stderr lat-convert "${kappa[@]}" bad -o x.lat
        [ "$status" -eq 1 ] || { echo "$format: taken"; return 1; }
        [[ $stderr == *" are stated, "* || $stderr == *" is stated, "* ]] || { echo "$format: $stderr"; return 1; }
        head -c "$at" file >bad
        run -1 --separate-stderr lat-convert --from $format "${kappa[@]}" bad -o x.lat
        [ "${#stderr_lines[@]}" -eq 1 ] || { echo "$format: $stderr"; return 1; }
        cp file bad
        printf 'rubbish' >>bad
        run -1 --separate-stderr lat-convert --from $format "${kappa[@]}" bad -o x.lat
        [[ $stderr == *"goes on after the end"* ]] || { echo "$format: $stderr"; return 1; }
        [ ! -e x.lat ]
    done
    nothing_left
    run -1 --separate-stderr lat-convert --to openqcd-sfld --force s.lat -o x
    [ "$stderr" = "lat-convert: s.lat: holds a quark propagator, and openqcd-sfld files hold a spinor field" ]
    run -1 --separate-stderr lat-convert --to milc-prop --kappa .1 --force s.lat -o x
    [[ $stderr == *"holds double precision, and milc-prop files hold single: say --precision single to round" ]]
    lat-start cold --dims 4,4,4,4 -o u.lat
    run -1 --separate-stderr lat-convert --to npy-prop --force u.lat -o x
    [ "$stderr" = "lat-convert: u.lat: holds a gauge field, and npy-prop files hold a spinor field or a quark propagator" ]
    quarks make npy-prop s.lat file
    run -1 --separate-stderr lat-convert --order t,z,y,x --to nersc --force file -o x
    [ "$stderr" = "lat-convert: file: holds a quark propagator, and nersc files hold gauge fields" ]
    lat-convert --to nersc u.lat -o u.nersc
    run -1 --separate-stderr lat-convert --to npy-prop --force u.nersc -o x
    [ "$stderr" = "lat-convert: u.nersc: is in format nersc, which holds gauge fields, and spinors are expected" ]
    "$PYTHON" -c 'import struct, sys
data = bytearray(open("file", "rb").read())
data[-8:] = struct.pack("<d", float("nan"))
open("bad", "wb").write(data)'
    run -1 --separate-stderr lat-convert bad -o x.lat
    [[ $stderr == *"expected finite numbers"* ]]
    [ ! -e x.lat ]
    [ ! -e x ]
}

@test "--dims, --rows and --signs are not passed over where spinors are read or written" {
    local input target
    lat-convert --to chroma-prop --force s.lat -o file
    for input in s.lat file; do
        for target in lat npy-prop; do
            refuses 1 "$input: states the extents 3 4 2 5, expected 8 8 8 8 as --dims says" \
                lat-convert --dims 8,8,8,8 --to $target $input -o x
            refuses 1 "$input: --rows is for matrices, and this is a quark propagator" \
                lat-convert --rows 2 --to $target $input -o x
        done
        refuses 1 "$input: --signs is for matrices, and this is a quark propagator" lat-convert --signs --to npy-prop $input -o x
    done
    lat-convert --dims 3,4,2,5 --to npy-prop s.lat -o x
}

@test "--kappa, --no-checksum and --dataset are refused where they do nothing" {
    lat-convert --to chroma-prop --force s.lat -o file
    refuses 2 '--kappa is for --normalisation kappa, found --normalisation mass' \
        lat-convert --normalisation mass --kappa .1 --to milc-prop s4.lat -o x
    lat-convert --normalisation kappa --to chroma-prop --kappa "$(awk 'BEGIN { printf "%.17g", 1 / 9.4 }')" --force s.lat -o x # the same
    rm x
    refuses 1 's.lat: expected kappa 0.1063829787, which the header states, found --kappa 0.2 (--force takes it)' \
        lat-convert --normalisation kappa --kappa .2 --to npy-prop s.lat -o x
    refuses 1 'file: chroma-prop files hold M^-1, and --kappa is for M^-1/(2 kappa) (--normalisation kappa)' \
        lat-convert --kappa .1 file -o x
    refuses 1 's.lat: npy-prop files hold M^-1, and --kappa is for M^-1/(2 kappa) (--normalisation kappa)' \
        lat-convert --kappa .1 --to npy-prop s.lat -o x
    refuses 1 'file: is in format chroma-prop, and --no-checksum is for reading milc-prop' lat-convert --no-checksum file -o x
    refuses 1 's4.lat: is in format lat, and --no-checksum is for reading milc-prop' \
        lat-convert --no-checksum --kappa .1 --to milc-prop s4.lat -o x
    refuses 1 'file: is in format chroma-prop, and --dataset is for reading hdf5-prop' lat-convert --dataset S file -o x
    refuses 1 's.lat: is in format lat, and --dataset is for reading hdf5-prop' lat-convert --dataset S --to hdf5-prop s.lat -o x
}

@test "checksums of MILC before May 2000 are refused with the reason, unless --no-checksum" {
    quarks make milc-prop s4.lat file .1
    printf '\x01\x02\x03\x04\x05\x06\x07\x08' | dd of=file bs=1 seek=116 conv=notrunc status=none
    run -1 --separate-stderr lat-convert --kappa .0625 file -o x.lat
    [[ $stderr == *"checksums 04030201 08070605 of column 0 are stated"*"before May 2000 (--no-checksum takes the file"* ]]
    lat-convert --no-checksum --kappa .1 file -o x.lat
    lat-info x.lat | grep -q "checksums not verified"
}

@test "unproven formats say so in the list" {
    lat-convert --list >list
    for format in chroma-prop usqcd-prop openqcd-sfld ddalphaamg-vector kyu-prop xqcd-prop; do
        grep -q "^$format .* (unproven)$" list
    done
    run ! grep -E "^(npy|milc|fermilab|etmc)-prop .*unproven" list
}

@test "HDF5 files have the numbers of QDP++ in their order, the same bytes each time, and are read from files and pipes" {
    for stream in s psi s4; do lat-convert --to hdf5-prop $stream.lat -o $stream.h5; done
    sleep 1.1 # a clock in the file would show
    for stream in s psi s4; do
        lat-convert $stream.h5 | lat-diff --tolerance 0 $stream.lat - >difference
        cat $stream.h5 | lat-convert | lat-diff --tolerance 0 $stream.lat - >difference
        lat-convert $stream.lat --to hdf5-prop -o again.h5
        cmp $stream.h5 again.h5
        # the array is the same as NumPy's, in one piece
        quarks make npy-prop $stream.lat array.npy
        "$PYTHON" -c 'import sys
array, file = (open(name, "rb").read() for name in sys.argv[1:])
assert array[128:] in file' array.npy $stream.h5
    done
    head -c 20000 s.h5 >cut.h5
    run -1 --separate-stderr lat-convert cut.h5 -o x.lat
    [ "$stderr" = "lat-convert: cut.h5: expected an HDF5 file, found a damaged or truncated one" ]
    run -1 --separate-stderr lat-convert --dataset other s.h5 -o x.lat
    [ "$stderr" = "lat-convert: s.h5: expected a dataset other, found none" ]
    [ ! -e x.lat ]
}

hdf5() { "$PYTHON" "$ROOT/tests/make_hdf5.py" "$@"; }

@test "HDF5 of QDP++, Qlua and PyQUDA, in pieces and chunks, deflated, shuffled and summed, is the same propagator" {
    for kind in qdp qlua pyquda plain chunked deflated shuffled summed all latest indexed single fixed paged tree implicit growing; do
        for stream in s s4; do
            [ $stream = s ] || ! sanitized || continue
            hdf5 $kind $stream.lat $kind.h5 </dev/null
            lat-convert $kind.h5 -o back.lat 2>said
            lat-diff --tolerance 0 $stream.lat back.lat >difference || { echo "$kind differs"; return 1; }
            cat $kind.h5 | lat-convert 2>/dev/null | lat-diff --tolerance 0 $stream.lat - >difference
        done
        case $kind in
        plain | chunked | deflated | shuffled | summed | all | single | fixed | paged | tree | implicit | growing) grep -q "$kind.h5: nothing in it vouches for the order of its axes: it is read as t, z, y, x" said ;;
        *) [ ! -s said ] ;;
        esac
    done
    lat-info qlua.h5 | grep -q 'HDF5 of Qlua, dataset S$'
    lat-info pyquda.h5 | grep -q 'HDF5 of PyQUDA, dataset LatticePropagator/0$'
    # a tool that reads, and converts nothing
    lat-corr s.lat | cut -f 1-8 >plain
    hdf5 qdp s.lat s.h5
    lat-corr s.h5 | cut -f 1-8 | diff plain -
}

@test "HDF5 of libver='latest': attributes in a heap state what they do elsewhere, and a bit that is wrong in what has a sum is seen" {
    local action='<FermAct>WILSON</FermAct><Mass>1</Mass><FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>1 1 1 -1</boundary></FermionBC>'
    local pad
    for pad in 1 1000; do # in a block of the heap, and on its own
        printf '<Propagator><ForwardProp><FermionAction>%s</FermionAction></ForwardProp>%*s</Propagator>' "$action" $pad '' | hdf5 indexed s4.lat file.h5
        lat-convert file.h5 | lat-info - | grep -qx 'operator    wilson, mass 1, kappa 0.1, boundary p,p,p,a'
    done
    for kind in indexed fixed paged tree growing; do
        hdf5 $kind s4.lat $kind.h5 </dev/null
        "$PYTHON" - $kind.h5 <<'END' >marks
import re, sys
data = open(sys.argv[1], "rb").read()
for mark, at in ((b"OHDR", 6), (b"FRHP", 50), (b"BTHD", 20), (b"BTLF", 8), (b"BTIN", 8), (b"FAHD", 12), (b"FADB", 8), (b"EAHD", 12), (b"EAIB", 8), (b"EADB", 8), (b"EASB", 8)):
    for m in list(re.finditer(mark, data))[:3]:
        print(m.start() + at)
END
        [ "$(wc -l <marks)" -ge 4 ]
        while read -r at; do
            cp $kind.h5 bad.h5
            "$PYTHON" -c 'import sys; f = open("bad.h5", "r+b"); at = int(sys.argv[1]); f.seek(at); b = f.read(1)[0]; f.seek(at); f.write(bytes([b ^ 1]))' "$at"
            run -1 --separate-stderr lat-convert bad.h5 -o x.lat
            [ ! -e x.lat ]
        done <marks
    done
}

@test "what the header states and a format does not hold is said; Chroma's XML and HDF5 hold the CRC of the links, too" {
    lat-start weak --dims 4,4,2,4 -o u.lat
    lat-smear stout:.1,2 u.lat -o f.lat
    lat-solve -q --kappa .11 --source point:0,1,0,2 u.lat -o p.lat
    for format in chroma-prop hdf5-prop; do
        run -0 --separate-stderr lat-convert --to $format p.lat -o kept
        [ -z "$stderr" ]
        lat-convert kept -o back.lat
        diff <(lat-info p.lat | grep -E '^(links|operator|source) ') <(lat-info back.lat | grep -E '^(links|operator|source) ')
    done
    lat-convert --to npy-prop p.lat 2>&1 >p.npy | grep -qx 'lat-convert: p.lat: npy-prop files do not hold the operator with its boundary, the source, the CRC of the links, which its header states: keep that too'
    lat-solve -q --kappa .11 --twist .1 --source wall:2 u.lat -o twisted.lat
    lat-convert --to hdf5-prop twisted.lat 2>&1 >t.h5 | grep -qx 'lat-convert: twisted.lat: hdf5-prop files do not hold the operator, the source, which its header states: keep that too'
    lat-solve -q --kappa .11 --smear-links stout:.1,2 --source point:0,1,0,2 u.lat -o smeared.lat
    lat-convert --to milc-prop --precision single smeared.lat 2>&1 >s.milc | grep -q ', the smearing, which its header states'
}

@test "PyQUDA's attribute Lattice has to be the shape" {
    hdf5 pyquda s4.lat file.h5
    sed -i 's/3 4 2 5/5 2 4 3/' file.h5
    refuses 1 "file.h5: expected the extents 3 4 2 5, which the shape of dataset LatticePropagator/0 has, as the attribute Lattice, found '5 2 4 3'" \
        lat-convert file.h5 -o x.lat
}

@test "HDF5 whose numbers are not all in the file, or came through something unknown, is one sentence, and opens no other file" {
    local kind dataset
    while IFS=: read -r kind dataset sentence; do
        hdf5 "$kind" s4.lat file.h5
        refuses 1 "$sentence" lat-convert ${dataset:+--dataset "$dataset"} file.h5 -o x.lat
        [ ! -e x.lat ]
    done <<'END'
part::dataset S cannot be read: 1 of its 24 chunks were never written
unwritten::dataset S cannot be read: its numbers were never written
short::dataset S cannot be read: the file has not the bytes of its numbers (truncated?)
filter::dataset S cannot be read: it went through a filter that is none of deflate, shuffle and fletcher32
early::dataset S cannot be read: it was summed by fletcher32 before it went through another filter
wrong::dataset S cannot be read: a chunk has another checksum than it states (damaged?)
swapped::dataset S cannot be read: its complex numbers have not the members r and i, re and im, or real and imag, in this order
xy::dataset S cannot be read: its complex numbers have not the members r and i, re and im, or real and imag, in this order
real::expected one dataset of spinors or propagators, found 0; dataset S has real numbers of shape 5 2 4 3 4 4 3 3
inside::dataset S cannot be read: its numbers are inside its description, where they are not read
circle::expected groups at most 16 deep in each other, found more, or one that is inside itself, at g/g/g
wide::dataset S cannot be read: it has more than 8 axes
external::dataset S cannot be read: its numbers are in other files
external:S:file.h5: dataset S cannot be read: its numbers are in other files
outside::dataset S cannot be read: a member of its complex numbers is outside of them
soft::dataset S cannot be read: it is a soft link: expected the name of the dataset itself
elsewhere:elsewher:dataset elsewher cannot be read: it is a link to another file
huge::dataset S cannot be read: the file has not the bytes of its numbers (truncated?)
END
    if command -v strace >/dev/null; then
        for kind in external elsewhere; do
            hdf5 $kind s4.lat file.h5
            strace -f -e trace=open,openat -o calls lat-convert file.h5 -o x.lat || true
            run ! grep -E '"(/)?(other|mine)' calls
        done
    fi
}

@test "propagators of Grid and Hadrons are read as Chroma's" {
    quarks make grid-prop s.lat file
    lat-convert file | lat-diff --tolerance 0 s.lat - >difference
    lat-info file | grep -q 'checksums verified'
}

@test "spinors of openQCD 2.0 and later have an integer before the norm; half of the points, and norms that are not finite, are refused" {
    quarks make openqcd2-sfld psi.lat file
    lat-convert file | lat-diff --tolerance 1e-14 psi.lat - >difference
    lat-convert --from openqcd-sfld < <(cat file) | lat-diff --tolerance 1e-14 psi.lat - >difference
    quarks make openqcd-sfld psi.lat old
    lat-convert old | lat-diff --tolerance 1e-14 psi.lat - >difference
    cp file half
    printf '\1' | dd of=half bs=1 seek=16 conv=notrunc status=none
    refuses 1 'half: expected 0 after the extents, a spinor on all points, found 1: half of the points are not read' lat-convert half -o x
    truncate -s $((28 + 96 * 120)) half
    refuses 1 'half: expected 0 after the extents, a spinor on all points, found 1' lat-convert half -o x
    cp file other
    printf '\377\377\377\377' | dd of=other bs=1 seek=16 conv=notrunc status=none
    run -1 --separate-stderr lat-convert other -o x
    [ "$stderr" = 'lat-convert: other: expected 0 after the extents, a spinor on all points, found -1' ]
    # 1e200 in the data: the sum of squares is infinite, and so is the norm
    cp file huge
    printf '\x70\xe7\x69\x3b\xc2\x3d\x69\x69' | dd of=huge bs=1 seek=28 conv=notrunc status=none
    printf '\0\0\0\0\0\0\xf0\x7f' | dd of=huge bs=1 seek=20 conv=notrunc status=none
    refuses 1 'huge: square norm inf is stated, inf found' lat-convert huge -o x
}

@test "arrays of NumPy and HDF5 in another order: --order says it, without it a line says that nothing does; Fortran order is read" {
    "$PYTHON" - <<'END'
import lat
import numpy as np

s, = lat.read("s.lat")
a = s.spinors.reshape(5, 2, 4, 3, 4, 3, 4, 3).transpose(0, 1, 2, 3, 6, 4, 7, 5)
np.save("plain.npy", np.ascontiguousarray(a))
np.save("xyzt.npy", np.ascontiguousarray(a.transpose(3, 2, 1, 0, 4, 5, 6, 7)))
np.save("fortran.npy", np.asfortranarray(a))
p, = lat.read("psi.lat")
np.save("spinor.npy", np.asfortranarray(p.spinors.transpose(2, 0, 3, 1, 4, 5)))
END
    for file in plain fortran; do
        run --separate-stderr lat-convert $file.npy -o x.lat
        [ "$stderr" = "lat-convert: $file.npy: nothing in it vouches for the order of its axes: it is read as t, z, y, x (--order t,z,y,x of lat-convert says that they are)" ]
        lat-diff --tolerance 0 s.lat x.lat >difference
        run -0 --separate-stderr lat-convert --order t,z,y,x $file.npy -o x.lat
        [ -z "$stderr" ]
    done
    lat-convert --order x,y,z,t xyzt.npy | lat-diff --tolerance 0 s.lat - >difference
    lat-convert --order y,t,x,z spinor.npy | lat-diff --tolerance 0 psi.lat - >difference
    hdf5 plain s4.lat plain.h5
    run -0 --separate-stderr lat-convert --order natural plain.h5 -o x.lat
    [ -z "$stderr" ]
    lat-diff --tolerance 0 s4.lat x.lat >difference
    lat-convert --order x,y,z,t plain.h5 -o x.lat
    lat-info x.lat | grep -q '^lattice *5 2 4 3'
    refuses 1 "plain.npy: --order parity: expected x, y, z and t in the order of its axes, slowest first" lat-convert --order parity plain.npy -o x
    refuses 1 'plain.npy: is in format npy-prop, and --order, --group, --type and --endian are for raw files' lat-convert --group 3 plain.npy -o x
}

# ---- samples of other programs -------------------------------------------------------------------

sample() {
    [ -e "$DATA/quark/$1" ] || skip "no sample $1"
    cp "$DATA/quark/$1" "$1"
}

# pion FILE TOLERANCE NUMBER..: sum |S|^2 of each slice, to a relative tolerance.
pion() {
    "$PYTHON" - "$@" <<'END'
import sys
import lat

s = next(lat.read(sys.argv[1])).spinors.astype(complex)
found, expected = (abs(s) ** 2).sum(axis=(1, 2, 3, 4, 5, 6)), [float(v) for v in sys.argv[3:]]
off = max(abs(a / b - 1) for a, b in zip(found, expected))
if len(found) != len(expected) or not off <= float(sys.argv[2]):
    sys.exit(f"found {found}, expected {expected}: off by {off}")
END
}

@test "MILC's propagator of h_dibaryon has the pion of D12, its sums and its bytes; prop1.test is of another algorithm" {
    sample milc_hdib_scratchprop_00
    lat-convert --normalisation mass milc_hdib_scratchprop_00 -o m.lat
    # the numbers of the file itself, printed with nine digits
    pion m.lat 1.5e-4 62.8294237 3.16036773 0.290458076 0.0273378100 0.00491619148 0.0227763810 0.247583947 2.84606054
    lat-convert --to milc-prop --normalisation mass --force m.lat -o back
    "$PYTHON" - <<'END'
import numpy as np

a, b = (np.fromfile(name, dtype) for name, dtype in (("milc_hdib_scratchprop_00", ">u4"), ("back", "<u4")))
assert (a[27:] == b[27:]).all()  # all but the head of 108 bytes: spins, colours, checksums and numbers
END
    sample milc_hdib_prop1.test
    run -1 --separate-stderr lat-convert --normalisation mass milc_hdib_prop1.test -o x.lat
    [[ $stderr == *"before May 2000"* ]]
    lat-convert --no-checksum --normalisation mass milc_hdib_prop1.test -o x.lat
    # the same physics to 1e-5
    lat-diff --tolerance 1e-3 m.lat x.lat >difference || true
    pion x.lat 1.5e-4 62.8294237 3.16036773 0.290458076 0.0273378100 0.00491619148 0.0227763810 0.247583947 2.84606054
}

@test "Fermilab's sample has the sums of D13 and the pion of D23, and comes back byte for byte" {
    sample milc_wprop_fm.sample.l4448.ll
    lat-convert --normalisation mass -p double milc_wprop_fm.sample.l4448.ll -o f.lat
    pion f.lat 6e-5 16.74417 1.09079 .1442 .025133 .009058 .029623 .158405 1.123284 # as printed: .009058 to 5.5e-5
    lat-convert --to fermilab-prop -p single --normalisation mass --force f.lat -o back
    lat-convert --normalisation mass -p double back -o again.lat
    # sums of four numbers below 1.1, half of each, there and back; small numbers are differences of larger ones
    lat-diff --tolerance 2e-7 f.lat again.lat >difference
    lat-convert --basis degrand-rossi --normalisation mass milc_wprop_fm.sample.l4448.ll |
        lat-convert --to fermilab-prop --basis degrand-rossi --normalisation mass --force -o back
    cmp <(tail -c +37 back) <(tail -c +37 milc_wprop_fm.sample.l4448.ll)
    "$PYTHON" - <<'END'
import numpy as np

words = np.fromfile("back", "<u4", offset=36).astype(np.uint64).reshape(8, -1)
index = np.arange(words.shape[1], dtype=np.uint64)
found = []
for slice in words:
    for n in (29, 31):
        turn = index % np.uint64(n)
        found.append(int(np.bitwise_xor.reduce((slice << turn | slice >> np.uint64(32) - turn) & np.uint64(0xffffffff))))
assert ["%x" % v for v in found] == """7e685bd9 759261a0 458d636c 7fde95 b5a45a07 719a0afd 331f5357 13ec46ad d2a13ba2 2daf8c59 4720052d 65bfc73d
90dc8731 1bcbbc90 637519f8 3bf07bbe""".split()
END
}

@test "nissa's point source of tmLQCD's format is one number, D20; lalibe's propagator comes back byte for byte, D01" {
    sample nissa_point_spinor
    lat-convert nissa_point_spinor -o n.lat
    lat-info n.lat | grep -q "field       0: spinor field"
    lat-convert --to etmc-prop --force n.lat -o back
    "$PYTHON" - <<'END'
import lat
import numpy as np

psi = next(lat.read("n.lat")).spinors
assert psi.shape == (8, 4, 4, 4, 4, 3) and np.count_nonzero(psi) == 1 and abs(psi[0, 0, 0, 0, :, 0]).max() == 1
reals = np.frombuffer(open("back", "rb").read()[-98304 - 8 * 40:], np.uint8)
data = open("back", "rb").read()
at = data.index(b"scidac-binary-data") + 128
numbers = np.frombuffer(data[at:at + 98304], ">f8")
assert numbers[0] == 1 and np.count_nonzero(numbers) == 1
END
    sample lalibe_PS_prop_u.npy
    lat-convert lalibe_PS_prop_u.npy -o d.lat
    lat-convert --to npy-prop --force d.lat -o back
    cmp lalibe_PS_prop_u.npy back
}

@test "lalibe's HDF5 file has the numbers of D06, by the name of the dataset" {
    sample lalibe_test_propagator_t4.h5
    run -1 --separate-stderr lat-convert lalibe_test_propagator_t4.h5 -o x.lat
    [[ $stderr == *"found 2 (sh_sig2p0_n5/PS_dn_4, sh_sig2p0_n5/PS_up_4): lat-convert --dataset names one" ]]
    lat-convert --dataset sh_sig2p0_n5/PS_up_4 lalibe_test_propagator_t4.h5 -o up.lat
    # an exact solve differs from the file by 8e-13, it is said
    pion up.lat 1e-13 .028550691287927 .029680155783141 .033178777076444 .040804457136814 .212957464914296 .040787362958291 \
        .033172449496185 .029668168334757
}

@test "QDP++'s file of three records: the checksums of its third one are those of D21" {
    sample qdpxx_t_qio.intel-scalar.lime
    # random numbers, no links: read with --force; the other two records are left out
    run -0 --separate-stderr lat-convert --force qdpxx_t_qio.intel-scalar.lime -o x.lat
    [[ $stderr != *"SciDAC checksums"* && $stderr == *"2 other binary records are left out"* ]]
    lat-info x.lat | grep -q "SciDAC su3gauge 32 bits, checksums d716ee56 7d701386"
}
