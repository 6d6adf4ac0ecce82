# shellcheck shell=bash
# Refuses a variable of the environment that is one letter away from a parameter of the script: misspelt, it would leave a default in
# place in silence. Sourced by fix.sh, hadrons.sh and others after their parameters, which are the lines : "${NAME:=..}" of the script and of what sources this.
compgen -e | awk -v script="${0##*/}" '
    FILENAME != "-" {
        if (match($0, /^: "[$]{[A-Z_]+:?=/)) { name = substr($0, 6, RLENGTH - 6); sub(/:$/, "", name); known[name] }
        next
    }
    $0 in known { next }
    {
        for (name in known) {
            if (length(name) < 5 || substr(name, 1, 1) != substr($0, 1, 1)) continue
            i = 1
            while (i <= length(name) && substr(name, i, 1) == substr($0, i, 1)) i++
            if (substr(name, i + 1) == substr($0, i + 1) || substr(name, i) == substr($0, i + 1) || substr(name, i + 1) == substr($0, i) ||
                (substr(name, i, 1) substr(name, i + 1, 1) == substr($0, i + 1, 1) substr($0, i, 1) && substr(name, i + 2) == substr($0, i + 2))) {
                print script ": expected the variable " name ", found " $0 ", which is not used" >"/dev/stderr"
                exit 2
            }
        }
    }' "$0" "${BASH_SOURCE[1]}" - || exit 2
