# GPU code, compiled by nvcc once for all variants, into build/cuda; kernels of the sweeps for each N and precision by
# themselves.

# Stack coloring of nvcc 12.4 and 13.0 gives matrices that are still needed the same local memory as others: wrong links
# of SU(5).
cuda_flags := -std=c++17 -O3 -Ilib -ftz=true -prec-div=false -prec-sqrt=false -Xcicc --Xllc=--no-stack-coloring \
  -Xcompiler -Wall$(comma)-Wextra$(comma)-fno-exceptions$(comma)-fno-rtti$(comma)-fno-threadsafe-statics \
  -diag-suppress 550 \
  -DLAT_CUDA_ARCH='"$(gpu_arch)$(if $(gpu_ptx), and by PTX $(firstword $(gpu_ptx)) and later)"'

# lib/FOLDER/*_kernels.cu makes lib/FOLDER/kernels_N_SIZE.o: of N, and of reals of SIZE bytes.
C := build/cuda
gpu_fix_obj := $(foreach s,4 8,$(gpu_fix:%=$(C)/lib/fix/kernels_%_$(s).o))
gpu_link_obj := $(foreach s,4 8,$(gpu_links:%=$(C)/lib/generate/kernels_%_$(s).o))
gpu_flow_obj := $(gpu_flow:%=$(C)/lib/flow/kernels_%_8.o)
gpu_loops_obj := $(gpu_links:%=$(C)/lib/loops/kernels_%_8.o)
gpu_kernel_obj := $(gpu_fix_obj) $(gpu_link_obj) $(gpu_flow_obj) $(gpu_loops_obj)
$(gpu_fix_obj): lib/fix/fix_kernels.cu
$(gpu_link_obj): lib/generate/generate_kernels.cu
$(gpu_flow_obj): lib/flow/flow_kernels.cu
$(gpu_loops_obj): lib/loops/loops_kernels.cu
# The rest, one object each.
gpu_src := $(filter-out $(if $(no_cufft),lib/fourier/fourier.cu) %_kernels.cu,$(wildcard lib/*/*.cu lib/*/*/*.cu))
gpu_obj := $(gpu_src:%.cu=$(C)/%.o)
cuda_obj := $(if $(no_cuda),,$(gpu_obj) $(gpu_kernel_obj))

ifeq ($(no_cuda),)
$(call keep,$(C)/flags,$(cuda_flags) $(gpu_code_few) $(gpu_code_many))
$(call keep,$(C)/groups,GPU_GROUPS=$(gpu_groups))
endif

nvcc_compile = $(at)$(NVCC) $(cuda_flags) $(1) -MMD -MP -MF $(@:.o=.d) -c -o $@
$(gpu_obj): $(C)/%.o: %.cu $(C)/flags | $(B)/plan
	$(call line,NVCC,$<)
	@mkdir -p $(@D)
	$(call nvcc_compile,$(gpu_code_few)) $<

# Of such an object: kernels N SIZE.
gpu_words = $(subst _, ,$(basename $(notdir $@)))
gpu_n = $(word 2,$(gpu_words))
gpu_size = $(word 3,$(gpu_words))
gpu_source = $(filter %_kernels.cu,$^)
gpu_flags = $(if $(filter 2 3,$(gpu_n)),$(gpu_code_few),$(gpu_code_many)) -DLAT_N=$(gpu_n) -DLAT_SIZE=$(gpu_size)
gpu_what = SU($(gpu_n))$(comma) $(if $(filter 4,$(gpu_size)),single,double)
$(gpu_kernel_obj): $(C)/flags | $(B)/plan
	$(call line,NVCC,$(gpu_source): $(gpu_what))
	@mkdir -p $(@D)
	$(call nvcc_compile,$(gpu_flags)) $(gpu_source)

# Residuals and links in the temporal gauge: the bits of the CPU.
$(addprefix $(C)/lib/,certify/plain_gpu.o vector/cuda/temporal_gpu.o): cuda_flags += -fmad=false

gpu_tables := $(addprefix $(C)/lib/,fix/fix_gpu.o generate/generate_gpu.o flow/flow_gpu.o loops/loops_gpu.o)
$(gpu_tables): $(C)/groups
$(gpu_tables): cuda_flags += -DLAT_GPU_GROUPS=$(gpu_groups)
