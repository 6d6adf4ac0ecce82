# SPDX-License-Identifier: BSD-3-Clause
# Hadron masses of an ensemble, each configuration once: make -f hadrons.mk RAW=raw KAPPA=0.1540 -j8
#
#   RAW    folder of configurations, one a file, in any format that lat-convert reads
#   OUT    folder of results (default: hadrons). RAW/NAME becomes OUT/NAME.tsv
#   BINSIZE  configurations of a bin of the jackknife (default: 1; lat-stat warns where that is too small)
#   and every variable of hadrons.sh beside this file, such as CHANNELS=pion,rho
#
# OUT/masses.tsv has mean, jackknife error and effective mass of each correlator, of the configurations that are in RAW now,
# by lat-stat; equivalent momenta and directions are averaged. OUT/fits.tsv has fits of
# one state to them by lat-fit, if it was built, from OUT/samples.tsv; OUT/masses.png and .pdf are the picture, if there is gnuplot. What is there is not made again: other parameters, or other
# configurations of the same names, want another OUT, and are refused in the same one.

RAW ?= raw
OUT ?= hadrons
BINSIZE ?= 1
override RAW := $(patsubst -%,./-%,$(RAW))
override OUT := $(patsubst -%,./-%,$(OUT))

export LC_ALL := C# awk reads and prints numbers with a point
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.SUFFIXES:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --keep-going
here := $(dir $(lastword $(MAKEFILE_LIST)))
quote = '$(subst ','\'',$(1))'
# A misspelt variable would be ignored.
given := $(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(v)))
variables := $(shell LAT_GIVEN=$(call quote,$(given)) LAT_EMPTY=$(call quote,$(foreach v,$(given),$(if $($(v)),,$(v)))) $(here)known.sh $(here)hadrons.mk $(here)hadrons.sh $(here)plots/draw.sh)
ifneq ($(.SHELLSTATUS),0)
$(error nothing done)
endif
export LAT_KNOWN := 1
# (One that is not set would be exported as empty.)
export $(foreach v,$(variables),$(if $(filter-out undefined,$(origin $(v))),$(v)))
# (A make that runs this one hands on all of its own.)
ifeq ($(MAKELEVEL),0)
ifneq ($(filter-out OMP_NUM_THREADS $(variables),$(given)),)
$(error expected variables of hadrons.mk ($(variables)), found '$(filter-out OMP_NUM_THREADS $(variables),$(given))')
endif
endif
ifneq ($(words $(RAW)) $(words $(OUT)),1 1)
$(error expected RAW and OUT without blanks in their names, found '$(RAW)' and '$(OUT)')
endif
configs := $(shell $(here)ensemble.sh names $(call quote,$(RAW)) $(call quote,$(OUT)))
ifneq ($(.SHELLSTATUS),0)
$(error nothing done)
endif
ifneq ($(filter masses samples fits %.lat-solve,$(configs)),)
$(error $(RAW): expected names other than $(filter masses samples fits %.lat-solve,$(configs)): OUT/masses.tsv and the like have the means, OUT/NAME.lat-solve.tsv is a log)
endif
comma := ,
# The mean PCAC mass is a ratio of means, whose denominator is the pion at rest.
channels := $(subst $(comma), ,$(CHANNELS))
ifneq ($(filter pcac,$(channels)),)
ifeq ($(filter pion mesons all,$(channels)),)
$(error CHANNELS: expected pion beside pcac, whose denominator it is, found '$(CHANNELS)')
endif
endif
results := $(configs:%=$(OUT)/%.tsv)
# What decides the numbers, as it was when the first of them was made. A default is the same, whether it was named or not.
decisive := KAPPA CSW BOUNDARY SOURCE $(if $(SOURCES),SOURCES) SINK CHANNELS MOMENTA RESIDUAL
default = $(shell sed -n 's/^: "[$$]{$(1):=\([^}]*\)}".*/\1/p' $(here)hadrons.sh)
defaults := $(foreach v,$(decisive),-e 's/\b$(v)=\( \|$$\)/$(v)=$(call default,$(v))\1/')
parameters := $(shell echo $(call quote,$(foreach v,$(decisive),$(v)=$($(v)))) | sed $(defaults))

jobs = $(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),1)
threads = $(or $(OMP_NUM_THREADS),$(shell echo $$((($$(nproc) + $(jobs) - 1) / $(jobs)))))

configurations = awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($$i == "configurations") c = i } END { print $$c }'

.PHONY: all
all: $(OUT)/masses.tsv
	@n=$$($(configurations) $<); [ "$$n" -gt 1 ] || { echo "1 configuration: $<, without errors and without a picture"; exit 0; }; \
	$(here)plots/draw.sh hadrons.gp $(OUT)/masses $< $$(ls $(OUT)/fits.tsv 2>/dev/null || :); \
	echo "$$n configurations: $<"

# The first result leaves its parameters. A result of others is none, even if both were begun before there was any.
other = { echo "hadrons: $(OUT): expected results of '$(parameters)', found those of '$$(cat $(OUT)/.parameters)': name another OUT" >&2; exit 1; }
is_ours = [ "$$(sed $(defaults) $(OUT)/.parameters)" = '$(parameters)' ]

.PHONY: same
same:
	@mkdir -p $(OUT)/links; [ ! -e $(OUT)/.parameters ] || $(is_ours) || $(other)

# A result is there or not; dates do not count, and links.sh says whether it is of what is in RAW now. One run at a time has a
# configuration, until the last process that it starts has ended.
failed = { mv -T "$$err" '$@.err'; ! grep -q ': stopped by SIG' '$@.err' || { echo "interrupted: $*: the same command goes on" >&2; exit 1; }; \
	echo "failed: $*: $$(head -n 1 '$@.err')" >&2; exit 1; }
.PHONY: always
$(results): $(OUT)/%.tsv: always | same
	@exec {held}>>'$(OUT)/.$*.lock'; flock "$$held" || { echo "failed: $*: $(OUT)/.$*.lock cannot be locked" >&2; exit 1; }; \
	err=$$(mktemp '$(OUT)/.err.XXXXXXXX'); trap 'rm -f "$$err"' EXIT; \
	$(here)links.sh '$(RAW)/$*' '$(OUT)/links/$*' '$@' 2>"$$err" || $(failed); \
	rm -f '$@.err'; [ ! -e '$@' ] || exit 0; \
	OMP_NUM_THREADS=$(threads) $(here)hadrons.sh '$(RAW)/$*' '$@' 2>"$$err" || $(failed); \
	exec {first}>>$(OUT)/.parameters.lock; flock "$$first"; \
	[ -e $(OUT)/.parameters ] || $(here)replace.sh $(OUT)/.parameters printf '%s\n' '$(parameters)'; \
	$(is_ours) || { rm '$@'; $(other); }

# Each time: configurations may have come or gone.
$(OUT)/masses.tsv: $(results) always
	@awk -v as='they count as one' -f $(here)plots/twice.awk $(configs:%=$(OUT)/links/%); \
	PATH=$$PATH:$(here)../bin; $(here)replace.sh $(OUT)/samples.tsv $(here)replace.sh $@ \
	  lat-stat --bin $(call quote,$(BINSIZE)) --samples {} $(results); \
	if [ "$$($(configurations) $@)" -gt 2 ] && command -v lat-fit >/dev/null; then \
	  $(here)replace.sh $(OUT)/fits.tsv lat-fit $(OUT)/samples.tsv || rm -f $(OUT)/fits.tsv; else rm -f $(OUT)/fits.tsv; fi
