# The library: sources of the folders that lib/LAYERS names, and of their subfolders.

include lib/lanes.mk lib/cuda.mk

layers := $(patsubst %,lib/%,$(shell awk '/^[a-z]/ { print $$1 }' lib/LAYERS))
lib_folders := $(layers) $(patsubst %/,%,$(wildcard $(addsuffix /*/,$(layers))))
# Where something is missing, lib/not_built.c stands in.
lib_skip := $(lane_sources) $(if $(no_mpi),lib/comm/comm_mpi.c) $(if $(no_fftwf),lib/fourier/laplace_single.c) \
  $(if $(no_fftw),lib/fourier/laplace.c lib/gluon/propagator.c)
lib_src := lib/not_built.c $(sort $(filter-out $(lib_skip),$(wildcard $(addsuffix /*.c,$(lib_folders)))))
# (What takes the compiler longest comes first, as in lib/lanes.mk.)
lib_obj := $(cuda_obj) $(lane_obj) $(lib_src:%.c=$(B)/%.o)
liblat := $(B)/liblat.a

# Made anew from what is there now: nothing stays of a file that was removed.
$(liblat): $(lib_obj) $(B)/found $(lib_folders)
	$(at)rm -f $@ && $(AR) rcs $@ $(lib_obj)

# ---- files with flags of their own -----------------------------------------------------------

lib_objects = $(1:%=$(B)/lib/%.o)

# Products of small matrices, several sites in a vector: unrolled, they stay in registers.
unrolled := measure/measure_plaquette loops/loops_lanes quark/contract_baryons quark/gauss certify/plain \
  vector/cpu/host_lanes dirac/cpu/host_links stream/stream_blocks stream/stream_reduced lattice/reals lattice/rotate ghost/kernels \
  ghost/single
$(call lib_objects,$(unrolled)): cflags += $(call optimise,-O3,$(SAN))
# Links, columns of ghosts, and residuals are the same bits whatever vectors they were in.
same_bits := lattice/rotate ghost/kernels certify/plain vector/temporal
$(call lib_objects,$(same_bits)): cflags += -ffp-contract=off

# How this was built, and with which libraries.
of_build := not_built base/build stream/deflate comm/comm_mpi
$(call lib_objects,$(of_build)): $(B)/found
$(call lib_objects,base/build): cflags += \
  -DLAT_BUILD='"$(notdir $(CC)), $(if $(openmp),OpenMP,no OpenMP)$(if $(filter 1,$(SAN)), sanitizers)"' \
  -DLAT_NO_CUDA='"$(no_cuda)"' -DLAT_NO_CUFFT='"$(no_cufft)"' -DLAT_NO_MPI='"$(no_mpi)"'
has := $(if $(no_fftw),,-DLAT_HAS_FFTW) $(if $(no_fftwf),,-DLAT_HAS_FFTWF) $(if $(no_mpi),,-DLAT_HAS_MPI)
$(call lib_objects,not_built): cflags += $(if $(no_cuda),,-DLAT_HAS_CUDA) $(if $(no_cufft),,-DLAT_HAS_CUFFT) $(has)
$(call lib_objects,stream/deflate): cflags += $(if $(no_deflate),,-DLAT_LIBDEFLATE)
$(call lib_objects,comm/comm_mpi): cflags += $(mpi_cflags)
