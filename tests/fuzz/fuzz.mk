# Fuzzing (tests/fuzz/README.md): samples of the corpus by any compiler, for `make check`; libFuzzer by clang.

fuzz_src := $(filter-out tests/fuzz/fuzz.c $(wildcard tests/fuzz/check_*.c),$(sort $(wildcard tests/fuzz/*.c)))
wraps := open malloc calloc realloc posix_memalign free exit lat_warn
fuzz_ldflags := $(wraps:%=-Wl,--wrap=%)

check_fuzz := $(B)/tests/fuzz/check_fuzz $(B)/tests/fuzz/check_absurd $(B)/tests/fuzz/check_hdf5
$(check_fuzz): $(B)/tests/fuzz/%: $(B)/tests/fuzz/%.o $(fuzz_src:%.c=$(B)/%.o) $(liblat)
	$(at)$(CC) $(ldflags) $(LDFLAGS) $(fuzz_ldflags) -o $@ $(filter %.o,$^) $(liblat) $(ldlibs)

# The library once more, for libFuzzer: one thread, all sanitizers, no sweeps.
FUZZ_CC ?= clang
SECONDS ?= 60
F := build/fuzz
fuzz_folders := base comm common lattice measure smear quark stream formats
fuzz_lib := lib/not_built.c $(addprefix lib/run/common/,tool.c sections.c resume.c) $(wildcard $(fuzz_folders:%=lib/%/*.c))
fuzz_obj := $(patsubst %.c,$(F)/%.o,$(fuzz_src) tests/fuzz/fuzz.c $(filter-out lib/comm/comm_mpi.c,$(fuzz_lib)))
fuzz_flags := -std=gnu11 -g -O1 -fno-omit-frame-pointer -Wall -Wextra -Wno-unknown-pragmas -Wno-psabi \
  -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

$(F)/%.o: %.c tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(at)$(FUZZ_CC) $(cppflags) $(fuzz_flags) -MMD -MP -c -o $@ $<

$(F)/fuzz: $(fuzz_obj)
	$(at)$(FUZZ_CC) $(fuzz_flags) -fsanitize=fuzzer $(fuzz_ldflags) -o $@ \
	  $(filter-out $(F)/lib/common/options.o $(F)/lib/formats/hdf5_sum.o,$^) $(ldlibs)

-include $(shell find $(F) -name '*.d' 2>/dev/null)

.PHONY: fuzz
fuzz: $(F)/fuzz
	@tests/fuzz/run $< $(SECONDS) $(FUZZ)
