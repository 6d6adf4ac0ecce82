#!/usr/bin/env bats
# Purpose: ranks on two hosts and under Slurm, simulated on one machine: two network namespaces with a cable between them, each
# under a host name of its own, and a Slurm of one node. Both want root; skipped with a reason where they cannot be had.
# shellcheck disable=SC2154  # status, output and stderr are set by run
load ../helper

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    lat-theta --version | grep -q "^MPI: yes" || skip "built without MPI"
    [ "$(id -u)" -eq 0 ] || skip "not root"
    a=lat$$a b=lat$$b
    mkdir shared
    cd shared || return 1
}

teardown() {
    [ ! -e "$BATS_TEST_TMPDIR/cable" ] || { ip netns del "$a"; ip netns del "$b"; }
    [ ! -e "$BATS_TEST_TMPDIR/slurm/slurm.conf" ] || "$ROOT/tests/long/slurm-up" down "$BATS_TEST_TMPDIR/slurm"
}

# Hosts $a and $b. `hosts COMMAND...` runs a command on $a; `agent HOST COMMAND...` is the ssh of mpirun.
two_hosts() {
    mpirun --version | grep -q "Open MPI" || skip "no mpirun of OpenMPI"
    { ip netns add "$a" && ip netns add "$b"; } 2>said || skip "no network namespaces: $(cat said)"
    touch "$BATS_TEST_TMPDIR/cable"
    ip link add "$a" netns "$a" type veth peer name "$b" netns "$b" 2>said || skip "no virtual cable: $(cat said)"
    local n=1 h
    for h in $a $b; do
        ip -n "$h" addr add 10.77.0.$n/24 dev "$h"
        ip -n "$h" link set "$h" up
        ip -n "$h" link set lo up
        echo "10.77.0.$n $h" >>table
        n=$((n + 1))
    done
    cat >agent <<'END'
#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"
END
    cat >there <<END
#!/bin/sh
hostname $a
mount --bind $PWD/table /etc/hosts
exec "\$@"
END
    chmod +x agent there
}

# ranks COMMAND...: two of them on each host. LAUNCHER=--enable-recovery: mpirun does not end the others when a rank dies.
ranks() {
    ip netns exec "$a" unshare --uts --mount ./there timeout 120 mpirun "${LAUNCHER:---quiet}" --bind-to none --host "$a:2,$b:2" -n 4 --mca plm_rsh_agent "$PWD/agent" \
        --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 "$@" 3>&-
}

sent() {
    ip -n "$a" -s link show "$a" | awk '/TX:/ { getline; print $1 }'
}

@test "four ranks on two hosts: the same bytes as one, over the network" {
    two_hosts
    rough a.lat --dims 6,6,4,12 --epsilon 0.8
    local gauge before how
    for gauge in landau coulomb mag; do
        how="--device cpu --gauge $gauge --omega 1.6 --theta 1e-9 --no-provenance"
        # shellcheck disable=SC2086 # words
        lat-orelax $how a.lat -o one.lat
        before=$(sent)
        # shellcheck disable=SC2086
        ranks lat-orelax -v -@ 4 $how -i a.lat -o four.lat 2>err
        cmp one.lat four.lat
        grep -q "^lat-orelax: 4 ranks, 2 on this host, 2 threads each$" err
        # At least the links of the other host's slices, there and back.
        [ $(($(sent) - before)) -gt $((6 * 6 * 4 * 6 * 4 * 18 * 8)) ]
    done
    lat-theta a.lat >one.txt
    ranks lat-theta -i a.lat >four.txt
    cmp one.txt four.txt
}

@test "ranks on two hosts: one sentence and no output where it fails, also when one on the other host is killed" {
    two_hosts
    rough a.lat --dims 4,4,4,8
    head -c 50000 a.lat >cut.lat
    run -1 --separate-stderr ranks lat-gauge --random -i cut.lat -o never.lat
    [[ $stderr == "lat-gauge: cut.lat: truncated"* && $stderr != *$'\n'* ]]
    local pid there
    for LAUNCHER in --quiet --enable-recovery; do
        ranks lat-anneal --device cpu -@ 4 --steps 100000000 -i a.lat -o never.lat 2>err &
        pid=$!
        while ! [ "$(pgrep -c -f "^lat-anneal .*-i a.lat -o never.lat")" -ge 4 ]; do sleep 0.1; done
        sleep 1
        for there in $(pgrep -f "^lat-anneal .*-i a.lat -o never.lat"); do
            [ "$(ip netns identify "$there")" != "$b" ] || break
        done
        kill -9 "$there"
        status=0
        wait $pid || status=$?
        if [ $LAUNCHER = --quiet ]; then
            [ "$status" -ne 0 ]
        else
            cat err
            [ "$(grep -c "^lat-anneal: " err)" -eq 1 ]
            grep -Eqx "lat-anneal: rank [0-3] of 4 \\(host $b\\) has died; nothing was written" err
        fi
        for _ in $(seq 50); do [ "$(pgrep -c -f "^lat-anneal .*-i a.lat -o never.lat")" -ne 0 ] || break; sleep 0.1; done
        [ "$(pgrep -c -f "^lat-anneal .*-i a.lat -o never.lat")" -eq 0 ]
        [ ! -e never.lat ]
        nothing_left
    done
}

@test "four ranks under srun: the same bytes as one, exit codes, a pipeline in one task" {
    command -v slurmctld slurmd munged srun >/dev/null || skip "no Slurm (slurmctld, slurmd, munge)"
    "$ROOT/tests/long/slurm-up" "$BATS_TEST_TMPDIR/slurm" >said 2>&1 || { cat said; return 1; }
    export SLURM_CONF=$BATS_TEST_TMPDIR/slurm/slurm.conf
    srun --mpi=list 2>&1 | grep -q pmix || skip "this Slurm knows no pmix"
    rough a.lat --dims 4,6,4,12 --epsilon 0.8
    lat-orelax --device cpu --omega 1.6 --no-provenance a.lat -o one.lat
    srun --mpi=pmix -i none -n 4 lat-orelax -v --device cpu --omega 1.6 --no-provenance -i a.lat -o four.lat 2>err 3>&-
    cmp one.lat four.lat
    grep -q "^lat-orelax: 4 ranks, 4 on this host" err
    run -3 srun --mpi=pmix -i none -n 4 lat-orelax --device cpu --max-sweeps 3 -i a.lat -o never.lat 3>&-
    [[ $output == *"lat-orelax: a.lat:0: not converged: theta "* ]]
    [ ! -e never.lat ]
    srun -n 1 sh -c 'lat-gauge --random a.lat | lat-theta --tsv' >t.txt 3>&-
    [ "$(wc -l <t.txt)" -eq 2 ]
}
