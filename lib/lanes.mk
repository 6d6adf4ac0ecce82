# Kernels of the CPU: one text, compiled for each vector length and each N of SU(N); the program chooses when it runs.
# lib/FOLDER/NAME_lanes.c makes objects lib/FOLDER/NAME_lanes_LENGTH_N.o; lib/grid/lanes.h makes tables of them.

# What takes the compiler longest comes first, so that no core is idle at the end.
lane_sources := $(addprefix lib/,dirac/cpu/dirac_lanes.c fix/fix_lanes.c generate/link_lanes.c flow/flow_lanes.c \
  vector/cpu/vector_lanes.c)
# The N of each.
n_of_fix := $(cpu_fix)
n_of_link := $(cpu_links)
n_of_flow := $(cpu_flow)
n_of_vector := 2 3
n_of_dirac := 2 3
# Small groups gain by -O3, SU(2) half as much again, SU(3) a seventh; not these.
not_o3 := fix

lane_flags_base :=
lane_flags_avx2 := -mtune=haswell -mavx2 -mfma
lane_flags_avx512 := -mtune=icelake-server -mavx512f -mavx512dq -mavx512vl -mavx2 -mfma -mprefer-vector-width=512

# Under the sanitizers, which take ten times as long to compile them, kernels are one text that is checked for SU(2) and
# SU(3) and one vector length, with which the tests run; others are those of the build without sanitizers.
san_lane := $(or $(filter avx2,$(lanes)),base)
lane_folder = $(if $(filter $(san_lane)_2 $(san_lane)_3,$(l)_$(n)),$(B),$(P))
n_of = $(n_of_$(patsubst %_lanes.c,%,$(notdir $(1))))
lanes_of = $(foreach l,$(lanes),$(foreach n,$(n_of),$(lane_folder)/$(1:%.c=%)_$(l)_$(n).o))
lane_obj := $(foreach s,$(lane_sources),$(call lanes_of,$(s)))
$(foreach s,$(lane_sources),$(eval $(call lanes_of,$(s)): $(s)))

# Of such an object: NAME lanes LENGTH N; its source; whether it is of this build.
lane_words = $(subst _, ,$(basename $(notdir $@)))
lane_name = $(firstword $(lane_words))
lane_length = $(word 3,$(lane_words))
lane_n = $(word 4,$(lane_words))
lane_source = $(filter %_lanes.c,$^)
lane_ours = $(filter $(B)/%,$@)
lane_o3 = $(if $(filter $(lane_name),$(not_o3)),,$(filter 2 3 4,$(lane_n)))
# (-g1: to follow variables through it takes a third of the compiler's time. Functions begin at multiples of 32 bytes:
# otherwise the same machine code is up to a tenth slower or faster by where it happens to lie, bench/history.)
lane_flags = $(call optimise,$(if $(lane_o3),-O3,-O2 -funroll-loops),$(if $(lane_ours),$(SAN))) \
  -g1 -falign-functions=32 $(lane_flags_$(lane_length)) -DLAT_LANES=$(lane_length) -DLAT_N=$(lane_n)

$(lane_obj): $(P)/flags lib/lanes.mk | $(B)/plan
	$(no_compiler)
	$(call line,CC,$(lane_source): $(lane_length)$(comma) SU($(lane_n)))
	@mkdir -p $(@D)
	$(at)$(compile) $(if $(lane_ours),$(san)) $(openmp) $(lane_flags) $(CFLAGS) -MMD -MP -c -o $@ $(lane_source)

# What chooses among them, of as many N as were built (lib/grid/lanes.h).
lane_tables := $(addprefix $(B)/lib/,fix/fix_cpu.o generate/generate_cpu.o flow/flow_cpu.o)
$(call keep,$(B)/groups,CPU_GROUPS=$(cpu_groups))
$(lane_tables): $(B)/groups
$(lane_tables): cflags += -DLAT_CPU_GROUPS=$(cpu_groups)
