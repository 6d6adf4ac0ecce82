# A page of docs/ as a manual page, for scdoc:
#   awk -f markdown.awk -v page=lat-format -v section=5 -v version=0.1.0 docs/format.md
# It knows what our pages use: headings, paragraphs, lists, tables, code in four blanks or fences, `code`, **bold**, [links](to).

# Text outside of code: bold is marked by \001 until the rest is escaped.
function words(text) {
    gsub(/\*\*/, "\001", text)
    while (match(text, /\[[^][]*\]\([^()]*\)/))
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + 1, index(substr(text, RSTART), "](") - 2) substr(text, RSTART + RLENGTH)
    gsub(/[\\*_+]/, "\\\\&", text)
    gsub(/\001/, "*", text)
    return text
}

function inline(text,    part, n, i, out) {
    n = split(text, part, "`")
    out = words(part[1])
    for (i = 2; i <= n; i++) {
        if (i % 2 == 0)
            gsub(/[\\*_+]/, "\\\\&", part[i])
        out = out (i % 2 ? words(part[i]) : part[i] == "" ? "" : "*" part[i] "*")
    }
    return out
}

function code(want) {
    if (want != in_code)
        print "```"
    in_code = want
}

# A row of a table: cells begin with |[ and :[, the last column takes what room there is.
function cells(line,    cell, n, i) {
    gsub(/\\\|/, "\002", line)
    gsub(/^\| *| *\|$/, "", line)
    n = split(line, cell, / *\| */)
    for (i = 1; i <= n; i++) {
        gsub(/\002/, "|", cell[i])
        cell[i] = inline(cell[i])
        if (!in_table)
            cell[i] = cell[i] == "" ? "" : "*" cell[i] "*"
        gsub(/\*\*/, "*", cell[i])
        printf "%s%s %s\n", i == 1 ? (in_table ? "|" : "[") : ":", i == n ? "<" : "[", cell[i]
    }
}

/^```/ { code(!in_code); fenced = in_code; next }
fenced { gsub(/\\/, "\\\\"); print; next }

# Code goes on over blank lines as long as it is indented.
/^ *$/ { blank++; next }
/^    / && (blank || in_code) {
    if (!in_code)
        blank = 1
    while (blank-- > 0)
        print ""
    blank = 0
    code(1)
    gsub(/\\/, "\\\\")
    print substr($0, 5)
    next
}
{
    if (blank || in_code || in_table && !/^\|/) {
        code(0)
        print ""
        in_table = in_list = 0
        sub(/^ +/, "")
    }
    blank = 0
}
/^# / {
    title = substr($0, 3)
    printf "%s(%d) \"lat %s\" \"lat\"\n\n# NAME\n\n%s - %s\n\n# DESCRIPTION\n", page, section, version, page, inline(title)
    next
}
/^## / { print "# " toupper(substr($0, 4)); next }
/^### / { print "## " substr($0, 5); next }
/^\|[-:| ]+\|$/ { next }
/^\|/ { cells($0); in_table = 1; next }
/^- / { in_list = 1; print "- " inline(substr($0, 3)); next }
{
    sub(/^ +/, in_list ? "  " : "")
    out = inline($0)
    sub(/^\./, "\\.", out) # scdoc loses a bare one
    print out
}
END {
    code(0)
    print "\n# SEE ALSO\n\n*lat-info*(1), *lat-orelax*(1), *lat-format*(5), *lat-gauges*(7), *lat-conventions*(7), *lat-subjects*(7)"
}
