# SPDX-License-Identifier: BSD-3-Clause
# An ensemble to a gauge, each configuration once: make -f ensemble.mk RAW=raw GAUGE=landau -j8
#
#   RAW    folder of configurations, one a file, in any format that lat-convert reads
#   GAUGE  landau, coulomb or mag: GAUGE.sh beside this file, the pipeline that does it
#   OUT    folder of results (default: GAUGE). RAW/NAME becomes OUT/NAME.lat, its logs are OUT/log/NAME.*
#   PART   3/16: of every 16 configurations the third, for an array of jobs (default 1/1)
#   and every variable of GAUGE.sh, such as THETA=1e-20
#
#   make -f ensemble.mk ...          fixes what is missing; OUT/table.tsv has a row for each, failures are listed at the end
#   make -f ensemble.mk ... verify   reads and measures everything again, against the raw files, the table, GAUGE and THETA
#
# Interrupt it, kill it, run it again, run it twice at once: results are whole, each is made by one run at a time, and what was
# begun is gone on with. A configuration that failed is tried again. A result of another gauge, or above THETA, is refused.
# Jobs wait for a GPU of their own (gpuslot); without GPUs they share the processors.

RAW ?= raw
GAUGE ?= landau
OUT ?= $(GAUGE)
PART ?= 1/1
# Names, not options.
override RAW := $(patsubst -%,./-%,$(RAW))
override OUT := $(patsubst -%,./-%,$(OUT))

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --keep-going
here := $(dir $(lastword $(MAKEFILE_LIST)))
one := $(here)ensemble.sh
quote = '$(subst ','\'',$(1))'

ifeq ($(wildcard $(one)),)
$(error expected ensemble.sh beside ensemble.mk, in a folder without blanks in its name)
endif
# A misspelt variable would be ignored.
given := $(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(v)))
variables := $(shell LAT_GIVEN=$(call quote,$(given)) LAT_EMPTY=$(call quote,$(foreach v,$(given),$(if $($(v)),,$(v)))) $(here)known.sh $(here)ensemble.mk $(call quote,$(here)$(GAUGE).sh) $(here)fix.sh $(one) $(here)gpuslot) OMP_NUM_THREADS
ifneq ($(.SHELLSTATUS),0)
$(error nothing done)
endif
export LAT_KNOWN := 1
# (A make that runs this one hands on all of its own.)
ifeq ($(MAKELEVEL),$(if $(wildcard $(here)$(GAUGE).sh),0))
ifneq ($(filter-out $(variables),$(given)),)
$(error expected variables of $(GAUGE).sh ($(variables)), found '$(filter-out $(variables),$(given))')
endif
endif
ifneq ($(words $(RAW)) $(words $(OUT)),1 1)
$(error expected RAW and OUT without blanks in their names, found '$(RAW)' and '$(OUT)')
endif
configs := $(shell $(one) begin $(call quote,$(GAUGE)) $(call quote,$(RAW)) $(call quote,$(PART)) $(call quote,$(OUT)))
ifneq ($(.SHELLSTATUS),0)
$(error nothing done)
endif
# A result is there with its row of the table. Dates do not count: a copy of RAW with younger ones is no reason to begin again
# (verify tells if it is another ensemble).
results := $(patsubst $(OUT)/%.lat,%,$(wildcard $(OUT)/*.lat))
measured := $(patsubst $(OUT)/log/%.row,%,$(wildcard $(OUT)/log/*.row))
missing := $(filter-out $(filter $(results),$(measured)),$(configs))

# Processors for each of -j jobs.
jobs = $(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),1)
threads = $(or $(OMP_NUM_THREADS),$(shell echo $$((($$(nproc) + $(jobs) - 1) / $(jobs)))))

.PHONY: all verify agree $(missing:%=fix/%) $(configs:%=verify/%)
# First what no other run has, then the rest: what the other run has not done.
all: $(missing:%=fix/%)
	@$(if $(missing),OMP_NUM_THREADS=$(threads) $(one) rest $(GAUGE) $(RAW) $(PART) $(OUT))
	@$(one) report $(GAUGE) $(RAW) $(PART) $(OUT)

$(missing:%=fix/%): fix/%: | agree
	@OMP_NUM_THREADS=$(threads) $(one) fix $(GAUGE) $(RAW)/$* $(OUT)/$*.lat

# Nothing is added to results that are not what is asked for.
agree:
	@$(one) agree $(GAUGE) $(RAW) $(PART) $(OUT)

verify: $(configs:%=verify/%)
	@echo '$(words $(configs)) verified'

$(configs:%=verify/%): verify/%:
	@OMP_NUM_THREADS=$(threads) $(one) verify $(GAUGE) $(RAW)/$* $(OUT)/$*.lat
