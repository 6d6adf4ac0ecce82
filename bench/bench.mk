# Benchmarks. Programs that need a GPU are built where GPU code is.

gpu_benches := bench_gpu bench_dirac_gpu bench_dirac_mpi bench_solve_gpu
bench_src := $(filter-out $(if $(no_cuda),$(gpu_benches:%=bench/%.c)),$(wildcard bench/*.c))
benches := $(patsubst %.c,$(B)/%,$(sort $(bench_src)))
bench_program = $(B)/bench/bench_$(1)
# What to build for a GPU; what a recipe does where there is none.
on_gpu = $(if $(no_cuda),,$(1))
need_gpu = $(if $(no_cuda),@echo 'no GPU: $(no_cuda)'; false)

$(benches:=.o): cflags += -O3 $(if $(filter x86_64%,$(machine)),-march=native)

.PHONY: benches
benches: $(benches)

# make -s where NAME=accuracy: builds a program of bench/ and says where it is, for pipelines/paper.
.PHONY: where
where: $(if $(NAME),$(B)/bench/$(NAME))
	@echo '$<'

.PHONY: bench bench-stream bench-heatbath bench-dirac bench-flow bench-ghost bench-loops bench-overlap
bench: $(call bench_program,sweep)
bench-stream: $(call bench_program,stream)
bench-heatbath: $(call bench_program,heatbath)
bench-dirac: $(call bench_program,dirac)
bench-flow: $(call bench_program,flow)
bench-ghost: $(call bench_program,ghost)
bench-loops: $(call bench_program,loops)
bench bench-stream bench-heatbath bench-dirac bench-flow bench-ghost bench-loops:
	@$<

bench-overlap: $(call bench_program,overlap)
	@$<
	$(call on_gpu,@$< 0)

# Light quarks on one core. Links of DIMS are made, and deleted at the end; LINKS=FILE takes others.
multigrid_dims := 16,16,16,32
multigrid_links := $(or $(LINKS),$(DIMS),$(multigrid_dims))
.PHONY: bench-multigrid
bench-multigrid: $(tools) $(call bench_program,multigrid)
	@LAT_BIN="$$PWD/$(BIN)" bench/multigrid.sh $(call bench_program,multigrid) cpu '$(multigrid_links)'

# DIMS=64,64,64,128 takes 100 GB of FOLDER.
DIMS ?= 32,32,32,32
FOLDER ?= build
.PHONY: bench-convert
bench-convert: all
	@bench/convert.py $(BIN) '$(FOLDER)' $(DIMS)

# In memory, as the disk is not what is measured.
.PHONY: bench-solve
bench-solve: $(tools)
	@LAT_BIN="$$PWD/$(BIN)" bench/solve.sh /dev/shm

# Pictures need gnuplot; where it is not to be had there are the tables.
plot_deps = $(if $(filter yes,$(DEPS)),@setup/deps plot || true)

EXTENT ?= 8
.PHONY: accuracy
accuracy:
	$(plot_deps)
	@$(MAKE) --no-print-directory all $(B)/bench/accuracy
	@LAT_BIN="$$PWD/$(BIN)" bench/accuracy.sh $(B)/bench/accuracy build/accuracy $(EXTENT)

EXTENTS ?= 8 16
.PHONY: sweeps
sweeps:
	$(plot_deps)
	@$(MAKE) --no-print-directory all
	@LAT_BIN="$$PWD/$(BIN)" bench/sweeps.sh build/sweeps $(EXTENTS)

# Light quarks on a GPU: links of DIMS, or of two lattices; LINKS=FILE takes others.
.PHONY: bench-multigrid-gpu
bench-multigrid-gpu: $(tools) $(call on_gpu,$(call bench_program,multigrid))
	$(need_gpu)
	@for links in $(or $(LINKS),16$(comma)16$(comma)16$(comma)32 32$(comma)32$(comma)32$(comma)64); do \
	  LAT_BIN="$$PWD/$(BIN)" bench/multigrid.sh $(call bench_program,multigrid) gpu "$$links"; done

.PHONY: bench-gpu
bench-gpu: $(tools) $(call on_gpu,$(call bench_program,gpu))
	$(need_gpu)
	@$(call bench_program,gpu)
	@LAT_BIN="$$PWD/$(BIN)" bench/gpu.sh build/bench-gpu

# Operators, then whole solves on thermal links, which are made once.
bench_links := build/bench-dirac-gpu/b6.0_16x16.lat
$(bench_links): | $(tools)
	@mkdir -p $(dir $@)
	@$(BIN)/lat-heatbath -q -d 16,16,16,16 -b 6 --thermalise 100 --overrelax 4 --seed 2026 -p double -o $@

solve_bench := $(call bench_program,solve_gpu)
.PHONY: bench-dirac-gpu
bench-dirac-gpu: $(tools) $(call on_gpu,$(call bench_program,dirac_gpu) $(solve_bench) $(bench_links))
	$(need_gpu)
	@$(call bench_program,dirac_gpu)
	@$(solve_bench) $(bench_links)

.PHONY: bench-dirac-mpi
bench-dirac-mpi: $(tools) $(call on_gpu,$(call bench_program,dirac_mpi) $(solve_bench) $(bench_links))
	$(need_gpu)
	@bench/dirac_mpi.sh $(call bench_program,dirac_mpi) $(solve_bench) $(bench_links)

# On GPUs (MPI_DEVICE=cpu: small, on the CPU). In memory: the stream is not to wait for a disk.
MPI_DEVICE ?= gpu
MPI_FOLDER ?= /dev/shm/lat-bench
.PHONY: bench-mpi
bench-mpi: $(tools) $(call bench_program,mpi)
	@LAT_BIN="$$PWD/$(BIN)" bench/mpi.sh $(call bench_program,mpi) $(MPI_FOLDER) $(MPI_DEVICE)
