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

# picture SCRIPT TABLE: beside the table.
picture() {
    "${BASH_SOURCE[0]%/*}/../pipelines/plots/draw.sh" "$1" "${2%.tsv}" "$2"
    [ ! -e "${2%.tsv}.png" ] || echo "pictures: ${2%.tsv}.png, .pdf"
}
