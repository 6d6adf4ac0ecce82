#!/usr/bin/env bats
# The notebooks of python/notebooks: their cells run in order, and check their own results.
load helper

setup() {
    not_sanitized "what Python does with the tools"
    cd "$BATS_TEST_TMPDIR" || return 1
    need_numpy
}

# cells NAME [FOLDER]: runs the cells of a notebook in order, as one session does; what it prints is in NAME.out.
cells() {
    "$PYTHON" - "${2-$ROOT/python/notebooks}/$1.ipynb" >"$1.out" <<'END'
import json, sys
space = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), f"{sys.argv[1]}: {cell['id']}", "exec"), space)
END
}

# not_shown NAME: reports optional packages that a notebook did without.
not_shown() {
    sed -n 's/^not shown: /# /p' "$1.out" >&3
}

@test "the notebook of Landau gauge and copies: files, plaquettes, theta, transformations and copies in numpy are those of the tools" {
    cells gauge_and_copies
    [ "$(grep -c '^0\.[0-9]*  0\.[0-9]*$' gauge_and_copies.out)" = 8 ]
}

@test "the notebook of a pion: correlators, jackknife errors and a correlated fit in numpy are those of the tools" {
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-fit" ] || skip "lat-fit was not built: no GSL"
    cells pion_to_a_fit
    grep -q '^lat-fit: m = ' pion_to_a_fit.out
    not_shown pion_to_a_fit
}

@test "the notebook of RI'/MOM: legs, vertices and Z factors in numpy are those of lat-quark" {
    cells ri_mom
    [ "$(grep -c '^Z_[SPVAT] = .* lat-quark: ' ri_mom.out)" = 5 ]
}

@test "a cell that fails is a failure" {
    sed 's/"import numpy as np\\n"/"import numpy as np\\n", "assert 1 == 2\\n"/' "$ROOT/python/notebooks/ri_mom.ipynb" >bad.ipynb
    run -1 cells bad .
    [[ $output == *bad.ipynb:*AssertionError* ]]
}

@test "notebooks have no outputs, and nothing of the machine they were written on" {
    python3 - "$ROOT/python/notebooks" <<'END'
import json, os, sys
names = [name for name in os.listdir(sys.argv[1]) if name.endswith(".ipynb")]
assert len(names) == 3, names
for name in names:
    with open(os.path.join(sys.argv[1], name), encoding="utf-8") as file:
        text = file.read()
    book = json.loads(text)
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5) and len({cell["id"] for cell in book["cells"]}) == len(book["cells"]), name
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in book["cells"] if cell["cell_type"] == "code"), name
    assert book["metadata"] == {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}, name
    assert text == json.dumps(book, indent=1, ensure_ascii=False) + "\n", name
END
}
