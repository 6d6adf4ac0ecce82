# Tests and checks of the text.

checks := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/check/*.c)))
$(checks) $(benches): $(B)/%: $(B)/%.o $(liblat)
	$(at)$(CC) $(ldflags) $(LDFLAGS) -o $@ $< $(liblat) $(ldlibs)

include tests/fuzz/fuzz.mk tests/faults/faults.mk tests/emulator/emulator.mk

# The set-up comes first and may bring the compiler that make looks for: hence make again.
DEPS ?= yes
.PHONY: deps check check-now check-long check-mpi check-gpu check-gpu-san check-gpu-code format lint
deps:
	$(if $(filter yes,$(DEPS)),@setup/deps test)

check: deps
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory check-now

# LAT_TESTS="cli stream check_io_*" for a few of the files: other check programs are not built.
# (The emulated GPU takes longest: first, so that no core is idle at the end.)
programs := $(check_emulated) $(checks) $(check_fuzz) $(check_faults)
named = $(shell set -f; for p in $(programs); do n=$$(basename $$p); for t in $(LAT_TESTS); do \
  case $$n in ($$t) echo $$p; break;; esac; done; done)
asked := $(if $(LAT_TESTS),$(named),$(programs))
check-now: $(tools) $(BIN)/lat $(asked)
	@$(if $(sanitizers),LAT_LANES=$(san_lane) )tests/run $(BIN) $(asked)

check-long: deps
	@$(MAKE) --no-print-directory all $(benches) $(check_faults) $(check_fuzz) $(check_emulated) $(B)/tests/check/check_dirac $(B)/tests/check/check_wilson
	@LAT_SUITE=long LAT_BENCH="$$PWD/$(B)/bench" LAT_FAULTS="$$PWD/$(check_faults)" LAT_CHECKS="$$PWD/$(B)/tests/check" \
	  tests/run $(BIN)

# The tests of several ranks alone, on the CPU.
check-mpi: $(tools) $(B)/tests/check/check_slab
	@LAT_TESTS='ranks* check_slab' tests/run $(BIN) $(B)/tests/check/check_slab

gpu_check_names := check_grid check_fix_devices check_generate_devices check_flow check_loops check_ghost check_newton \
  check_vector check_dirac check_overlap check_multigrid
gpu_checks := $(addprefix $(B)/tests/check/,$(gpu_check_names))
# The tests of the GPU backend alone. `make check` runs them too, and skips them where there is no GPU.
check-gpu: $(tools) $(gpu_checks)
	@LAT_JOBS=1 LAT_TESTS='gpu $(gpu_check_names)' tests/run $(BIN) $(gpu_checks)

# Memory, races in shared memory, reading what was never written: short runs of the same tests.
check-gpu-san: $(B)/tests/check/check_fix_devices
	@for tool in memcheck racecheck initcheck; do \
	    compute-sanitizer --tool $$tool --error-exitcode 9 --quiet $< short || { echo "$$tool: failed"; exit 1; }; \
	done

# Loads that the compiler has moved above the wait of a programmatic launch, in all GPU objects; how many kernels the
# hop has. cuobjdump comes with the CUDA Toolkit (for itself: pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm).
hop_obj := $(patsubst %.cu,$(C)/%.o,$(wildcard lib/dirac/cuda/hop_*.cu))
check-gpu-code: $(cuda_obj)
	@tests/gates --kernels $(hop_obj)
	@PATH="$(cuda_home)/bin:$$PATH" python3 tests/early_loads.py $^

# The layout of .clang-format (Debian 12's clang-format 14; later ones differ in a few places).
format:
	@clang-format -i $$(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp')

scripts := setup/* .ci/run tests/run tests/fuzz/run tests/*.bash tests/*.bats tests/long/*.bats tests/long/slurm-up \
  docs/man/make-pages packaging/lat packaging/*.bash pipelines/*.sh pipelines/gpuslot pipelines/*/*.sh bench/*.sh
lint:
	@printf '%s\0' $(filter-out %.mk,$(wildcard $(scripts))) | xargs -0 -n 8 -P "$$(nproc)" shellcheck -x
	tests/gates
	tests/sentences
	$(if $(filter-out $(wildcard $(hop_obj)),$(hop_obj)),,tests/gates --kernels $(hop_obj))
