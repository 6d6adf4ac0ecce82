# The manual page of a tool, for scdoc, from what TOOL --option-table prints:
#   awk -f tool.awk -v version=0.1.0 -v body=lat-theta.scd -v common=common.scd TABLE
# body, where there is such a file, is what the table does not say: paragraphs after the summary, then sections.
# common is what holds for every tool.
BEGIN { FS = "\t" }

# Text that scdoc is to print as it is.
function plain(text) { gsub(/[\\*_+`]/, "\\\\&", text); return text }

# "[FILE...]" as "[_FILE_...]", "A B" as "_A_ _B_"; words in small letters are to be typed.
function arguments(text,    out) {
    for (out = ""; match(text, /[A-Za-z]+/); text = substr(text, RSTART + RLENGTH))
        out = out substr(text, 1, RSTART - 1) (substr(text, RSTART, RLENGTH) ~ /^[A-Z]/ ? "_" : "*") \
            substr(text, RSTART, RLENGTH) (substr(text, RSTART, RLENGTH) ~ /^[A-Z]/ ? "_" : "*")
    return out text
}

# *-p*, *--precision*=_single|double_
function option(letter, name, argument,    long, value) {
    if (argument ~ /^\[/)
        value = "[=_" plain(substr(argument, 2, length(argument) - 2)) "_]"
    else if (argument != "-")
        value = "=_" plain(argument) "_"
    if (name != "-")
        long = "*--" name "*" value
    return (letter != "-" ? "*-" letter "*" : "") (letter != "-" && long ? ", " : "") long
}

function include(file,    line, n) {
    while ((n = (getline line < file)) > 0)
        print line
    close(file)
    if (n < 0) {
        print "tool.awk: cannot read " file > "/dev/stderr"
        exit 1
    }
    print ""
}

$1 == "tool" {
    tool = $2
    summary = $4
    sub(/\.$/, "", summary)
    brief = summary
    sub(/\. .*/, "", brief)
    printf "%s(1) \"lat %s\" \"lat\"\n\n# NAME\n\n%s - %s\n\n", tool, version, tool, tolower(substr(plain(brief), 1, 1)) substr(plain(brief), 2)
    printf "# SYNOPSIS\n\n*%s* [_OPTION_...]%s\n\n# DESCRIPTION\n\n%s.\n\n", tool, $3 == "-" ? "" : " " arguments($3), plain(summary)
    if (body)
        include(body)
}
$1 == "example" { example = example $2 "\n" }
$1 == "heading" {
    if (section == "")
        print "# OPTIONS\n"
    section = "own"
    sub(/:$/, "", $2)
    print "## " plain($2) "\n"
}
$1 == "option" {
    if ($2 != section)
        print($2 == "own" ? "# OPTIONS\n" : $2 == "common" ? "# COMMON OPTIONS\n" : "# HELP\n")
    section = $2
    printf "%s\n\t%s\n\n", option($3, $4, $6), plain($8)
}
END {
    if (!tool)
        exit 1
    gsub(/[\\`]/, "\\\\&", example)
    printf "# EXAMPLE\n\n```\n%s```\n\n", example
    include(common)
}
