#!/bin/bash
# FILE gets what COMMAND writes, whole and when COMMAND has succeeded:   pipelines/replace.sh FILE COMMAND [ARGUMENT]...
# COMMAND prints it, or writes the file whose name it finds in place of an argument {}. A FILE that would be the same stays.
# Until then it has a new name of its own beside FILE (mktemp): in a folder where everybody may make files, a link of somebody else's
# is never followed, neither at FILE nor at a name that can be guessed.
set -euo pipefail

[ $# -ge 2 ] || { echo "replace.sh: expected FILE COMMAND, found $# arguments" >&2; exit 2; }
file=$1
shift
last=${file##*/}
[[ $file == */* ]] && folder=${file%/*}/ || folder=./
[[ $last == *.* ]] && ending=.${last##*.} || ending=
new=$(mktemp --suffix="$ending" -- "$folder.XXXXXXXX")
trap 'rm -f -- "$new"' EXIT
words=() names=
for word; do
    [ "$word" != {} ] || names=1 word=$new
    words+=("$word")
done
if [ -n "$names" ]; then "${words[@]}"; else "${words[@]}" >"$new"; fi
chmod '=rw' -- "$new" # by the umask, as a file that is made by >
cmp -s -- "$new" "$file" || mv -T -- "$new" "$file"
