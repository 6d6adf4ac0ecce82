# shellcheck shell=bash
# Completion for bash. Each tool lists its own options (TOOL --option-table), so this works for all tools, old and new.

# _lat_values TYPE CHOICES WORD: possible values of an option.
_lat_values() {
    case $1 in
    choice) mapfile -t COMPREPLY < <(compgen -W "${2//|/ }" -- "$3") ;;
    text)
        mapfile -t COMPREPLY < <(compgen -f -- "$3")
        # The shell quotes names of files itself, and adds what comes after them.
        ! compopt -o filenames +o nospace 2>/dev/null || named=1
        ;;
    esac
}

# Names get a blank, folders a slash.
_lat_finish() {
    local i
    [ -z "$named" ] || return 0
    for i in "${!COMPREPLY[@]}"; do
        if [ -d "${COMPREPLY[i]}" ]; then
            COMPREPLY[i]+=/
        elif [[ ${COMPREPLY[i]} != *= ]]; then
            COMPREPLY[i]+=" "
        fi
    done
}

_lat_tool() {
    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} names=() arguments=- value="" named=""
    local kind letter name type argument choices
    COMPREPLY=()
    # "--gauge=la" comes as three words.
    [ "$word" != = ] || word=
    [ "$option" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}
    while IFS=$'\t' read -r kind _ letter name type argument choices _; do
        if [ "$kind" != option ]; then
            [ "$kind" != tool ] || arguments=$letter
            continue
        fi
        if [ "$type" != flag ] && { [ "$option" = "--$name" ] || [ "$option" = "-$letter" ]; }; then
            value=1
            _lat_values "$type" "$choices" "$word"
        fi
        [ "$name" = - ] || { [ "$argument" = - ] && names+=("--$name") || names+=("--$name="); }
        [ "$letter" = - ] || names+=("-$letter")
    done < <("$1" --option-table 2>/dev/null)
    if [ -z "$value" ]; then
        case $word,$arguments in
        -*,*) mapfile -t COMPREPLY < <(compgen -W "${names[*]}" -- "$word") ;;
        *,\[*\|*) _lat_values choice "${arguments//[\[\]]/}" "$word" ;;
        *) _lat_values text - "$word" ;;
        esac
    fi
    _lat_finish
}

# lat NAME ...: names of tools, then what lat-NAME has.
_lat() {
    local names
    if [ "$COMP_CWORD" -eq 1 ]; then
        names=$(compgen -c "$1-" | sed "s/^.*lat-//" | sort -u)
        mapfile -t COMPREPLY < <(compgen -W "help doctor fix $names" -S ' ' -- "${COMP_WORDS[1]}")
    elif [ "${COMP_WORDS[1]}" = help ]; then
        names=$(compgen -c "$1-" | sed "s/^.*lat-//" | sort -u)
        mapfile -t COMPREPLY < <(compgen -W "$("$1" --subjects 2>/dev/null) $names" -S ' ' -- "${COMP_WORDS[2]}")
    else
        COMP_WORDS=("$1-${COMP_WORDS[1]}" "${COMP_WORDS[@]:2}")
        COMP_CWORD=$((COMP_CWORD - 1))
        _lat_tool "${COMP_WORDS[0]}"
    fi
}
