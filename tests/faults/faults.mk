# Fault injection: the tools with one call failing at a time (check_faults.c). Not with sanitizers, which have a malloc
# of their own.

check_faults := $(B)/tests/faults/check_faults
faults_so := $(if $(filter 1,$(SAN)),,$(B)/tests/faults/faults.so)

$(B)/tests/faults/faults.so: tests/faults/faults.c $(B)/flags
	@mkdir -p $(@D)
	$(at)$(CC) $(cppflags) $(cflags) -fno-builtin -fPIC -shared $(LDFLAGS) -o $@ $<

$(check_faults): $(B)/tests/faults/check_faults.o $(faults_so)
	$(at)$(CC) $(ldflags) $(LDFLAGS) -o $@ $<

# A stand-in for NCCL, for ranks that share a GPU or have none.
fake_nccl := $(B)/tests/faults/fake_nccl.so
$(fake_nccl): tests/faults/fake_nccl.c $(B)/flags
	@mkdir -p $(@D)
	$(at)$(CC) $(cppflags) $(cflags) -Wno-missing-prototypes -fPIC -shared $(LDFLAGS) -o $@ $< -ldl
$(B)/tests/check/check_nccl: $(fake_nccl)
