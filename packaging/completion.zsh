# Completion for zsh. Each tool lists its own options (TOOL --option-table), so this works for all tools, old and new.
# lat NAME ...: names of tools, then what lat-NAME has.
if [[ ${words[1]:t} == lat ]]; then
    if ((CURRENT == 2)); then
        compadd help doctor fix ${${(k)commands[(I)lat-*]}#lat-}
        return
    fi
    if [[ $words[2] == help ]]; then
        compadd $($words[1] --subjects) ${${(k)commands[(I)lat-*]}#lat-}
        return
    fi
    words=("$words[1]-$words[2]" "${(@)words[3,-1]}")
    ((CURRENT--))
fi
local kind section letter name type argument choices help tail positional='*:file:_files'
local -a specs
while IFS=$'\t' read -r kind section letter name type argument choices help; do
    if [[ $kind == tool ]]; then
        [[ $letter != *'|'* ]] || positional="1:what:(${${letter//[][]/}//|/ })"
        continue
    fi
    [[ $kind == option ]] || continue
    help=${${${help//\[/\\[}//\]/\\]}//:/\\:}
    case $type in
    flag) tail= ;;
    choice) tail=":$name:(${choices//|/ })" ;;
    text) tail=":$name:_files" ;;
    *) tail=":$name: " ;;
    esac
    [[ $argument != '['* ]] || tail=":$tail"
    [[ $letter == - ]] || specs+=("-${letter}[$help]$tail")
    [[ $name == - ]] || specs+=("--${name}${tail:+=}[$help]$tail")
done < <($words[1] --option-table 2>/dev/null)
_arguments -s $specs $positional
