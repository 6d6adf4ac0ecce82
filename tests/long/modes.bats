#!/usr/bin/env bats
# Purpose: modes of larger lattices: the eigenvalue that an instanton brings.
# shellcheck disable=SC2154  # output and stderr are set by run
load ../helper

@test "the instanton: one eigenvalue of gamma5 (D_W - M0) crosses zero between M0 .1 and .3" {
    lat-start instanton --dims 8,8,8,8 --radius 2 -o i.lat
    near "$(lat-modes --mass -.1 --modes 1 --residual 1e-8 --tsv i.lat | sed 1d | cut -f 3)" .118229 1e-6
    near "$(lat-modes --mass -.3 --modes 1 --residual 1e-8 --tsv i.lat | sed 1d | cut -f 3)" -.023872 1e-6
}
