#!/bin/bash
# `make accuracy`: bench/accuracy.sh PROGRAM FOLDER EXTENT [OPTION]...
# Runs bench/accuracy.c, PROGRAM, on EXTENT^4; table and picture go to FOLDER.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/configs.sh
. "$here/configs.sh"
program=$1 folder=$2 extent=$3
shift 3
mkdir -p "$folder"
table=$folder/accuracy-$extent.tsv
config=$(thermal "$extent" "$folder")
rc=0
"$program" "$@" -o "$table" "$config" || rc=$?
echo "table: $table"
picture "$here/accuracy.gp" "$table"
exit $rc
