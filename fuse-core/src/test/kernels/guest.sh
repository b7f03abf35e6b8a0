#!/bin/bash
# Process 1 of an older kernel in user mode, which old_kernels.py boots on the host's own files, read-only. Runs the checks and turns
# the machine off. From the kernel's command line: PGW_REPO, a built tree; PGW_KERNEL, the kernel's folder; PGW_OUT, where the
# results go on the host; PGW_JAVA, the folder of a JDK; PGW_KILLS, how often a server ends; PGW_ONLY, which checks, as a pattern.
set -u
export PATH=$PGW_JAVA/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
export JAVA_HOME=$PGW_JAVA POSIX_GATEWAY_HEAP=256m POSIX_GATEWAY_DIRECT=256m
readonly FINIT_MODULE=313 REBOOT=169
out=/run/out work=/run/work results=/run/out/results

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t tmpfs run /run
mkdir -p /run/tmp $out $work/mount
mount -t hostfs none $out -o "$PGW_OUT"
# What is to be seen below /tmp stays there; the rest is the guest's own.
mount -t tmpfs tmp /run/tmp
for seen in "$PGW_REPO" "$PGW_KERNEL"; do
  case $seen in
    /tmp/*)
      mkdir -p "/run/tmp${seen#/tmp}"
      mount --bind "$seen" "/run/tmp${seen#/tmp}"
      ;;
  esac
done
mount --move /run/tmp /tmp
chmod 1777 /tmp
ip link set lo up

# call NUMBER ARGUMENT...: a system call for which this machine may have no program; an argument that is a path is opened.
call() {
  python3 - "$@" <<'END'
import ctypes, os, sys
given = [os.open(word, os.O_RDONLY) if word.startswith("/") else word for word in sys.argv[1:]]
sys.exit(ctypes.CDLL(None).syscall(*[word.encode() if word == "" else int(word) for word in given]) != 0)
END
}
call $FINIT_MODULE "$PGW_KERNEL/usr/lib/uml/modules/$(uname -r)/kernel/fs/fuse/fuse.ko" "" 0
[ -e /dev/fuse ] || mknod /dev/fuse c 10 229
mount -t fusectl fusectl /sys/fs/fuse/connections
cd $work || exit 1

# check NAME SECONDS COMMAND...: a line of the results; the output is beside them.
check() {
  local name=$1 limit=$2 began=$SECONDS status=0 word
  # shellcheck disable=SC2053 # it is a pattern
  [[ $name == $PGW_ONLY ]] || return 0
  shift 2
  timeout --kill-after=5 "$limit" "$@" >"$out/$name.log" 2>&1 </dev/null || status=$?
  [ $status = 0 ] && word=ok || word="FAILED ($status)"
  echo "$word $name, $((SECONDS - began)) s$(sed -n 's/^# /: /p' "$out/$name.log" | tail -n 1)" >>$results
}

# conform TRANSPORT: the conformance suite on the file system in memory.
conform() {
  "$PGW_REPO/alluxio-adapter/target/dist/bin/posix-gateway" testfs memory $work/mount --foreground -o allow_other,transport="$1" &
  local server=$! tries=0
  until mountpoint -q $work/mount; do
    sleep 0.2
    tries=$((tries + 1))
    { kill -0 $server && [ $tries -lt 600 ]; } || return 1
  done
  python3 "$PGW_REPO/fuse-core/src/test/resources/conformance/suite.py" $work/mount >$work/cases
  umount $work/mount && wait $server || return 1
  cat $work/cases
  echo "# $(grep -c '^ok' $work/cases) cases passed, $(grep -c '^skip' $work/cases) skipped"
  ! grep -q '^not-ok' $work/cases && grep -q '^ok' $work/cases
}

# take_over SIGNAL: a server of a session that the keeper holds is ended again and again, under two readers and two writers.
take_over() {
  local status
  mkdir -p "$work/$1/folder" "$work/$1/mount"
  python3 -u "$PGW_REPO/fuse-core/src/test/python/takeover.py" "$PGW_KILLS" "$1" devfuse "$work/$1/folder" "$work/$1/mount" \
    java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -cp "$PGW_REPO/fuse-core/target/test-classes:$PGW_REPO/alluxio-adapter/target/dist/lib/*" io.posixgateway.fuse.session.KeptServer |
    tee "$work/$1/said"
  status=${PIPESTATUS[0]}
  echo "# $(grep -o 'takeover [a-z]*' "$work/$1/said" | tail -n 1), $(grep '^calls' "$work/$1/said")"
  return "$status"
}

# nobody_waits: no task is in the kernel for good.
nobody_waits() {
  for _ in 1 2 3 4 5; do
    grep -lE '^State:\s+D' /proc/[0-9]*/task/[0-9]*/status 2>/dev/null || return 0
    sleep 1
  done
  return 1
}
export -f conform take_over nobody_waits
export out work
# A thread that is killed while the kernel hands it a request may fail that one.
export KEEPER=$PGW_REPO/csi/bin/posix-gateway-keeper DYING=1

echo "booted Linux $(uname -r)" >>$results
for test in "$PGW_REPO"/fuse-core/target/c/plain/*_test; do
  check "native-$(basename "$test" _test)" 120 "$test"
done
check cases-devfuse 400 bash -c 'conform devfuse'
check cases-libfuse 400 bash -c 'conform libfuse'
check killed 300 bash -c 'take_over KILL'
check upgraded 300 bash -c 'take_over TERM'
check nobody-waits 30 bash -c nobody_waits
echo "end" >>$results
sync
call $REBOOT $((0xfee1dead)) $((0x28121969)) $((0x4321fedc))
