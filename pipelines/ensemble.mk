# SPDX-License-Identifier: BSD-3-Clause
# Fixes each configuration of an ensemble once: make -f ensemble.mk RAW=raw GAUGE=landau -j8
#
#   RAW    folder of configurations, one in each file, in any format that lat-convert reads
#   GAUGE  landau, coulomb or mag: the pipeline is GAUGE.sh beside this file
#   OUT    folder of results (default: GAUGE). RAW/NAME becomes OUT/NAME.lat, its logs are OUT/log/NAME.*
#   PART   3/16: the third of every 16 configurations, for an array of jobs (default 1/1)
#   and every variable of GAUGE.sh, such as THETA=1e-20
#
#   make -f ensemble.mk ...          fixes what is missing; OUT/table.tsv has a row for each, failures are listed at the end
#   make -f ensemble.mk ... verify   reads and measures everything again, against the raw files and the table
#
# You may interrupt it, kill it, and run it again: files that are there are whole, missing ones are made, from their checkpoint if
# there is one. A configuration that failed is tried again. Each job waits for a GPU (gpuslot); without GPUs jobs share the processors.

RAW ?= raw
GAUGE ?= landau
OUT ?= $(GAUGE)
PART ?= 1/1

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --keep-going
here := $(dir $(lastword $(MAKEFILE_LIST)))
one := $(here)ensemble.sh

# Prerequisites are order-only: a copy of RAW with younger dates is no reason to begin again (verify finds out if it is another
# ensemble).
ifeq ($(wildcard $(one)),)
$(error expected ensemble.sh beside ensemble.mk, in a folder without blanks in its name)
endif
ifneq ($(words $(RAW)) $(words $(OUT)),1 1)
$(error expected RAW and OUT without blanks in their names, found '$(RAW)' and '$(OUT)')
endif
configs := $(shell $(one) list '$(RAW)' '$(PART)')
ifneq ($(.SHELLSTATUS),0)
$(error nothing done)
endif
missing := $(filter-out $(wildcard $(OUT)/*.lat),$(configs:%=$(OUT)/%.lat))
verified := $(configs:%=verify/%)

# Processors for each of -j jobs.
jobs = $(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),1)
threads = $(or $(OMP_NUM_THREADS),$(shell echo $$((($$(nproc) + $(jobs) - 1) / $(jobs)))))

.PHONY: all verify $(verified)
all: $(missing) | $(OUT)/log
	@$(one) report '$(RAW)' '$(PART)' '$(OUT)'

$(missing): $(OUT)/%.lat: | $(RAW)/% $(OUT)/log
	@OMP_NUM_THREADS=$(threads) $(one) fix $(GAUGE) $(RAW)/$* $@

$(OUT)/log:
	@mkdir -p $@

verify: $(verified)
	@echo '$(words $(verified)) verified'

$(verified): verify/%:
	@OMP_NUM_THREADS=$(threads) $(one) verify $(GAUGE) $(RAW)/$* $(OUT)/$*.lat
