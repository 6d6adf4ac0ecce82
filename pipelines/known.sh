#!/bin/bash
# What of the environment would not be used, though it looks so:   known.sh SCRIPT FILE...
# Refuses a variable that is a parameter of SCRIPT but for one letter, or but for capitals: misspelt, it would leave a default in place
# in silence. Parameters are the lines : "${NAME:=..}" and NAME ?= .. of SCRIPT and of the FILEs that it runs. Scripts source this after
# theirs; ensemble.mk and hadrons.mk run it, and get the names. LAT_GIVEN: more variables that are set. LAT_EMPTY: those of them
# that are empty, which is refused where the default is not. What a pipeline runs in turn is not asked again (LAT_KNOWN).
known_parameters() {
    cat -- "$@" 2>/dev/null | LC_ALL=C awk '
        /^[A-Z_]+ [?]= / { print $1 }
        /^: "[$]/ {
            while (match($0, /"[$][{][A-Z_]+:?=/)) {
                name = substr($0, RSTART + 3, RLENGTH - 4)
                sub(/:$/, "", name)
                if (!seen[name]++) print name
                $0 = substr($0, RSTART + RLENGTH)
            }
        }' | paste -sd ' '
}

known_own=$(known_parameters "$@")
if [ -z "${LAT_KNOWN-}" ]; then
    for known_empty in ${LAT_EMPTY-}; do
        known_default=$(sed -n "s/^$known_empty ?= //p; s/.*\"[\$]{$known_empty:=\([^}]*\)}.*/\1/p" "$@" 2>/dev/null | head -n 1)
        [ -z "$known_default" ] || { echo "${1##*/}: $known_empty: expected a value, found none (the default is $known_default)" >&2; exit 2; }
    done
    # shellcheck disable=SC2086 # several words
    { compgen -e; printf '%s\n' ${LAT_GIVEN-}; } | LC_ALL=C awk -v script="${1##*/}" -v parameters="$known_own" '
        # Two letters that have changed places, or, behind the first one, a letter more, less, or another one. Names of
        # fewer than five letters have words for neighbours (PORT, SPEED): there the letter more is one twice, or an S
        # at the end, none is another one, and of three letters none is missing. JOB, PARTS and PAT are ordinary.
        function near(name, found, i, more, less) {
            for (i = 1; i <= length(name) && substr(name, i, 1) == substr(found, i, 1);) i++
            if (substr(name, i + 2) == substr(found, i + 2) && \
                substr(name, i, 1) substr(name, i + 1, 1) == substr(found, i + 1, 1) substr(found, i, 1)) return 1
            if (i == 1) return 0
            more = substr(name, i) == substr(found, i + 1)
            less = substr(name, i + 1) == substr(found, i)
            if (length(name) >= 5) return more || less || substr(name, i + 1) == substr(found, i + 1)
            if (index(" JOB PARTS PAT ", " " found " ")) return 0
            more = more && substr(found, i, 1) == substr(found, i - 1, 1)
            return more || found == name "S" || (less && length(name) == 4)
        }
        BEGIN {
            n = split(parameters, list, " ")
            for (i = 1; i <= n; i++) own[list[i]]
        }
        $0 in own || !length { next }
        {
            for (name in own) if (name == toupper($0) || near(name, toupper($0))) {
                print script ": expected the variable " name ", found " $0 ", which is not used" >"/dev/stderr"
                exit 2
            }
        }
        ' || exit 2
    export LAT_KNOWN=1
fi
[ "${BASH_SOURCE[0]}" != "$0" ] || echo "$known_own"
