# lat: lattice QCD as a pipeline of small tools.
#
#   make              build what this machine allows into bin/, and say what that was
#   make quickstart   install what is missing, build, fix a configuration (CONFIG=file for yours)
#   make check        install what is missing, build, run all tests; ends with "N passed, N failed"
#   make bench        speed of the sweeps; make bench-stream: of the stream; make bench-convert:
#                     of lat-convert beside cat (DIMS=64,64,64,128 FOLDER=/scratch);
#                     make bench-heatbath: of lat-heatbath; make bench-dirac: of Dirac operators on one core;
#                     make bench-flow: of the gradient flow; make bench-ghost: of the Faddeev-Popov operator;
#                     make bench-loops: of Wilson loops;
#                     make bench-overlap: of the sign function, on a GPU too where one is;
#                     make bench-solve: of lat-solve from file to file on one core, in memory (/dev/shm);
#                     make bench-multigrid: of multigrid for light quarks on one core (LINKS=file for yours)
#   make accuracy     what rounding does over 12000 sweeps (EXTENT=8), table and picture in build/accuracy
#   make sweeps       sweeps to theta < 1e-12 against omega (EXTENTS="8 16"), in build/sweeps
#   make check-long   campaigns of an hour or so, tests/long
#   make fuzz SECONDS=60   feeds every reader with what a fuzzer makes up (clang), so long each
#   make check-mpi    tests of several ranks on the CPU (make check has them too)
#   make check-gpu    tests of the GPU backend, where there is a GPU; make check-gpu-san: under compute-sanitizer;
#                     make check-gpu-code: looks at its machine code, where there is cuobjdump;
#                     make bench-gpu, bench-dirac-gpu, bench-multigrid-gpu: its speed; make bench-mpi, bench-dirac-mpi: on 1, 2 and 4 GPUs
#   make format       lays C and CUDA sources out as .clang-format says
#   make install      PREFIX=/usr/local DESTDIR= (make uninstall takes it away again)
#   make man          the manual pages anew (scdoc), after a change of options or of what they are made of
#   make dist         lat-VERSION.tar.gz; make distcheck: builds it and tests what was built; make dist-static: the tools for
#                     CPUs, linked statically (docs/releases.md)
#
# Switches: CC=clang  NVCC='ccache nvcc'  MPI=1 (insist) or 0  OPENMP=0  FFTW=0  DEFLATE=0  GSL=0
#           SAN=1 (address and undefined)  DEBUG=1  BITS=1 (no fused multiply-add)  WERROR=1  V=1 (show commands)
#           CUDA=1: GPU code for all GPUs, whether one is here or not (packages, clusters); 0: none.
#           Without it GPU code is built if nvcc and a GPU are here, for that GPU
#           GPU_ARCH=90: for GPUs of compute capability 9.0 alone; "80 90" for two; any: for all, compiled by
#           the driver when the program first runs
#           GPU_GROUPS=16: GPU code of SU(2) to SU(16); default SU(2) to SU(4), in a fraction of the time
#           CPU_GROUPS=4: code of SU(2) to SU(4) for the CPU; default all
#           make quickstart: SU(2) and SU(3), for CPU and GPU
# make install builds and installs with the switches of the last build, unless it gets others.
#
# setup/configure looks at the machine. How things are made: lib/lib.mk, lib/lanes.mk and lib/cuda.mk the library,
# tests/tests.mk and bench/bench.mk what is run.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif
.PHONY: all
all:

# ---- switches --------------------------------------------------------------------------------

# Programs that are here, and the machine: where they differ, setup/configure looks again.
programs := $(shell type -P gcc clang g++ nvcc mpicc nvidia-smi || :; \
  compgen -G '/dev/nvidia[0-9]' || :; echo "$$HOSTNAME")
default_cc := $(notdir $(firstword $(filter %/gcc %/clang,$(programs)) cc))
ifeq ($(origin CC),default)
undefine CC
endif
# The switches of the last build (target `all`): what make install goes by.
remembered := CC NVCC CUDA MPI OPENMP FFTW DEFLATE GSL DEBUG BITS QUICK GPU_ARCH GPU_GROUPS CPU_GROUPS \
  CPPFLAGS CFLAGS LDFLAGS
ifneq ($(filter install,$(MAKECMDGOALS)),)
-include build/switches
endif
given := $(foreach v,$(remembered),$(if $(filter command environment file,$(firstword $(origin $(v)))),$(v)))
CC ?= $(default_cc)
NVCC ?= nvcc
CUDA ?= auto
MPI ?= auto
OPENMP ?= auto
FFTW ?= auto
DEFLATE ?= auto
GSL ?= auto
SAN ?= 0
DEBUG ?= 0
BITS ?= 0
WERROR ?= 0
V ?= 0
GPU_ARCH ?=
GPU_GROUPS ?=
CPU_GROUPS ?=
CPPFLAGS ?=
CFLAGS ?=
LDFLAGS ?=
hash := \#
comma := ,
space := $(subst ,, )
# $(call holds,FILE,TEXT); strip: make 4.3 does not always take the newline off.
same = $(and $(findstring <$(1)>,<$(2)>),$(findstring <$(2)>,<$(1)>))
holds = $(call same,$(strip $(file <$(1))),$(strip $(2)))
write = $(shell mkdir -p $(dir $(1)))$(file >$(1),$(2))
# $(call keep,FILE,TEXT): FILE holds TEXT, and is as old as that. Not before setup/configure has looked.
keep = $(if $(COUNTS),,$(if $(configured),$(if $(call holds,$(1),$(2)),,$(call write,$(1),$(2)))))
one_letter = $(findstring $(1),$(filter-out --%,$(firstword -$(MAKEFLAGS))))
# What make says: a line a file, and how many of how many there are; make -s is silent. A make that does nothing counts them.
at := $(if $(filter 1,$(V)),,@)
line = $(if $(COUNTS),@: a line,$(if $(call one_letter,s),,@printf '%s %-5s %s\n' '$(step)' '$(1)' '$(2)'))
step = $(eval begun += x)[$(words $(begun))/$(if $(call one_letter,n),?,$(steps))]
steps = $(eval steps := $(shell MAKEFLAGS='$(subst ','\'',$(filter-out -j% --jobserver%,$(MAKEFLAGS)))' $(MAKE) -n COUNTS=1 $(MAKECMDGOALS) 2>/dev/null | \
  awk '/^: a line/ { n++ } END { print n + 0 }'))$(steps)
begun :=

# ---- what this machine has -------------------------------------------------------------------

variant := $(subst /,_,$(subst $(space),-,$(CC)))$(if $(filter 1,$(SAN)),-san)$(if $(filter 1,$(DEBUG)),-debug)$(strip \
  )$(if $(filter 1,$(BITS)),-bits)$(if $(filter 0,$(OPENMP)),-serial)$(if $(filter 0,$(DEFLATE)),-zlib)
B := build/$(variant)
# Kernels that are not checked by sanitizers are those of the build without (lib/lanes.mk).
P := build/$(subst -san,,$(variant))
# The usual build goes to bin/; others stay beside their objects.
BIN := $(if $(filter $(default_cc),$(variant)),bin,$(B)/bin)

asked_for := CC NVCC CUDA MPI OPENMP FFTW DEFLATE GSL SAN QUICK GPU_ARCH GPU_GROUPS CPU_GROUPS CPPFLAGS LDFLAGS \
  programs PATH CPATH C_INCLUDE_PATH LIBRARY_PATH PKG_CONFIG_PATH
define newline


endef
asked := $(foreach v,$(asked_for),$(v) $($(v))$(newline))
ifeq ($(call holds,$(B)/asked,$(asked)),)
$(call write,$(B)/asked,$(asked))$(shell rm -f $(B)/config.mk)
endif
# Again, too, when something was installed.
$(B)/config.mk: $(B)/asked setup/configure lib/site/groups.h $(filter %/nvidia-smi,$(programs)) \
  $(wildcard /usr/include /usr/local/include /usr/lib /usr/lib64 /usr/lib/*-linux-gnu /usr/local/lib)
	@setup/configure $(B)
include $(B)/config.mk

# ---- flags -----------------------------------------------------------------------------------

cppflags := -Ilib -D_GNU_SOURCE
cflags := -std=gnu11 -g -fno-math-errno -fno-trapping-math -ffp-contract=$(if $(filter 1,$(BITS)),off,fast) \
  -Wall -Wextra -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes -Wvla \
  -Wpointer-arith -Wwrite-strings -Wno-psabi \
  $(if $(filter 1,$(WERROR)),-Werror) $(if $(openmp),,-Wno-unknown-pragmas) $(if $(filter 1,$(DEBUG)),-O0,-O2)
# $(call optimise,LEVEL,SAN): what debuggers and sanitizers leave of it.
optimise = $(if $(filter 1,$(DEBUG)),,$(if $(filter 1,$(2)),-O1,$(1)))
sanitizers := $(if $(filter 1,$(SAN)),-fsanitize=address$(comma)undefined)
# (gcc warns of what the sanitizers add. -O2 takes the compiler two thirds longer.)
san := $(if $(sanitizers),$(call optimise,-O1) -Wno-error $(sanitizers) -fno-sanitize-recover=all -fno-omit-frame-pointer)
ldflags := -Wl,--as-needed $(openmp) $(sanitizers)
ldlibs := $(libs)

# What was compiled with other flags is compiled again. What the machine has is the business of few files; what is
# linked, and with what, depends on it.
plain_flags := $(CC) $(cppflags) $(CPPFLAGS) $(cflags) $(openmp) $(CFLAGS)
$(call keep,$(P)/flags,$(plain_flags))
$(call keep,$(B)/flags,$(plain_flags) $(san))
$(call keep,$(B)/found,$(file <$(B)/config.mk) $(ldflags) $(LDFLAGS))

no_compiler = $(if $(machine),,$(error $(CC) not found: run setup/deps build, or name another compiler with CC=))
compile = $(CC) $(cppflags) $(CPPFLAGS) $(cflags)
$(B)/%.o: %.c $(B)/flags lib/lib.mk | $(B)/plan
	$(no_compiler)
	$(call line,CC,$<)
	@mkdir -p $(@D)
	$(at)$(compile) $(san) $(openmp) $(CFLAGS) -MMD -MP -c -o $@ $<

# ---- what is built ---------------------------------------------------------------------------

include lib/lib.mk

tools_skip := $(if $(no_fftw),tools/measure/lat-gluon.c tools/measure/lat-ghost.c) $(if $(no_gsl),tools/measure/lat-fit.c)
mains := $(sort $(filter-out $(tools_skip),$(wildcard tools/*/lat-*.c)))
tools := $(patsubst %.c,$(BIN)/%,$(notdir $(mains)))

# A build for tests is not what make install installs; nor is what make -n says.
remember = $(if $(call one_letter,n),,$(call keep,build/switches,$(foreach v,$(given),$(call switch,$(v)))))
switch = $(1) ?= $(subst $(hash),\$(hash),$(value $(1)))$(newline)
all: programs $(B)/said
	@:$(if $(filter 1,$(SAN)),,$(remember))

# What is built, and why: before the first file is compiled, and again whenever it changes.
$(B)/plan: $(B)/flags $(B)/found
	@$(if $(call one_letter,s),,cat $(B)/words;) touch $@

$(BIN)/lat: packaging/lat docs/subjects.md
	@mkdir -p $(@D) && cat $^ >$@ && chmod 755 $@

# Say once what was built, and again whenever it changes.
$(B)/said: $(tools)
	@$(if $(call one_letter,s),,printf 'built %s in %s/\n' '$(notdir $(tools))' '$(BIN)' | fold -s -w 100;) touch $@

# A tool is the main lat-NAME.c and the files NAME_*.c beside it.
$(foreach m,$(mains),$(eval $(BIN)/$(basename $(notdir $(m))): $(patsubst %.c,$(B)/%.o,$(m) $(wildcard $(subst lat-,,$(m:.c=_*.c))))))
# cuFFT is looked for when it is asked for: lat-gluon starts without it.
$(BIN)/lat-gluon: tool_libs := -lfftw3 $(if $(no_cufft),,-Wl$(comma)-rpath$(comma)$(cuda_home)/lib64)
$(BIN)/lat-fit: tool_libs := -lgsl -lgslcblas
$(tools): $(liblat)
	$(call line,LINK,$@)
	@mkdir -p $(@D)
	$(at)$(CC) $(ldflags) $(LDFLAGS) -o $@ $(filter %.o,$^) $(liblat) $(tool_libs) $(ldlibs)

include bench/bench.mk tests/tests.mk setup/install.mk

-include $(shell find $(sort $(B) $(P)) build/cuda -name '*.d' 2>/dev/null)
