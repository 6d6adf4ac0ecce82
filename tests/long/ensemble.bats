#!/usr/bin/env bats
# Ensembles that are disturbed: pipelines.bats has four rounds of it.
load ../helper
load ../ensemble

@test "an ensemble is right in each of 40 rounds of make killed alone and of two makes on one OUT" {
    campaign 40
}
