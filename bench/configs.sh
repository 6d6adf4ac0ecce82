# shellcheck shell=bash
# Sourced by accuracy.sh, gpu.sh and sweeps.sh: what they share. LAT_BIN is where the tools are.
PATH=${LAT_BIN:?the folder of the tools}:$PATH
export PATH LC_ALL=C

# thermal EXTENT FOLDER: the name of a configuration of EXTENT^4 there, of beta = 6.0, made unless it is there already.
thermal() {
    local file=$2/b6.0-$1.lat
    [ -e "$file" ] || lat-heatbath -q --dims "$1,$1,$1,$1" --beta 6.0 --thermalise 390 --seed "$1" -o "$file" >&2
    echo "$file"
}

# picture SCRIPT TABLE SVG: by gnuplot, where there is one.
picture() {
    if command -v gnuplot >/dev/null; then
        gnuplot -e "table='$2'; set output '$3'" "$1" && echo "picture: $3"
    else
        echo "no picture: gnuplot not found"
    fi
}
