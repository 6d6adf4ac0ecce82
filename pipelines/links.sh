#!/bin/bash
# Is RESULT of the links that are in CONFIG now?   pipelines/links.sh CONFIG RECORD RESULT [CRC]
#   CONFIG  a file that lat-convert reads
#   RECORD  FOLDER/NAME: the CRC of its links (lat-info), and size, inode and dates of the file, and CONVERT: as long as these are the
#           same, CONFIG is not read again
#   CRC     of the links that RESULT was made of; without it, RECORD has it, which this script writes before there is a RESULT
# Exit status 0: it is, or there is no RESULT yet; 1 and a sentence: it is not.
set -euo pipefail
export LC_ALL=C
PATH=$PATH:${0%/*}/../bin
: "${CONVERT:=}" # options of lat-convert, where a file does not say what it holds

[ $# -eq 3 ] || [ $# -eq 4 ] || { echo "links.sh: expected CONFIG RECORD RESULT [CRC], found $# arguments" >&2; exit 2; }
config=$1 record=$2 result=$3
file=$(stat -L -c '%s %i %.9Y %.9Z' -- "$config")${CONVERT:+ $CONVERT}
crc='' was=''
[ ! -e "$record" ] || read -r crc was <"$record"
made=${4-$crc}
if [ "$was" != "$file" ]; then
    # shellcheck disable=SC2086 # several words
    crc=$(lat-convert $CONVERT "$config" | lat-info | sed -n 's/^crc-32 *//p')
    [ ${#crc} -le 8 ] || crc=$(printf '%08x' "$(cksum <<<"$crc" | cut -d ' ' -f 1)") # of several: that of their CRCs
fi
[ ! -e "$result" ] || [ "$crc" = "$made" ] || {
    echo "links.sh: $config: expected the links that $result was made of, CRC ${made:-not known}, found $crc:" \
        "remove $result, or name another folder" >&2
    exit 1
}
[ "$was" = "$file" ] || "${0%/*}/replace.sh" "$record" echo "$crc $file"
