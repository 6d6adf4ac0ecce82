# The GPU code of quarks, compiled for the CPU (tests/emulator/README.md), for `make check`.

E := $(B)/tests/emulator
check_emulated := $(E)/check_emulated_dirac
emulated_src := $(wildcard lib/grid/*.cu lib/vector/cuda/*.cu lib/dirac/cuda/*.cu) lib/certify/plain_gpu.cu
emulated_obj := $(emulated_src:%.cu=$(E)/%.o) $(addprefix $(E)/,threads.o device.o not_built.o)

# (-ftls-model: without it gcc 12 reads addresses of shared memory in a way that the linker refuses.)
emulator_flags := -std=gnu++17 -g1 -Itests/emulator -Ilib -D_GNU_SOURCE -ffp-contract=off -fno-strict-aliasing \
  -ftls-model=local-exec -DLAT_CUDA_ARCH='"emulator"' -DLAT_CUDA_TILED_SITES=256 \
  -Wall -Wextra -Wno-unknown-pragmas -Wno-unneeded-internal-declaration $(if $(filter 1,$(WERROR)),-Werror)
$(call keep,$(E)/flags,$(cxx) $(emulator_flags) $(CPPFLAGS) $(san))
emulator_compile = $(at)$(cxx) $(emulator_flags) $(CPPFLAGS) $(call optimise,$(1)) $(san) -MMD -MP -c -o $@

ifeq ($(no_emulator),)
$(emulated_src:%.cu=$(E)/%.o): $(E)/%.o: %.cu $(E)/flags | $(B)/plan
	$(call line,C++,$<)
	@mkdir -p $(@D)
	$(call emulator_compile,-O1) -include cuda_runtime.h -x c++ $<

$(E)/threads.o $(E)/device.o: $(E)/%.o: tests/emulator/%.cpp $(E)/flags | $(B)/plan
	$(call line,C++,$<)
	@mkdir -p $(@D)
	$(call emulator_compile,-O2) -include cuda_runtime.h $<

# GPU code that is not emulated cannot be had; what is emulated comes before that. (Sanitizers refuse two of a name.)
$(E)/not_built.o: lib/not_built.c $(B)/flags $(B)/found | $(B)/plan
	$(call line,CC,$<)
	@mkdir -p $(@D)
	$(at)$(compile) $(CFLAGS) $(has) -MMD -MP -c -o $@ $< && objcopy --weaken $@

$(check_emulated): $(E)/check_emulated_%: $(B)/tests/check/check_%.o $(emulated_obj) $(liblat) | $(fake_nccl)
	$(at)$(cxx) $(ldflags) $(LDFLAGS) -Wl,--wrap=dlopen -o $@ $(filter %.o,$^) $(liblat) $(ldlibs) -ldl
else
$(check_emulated): $(B)/found
	@mkdir -p $(@D)
	@printf '#!/bin/sh\necho "ok 1 - GPU code on the CPU # skip $(no_emulator)"\necho 1..1\n' >$@ && chmod 755 $@
endif
