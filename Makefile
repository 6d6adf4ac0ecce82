# lat: gauge fixing as a pipeline of small tools.
#
#   make              build what this machine allows into bin/, and say what that was
#   make quickstart   install what is missing, build, fix a configuration (CONFIG=file for yours)
#   make check        install what is missing, build, run all tests; ends with "N passed, N failed"
#   make bench        speed of the sweeps; make bench-stream: of the stream; make bench-convert:
#                     of lat-convert beside cat (DIMS=64,64,64,128 FOLDER=/scratch);
#                     make bench-heatbath: of lat-heatbath; make bench-dirac: of Dirac operators on one core;
#                     make bench-flow: of the gradient flow; make bench-ghost: of the Faddeev-Popov operator;
#                     make bench-overlap: of the sign function, on a GPU too where one is;
#                     make bench-solve: of lat-solve from file to file on one core, in memory (/dev/shm)
#   make accuracy     what rounding does over 12000 sweeps (EXTENT=8), table and picture in build/accuracy
#   make sweeps       sweeps to theta < 1e-12 against omega (EXTENTS="8 16"), in build/sweeps
#   make check-long   campaigns of an hour or so, tests/long
#   make fuzz SECONDS=60   feeds every reader with what a fuzzer makes up (clang), so long each
#   make check-mpi    tests of several ranks on the CPU (make check has them too)
#   make check-gpu    tests of the GPU backend, where there is a GPU; make check-gpu-san: under compute-sanitizer;
#                     make check-gpu-code: looks at its machine code, where there is cuobjdump;
#                     make bench-gpu, bench-dirac-gpu: its speed; make bench-mpi, bench-dirac-mpi: on 1, 2 and 4 GPUs
#   make format       lays C and CUDA sources out as .clang-format says
#   make coverage     which lines of lib and tools the tests run, in build/coverage
#   make install      PREFIX=/usr/local DESTDIR= (make uninstall takes it away again)
#   make man          the manual pages anew (scdoc), after a change of options or of what they are made of
#   make dist         lat-VERSION.tar.gz; make distcheck: builds it and tests what was built
#
# Switches: CC=clang  NVCC='ccache nvcc'  MPI=1 (insist) or 0  OPENMP=0  FFTW=0  DEFLATE=0  HDF5=0  SAN=1 (address and undefined)
#           DEBUG=1  BITS=1 (no fused multiply-add)  COV=1 (count lines)  WERROR=1  V=1 (show commands)
#           CUDA=1: GPU code for all GPUs, whether one is here or not (packages, clusters); 0: none.
#           Without it GPU code is built if nvcc and a GPU are here, for that GPU
#           GPU_ARCH=90: for GPUs of compute capability 9.0 alone; "80 90" for two; any: for all, compiled by
#           the driver when the program first runs
#           GPU_GROUPS=16: GPU code of SU(2) to SU(16); default SU(2) to SU(4), in a fraction of the time
#           CPU_GROUPS=4: code of SU(2) to SU(4) for the CPU; default all
#           make quickstart: SU(2) and SU(3), for CPU and GPU
# make install builds and installs with the switches of the last build, unless it gets others.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

have = $(shell command -v $(1) 2>/dev/null)
# The switches of the last build (target `all`): what make install goes by.
remembered := CC NVCC CUDA MPI OPENMP FFTW DEFLATE HDF5 DEBUG BITS GPU_ARCH GPU_GROUPS CPU_GROUPS CPPFLAGS CFLAGS LDFLAGS
ifneq ($(filter install,$(MAKECMDGOALS)),)
-include build/switches
endif
default_cc := $(notdir $(firstword $(call have,gcc) $(call have,clang) cc))
given := $(foreach v,$(remembered),$(if $(filter command environment file,$(firstword $(origin $(v)))),$(v)))
ifeq ($(origin CC),default)
CC := $(default_cc)
endif
CUDA ?= auto
MPI ?= auto
OPENMP ?= auto
FFTW ?= auto
DEFLATE ?= auto
HDF5 ?= auto
SAN ?= 0
DEBUG ?= 0
BITS ?= 0
COV ?= 0
WERROR ?= 0
V ?= 0
at := $(if $(filter 1,$(V)),,@)

# ---- what this machine has -------------------------------------------------------------------

hash := \#
comma := ,
compiles = $(shell printf '%b' '$(1)' | $(CC) -xc -o /dev/null - $(2) >/dev/null 2>&1 && echo yes)

machine := $(shell $(CC) -dumpmachine 2>/dev/null)
ifneq ($(OPENMP),0)
has_openmp := $(call compiles,$(hash)include <omp.h>\nint main(void){return omp_get_max_threads()<1;}\n,-fopenmp)
endif
# FFTW is used by lat-gluon and lat-ghost, which are left out where it is not to be had, and by lat-theta --fp-min;
# in single precision by lat-orelax --finish newton.
ifneq ($(FFTW),0)
has_fftw := $(call compiles,$(hash)include <fftw3.h>\nint main(void){fftw_cleanup();return 0;}\n,-lfftw3)
endif
ifneq ($(has_fftw),)
has_fftwf := $(call compiles,$(hash)include <fftw3.h>\nint main(void){fftwf_cleanup();return 0;}\n,-lfftw3f)
endif
fftw_why := $(if $(has_fftw),,$(if $(filter 0,$(FFTW)),FFTW=0,fftw3.h and libfftw3 not found))
ifeq ($(FFTW)$(has_fftw),1)
$(error FFTW=1, but $(fftw_why))
endif
# Without libdeflate zlib does the same, more slowly.
ifneq ($(DEFLATE),0)
has_deflate := $(call compiles,$(hash)include <libdeflate.h>\nint main(void){return libdeflate_crc32(0$(comma)0$(comma)0)!=0;}\n,-ldeflate)
endif
ifeq ($(DEFLATE)$(has_deflate),1)
$(error DEFLATE=1, but libdeflate.h and libdeflate not found)
endif
# HDF5 is opened when a file needs it (lib/formats/hdf5_library.h), under the name that a program asks for which is linked
# with it; no tool is. Debian has a folder of its own for it.
hdf5_program := $(hash)include <hdf5.h>\nint main(void){return H5open()<0;}\n
ifneq ($(HDF5),0)
hdf5_cflags := $(shell pkg-config --cflags hdf5 2>/dev/null)
hdf5_libs := $(or $(shell pkg-config --libs hdf5 2>/dev/null),-lhdf5)
hdf5_name := $(shell program=$$(mktemp 2>/dev/null) && printf '%b' '$(hdf5_program)' | $(CC) $(hdf5_cflags) $(CPPFLAGS) $(LDFLAGS) -xc -o $$program - $(hdf5_libs) 2>/dev/null && \
  { readelf -d $$program | sed -n 's/.*(NEEDED).*\[\(libhdf5.*\)\]/\1/p' | grep . || echo static; }; rm -f $$program)
endif
hdf5_why := $(if $(filter 0,$(HDF5)),HDF5=0,$(if $(hdf5_name),$(if $(filter static,$(hdf5_name)),libhdf5 is not a shared library$(comma) or no readelf to see it),hdf5.h and libhdf5 not found$(comma) also by pkg-config))
ifeq ($(HDF5)$(if $(hdf5_why),,yes),1)
$(error HDF5=1, but $(hdf5_why))
endif
ifeq ($(OPENMP)$(has_openmp),1)
$(error OPENMP=1, but $(CC) cannot link with -fopenmp (clang needs libomp-dev))
endif

# Without the compiler for the CUDA backend, or that for the MPI communicator, what stands in their place says so
# when asked for. Of mpicc its words about headers and libraries are taken, with OpenMPI and MPICH alike; -Wl,--as-needed
# leaves the library out of tools that have no ranks.
# NVCC='ccache nvcc': the compiler is the last word, which says where the toolkit is.
NVCC ?= nvcc
nvcc := $(call have,$(lastword $(NVCC)))
mpicc := $(call have,mpicc)
cuda_why := $(if $(filter 0,$(CUDA)),CUDA=0,$(if $(nvcc),$(if $(call have,g++),$(if $(filter 1,$(SAN)),not with SAN=1),g++ not found),nvcc not found))
# GPU code is built for the GPU that is here, or because it was asked for. (nvidia-smi says which one is here; a container may
# have the GPU without it.)
ifeq ($(cuda_why),)
gpu_found := $(shell nvidia-smi --query-gpu=compute_cap --format=csv$(comma)noheader 2>/dev/null | sed -n 's/^\([0-9]*\)\.\([0-9]\)$$/\1\2/p' | sort -un)
ifeq ($(or $(filter 1,$(CUDA)),$(GPU_ARCH),$(gpu_found),$(wildcard /dev/nvidia[0-9] /dev/dxg)),)
cuda_why := no GPU here: CUDA=1 builds GPU code all the same
endif
endif
mpi_why := $(if $(filter 0,$(MPI)),MPI=0,$(if $(mpicc),,mpicc not found))
mpi_words := $(if $(mpi_why),,$(shell $(mpicc) -show))
ifeq ($(CUDA),1)
$(if $(cuda_why),$(error CUDA=1, but $(cuda_why)))
endif
ifeq ($(MPI),1)
$(if $(mpi_why),$(error MPI=1, but $(mpi_why)))
endif

# ---- flags -----------------------------------------------------------------------------------

space := $(subst ,, )
variant := $(subst /,_,$(subst $(space),-,$(CC)))$(if $(filter 1,$(SAN)),-san)$(if $(filter 1,$(DEBUG)),-debug)$(if $(filter 1,$(BITS)),-bits)$(if $(filter 1,$(COV)),-cov)$(if $(has_openmp),,-serial)$(if $(filter 0,$(DEFLATE)),-zlib)
B := build/$(variant)
# Under the sanitizers, which take ten times as long to compile them, kernels are one text that is checked for SU(2) and SU(3) and
# one vector length, with which the tests run; others are those of the build without sanitizers.
P := build/$(subst -san,,$(variant))
# The usual build goes to bin/; others stay beside their objects.
BIN := $(if $(filter $(default_cc),$(variant)),bin,$(B)/bin)

cflags := -std=gnu11 -g -fno-math-errno -fno-trapping-math \
  -ffp-contract=$(if $(filter 1,$(BITS)),off,fast) \
  -Wall -Wextra -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes -Wvla \
  -Wpointer-arith -Wwrite-strings -Wno-psabi \
  $(if $(filter 1,$(WERROR)),-Werror) $(if $(has_openmp),,-Wno-unknown-pragmas) \
  $(if $(filter 1,$(DEBUG)),-O0,$(if $(filter 1,$(COV)),-O1 --coverage,-O2))
# (gcc warns of what the sanitizers add.)
san := $(if $(filter 1,$(SAN)),-Wno-error -fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
openmp := $(if $(has_openmp),-fopenmp)
cppflags := -Ilib -D_GNU_SOURCE
ldflags := -Wl,--as-needed $(openmp) $(if $(filter 1,$(COV)),--coverage) $(if $(filter 1,$(SAN)),-fsanitize=address$(comma)undefined)
ldlibs := -Wl,--as-needed $(if $(has_fftw),-lfftw3) $(if $(has_fftwf),-lfftw3f) -lexpat $(if $(has_deflate),-ldeflate) -lz -lm $(if $(hdf5_why),,-ldl) $(filter -L% -l% -Wl$(comma)%,$(mpi_words))
CPPFLAGS ?=
CFLAGS ?=
LDFLAGS ?=

# $(call keep,FILE,TEXT): FILE holds TEXT, and is as old as that. (strip: make 4.3 does not always take the newline off.)
same = $(and $(findstring <$(1)>,<$(2)>),$(findstring <$(2)>,<$(1)>))
keep = $(if $(call same,$(strip $(file <$(1))),$(strip $(2))),,$(shell mkdir -p $(dir $(1)))$(file >$(1),$(2)))

# The CUDA backend is compiled once for all variants, by nvcc: the kernels for each N and precision by
# themselves. For a GPU that is here: its machine code, and an intermediate one (PTX) for later GPUs. For all GPUs (CUDA=1):
# machine code for compute capabilities 7.0 (nvcc 12; 13 has given it up), 8, 9 and 10; for others, 7.5 and later, PTX of the
# oldest and of the newest of these, which the driver compiles when it is first used. GPU_ARCH=any: PTX of the oldest alone.
GPU_GROUPS ?= $(if $(filter 1,$(QUICK)),3,4)
gpu_known := $(if $(cuda_why),,$(shell $(nvcc) --list-gpu-arch | sed 's/^compute_//'))
gpu_oldest := $(firstword $(filter 70 75,$(gpu_known)))
gpu_here := $(if $(filter 1,$(CUDA)),,$(filter $(gpu_known),$(gpu_found)))
gpu_many := $(filter 70 80 90 100,$(gpu_known))
gpu_arch := $(filter-out any,$(or $(GPU_ARCH),$(gpu_here),$(gpu_many)))
gpu_ptx := $(if $(filter any,$(GPU_ARCH)),$(gpu_oldest),$(if $(GPU_ARCH),,$(if $(gpu_here),$(lastword $(gpu_here)),$(gpu_oldest) $(lastword $(gpu_many)))))
gpu_kinds := $(or $(if $(gpu_arch),compute capability $(gpu_arch)$(if $(gpu_ptx),$(comma) others by PTX)),every GPU by PTX)
gpu_reason := $(if $(GPU_ARCH),GPU_ARCH=$(GPU_ARCH),$(if $(gpu_here),the GPU here,$(if $(filter 1,$(CUDA)),CUDA=1,a GPU is here)))
gpu_code = $(foreach a,$(1),-gencode=arch=compute_$(a)$(comma)code=sm_$(a)) \
  $(foreach a,$(gpu_ptx),-gencode=arch=compute_$(a)$(comma)code=compute_$(a))
gpu_code_few := $(call gpu_code,$(gpu_arch))
gpu_code_many := $(call gpu_code,$(if $(GPU_ARCH)$(gpu_here),$(gpu_arch),$(lastword $(filter 80 90,$(gpu_arch))))) # SU(4) and larger: for the most common one
# Stack coloring of nvcc 12.4 and 13.0 gives matrices that are still needed the same local memory as others: wrong links of SU(5).
cuda_flags := -std=c++17 -O3 -Ilib -ftz=true -prec-div=false -prec-sqrt=false -Xcicc --Xllc=--no-stack-coloring \
  -Xcompiler -Wall$(comma)-Wextra$(comma)-fno-exceptions$(comma)-fno-rtti$(comma)-fno-threadsafe-statics -diag-suppress 550 \
  -DLAT_CUDA_ARCH='"$(gpu_arch)$(if $(gpu_ptx), and by PTX $(firstword $(gpu_ptx)) and later)"'
cuda_home := $(patsubst %/bin/nvcc,%,$(realpath $(nvcc)))
cufft_why := $(or $(cuda_why),$(if $(wildcard $(cuda_home)/include/cufft.h $(cuda_home)/targets/*/include/cufft.h),,cufft.h not found))
gpu_host := $(filter-out $(if $(cufft_why),lib/fourier/fourier.cu) %_kernels.cu,$(wildcard lib/*/*.cu))
cuda_obj = $(if $(cuda_why),,$(gpu_host:%.cu=build/cuda/%.o) $(gpu_fix_obj) $(gpu_link_obj) $(gpu_flow_obj))
# What GPU_GROUPS leaves of a list of N.
gpu_few = $(filter $(shell seq 2 $(GPU_GROUPS)),$(1))
gpu_fix_obj = $(foreach s,4 8,$(foreach n,$(call gpu_few,$(fix_range)),build/cuda/lib/fix/kernels_$(n)_$(s).o))
gpu_link_obj = $(foreach s,4 8,$(foreach n,$(call gpu_few,$(link_range)),build/cuda/lib/generate/kernels_$(n)_$(s).o) build/cuda/lib/generate/kernels_3_$(s)_all.o)
gpu_flow_obj = $(foreach n,$(call gpu_few,$(flow_range)),build/cuda/lib/flow/kernels_$(n)_8.o)
ifeq ($(cuda_why),)
ldlibs += $(firstword $(wildcard $(cuda_home)/lib64/libcudart_static.a $(cuda_home)/targets/*/lib/libcudart_static.a)) -ldl -lrt -lpthread
$(call keep,build/cuda/flags,$(cuda_flags) $(gpu_code_few) $(gpu_code_many))
$(call keep,build/cuda/groups,GPU_GROUPS=$(GPU_GROUPS))
endif

# What was compiled with other flags, or by another Makefile, is compiled again. What the machine has is the business of few
# files; what is linked, and with what, depends on it.
plain_flags := $(CC) $(cppflags) $(CPPFLAGS) $(cflags) $(CFLAGS)
flags := $(plain_flags) $(san)
found := CUDA: $(cuda_why) $(GPU_GROUPS); HDF5: $(hdf5_why) $(hdf5_name) $(hdf5_cflags); CPU: $(CPU_GROUPS); cuFFT: $(cufft_why); MPI: $(mpi_why) $(mpi_words); $(ldflags) $(LDFLAGS) $(ldlibs)
$(foreach f,flags found,$(call keep,$(B)/$(f),$($(f))))
$(call keep,$(P)/flags,$(plain_flags))

# One text of the sweeps, compiled for each vector length and each N of SU(N); the program chooses when it runs.
# (-g1: to follow variables through it takes a third of the compiler's time. Functions begin at multiples of 32 bytes:
# otherwise the same machine code is up to a tenth slower or faster by where it happens to lie, bench/NOTES.md.)
lanes := base
ifneq ($(filter x86_64%,$(machine)),)
lanes += avx2 avx512
endif
lane_flags_base :=
lane_flags_avx2 := -mtune=haswell -mavx2 -mfma
lane_flags_avx512 := -mtune=icelake-server -mavx512f -mavx512dq -mavx512vl -mavx2 -mfma -mprefer-vector-width=512

# The N of SU(N), of gauge fixing and of configurations: 2 to what lib/site/groups.h says.
groups_to = $(shell seq 2 $$(sed -n 's/^.define LAT_$(1)_MOST \([0-9]*\).*/\1/p' lib/site/groups.h))
fix_range := $(call groups_to,FIX)
link_range := $(call groups_to,LINKS)
flow_range := $(call groups_to,FLOW)
CPU_GROUPS ?= $(if $(filter 1,$(QUICK)),3,$(lastword $(link_range)))
$(foreach v,GPU_GROUPS CPU_GROUPS,$(if $(filter-out $(link_range),$($(v))),$(error $(v)=$($(v)): expected a number from 2 to $(lastword $(link_range)))))
cpu_few = $(filter $(shell seq 2 $(CPU_GROUPS)),$(1))

# $(call each_lane,FOLDER/NAME,N...): objects BUILD/lib/FOLDER/NAME_LANES_N[_all].o.
san_lane := $(or $(filter avx2,$(lanes)),base)
each_lane = $(foreach l,$(lanes),$(foreach n,$(2),$(if $(filter $(san_lane)_2 $(san_lane)_3 $(san_lane)_3_all,$(l)_$(n)),$(B),$(P))/lib/$(1)_$(l)_$(n).o))
lane_obj = $(call each_lane,fix/lanes,$(call cpu_few,$(fix_range)))
link_obj = $(call each_lane,generate/links,$(call cpu_few,$(link_range)) 3_all)
flow_obj = $(call each_lane,flow/flow,$(call cpu_few,$(flow_range)))
dirac_obj = $(call each_lane,dirac/dirac,2 3)
# $(call optimise,LEVEL,SAN): what is left of it for debuggers, sanitizers, and counters of lines.
optimise = $(if $(filter 1,$(DEBUG)),,$(if $(filter 1,$(2) $(COV)),-O1,$(1)))
optimise_more := $(call optimise,-O3,$(SAN))
# Of such an object: LANES N [all], and whether it is of this build.
lane_words = $(wordlist 2,4,$(subst _, ,$(notdir $*)))
lane_n = $(word 2,$(lane_words))
lane_ours = $(filter $(B)/%,$*)
lane_flags = -g1 -falign-functions=32 $(lane_flags_$(firstword $(lane_words))) -DLAT_LANES=$(firstword $(lane_words)) -DLAT_N=$(lane_n) $(if $(filter all,$(lane_words)),-DLAT_LINK_ROWS=$(lane_n) -DLAT_ALL_ROWS)

# ---- what is built ---------------------------------------------------------------------------

lib_layers := $(wildcard $(addprefix lib/,$(shell awk '/^[a-z]/ { print $$1 }' lib/LAYERS)))
lib_skip := lib/fix/fix_lanes.c lib/generate/link_lanes.c lib/flow/flow_lanes.c lib/dirac/dirac_lanes.c $(if $(mpi_why),lib/comm/comm_mpi.c,lib/comm/nompi.c) \
  $(if $(cuda_why),,lib/grid/nocuda.c lib/fix/fix_nocuda.c lib/generate/generate_nocuda.c lib/flow/flow_nocuda.c lib/fourier/laplace_nocuda.c lib/ghost/ghost_nocuda.c lib/dirac/dirac_nocuda.c lib/stream/packer_nocuda.c lib/ghost/newton_nocuda.c) $(if $(cufft_why),,lib/fourier/fourier_nocuda.c) $(if $(fftw_why),lib/fourier/laplace.c lib/gluon/propagator.c,lib/fourier/laplace_nofftw.c) $(if $(has_fftwf),lib/fourier/laplace_single_nofftw.c,lib/fourier/laplace_single.c)
lib_src := $(sort $(filter-out $(lib_skip),$(wildcard $(addsuffix /*.c,$(lib_layers)))))
lib_obj := $(lib_src:%.c=$(B)/%.o) $(lane_obj) $(link_obj) $(flow_obj) $(dirac_obj) $(cuda_obj)
liblat := $(B)/liblat.a

mains := $(sort $(filter-out $(if $(fftw_why),tools/measure/lat-gluon.c tools/measure/lat-ghost.c),$(wildcard tools/*/lat-*.c)))
tools := $(patsubst %.c,$(BIN)/%,$(notdir $(mains)))
checks := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/check/*.c)))
benches := $(patsubst %.c,$(B)/%,$(sort $(filter-out $(if $(cuda_why),bench/bench_gpu.c bench/bench_dirac_gpu.c bench/bench_dirac_mpi.c bench/bench_solve_gpu.c),$(wildcard bench/*.c))))

.PHONY: all benches
all: $(tools) $(B)/said
	@:$(if $(filter 1,$(SAN) $(COV) $(QUICK)),,$(remember))

# (Not by make -n.)
remember = $(if $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),,$(call keep,build/switches,$(foreach v,$(given),$(call switch,$(v)))))

# A line that sets a variable, also CC, which make has a default of; as long as nobody sets it otherwise.
define switch
ifneq ($$(filter undefined default,$$(origin $(1))),)
$(1) = $(subst $(hash),\$(hash),$(value $(1)))
endif

endef

# What is built, and why: before the first file is compiled, and again whenever it changes.
$(B)/plan: $(B)/flags $(B)/found Makefile
	@mkdir -p $(@D)
	@$(say) 'with %s\n' '$(CC)'
	@$(say) '  CPU     vector lanes: %s; threads: %s; SU(2) to SU(%s)\n' '$(lanes)' '$(if $(has_openmp),OpenMP,none (no OpenMP found))' '$(CPU_GROUPS)'
	@$(say) '  CUDA    %s\n' '$(if $(cuda_why),no GPU code ($(cuda_why)),$(nvcc)$(comma) for $(gpu_kinds) ($(gpu_reason)); SU(2) to SU($(GPU_GROUPS)))'
	@$(say) '  stream  %s\n' '$(if $(has_deflate),libdeflate,zlib$(comma) $(if $(filter 0,$(DEFLATE)),DEFLATE=0,half as fast: libdeflate.h and libdeflate not found))'
	@$(say) '  FFTW    %s\n' '$(if $(fftw_why),no$(comma) hence no lat-gluon and lat-ghost: $(fftw_why),for lat-gluon and lat-ghost$(if $(has_fftwf),$(comma) in single for lat-orelax --finish newton)$(if $(cufft_why),,$(comma) and cuFFT))'
	@$(say) '  HDF5    %s\n' '$(if $(hdf5_why),no: $(hdf5_why),$(hdf5_name)$(comma) opened for propagators of QDP++)'
	@$(say) '  MPI     %s\n' '$(if $(mpi_why),no: $(mpi_why),$(mpicc))'
	@touch $@

# Say once what was built, and again whenever it changes.
$(B)/said: $(tools) Makefile
	@$(say) 'built %s in %s/\n' '$(notdir $(tools))' '$(BIN)' | fold -s -w 100
	@touch $@

# A line a file; make -s is silent.
say = $(if $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),:,printf)
line = @$(say) '  %-5s %s\n' '$(1)' '$(2)'

no_compiler = $(if $(machine),,$(error $(CC) not found: run setup/deps build, or name another compiler with CC=))

$(B)/%.o: %.c $(B)/flags Makefile | $(B)/plan
	$(no_compiler)
	$(call line,CC,$<)
	@mkdir -p $(@D)
	$(at)$(CC) $(cppflags) $(CPPFLAGS) $(cflags) $(san) $(openmp) $(CFLAGS) -MMD -MP -c -o $@ $<

define lane_cc
	$(no_compiler)
	$(call line,CC,$<: $(firstword $(lane_words))$(comma) SU($(lane_n))$(if $(filter all,$(lane_words)),$(comma) all rows))
	@mkdir -p $(@D)
	$(at)$(CC) $(cppflags) $(CPPFLAGS) $(cflags) $(if $(lane_ours),$(san)) $(openmp) $(call optimise,$(1),$(if $(lane_ours),$(SAN))) $(lane_flags) $(CFLAGS) -MMD -MP -c -o $@ $<
endef

$(lane_obj): %.o: lib/fix/fix_lanes.c $(P)/flags Makefile | $(B)/plan
	$(call lane_cc,-O2 -funroll-loops)

# Small groups gain by -O3, SU(2) half as much again, SU(3) a seventh.
$(link_obj): %.o: lib/generate/link_lanes.c $(P)/flags Makefile | $(B)/plan
	$(call lane_cc,$(if $(filter 2 3 4,$(lane_n)),-O3,-O2 -funroll-loops))

$(flow_obj): %.o: lib/flow/flow_lanes.c $(P)/flags Makefile | $(B)/plan
	$(call lane_cc,$(if $(filter 2 3 4,$(lane_n)),-O3,-O2 -funroll-loops))

$(dirac_obj): %.o: lib/dirac/dirac_lanes.c $(P)/flags Makefile | $(B)/plan
	$(call lane_cc,-O3)

$(B)/lib/base/build.o: cflags += -DLAT_BUILD='"$(notdir $(CC)), $(if $(has_openmp),OpenMP,no OpenMP)$(if $(filter 1,$(SAN)), sanitizers)"' \
  -DLAT_NO_CUDA='"$(cuda_why)"' -DLAT_NO_CUFFT='"$(cufft_why)"' -DLAT_NO_HDF5='"$(hdf5_why)"' -DLAT_NO_MPI='"$(mpi_why)"'

$(B)/lib/stream/deflate.o: cflags += $(if $(has_deflate),-DLAT_LIBDEFLATE)

hdf5_obj := $(addprefix $(B)/lib/formats/,fmt_prop_hdf5.o hdf5_library.o)
$(hdf5_obj) $(B)/lib/base/build.o: cflags += $(if $(hdf5_why),,-DLAT_HDF5='"$(hdf5_name)"')
$(hdf5_obj): cflags += $(if $(hdf5_why),,$(hdf5_cflags))

$(B)/lib/base/build.o $(B)/lib/stream/deflate.o $(B)/lib/comm/comm_mpi.o $(hdf5_obj): $(B)/found

# Products of small matrices, several sites in a vector: unrolled, they stay in registers.
$(B)/lib/measure/measure_plaquette.o $(B)/lib/quark/contract_baryons.o $(B)/lib/quark/gauss.o $(B)/lib/quark/plain.o $(B)/lib/dirac/host_lanes.o $(B)/lib/stream/stream_blocks.o $(B)/lib/stream/stream_reduced.o $(B)/lib/lattice/reals.o $(B)/lib/lattice/rotate.o $(B)/lib/ghost/kernels.o $(B)/lib/ghost/single.o $(B)/lib/ghost/newton_site.o $(B)/lib/ghost/plain.o: cflags += $(optimise_more)
# Links, columns of ghosts, and residuals are the same bits whatever vectors they were in.
$(B)/lib/lattice/rotate.o $(B)/lib/ghost/kernels.o $(B)/lib/quark/plain.o $(B)/lib/dirac/temporal.o: cflags += -ffp-contract=off
build/cuda/lib/dirac/plain_gpu.o build/cuda/lib/dirac/temporal_gpu.o: cuda_flags += -fmad=false

# The tables of N, and the devices that stand on them.
cpu_tables := $(addprefix $(B)/lib/,fix/fix_lanes_table.o fix/fix_cpu.o generate/link_lanes_table.o generate/generate_cpu.o flow/flow_lanes_table.o flow/flow_cpu.o)
$(call keep,$(B)/groups,CPU_GROUPS=$(CPU_GROUPS))
$(cpu_tables): $(B)/groups
$(cpu_tables): cflags += -DLAT_CPU_GROUPS=$(CPU_GROUPS)

define gpu_cc
	$(call line,NVCC,$<$(if $(filter %_kernels.cu,$<),: SU($(word 1,$(subst _, ,$*)))$(comma) $(if $(filter 4,$(word 2,$(subst _, ,$*))),single,double)$(if $(filter %_all,$*),$(comma) all rows)))
	@mkdir -p $(@D)
	$(at)$(NVCC) $(cuda_flags) $(1) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
endef
# N_SIZE[_all]
gpu_kernel = $(if $(filter 2_% 3_%,$*),$(gpu_code_few),$(gpu_code_many)) -DLAT_N=$(word 1,$(subst _, ,$*)) -DLAT_SIZE=$(word 2,$(subst _, ,$*)) $(if $(filter %_all,$*),-DLAT_LINK_ROWS=$(word 1,$(subst _, ,$*)) -DLAT_ALL_ROWS)

build/cuda/lib/fix/kernels_%.o: lib/fix/fix_kernels.cu build/cuda/flags | $(B)/plan
	$(call gpu_cc,$(gpu_kernel))

build/cuda/lib/generate/kernels_%.o: lib/generate/generate_kernels.cu build/cuda/flags | $(B)/plan
	$(call gpu_cc,$(gpu_kernel))

build/cuda/lib/flow/kernels_%.o: lib/flow/flow_kernels.cu build/cuda/flags | $(B)/plan
	$(call gpu_cc,$(gpu_kernel))

$(gpu_host:%.cu=build/cuda/%.o): build/cuda/%.o: %.cu build/cuda/flags | $(B)/plan
	$(call gpu_cc,$(gpu_code_few))

gpu_tables := build/cuda/lib/fix/fix_gpu.o build/cuda/lib/generate/generate_gpu.o build/cuda/lib/flow/flow_gpu.o
$(gpu_tables): build/cuda/groups
$(gpu_tables): cuda_flags += -DLAT_GPU_GROUPS=$(GPU_GROUPS)

# Made anew from what is there now: nothing stays of a file that was removed.
$(liblat): $(lib_obj) $(B)/found $(lib_layers)
	$(at)rm -f $@ && $(AR) rcs $@ $(lib_obj)

$(B)/lib/comm/comm_mpi.o: cflags += $(patsubst -I%,-isystem %,$(filter -I% -D% -pthread,$(mpi_words)))

# Each tool is the one main of its name.
$(foreach m,$(mains),$(eval $(BIN)/$(basename $(notdir $(m))): $(B)/$(m:.c=.o)))
# cuFFT is looked for when it is asked for: lat-gluon starts without it.
$(BIN)/lat-gluon: tool_libs := -lfftw3 $(if $(cufft_why),,-Wl$(comma)-rpath$(comma)$(cuda_home)/lib64)
$(tools): $(liblat)
	$(call line,LINK,$@)
	@mkdir -p $(@D)
	$(at)$(CC) $(ldflags) $(LDFLAGS) -o $@ $(filter %.o,$^) $(liblat) $(tool_libs) $(ldlibs)

benches: $(benches)
$(checks) $(benches): $(B)/%: $(B)/%.o $(liblat)
	$(at)$(CC) $(ldflags) $(LDFLAGS) -o $@ $< $(liblat) $(ldlibs)

include tests/fuzz/fuzz.mk tests/faults/faults.mk

-include $(shell find $(sort $(B) $(P)) build/cuda -name '*.d' 2>/dev/null)

# ---- jobs ------------------------------------------------------------------------------------

# The set-up comes first and may bring the compiler that this file looks for: hence make again.
DEPS ?= yes
.PHONY: deps quickstart where check check-now check-mpi check-gpu check-gpu-code check-gpu-san check-long lint format bench bench-convert bench-stream bench-heatbath bench-dirac bench-flow bench-ghost bench-overlap bench-solve bench-gpu bench-dirac-gpu bench-march-gpu bench-dirac-mpi bench-mpi accuracy sweeps coverage man install uninstall dist distcheck clean
deps:
	$(if $(filter yes,$(DEPS)),@setup/deps test)

CONFIG ?=
# With CUDA=1 for the GPU that is here, or for any by PTX.
quick_arch = $(if $(filter 1,$(CUDA)),$(if $(GPU_ARCH),,GPU_ARCH='$(or $(filter $(gpu_known),$(gpu_found)),any)'))
quickstart:
	$(if $(filter yes,$(DEPS)),@setup/deps build)
	@$(MAKE) --no-print-directory all QUICK=1 $(quick_arch)
	@$(remember)LAT_BIN="$$PWD/$(BIN)" pipelines/quickstart.sh $(if $(CONFIG),'$(subst ','\'',$(CONFIG))')

check: deps
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory check-now

# LAT_TESTS="cli stream" for a few of the files.
check-now: $(tools) $(checks) $(check_fuzz) $(check_faults)
	@$(if $(filter 1,$(SAN)),LAT_LANES=$(san_lane) )tests/run $(BIN) $(checks) $(check_fuzz) $(check_faults)

check-long: deps
	@$(MAKE) --no-print-directory all $(benches) $(check_faults) $(B)/tests/check/check_dirac $(B)/tests/check/check_wilson
	@LAT_SUITE=long LAT_BENCH="$$PWD/$(B)/bench" LAT_FAULTS="$$PWD/$(check_faults)" LAT_CHECKS="$$PWD/$(B)/tests/check" tests/run $(BIN)

# make -s where NAME=accuracy: builds a program of bench/ and says where it is, for pipelines/paper.
where: $(if $(NAME),$(B)/bench/$(NAME))
	@echo '$<'

# The tests of several ranks alone, on the CPU.
check-mpi: $(tools) $(B)/tests/check/check_slab
	@LAT_TESTS='ranks check_slab' tests/run $(BIN) $(B)/tests/check/check_slab

gpu_check_names := check_codec check_grid check_fix_devices check_generate_devices check_flow check_ghost check_newton check_dirac check_overlap
gpu_checks := $(addprefix $(B)/tests/check/,$(gpu_check_names))
# The tests of the GPU backend alone. `make check` runs them too, and skips them where there is no GPU.
check-gpu: $(tools) $(gpu_checks)
	@LAT_JOBS=1 LAT_TESTS='gpu $(gpu_check_names)' tests/run $(BIN) $(gpu_checks)

# Memory, races in shared memory, reading what was never written: short runs of the same tests.
check-gpu-san: $(B)/tests/check/check_fix_devices
	@for tool in memcheck racecheck initcheck; do \
	    compute-sanitizer --tool $$tool --error-exitcode 9 --quiet $< short || { echo "$$tool: failed"; exit 1; }; \
	done

# Loads that the compiler has moved above the wait of a programmatic launch, in all GPU objects. cuobjdump comes with the CUDA
# Toolkit (for itself: pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm).
check-gpu-code: $(cuda_obj)
	@PATH="$(cuda_home)/bin:$$PATH" python3 tests/early_loads.py $^

# The layout of .clang-format (Debian 12's clang-format 14; later ones differ in a few places).
format:
	@clang-format -i $$(git ls-files '*.c' '*.h' '*.cu' '*.cuh')

lint:
	shellcheck -x setup/deps setup/install docs/man/make-pages packaging/*.bash tests/run tests/fuzz/run .ci/run pipelines/*.sh pipelines/gpuslot pipelines/slurm/*.sh pipelines/paper/*.sh bench/*.sh tests/*.bats tests/long/*.bats tests/long/slurm-up tests/*.bash

bench: $(B)/bench/bench_sweep
	@$<

bench-stream: $(B)/bench/bench_stream
	@$<

# DIMS=64,64,64,128 takes 100 GB of FOLDER.
DIMS ?= 32,32,32,32
FOLDER ?= build
bench-convert: all
	@bench/convert.py $(BIN) '$(FOLDER)' $(DIMS)

bench-heatbath: $(B)/bench/bench_heatbath
	@$<

bench-dirac: $(B)/bench/bench_dirac
	@$<

bench-flow: $(B)/bench/bench_flow
	@$<

bench-ghost: $(B)/bench/bench_ghost
	@$<

bench-overlap: $(B)/bench/bench_overlap
	@$<
	$(if $(gpu_found),@$< 0)

# In memory, as the disk is not what is measured.
bench-solve: $(tools)
	@LAT_BIN="$$PWD/$(BIN)" bench/solve.sh /dev/shm

# Pictures need gnuplot; where it is not to be had there are the tables.
plot_deps = $(if $(filter yes,$(DEPS)),@setup/deps plot || true)

EXTENT ?= 8
accuracy:
	$(plot_deps)
	@$(MAKE) --no-print-directory all $(B)/bench/accuracy
	@LAT_BIN="$$PWD/$(BIN)" bench/accuracy.sh $(B)/bench/accuracy build/accuracy $(EXTENT)

EXTENTS ?= 8 16
sweeps:
	$(plot_deps)
	@$(MAKE) --no-print-directory all
	@LAT_BIN="$$PWD/$(BIN)" bench/sweeps.sh build/sweeps $(EXTENTS)

bench-gpu: $(tools) $(if $(cuda_why),,$(B)/bench/bench_gpu)
	$(if $(cuda_why),@echo 'no GPU: $(cuda_why)'; false,@$(B)/bench/bench_gpu)
	@LAT_BIN="$$PWD/$(BIN)" bench/gpu.sh build/bench-gpu

# Operators, then whole solves on thermal links, which are made once.
bench_links := build/bench-dirac-gpu/b6.0_16x16.lat
$(bench_links): | $(tools)
	@mkdir -p $(dir $@)
	@$(BIN)/lat-heatbath -q -d 16,16,16,16 -b 6 --thermalise 100 --overrelax 4 --seed 2026 -p double -o $@
bench-dirac-gpu: $(tools) $(if $(cuda_why),,$(B)/bench/bench_dirac_gpu $(B)/bench/bench_solve_gpu $(bench_links))
	$(if $(cuda_why),@echo 'no GPU: $(cuda_why)'; false,@$(B)/bench/bench_dirac_gpu)
	@$(B)/bench/bench_solve_gpu $(bench_links)

# A prototype for Hopper, which no tool uses.
bench-march-gpu:
	$(if $(cuda_why),@echo 'no GPU: $(cuda_why)'; false,@mkdir -p $(B)/bench)
	@$(NVCC) -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -o $(B)/bench/march_hop bench/march_hop.cu
	@$(B)/bench/march_hop

bench-dirac-mpi: $(tools) $(if $(cuda_why),,$(B)/bench/bench_dirac_mpi $(B)/bench/bench_solve_gpu $(bench_links))
	$(if $(cuda_why),@echo 'no GPU: $(cuda_why)'; false,@bench/dirac_mpi.sh $(B)/bench/bench_dirac_mpi $(B)/bench/bench_solve_gpu $(bench_links))

# On GPUs (MPI_DEVICE=cpu: small, on the CPU). In memory: the stream is not to wait for a disk.
MPI_DEVICE ?= gpu
MPI_FOLDER ?= /dev/shm/lat-bench
bench-mpi: $(tools) $(B)/bench/bench_mpi
	@LAT_BIN="$$PWD/$(BIN)" bench/mpi.sh $(B)/bench/bench_mpi $(MPI_FOLDER) $(MPI_DEVICE)

$(benches:=.o): cflags += -O3 $(if $(filter x86_64%,$(machine)),-march=native)

# The tests once more with counters in the code. What never ran, and why, is in docs/coverage.md.
coverage:
	$(if $(filter yes,$(DEPS)),@setup/deps coverage)
ifneq ($(COV),1)
	@$(MAKE) --no-print-directory COV=1 CUDA=0 coverage DEPS=no
else
	@find $(B) -name '*.gcda' -delete; mkdir -p build/coverage
	@$(MAKE) --no-print-directory check-now | tail -n 1 || true
	@gcovr -j 2 -r . --object-directory $(B) -f lib/ -f tools/ --exclude-unreachable-branches \
	  --html-details build/coverage/index.html --txt build/coverage/lines.txt
	@tail -n 3 build/coverage/lines.txt
endif

# ---- manual pages, installation, the tarball ---------------------------------------------------

version := $(shell sed -n 's/.*LAT_VERSION "\(.*\)"/\1/p' lib/common/options.h)

# Kept in git, so that nobody but who changes an option or a page needs scdoc.
man: $(tools)
	@docs/man/make-pages $(BIN) docs/man/pages

PREFIX ?= /usr/local
install: all
	$(if $(strip $(given)),@echo 'installing what was built with $(foreach v,$(given),$(v)=$($(v)))')
	@DESTDIR='$(DESTDIR)' setup/install '$(PREFIX)' $(version) $(BIN) $(notdir $(tools))

uninstall:
	@DESTDIR='$(DESTDIR)' setup/install '$(PREFIX)'

# What git has, as of its last commit.
dist_name := lat-$(version)
dist:
	@git -c tar.umask=0022 archive --prefix=$(dist_name)/ -o $(dist_name).tar.gz HEAD
	@echo $(dist_name).tar.gz

distcheck: dist
	@rm -rf build/distcheck && mkdir -p build/distcheck && tar -xzf $(dist_name).tar.gz -C build/distcheck
	@$(MAKE) -C build/distcheck/$(dist_name) --no-print-directory CUDA=$(CUDA) check-now
	@$(MAKE) -C build/distcheck/$(dist_name) --no-print-directory CUDA=$(CUDA) install PREFIX='$(CURDIR)/build/distcheck/installed'
	@build/distcheck/installed/bin/lat-info --version && rm -rf build/distcheck

clean:
	rm -rf build bin
