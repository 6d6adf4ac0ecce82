# The first build, manual pages, installation, the tarball.

CONFIG ?=
# With CUDA=1 for the GPU that is here, or for any by PTX.
quick_arch = $(if $(filter 1,$(CUDA)),$(if $(GPU_ARCH),,GPU_ARCH='$(or $(gpu_one),any)'))
.PHONY: quickstart
quickstart:
	$(if $(filter yes,$(DEPS)),@setup/deps build)
	@$(MAKE) --no-print-directory all QUICK=1 $(quick_arch)
	@LAT_BIN="$$PWD/$(BIN)" pipelines/quickstart.sh $(if $(CONFIG),'$(subst ','\'',$(CONFIG))')

version := $(shell sed -n 's/.*LAT_VERSION "\(.*\)"/\1/p' lib/common/options.h)

# Kept in git, so that nobody but who changes an option or a page needs scdoc.
.PHONY: man
man: $(tools)
	@docs/man/make-pages $(BIN) docs/man/pages

PREFIX ?= /usr/local
.PHONY: install uninstall
install: all
	$(if $(strip $(given)),@echo 'installing what was built with $(foreach v,$(given),$(v)=$($(v)))$(strip \
	  )$(if $(filter 1,$(QUICK)), (SU(2) and SU(3); QUICK=0 builds all groups))')
	@DESTDIR='$(DESTDIR)' setup/install '$(PREFIX)' $(version) $(BIN) $(notdir $(tools))

uninstall:
	@DESTDIR='$(DESTDIR)' setup/install '$(PREFIX)'

# What git has, as of its last commit.
dist_name := lat-$(version)
.PHONY: dist distcheck
dist:
	@git -c tar.umask=0022 archive --prefix=$(dist_name)/ -o $(dist_name).tar.gz HEAD
	@echo $(dist_name).tar.gz

dist_make = $(MAKE) -C build/distcheck/$(dist_name) --no-print-directory CUDA=$(CUDA)
distcheck: dist
	@rm -rf build/distcheck && mkdir -p build/distcheck && tar -xzf $(dist_name).tar.gz -C build/distcheck
	@$(dist_make) check-now
	@$(dist_make) install PREFIX='$(CURDIR)/build/distcheck/installed'
	@build/distcheck/installed/bin/lat-info --version && rm -rf build/distcheck

# The tools for CPUs, linked statically and without symbols, for machines where nothing can be installed; without ranks, which need an
# MPI library. (The linker warns of dlopen in libgomp, which is for offloading alone.)
static = lat-$(version)-static-$(shell uname -m)
static_make = $(MAKE) --no-print-directory B=build/static P=build/static BIN=build/static/bin LDFLAGS='-static -s' MPI=0 CUDA=0 FFTW=1 GSL=1
.PHONY: dist-static programs
programs: $(tools) $(BIN)/lat
dist-static:
	@$(static_make) programs
	@rm -rf build/static/root && mkdir -p build/static/root && DESTDIR=build/static/root setup/install /$(static) $(version) build/static/bin \
	  $(notdir $(tools)) && rm -r build/static/root/$(static)/share/lat/modulefiles
	@tar -czf $(static).tar.gz -C build/static/root --owner=0 --group=0 --sort=name $(static) && echo $(static).tar.gz
.PHONY: clean
clean:
	rm -rf build bin
