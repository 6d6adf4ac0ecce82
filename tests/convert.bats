#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Purpose: lat-convert reads and writes NERSC, LIME and MILC files and refuses wrong ones. A second opinion comes from
# check_foreign.py; odd and damaged files are made by make_foreign.py. Neither has a line of our code.
load helper
load formats

# Samples of every format from configurations of ours, in $BATS_FILE_TMPDIR/samples, by make_samples.py.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    command -v python3 >/dev/null || return 0
    lat-heatbath --dims 4,6,2,8 --beta 6.0 --thermalise 20 -o double.lat
    lat-heatbath -N 2 --dims 4,6,2,8 --beta 2.4 --thermalise 20 -o su2.lat
    lat-convert --to ildg double.lat -o double.ildg
    lat-convert --to ildg --precision single double.lat -o single.ildg
    lat-convert --to ildg su2.lat -o su2.ildg
    mkdir samples
    "$BATS_TEST_DIRNAME/make_samples.py" samples single.ildg double.ildg su2.ildg
}

# The files of a collection in NERSC, LIME and MILC format: "file extents plaquette trace".
real_files() {
    manifest "$DATA" | awk -F'\t' '/^(nersc|lime|milc)_/ { print $1, $2, $3, $4 }'
}

# One file in the collection does not say its extents.
dims_for() {
    case $1 in lime_gaugefields_08080808.ildg) echo --dims 8,8,8,8 ;; esac
}

# A small field of our own as ILDG.
small() {
    lat-start "${3:-hot}" -N "${1:-3}" -d 2,2,2,4 -p "${2:-single}" | lat-convert --to ildg -o small.ildg
}

@test "a sample of every format, by an independent writer, is read bit for bit, goes to every format and back" {
    command -v python3 >/dev/null || skip "no python3"
    local S=$BATS_FILE_TMPDIR/samples file dims plaquette trace crc options tolerance to n=0 rows
    while IFS=$'\t' read -r file dims plaquette trace crc options; do
        [ "$options" != - ] || options=
        # shellcheck disable=SC2086
        lat-convert $options "$S/$file" -o a.lat
        [ "$(crc a.lat)" = "$crc" ] || { echo "$file: links differ"; return 1; }
        [ "$(extents a.lat)" = "$dims" ]
        # 12 digits are stated; a third row in single is rounded, each number by up to 2^-24: a trace over 3 of four such
        # links by up to 4 sqrt(3) / 3 2^-24.
        tolerance=2e-12
        ! lat-info a.lat | grep -q 'f32, 12 reals' || tolerance=1.4e-7
        near "$(number plaquette a.lat)" "$plaquette" $tolerance
        near "$(number 'link trace' a.lat)" "$trace" $tolerance
        rows=$(lat-info a.lat | awk '/^numbers/ { print $3 == 12 ? 2 : $3 == 4 ? 1 : $3 == 8 ? 2 : 3 }')
        for to in nersc ildg scidac milc openqcd hirep; do
            case $to:$(lat-info a.lat | awk '/^numbers/ { print $2 }') in milc:f64, | openqcd:f32, | hirep:f32,) continue ;; esac
            lat-info a.lat | grep -q 'SU(3)' || [[ $to != openqcd ]] || continue
            lat-convert --to $to a.lat -o "b.$to"
            lat-convert --rows "$rows" "b.$to" -o b.lat
            same a.lat b.lat || { echo "$file by $to"; return 1; }
        done
        n=$((n + 1))
    done < <(manifest "$S")
    [ "$n" -ge 36 ]
    # Of each format that lat-convert reads, but its own, and HDF5 and NumPy, of which formats.bats makes samples.
    lat-convert --list | awk 'NR > 1 && $1 != "lat" { print $1 } /^$/ { exit }' | sed '/^$/d; /^hdf5$/d; /^npy$/d' | sort -u >formats
    manifest "$S" | sed 's/[_\t].*//' | sort -u | diff formats - || { echo "formats without a sample, or samples without a format"; return 1; }
}

@test "lat-convert reads every NERSC, LIME and MILC file of the collection as MANIFEST.tsv says" {
    need_data MANIFEST.tsv
    local file dims plaquette trace args tolerance n=0
    while read -r file dims plaquette trace; do
        args=$(dims_for "$file")
        # shellcheck disable=SC2086
        lat-convert $args "$DATA/$file" > a.lat 2> err
        ! grep -v "states no checksums: it may be cut off" err || return 1
        # The manifest has 12 digits. Its third rows are kept in double, ours are rounded to single: each
        # number by up to 2^-24, so a trace over 3 of four such links by up to 4 sqrt(3) / 3 2^-24.
        tolerance=2e-12
        lat-info a.lat | grep -q 'f32, 12 reals' && tolerance=1.4e-7
        near "$(number plaquette a.lat)" "$plaquette" "$tolerance"
        near "$(number 'link trace' a.lat)" "$trace" "$tolerance"
        [ "$(extents a.lat)" = "$dims" ]
        # shellcheck disable=SC2086,SC2002
        cat "$DATA/$file" | lat-convert $args > b.lat
        cmp a.lat b.lat
        n=$((n + 1))
    done < <(real_files)
    [ "$n" -ge 20 ]
}

@test "not a bit of the links changes on the way in: the CRC of an independent reader is the same" {
    need_data MANIFEST.tsv
    local file rest
    while read -r file rest; do
        [ -z "$(dims_for "$file")" ] || continue
        lat-convert "$DATA/$file" > a.lat
        [ "$(crc a.lat)" = "$("$CHECK" crc "$DATA/$file")" ] || { echo "$file"; return 1; }
    done < <(real_files)
}

@test "every file goes to every format and back with identical links" {
    need_data MANIFEST.tsv
    local file rest to args
    while read -r file rest; do
        args=$(dims_for "$file")
        # shellcheck disable=SC2086
        lat-convert $args "$DATA/$file" > a.lat
        # ILDG, SciDAC and MILC hold whole matrices: back to the rows that were there.
        rows=$(lat-info a.lat | awk '/^numbers/ { print $3 / 6 }')
        for to in nersc ildg scidac milc; do
            [ "$to" = milc ] && lat-info a.lat | grep -q f64 && continue
            lat-convert --to "$to" a.lat -o "b.$to"
            lat-convert --rows "$rows" "b.$to" > b.lat
            same a.lat b.lat
        done
    done < <(real_files)
}

@test "one field in several containers gives identical links" {
    need_data nersc_culgt_4444.nersc nersc_milc_lat.test.archive lime_culgt_4444.ildg
    local f
    lat-convert "$DATA/nersc_culgt_4444.nersc" > a.lat
    lat-convert "$DATA/nersc_milc_lat.test.archive" > b.lat
    same a.lat b.lat
    lat-convert "$DATA/milc_lat.sample.l4444" > a.lat
    for f in lime_culgt_4444.ildg lime_milc_l4444.ildg lime_milc_l4444.scidac; do
        lat-convert "$DATA/$f" > b.lat
        same a.lat b.lat
    done
}

@test "checksums, plaquette and link trace in written files are right by an independent program" {
    local n p to
    for n in 2 3; do
        for p in single double; do
            small "$n" "$p"
            for to in nersc ildg scidac milc; do
                [ "$to" = milc ] && [ "$n$p" != 3single ] && continue
                lat-convert --to "$to" small.ildg > "out.$to"
                "$CHECK" sums "out.$to"
                [ "$("$CHECK" crc "out.$to")" = "$("$CHECK" crc small.ildg)" ]
            done
            # A row that is left out is not rounded where another program completes it in double precision.
            lat-convert --to nersc --rows $((n - 1)) small.ildg > out.nersc
            "$CHECK" sums out.nersc
            lat-convert out.nersc > out.lat
            near "$(number plaquette out.lat)" "$(awk '$1 == "PLAQUETTE" { print $3 }' out.nersc)" 1e-14
            lat-theta out.lat > out.theta
            near "$(awk '$1 == "plaquette" { print $2 }' out.theta)" "$(number plaquette out.lat)" 1e-14
            lat-convert --precision double out.lat > double.lat
            near "$(number plaquette double.lat)" "$(number plaquette out.lat)" 1e-14
            # All rows in single precision: the third one is rounded.
            lat-convert --to ildg out.lat > all.ildg
            "$CHECK" sums all.ildg
            "$CHECK" crc all.ildg > /dev/null
        done
    done
}

@test "ILDG is written as QIO orders its records" {
    small
    run "$CHECK" records small.ildg
    [ "$(awk '{ print $1, $2 }' <<< "$output")" = "scidac-private-file-xml 8000
scidac-file-xml 4000
scidac-private-record-xml 8000
scidac-record-xml 0000
ildg-format 0000
ildg-data-lfn 0000
ildg-binary-data 0000
scidac-checksum 4000" ]
}

@test "the same input gives the same bytes, whatever the number of threads" {
    local to
    lat-start hot -d 16,16,16,8 -p single -o a.lat # 9 MiB: several chunks
    for to in nersc ildg scidac milc; do
        lat-convert -@ 1 --to "$to" a.lat > one
        lat-convert -@ 4 --to "$to" a.lat > four
        cmp one four
        lat-convert -@ 1 four > 1.lat
        lat-convert -@ 4 four > 4.lat
        cmp 1.lat 4.lat
        same a.lat 4.lat
    done
}

@test "NERSC headers are read in all byte orders, precisions, rows and spellings" {
    local p bits rows floating order
    for p in single double; do
        bits=$([ $p = single ] && echo 32 || echo 64)
        small 3 $p
        for rows in 2 3; do
            lat-convert --rows $rows small.ildg > a.lat
            while read -r floating order; do
                "$MAKE" nersc small.ildg x floating="$floating" order="$order" rows=$rows style=odd
                lat-convert x > b.lat
                same a.lat b.lat
            done << END
IEEE${bits}BIG big
IEEE${bits}LITTLE little
IEEE${bits}SMALL little
IEEE$bits big
IEEE$bits little
END
        done
    done
}

@test "NERSC without FLOATING_POINT is IEEE32BIG, and without checksum the plaquette decides the byte order" {
    local order
    small
    lat-convert small.ildg > a.lat
    "$MAKE" nersc small.ildg x floating=
    lat-convert x > b.lat
    same a.lat b.lat
    for order in big little; do
        "$MAKE" nersc small.ildg x floating=IEEE32 order=$order checksum=0 link_trace=0
        lat-convert x > b.lat
        same a.lat b.lat
    done
    # A checksum of 0 beside numbers that are not 0 is a checksum.
    "$MAKE" nersc small.ildg x checksum=0
    refused "CHECKSUM 0 is stated" x
}

@test "NERSC of SU(2), SU(4) and SU(5), all rows and all but one" {
    local n
    for n in 2 4 5; do
        lat-start hot -N $n -d 2,2,2,2 -o a.lat
        lat-convert --to nersc a.lat > "su$n.nersc"
        grep -aqx "DATATYPE = 4D_SU${n}_GAUGE_${n}x${n}" "su$n.nersc"
        lat-convert "su$n.nersc" > b.lat
        same a.lat b.lat
    done
    lat-convert --rows 1 --to nersc su2.nersc > su2row.nersc
    grep -aqx "DATATYPE = 4D_SU2_GAUGE" su2row.nersc
    lat-convert --rows 2 su2row.nersc > b.lat
    lat-convert su2.nersc > a.lat
    # The row left out was good to rounding.
    lat-diff --tolerance 1e-14 a.lat b.lat
    for n in 4 5; do
        "$MAKE" nersc "su$n.nersc" x floating=IEEE64BIG rows=$((n - 1)) \
            plaquette="$(awk '/^PLAQ/ { print $3; exit }' "su$n.nersc")" \
            link_trace="$(awk '/^LINK/ { print $3; exit }' "su$n.nersc")"
        lat-convert "su$n.nersc" > a.lat
        lat-convert x > b.lat
        lat-diff --tolerance 1e-13 a.lat b.lat
    done
}

@test "MILC is read in both byte orders and with a list of sites" {
    local order list
    small
    lat-convert small.ildg > a.lat
    for order in big little; do
        for list in 0 1; do
            "$MAKE" milc small.ildg x order=$order list=$list
            lat-convert x > b.lat
            same a.lat b.lat
        done
    done
}

@test "LIME records may come in any order, padded or not, with NUL, blanks and line breaks" {
    local records n=0
    small
    lat-convert small.ildg > a.lat
    while read -r records; do
        "$MAKE" lime small.ildg x records="$records"
        lat-convert x > b.lat 2> err
        same a.lat b.lat
        case $records in
            *checksum*|*xlf*) [ ! -s err ] ;;
            *)
                grep -q "states no checksums: it may be cut off" err
                [ "$(wc -l < err)" -eq 1 ]
                ;;
        esac
        "$MAKE" lime small.ildg x records="$records" style=odd nul=1 pad=0
        lat-convert x > b.lat
        same a.lat b.lat
        n=$((n + 1))
    done << 'END'
format,data,checksum
format,lfn,data
format,data,checksum,lfn
file,record,scidac,checksum
oldfile,record,scidac,checksum
file,record,format,lfn,data,checksum
checksum,format,data
xlf,format,data,checksum
junk,format,junk,data,junk,checksum,junk
END
    [ "$n" -eq 9 ]
}

@test "XML in which a quote of an attribute is missing is read without its attributes, with a word; other broken XML is refused" {
    local token
    small
    lat-convert small.ildg > a.lat
    for token in unquoted undeclared; do
        "$MAKE" lime small.ildg x records=$token,data,checksum
        lat-convert x > b.lat 2> err
        same a.lat b.lat
        [ "$(wc -l < err)" -eq 1 ]
        grep -q "x: record 'ildg-format' is not proper XML (.*): it is read without its attributes" err
        run -1 lat-convert --dims 4,2,2,2 x
        [[ $output == *"states the extents 2 2 2 4, expected 4 2 2 2 as --dims says"* ]]
    done
    "$MAKE" lime small.ildg x records=unended,data,checksum
    refused "is not proper XML" x
}

@test "a plaquette in xlf-info that is no finite number is refused" {
    small
    "$MAKE" lime small.ildg x records=hugexlf,format,data,checksum
    refused "expected a plaquette in record 'xlf-info', found '1e999'" x
}

@test "the gauge field is found among other fields, and a word is said about them" {
    local records
    small
    lat-convert small.ildg > a.lat
    for records in file,small,other,record,scidac,checksum file,record,scidac,checksum,small,other,badsum; do
        "$MAKE" lime small.ildg x records=$records
        lat-convert x > b.lat 2> err
        same a.lat b.lat
        grep -q "1 other binary record is left out" err
    done
}

@test "--dims serves LIME files that do not say their extents, and must agree with those that do" {
    small
    lat-convert small.ildg > a.lat
    "$MAKE" lime small.ildg x records=data,checksum
    lat-convert --dims 2,2,2,4 x > b.lat
    same a.lat b.lat
    refused "states the extents 2 2 2 4, expected 4 2 2 2 as --dims says" --dims 4,2,2,2 small.ildg
    refused "expected a gauge field among its records" --dims 2,2,2,3 x
    # Half the sites of twice the precision have as many bytes.
    refused "are stated" --dims 2,2,2,2 x
}

@test "--dims must agree with every file that says its extents" {
    small
    lat-convert small.ildg > x.lat
    lat-convert --to milc small.ildg > x.milc
    lat-convert --to nersc small.ildg > x.nersc
    for f in x.lat x.milc x.nersc small.ildg; do
        refused "states the extents 2 2 2 4, expected 4 2 2 2 as --dims says" --dims 4,2,2,2 $f
        refused "$f" --dims 4,2,2,2 --to ildg $f
        lat-convert --dims 2,2,2,4 $f > y.lat
        same x.lat y.lat
    done
    lat-start hot -d 4,4,2 > three.lat
    refused "states the extents 4 4 2, expected 4 4 2 1 as --dims says" --dims 4,4,2,1 three.lat
}

@test "what is bad is refused, with a sentence, and leaves no file" {
    local file phrase n=0
    while IFS=$'\t' read -r file phrase; do
        case $file in '#'*) continue ;; esac
        refused "$phrase" "$BATS_TEST_DIRNAME/data/refused/$file"
        # And through a pipe, where the size is not known.
        run -1 bash -o pipefail -c "cat '$BATS_TEST_DIRNAME/data/refused/$file' | lat-convert > out"
        n=$((n + 1))
    done < "$BATS_TEST_DIRNAME/data/refused/convert.tsv"
    [ "$n" -eq "$(find "$BATS_TEST_DIRNAME/data/refused" -name 'convert-*' | wc -l)" ]
}

@test "what no format begins with is refused" {
    printf 'nothing that anybody knows' > x
    refused "begins like no format that is known" x
}

@test "--force turns a wrong statement into a warning and takes the links as they are" {
    local f
    small 3 single weak
    lat-convert small.ildg > a.lat
    "$MAKE" nersc small.ildg nersc checksum=12345678
    "$MAKE" nersc small.ildg plaquette plaquette=0.9
    "$MAKE" milc small.ildg milc sum29=1
    "$MAKE" lime small.ildg lime records=format,data,badsum
    "$MAKE" lime small.ildg xlf records=badxlf,format,data
    for f in nersc plaquette milc lime xlf; do
        refused "is stated" "$f" || refused "are stated" "$f"
        lat-convert --force "$f" > b.lat 2> err
        same a.lat b.lat
        [ "$(wc -l < err)" -eq 1 ]
        grep -q "stated" err
    done
    "$MAKE" lime small.ildg phases records=format,data,checksum spoil=antiperiodic:t:1,antiperiodic:t:3
    lat-convert --force phases > b.lat 2> err
    grep -q "phases folded into the links" err
    [ "$(crc b.lat)" = "$("$CHECK" crc phases)" ]
    # Numbers that are no numbers are never taken.
    "$MAKE" milc small.ildg nan spoil=nan
    refused "found nan" --force nan
}

@test "a file cut anywhere is refused, from a file and from a pipe" {
    local f n size
    small
    lat-convert --to nersc small.ildg > small.nersc
    lat-convert --to milc small.ildg > small.milc
    for f in small.nersc small.milc small.ildg; do
        size=$(stat -c %s $f)
        # The tail of the ILDG file is its checksum: without it the links are still all there.
        [ $f = small.ildg ] && size=$((size - 144 - 144))
        for n in 1 20 95 143 150 300 1000 $((size / 2)) $((size - 1)); do
            head -c "$n" $f > part
            refused "" part
            run -1 bash -o pipefail -c "cat part | lat-convert > out"
        done
    done
}

@test "one byte changed in the payload is noticed in every format" {
    local f at size
    small
    lat-convert --to nersc small.ildg > small.nersc
    lat-convert --to milc small.ildg > small.milc
    for f in small.nersc small.milc small.ildg; do
        size=$(stat -c %s $f)
        for at in $((size - 400)) $((size - 1001)) $((size - 4242)); do
            cp $f x
            printf '%b' "\\x$(printf %02x $(($(od -An -tu1 -j "$at" -N 1 $f) ^ 16)))" |
                dd of=x bs=1 seek="$at" conv=notrunc status=none
            run -1 cmp -s x $f
            refused "" x
        done
    done
}

@test "a second configuration after the first is refused; white space is not, and zero bytes get a word" {
    local to
    small
    lat-convert --to nersc small.ildg > a
    printf ' \n' >> a
    lat-convert a > a.lat 2> err
    [ ! -s err ]
    for to in nersc ildg scidac milc mdp; do
        { lat-convert --to $to small.ildg; head -c 4097 /dev/zero; } > b
        lat-convert b > b.lat 2> err
        same a.lat b.lat
        [ "$(wc -l < err)" -eq 1 ]
        grep -q "b: 4097 zero bytes follow the end of its configuration at byte $(($(wc -c < b) - 4097)): padding?" err
        # shellcheck disable=SC2002 # through a pipe
        cat b | lat-convert > b.lat 2> err
        same a.lat b.lat
        grep -q "<stdin>: 4097 zero bytes follow the end" err
    done
    # Formats that are recognised by the length, or that have no header.
    { lat-convert --to hirep small.ildg --precision double; head -c 4097 /dev/zero; } > b
    refused "begins like no format that is known" b
    { lat-convert --to raw small.ildg; head -c 4097 /dev/zero; } > b
    refused "are not four links of any SU(N)" --from raw --dims 2,2,2,4 b
    cat a a > two
    refused "goes on after the end" two
    lat-convert --to milc small.ildg > b
    cat b b > two
    refused "goes on after the end" two
    cat small.ildg small.ildg > two
    refused "more than one gauge field" two
}

@test "--split writes each configuration of streams to a file of its own" {
    local i
    for i in 1 2 3; do rough $i.lat --dims 4,4,4,4 --seed $i; done
    cat 1.lat 2.lat | lat-convert --split - 3.lat -o cfg.lat
    [ "$(echo cfg.*)" = "cfg.0000.lat cfg.0001.lat cfg.0002.lat" ]
    for i in 1 2 3; do lat-diff --tolerance 0 $i.lat cfg.000$((i - 1)).lat >/dev/null; done
    lat-convert 1.lat 2.lat | lat-convert --split -o x.nersc
    lat-convert x.0001.nersc | lat-diff --tolerance 0 - 2.lat
    lat-convert 1.lat 2.lat | lat-convert --split -o 'n%02d.of.lat'
    [ "$(echo n*)" = "n00.of.lat n01.of.lat" ]
    lat-diff --tolerance 0 n01.of.lat 2.lat >/dev/null
    mkdir a.b
    lat-convert --split 1.lat -o a.b/name
    [ -e a.b/name.0000 ]
    # What was whole before a damaged one stays, and is whole.
    head -c 30000 2.lat | cat 1.lat - >cut.lat
    run -1 lat-convert --split cut.lat -o half.lat
    [[ $output == *"cut.lat: truncated"* ]]
    [ "$(echo half.*)" = half.0000.lat ]
    lat-diff --tolerance 0 half.0000.lat 1.lat
    run -1 lat-convert --split --no-clobber 1.lat -o half.lat
    run -2 lat-convert --split 1.lat
    [[ $output == *"--split: expected -o FILE"* ]]
    run -2 lat-convert --split --join 1.lat -o x.lat
    # No input is replaced, which may be read later.
    cat 1.lat 2.lat >in.0000.lat
    cp 3.lat in.0001.lat
    cat in.0000.lat in.0001.lat >all.lat
    refuses 1 'in.0000.lat: is an input as well (--split)' lat-convert --split in.0000.lat in.0001.lat -o in.lat
    refuses 1 'in.0000.lat: is an input as well (--split)' lat-convert --split -i ./in.0000.lat -o in.lat
    refuses 1 'is the output as well' lat-convert --split -o in.lat <in.0000.lat
    cat in.0000.lat in.0001.lat | cmp - all.lat
    nothing_left
}

@test "several files become one stream, and a stream of several does not fit a foreign file" {
    lat-start hot -d 2,2,2,2 --count 2 -o two.lat
    lat-start weak -d 2,2,2,4 | lat-convert --to nersc -o c.nersc
    lat-convert two.lat c.nersc -o three.lat
    [ "$(lat-info three.lat | grep -c ^crc)" -eq 3 ]
    lat-info --check three.lat
    refused "holds more than one configuration" --to nersc three.lat
    refused "a file in format ildg holds one" --to ildg three.lat
    run -2 lat-convert --to ildg c.nersc c.nersc
    lat-convert three.lat -o again.lat
    same three.lat again.lat
}

@test "precision changes only when asked, up exactly and down by rounding" {
    small 3 double
    lat-convert small.ildg > a.lat
    refused "say --precision single to round" --to milc small.ildg
    lat-convert --precision single --to milc small.ildg > a.milc
    "$CHECK" sums a.milc
    lat-convert a.milc > single.lat
    run -3 lat-diff --tolerance 1e-10 a.lat single.lat
    # Rounding to 24 bits: half a unit in the last digit of numbers up to 1.
    lat-diff --tolerance 6e-8 a.lat single.lat
    lat-convert --precision double single.lat > double.lat
    lat-diff --tolerance 0 single.lat double.lat
    lat-convert --precision single double.lat > back.lat
    same single.lat back.lat
}

@test "theta and functional of a header are those of the links as they are written: rounded, in fewer rows, reordered, projected" {
    states() { # what the header says is what lat-theta measures, in all digits
        local name
        for name in functional theta; do
            [ "$(lat-info "$1" | awk -v n=$name '$1 == n { print $2 }')" = "$(lat-theta "$1" | awk -v n=$name '$1 == n { print $2; exit }')" ] ||
                { echo "$1: $name"; lat-info "$1"; lat-theta "$1"; return 1; }
        done
    }
    lat-start weak --epsilon .3 --seed 3 --dims 4,4,4,4 -o raw.lat
    for gauge in landau coulomb mag; do
        residual=()
        [ $gauge != mag ] || residual=(--residual)
        lat-orelax --gauge $gauge "${residual[@]}" --theta 1e-20 raw.lat -o f64.lat
        lat-convert --precision single f64.lat -o f32.lat
        lat-convert --precision single f64.lat | lat-convert -o piped.lat
        lat-convert --precision single --rows 2 f64.lat -o rows.lat
        lat-convert --rows 2 f64.lat -o rows64.lat
        lat-convert --rows 3 rows.lat -o whole.lat
        lat-convert --precision double rows.lat -o double.lat
        lat-convert --precision single --to ildg f64.lat | lat-convert -o ildg.lat
        lat-convert --precision single --to nersc f64.lat | lat-convert -o nersc.lat
        lat-reunit --precision single f64.lat -o reunit.lat
        lat-reorder --shift 1,2,3,1 --reflect x f32.lat -o moved.lat
        for f in f64 f32 piped rows rows64 whole double ildg nersc reunit; do states $f.lat; done
        near "$(column moved.lat theta)" "$(lat-info moved.lat | awk '$1 == "theta" { print $2 }')" 1e-28
        [ "$(lat-info f64.lat | grep '^theta')" != "$(lat-info f32.lat | grep '^theta')" ]
    done
    near "$(lat-info f32.lat | awk '$2 == "residual.theta" { print $4 }')" 4e-16 4e-16
    # A rounded transformation does not lead to the theta of the one that was found.
    lat-orelax --theta 1e-20 --save-g g.lat raw.lat -o f64.lat
    [[ $(lat-info g.lat) == *theta*e-* ]]
    lat-convert --precision single g.lat | lat-info - | grep -q '^theta' && return 1
    # A diagonal one keeps maximally Abelian gauge, and links that are rounded then have their own theta.
    need_numpy
    lat-orelax --gauge mag --theta 1e-20 raw.lat -o mag.lat
    "$PYTHON" - <<'PY'
import lat, numpy
u = next(lat.read("mag.lat"))
d = numpy.zeros((4, 4, 4, 4, 3, 3), dtype=complex)
d[..., 0, 0], d[..., 1, 1], d[..., 2, 2] = 1j, -1j, 1
lat.write("d.lat", lat.transformation(d))
PY
    lat-gauge --apply d.lat --precision single mag.lat -o turned.lat
    lat-info turned.lat | grep -q '^gauge *mag'
    states turned.lat
}

@test "rows are left out when asked and where they can be, and come back" {
    small
    lat-convert --rows 2 small.ildg > two.lat
    lat-info two.lat | grep -q "12 reals"
    lat-convert --to nersc two.lat > two.nersc
    grep -aqx "DATATYPE = 4D_SU3_GAUGE" two.nersc
    "$CHECK" sums two.nersc
    lat-convert --rows 3 two.nersc > three.lat
    lat-convert small.ildg > a.lat
    # A single precision row made from rows that are good to 2^-24 in each number: the cross product sums
    # four products of them, and rounds once more.
    lat-diff --tolerance 6e-7 a.lat three.lat
    lat-convert --rows 2 --to nersc three.lat > again.nersc
    cmp <(tail -c +$(($(grep -abom1 END_HEADER two.nersc | cut -d: -f1) + 12)) two.nersc) \
        <(tail -c +$(($(grep -abom1 END_HEADER again.nersc | cut -d: -f1) + 12)) again.nersc)
    refused "hold whole matrices" --rows 2 --to milc small.ildg
    refused "expected --rows 3 or 2 for SU(3), found 1" --rows 1 small.ildg
    "$MAKE" lime small.ildg x records=format,data,checksum spoil=antiperiodic:t:1,antiperiodic:t:3
    lat-convert --force x > x.lat 2> err
    run -1 lat-convert --rows 2 x.lat -o never
    [[ $output == *"--rows 2 would lose that"* ]]
    [ ! -e never ]
}

@test "what a file says about its ensemble survives the journey" {
    small
    "$MAKE" nersc small.ildg x style=odd
    sed -i '0,/^ENSEMBLE_ID = $/s//ENSEMBLE_ID = b6p0 run 7\nENSEMBLE_LABEL = test <\&> label\nSEQUENCE_NUMBER = 400/' x
    lat-convert x > x.lat
    lat-info x.lat | grep -q "ensemble_id = b6p0 run 7"
    lat-convert --to ildg x.lat > x.ildg
    lat-convert --to milc x.lat > x.milc
    lat-convert --to nersc x.lat > y
    grep -aqx "ENSEMBLE_ID = b6p0 run 7" y
    grep -aqx "ENSEMBLE_LABEL = test <&> label" y
    grep -aqx "SEQUENCE_NUMBER = 400" y
    [ "$(tail -c +21 x.milc | head -c 24)" = "Mon Aug 23 13:09:10 2004" ]
    "$MAKE" lime small.ildg x records=format,lfn,data
    lat-convert x | lat-convert --to ildg > y
    grep -aq "lfn://nowhere/in/particular" y
    # It is the name of those links, and of no others.
    lat-convert --precision double x | lat-info - | grep -q "lfn = lfn://nowhere/in/particular"
    lat-convert x | lat-orelax -q --theta 1e-3 > changed.lat
    run lat-info changed.lat
    [[ $output != *lfn* ]]
    # A long one too, all of it.
    "$MAKE" lime small.ildg x records=format,longlfn,data
    lat-convert x | lat-info - | grep -qE "lfn = lfn://n{5000}/end$"
    lat-convert x | lat-info - | grep -q "lat-convert 0.*from ILDG su3gauge 32 bits"
    lat-convert --no-provenance x | lat-info - > info
    run grep -q history info
    [ "$status" -eq 1 ]
}

@test "--from insists on a format" {
    small
    lat-convert --no-provenance --from ildg small.ildg > a.lat
    lat-convert --no-provenance --from scidac small.ildg > b.lat
    cmp a.lat b.lat
    refused "expected BEGIN_HEADER" --from nersc small.ildg
    refused "expected the magic number 20103" --from milc small.ildg
    refused "" --from lat small.ildg
}

@test "lat-convert writes over its own input, or not at all with --no-clobber" {
    small
    lat-convert small.ildg > a.lat
    cp small.ildg f
    lat-convert f --to milc -o f
    lat-convert f > b.lat
    same a.lat b.lat
    run -1 lat-convert --no-clobber small.ildg -o f
    lat-convert f > b.lat
    same a.lat b.lat
    nothing_left
}

@test "lat-convert holds configurations with a transformation or of fewer dimensions apart" {
    lat-start hot -d 4,4 -o two.lat
    refused "has 2 dimensions, and nersc files have 4" --to nersc two.lat
    lat-start hot -N 4 -d 2,2,2,2 -p single -o four.lat
    refused "holds SU(4), and openqcd files hold SU(3)" --to openqcd four.lat
    lat-convert --to ildg four.lat | lat-convert > b.lat
    same four.lat b.lat
}

@test "lat-convert --list names the formats, and wrong usage exits 2" {
    local f
    lat-convert --list > list
    for f in lat nersc ildg scidac milc; do
        grep -Eq "^$f +\.$f +yes +yes " list
    done
    [ "$(awk 'length > 100' list)" = "" ]
    run -2 lat-convert --to nosuch x
    run -2 lat-convert --precision double --to milc x
    run -2 lat-convert --dims 4,4 x
    run -1 lat-convert nosuchfile
    [[ $output == *nosuchfile* ]]
}

# bytes_read COMMAND...: how many it reads, from memory or disk.
bytes_read() {
    python3 - "$@" << 'EOF'
import os, sys
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
status = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT).si_status
print(next(line.split()[1] for line in open("/proc/%d/io" % pid) if line.startswith("rchar")))
sys.exit(status)
EOF
}

@test "what is read once becomes the bytes of what is read twice, and no file where anything in it is wrong" {
    local from to store at n byte
    rough a.lat -d 8,8,8,24 -0 # 7 MB: several blocks
    rough b.lat -d 8,8,8,24 -0 --seed 4
    lat-convert -1 a.lat -o z.lat
    cat a.lat b.lat z.lat > all.lat
    for from in lat nersc ildg vogt milc; do # milc: in single precision, and the others have its numbers
        lat-convert --no-provenance -p single -0 --to $from a.lat > in.$from
        for to in nersc ildg scidac vogt milc raw lat; do # to stdout: twice
            n=$(bytes_read lat-convert --no-provenance -0 --to $to in.$from -o one)
            [ "$((2 * n))" -lt "$((3 * $(stat -c %s in.$from)))" ]
            lat-convert --no-provenance -0 --to $to in.$from > two
            cmp one two
        done
    done
    # Means of either sign, and of three sizes, are as long; a link trace that a file does not state was as good as 0.
    for n in 0.1 0.35 1 2; do
        lat-start weak --epsilon $n -d 8,8,8,8 | lat-convert --to vogt > odd.vogt
        for to in nersc ildg lat; do
            [ "$(bytes_read lat-convert --no-provenance -0 --to $to odd.vogt -o one)" -lt $((3 * $(stat -c %s odd.vogt) / 2 + 65536)) ]
            lat-convert --no-provenance -0 --to $to odd.vogt > two
            cmp one two
        done
    done
    lat-convert --no-provenance -1 all.lat -o one
    lat-convert --no-provenance -1 all.lat > two
    cmp one two
    lat-convert all.lat -o one # history says what was read
    for to in a b z; do
        lat-info --tsv $to.lat | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "crc32") c = i; next } { print $c }'
    done | sort -u > crcs
    grep -a -o '| copied | of ........$' one | cut -c 15- | sort -u | cmp - crcs
    refused "holds more than one configuration" --to vogt all.lat -o x
    for store in a z; do
        n=$(stat -c %s $store.lat)
        for at in 700 2000000 $((n - 40)) $((n - 24)) $((n - 20)) $((n - 4)); do
            cp $store.lat bad.lat
            byte=$(od -An -tu1 -j "$at" -N 1 bad.lat)
            printf '%b' "\\x$(printf %02x $((byte ^ 16)))" | dd of=bad.lat bs=1 seek="$at" conv=notrunc status=none
            for to in lat ildg vogt nersc; do
                run ! lat-convert --to $to bad.lat -o x
                [ ! -e x ]
            done
        done
    done
    nothing_left
}

# Where it takes another reading to know what a file is, what was written before is gone.
@test "files that are not what they seem at first sight become with -o what they become on stdout, or nothing, with the same words" {
    local odd to
    rough a.lat -d 8,4,4,8 -p single
    lat-convert --to ildg a.lat > small.ildg
    "$MAKE" nersc small.ildg bare floating=IEEE32 order=little
    "$MAKE" nersc small.ildg stated floating=IEEE32BIG order=little
    "$MAKE" nersc small.ildg short checksum=1
    "$MAKE" nersc small.ildg nan spoil=nan
    "$MAKE" nersc small.ildg fat spoil=fat
    "$MAKE" lime small.ildg late records=format,data,checksum,lfn
    "$MAKE" lime small.ildg unsummed records=format,data
    "$MAKE" lime small.ildg antiperiodic records=format,data,checksum spoil=antiperiodic
    "$MAKE" lime small.ildg phases records=format,data,checksum spoil=antiperiodic:t:1,antiperiodic:t:3
    "$MAKE" lime small.ildg open records=format,data,checksum spoil=open
    "$MAKE" lime small.ildg badsum records=format,data,badsum
    lat-convert -p double a.lat | lat-convert --to ildg > double.ildg
    "$MAKE" openqcd double.ildg openqcd
    "$MAKE" ddalphaamg double.ildg ddalphaamg
    head -c 10000 stated > half
    for odd in bare stated short nan fat late unsummed antiperiodic phases open badsum openqcd half; do
        for to in lat nersc ildg; do
            run lat-convert --no-provenance --to $to $odd -o one
            printf '%s\n' "$status" "${output//one/<stdout>}" > words.one
            run bash -c "lat-convert --no-provenance --to $to -1 $odd > two"
            printf '%s\n' "$status" "$output" > words.two
            diff words.one words.two
            if [ "$status" = 0 ]; then cmp one two; else [ ! -e one ]; fi
            rm -f one two
        done
    done
    lat-convert --no-provenance --from openqcd --to nersc ddalphaamg -o one
    lat-convert --no-provenance --from openqcd --to nersc ddalphaamg > two
    cmp one two
    nothing_left
}

@test "the extension of the output says the format; one that contradicts --to, or is of no format that is written, is refused" {
    local dot
    lat-start weak -d 4,4,4,4 -o x.lat
    for dot in nersc ildg lime scidac oqcd openqcd ddamg ddalphaamg hirep vogt mdp; do
        lat-convert --no-provenance x.lat -o y.$dot
        case $dot in lime) to=ildg ;; oqcd) to=openqcd ;; ddamg) to=ddalphaamg ;; *) to=$dot ;; esac
        lat-convert --no-provenance --to $to x.lat > z
        cmp y.$dot z
    done
    lat-convert --precision single x.lat -o y.milc
    [ "$(head -c 4 y.milc | od -An -t d4 | tr -d ' ')" -eq 20103 ]
    # No extension, and one of nobody: a stream.
    for name in y cfg.0100 cfg.landau y.nersk .nersc y.lat; do
        run --separate-stderr lat-convert x.lat -o $name
        [ "$status" -eq 0 ]
        case $name in # a word may be a mistake
        cfg.landau | y.nersk) [ "$stderr" = "lat-convert: $name: no format has the extension .${name#*.}: this is a stream, as --to lat says" ] ;;
        *) [ -z "$stderr" ] ;;
        esac
        [ "$(head -c 12 $name)" = "lat-stream 1" ]
        run --separate-stderr lat-convert --to lat x.lat -o $name
        [ "$status" -eq 0 ] || [[ $name == .nersc ]]
        [ -z "$stderr" ]
    done
    # The folder is not the name.
    mkdir a.nersc
    lat-convert x.lat -o a.nersc/y
    [ "$(head -c 12 a.nersc/y)" = "lat-stream 1" ]
    run -2 lat-convert --to ildg x.lat -o never.nersc
    [[ $output == *"never.nersc has the extension of nersc files"* ]]
    run -2 lat-convert --to lat x.lat -o never.ildg
    run -2 lat-convert --to nersc x.lat -o never.lat
    for dot in gz txt dat bin szin; do
        run -2 lat-convert x.lat -o never.$dot
        [[ $output == *"no format that is written has the extension .$dot"* ]]
    done
    [ -z "$(ls never* 2> /dev/null)" ]
    lat-convert --to raw x.lat -o links.bin
    lat-convert --to scidac x.lat -o z.lime
    "$CHECK" records z.lime | grep -q scidac-binary-data
    lat-convert --to ildg x.lat -o forced.nersc --force
    "$CHECK" sums forced.nersc
}

@test "our LIME file that is cut before its checksum is refused, unless forced; of others a line says that none is stated" {
    local whole cut
    small 3 double
    whole=$(stat -c %s small.ildg)
    # The last record: 144 bytes and a text.
    cut=$(python3 -c 'import sys; print(open("small.ildg", "rb").read().rindex(b"\x45\x67\x89\xab"))')
    [ "$cut" -lt "$whole" ]
    head -c "$cut" small.ildg > cut.ildg
    refused "truncated: lat-convert wrote it, with SciDAC checksums after the links, and none are there" cut.ildg
    run -1 bash -o pipefail -c 'cat cut.ildg | lat-convert > out'
    run -1 lat-theta cut.ildg
    lat-convert --force cut.ildg > a.lat 2> err
    [ "$(wc -l < err)" -eq 1 ]
    lat-convert small.ildg > b.lat
    same a.lat b.lat
}

@test "gauge, theta, weights and history travel through NERSC, ILDG and SciDAC files, whose numbers another reader verifies" {
    small 3 double
    lat-start hot -d 4,4,2,4 -o small.lat
    lat-orelax -q --gauge landau --weights 1,1,1,0.5 --theta 1e-14 small.lat -o fixed.lat
    stated() { sed '/^end = /q' "$1" | grep -aE '^(gauge|weights|functional|theta|sweeps) = '; }
    stated fixed.lat > wanted
    grep -qx 'weights = 1 1 1 0.5' wanted
    lat-info fixed.lat | sed -n '/^history/,$p' | sed 's/^history    //; s/^ *//' > history
    [ "$(wc -l < history)" -ge 2 ]
    for to in nersc ildg scidac; do
        lat-convert --to "$to" fixed.lat > y
        "$CHECK" sums y
        lat-convert y > back.lat
        same back.lat fixed.lat
        stated back.lat | cmp - wanted
        lat-info back.lat | sed -n '/^history/,$p' | sed 's/^history    //; s/^ *//' | head -n "$(wc -l < history)" | cmp - history
        cmp <(lat-convert --no-provenance < <(cat y)) <(lat-convert --no-provenance y)
        # Not a line is added on the way but one a conversion.
        [ "$(lat-info back.lat | sed -n '/^history/,$p' | wc -l)" -eq $(($(wc -l < history) + 2)) ]
    done
    # Links that have flowed, were smeared or projected say so.
    lat-flow --until .1 --links flowed.lat fixed.lat >/dev/null
    lat-smear ape:.5,1 fixed.lat -o smeared.lat
    lat-abelian --force --links abelian.lat fixed.lat >/dev/null 2>&1
    for to in nersc ildg scidac; do
        lat-convert --to "$to" flowed.lat | lat-info | grep -oaE 'flow_(time|action) = .*' | sort > y
        printf 'flow_action = wilson\nflow_time = 0.1\n' | cmp - y
        lat-convert --to "$to" smeared.lat | lat-info | grep -aq 'smearing = ape:.5,1$'
        lat-convert --to "$to" abelian.lat | lat-info | grep -aq 'projection = abelian'
    done
    # No line of a NERSC header is longer than the 126 characters that GLU reads, nor are there more than its 48.
    for ((i = 0; i < 12; i++)); do
        lat-convert fixed.lat -o again.lat
        mv again.lat fixed.lat
    done
    lat-convert --to nersc fixed.lat > y
    sed '/^END_HEADER/q' y > lines
    [ "$(wc -l < lines)" -le 50 ]
    awk 'length > 126 { exit 1 }' lines
    lat-convert y | lat-info > info
    grep -q 'from stream to nersc' info
    # Theta is that of a gauge: a header without gauge has none, and a theta that is no number is refused.
    lat-convert --to ildg small.lat > y
    lat-convert y | lat-info | grep -qx 'gauge       none'
    lat-convert --to nersc fixed.lat | sed 's/^LAT_THETA = .*/LAT_THETA = small/' > y
    refused "expected theta as 1 finite number, found 'small'" y
    lat-convert --to nersc fixed.lat | sed '/^LAT_GAUGE = /d' > y
    refused "found gauge none" y
}

@test "a record of ours that another program copied to other links is refused, unless forced" {
    small 3 double
    lat-start hot -d 4,4,2,4 -o small.lat
    lat-orelax -q --gauge landau small.lat | lat-convert --to scidac > fixed
    lat-convert --to scidac small.lat > loose
    # The text record of one, and everything else of the other.
    python3 - <<'P'
import re
fixed, loose = (open(f, "rb").read() for f in ("fixed", "loose"))
def records(data):
    at = 0
    while at < len(data):
        n = int.from_bytes(data[at + 8:at + 16], "big")
        end = at + 144 + n + -n % 8
        yield data[at + 16:at + 144].rstrip(b"\0"), data[at:end]
        at = end
own = dict(records(fixed))[b"scidac-record-xml"]
open("mixed", "wb").write(b"".join(own if kind == b"scidac-record-xml" else r for kind, r in records(loose)))
P
    refused "link trace" mixed
    lat-convert --force mixed > mixed.lat 2> err
    same mixed.lat small.lat
}

@test "SEQUENCE_NUMBER is that of the header, else 1, as GLU refuses 0; an extent that is stated twice with two values is refused" {
    small
    lat-convert --to nersc small.ildg > y
    grep -aqx "SEQUENCE_NUMBER = 1" y
    sed 's/^SEQUENCE_NUMBER = 1$/SEQUENCE_NUMBER = 7/' y | lat-convert --to nersc | grep -aqx "SEQUENCE_NUMBER = 7"
    sed 's/^DIMENSION_2 = .*/&\nDIMENSION_2 = 8/' y > x
    refused "states DIMENSION_2 twice" x
    sed 's/^DIMENSION_2 = .*/&\n&/' y > x
    lat-convert x | lat-info > info
}

@test "a file gives the same info lines, in the same order, from a pipe" {
    small
    "$MAKE" lime small.ildg x records=format,data,lfn,checksum
    cmp <(lat-convert --no-provenance x) <(lat-convert --no-provenance < <(cat x))
}

@test "the .info that MILC writes beside a file is taken where time stamp, extents and checksums are those of the file" {
    small
    "$MAKE" milc small.ildg x.milc
    sums=$(lat-convert x.milc | lat-info - | sed -n 's/^ *source = .*, checksums //p')
    # as MILC writes it, and as LargeN-YM does
    for equals in '' ' ='; do
        while read -r key value; do echo "$key$equals $value"; done >x.info <<END
magic_number 20103
time_stamp "Thu Feb 12 13:40:21 1998"
checksums "$sums"
nx 2
ny 2
nz 2
nt 4
action.description "Gauge plus fermion"
gauge.beta11 5.6
quark.masses[2] 0.01 0.05
END
        lat-convert --milc-info x.info x.milc -o read.lat
        lat-info read.lat | grep -q 'milc.action.description = Gauge plus fermion$'
        lat-info read.lat | grep -q 'milc.gauge.beta11 = 5.6$'
        lat-info read.lat | grep -q 'milc.quark.masses = 0.01 0.05$'
        lat-convert small.ildg -o small.lat
        same small.lat read.lat
        for other in 's/1998/1999/' 's/^nt\(.*\) 4/nt\1 8/' 's/^\(checksums[^"]*"\)/\1f/'; do
            sed "$other" x.info >y.info
            refused "y.info: expected the .info of x.milc, found another one: " --milc-info y.info x.milc
        done
        grep -v time_stamp x.info >y.info
        refused "y.info: expected the .info of a MILC file, with a time_stamp, found none" --milc-info y.info x.milc
    done
    refused "x.milc: expected the .info of a MILC file, found bytes that are no text" --milc-info x.milc x.milc
    refused "small.ildg: is in format ildg, and --milc-info is for reading milc and milc-prop" --milc-info x.info small.ildg
}

@test "MILC's own .info belongs to its propagator, and to no other file" {
    need_data quark/milc_hdib_scratchprop_00 quark/milc_hdib_scratchprop_00.info quark/milc_lat.sample.l4448.ll
    cp "$DATA"/quark/milc_hdib_scratchprop_00* "$DATA/quark/milc_lat.sample.l4448.ll" .
    lat-convert --normalisation mass --milc-info milc_hdib_scratchprop_00.info milc_hdib_scratchprop_00 -o p.lat
    lat-info p.lat | grep -q 'milc.quark.kappa = 0.100000$'
    refused "found another one: time_stamp is 'Tue Sep 16 15:03:28 2003'" --milc-info milc_hdib_scratchprop_00.info milc_lat.sample.l4448.ll
}

@test "LargeN-YM: MILC's header before links of SU(N), by an independent writer, with its sums; the length says N, or --group" {
    local n
    for n in 2 4 5; do
        lat-start hot -N $n -p single -d 2,3,2,4 -o small.lat
        lat-convert --to ildg small.lat -o small.ildg --force
        for order in big little; do
            "$MAKE" milc small.ildg x.milc order=$order
            # shellcheck disable=SC2002
            cat x.milc | lat-convert --group $n >read.lat
            same small.lat read.lat
            lat-convert x.milc -o read.lat
            same small.lat read.lat
        done
        lat-convert small.lat -o y.milc
        [ "$(tail -c +97 y.milc | md5sum)" = "$(tail -c +97 x.milc | md5sum)" ]
        refused "x.milc: has the length of links of SU($n): expected that of --group 3" --group 3 x.milc
        "$MAKE" milc small.ildg x.milc sum29=1
        refused "x.milc: checksums 00000001" x.milc
        head -c -4 y.milc >cut.milc
        refused "cut.milc: " cut.milc
    done
}

@test "compressed files are named with what decompresses them; IN OUT asks for -o" {
    lat-start hot --dims 2,2,2,2 -o a.lat
    local head tool
    while read -r tool head; do
        printf '%b' "$head" >packed
        refuses 1 "decompress it on the way: '$tool -dc FILE | lat-convert'" lat-convert packed -o never
    done <<'END'
gzip \x1f\x8b\x08abcdefgh
bzip2 BZh91AYabcdefgh
xz \xfd7zXZabcdefgh
zstd \x28\xb5\x2f\xfdabcdefgh
END
    rm packed
    refuses 2 "b.nersc: cannot be found among the inputs: expected -o FILE for an output, as in lat-convert a.lat -o b.nersc" \
        lat-convert a.lat b.nersc
    cat a.lat a.lat >two.lat
    lat-convert a.lat a.lat -0 | cmp - <(lat-convert -0 two.lat)
    refuses 1 "cannot be opened" lat-convert a.lat none.lat -o never
}
