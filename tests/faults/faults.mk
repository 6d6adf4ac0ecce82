# Fault injection: the tools with one call failing at a time (check_faults.c). Not with sanitizers, which have a malloc
# of their own.

check_faults := $(B)/tests/faults/check_faults
faults_so := $(if $(filter 1,$(SAN)),,$(B)/tests/faults/faults.so)

$(B)/tests/faults/faults.so: tests/faults/faults.c $(B)/flags
	@mkdir -p $(@D)
	$(at)$(CC) $(cppflags) $(cflags) -fno-builtin -fPIC -shared $(LDFLAGS) -o $@ $<

$(check_faults): $(B)/tests/faults/check_faults.o $(faults_so)
	$(at)$(CC) $(ldflags) $(LDFLAGS) -o $@ $<
