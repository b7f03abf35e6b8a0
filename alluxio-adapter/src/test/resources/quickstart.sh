#!/bin/bash
# In mount and PID namespaces of its own, where nothing outlives it: runs commands as a page gives them, each shown first.
# usage: quickstart.sh REPOSITORY COMMANDS LOCALHOST; LOCALHOST is the address of "localhost"; its last line is "done".
set -eu
repository=$1
commands=$2
hosts=$(mktemp)
mount --make-rprivate /
{ echo "$3 localhost" && sed "s/\\blocalhost\\b/loopback/" /etc/hosts; } >"$hosts"
mount --bind "$hosts" /etc/hosts
rm "$hosts"
for folder in /mnt /run /var/lib /var/log; do mount -t tmpfs tmpfs "$folder"; done
cd "$repository"
trap 'tail -n 50 /var/log/posix-gateway/*.log*' ERR # before it goes with the namespace
set -x
# shellcheck source=/dev/null
. "$commands"
set +x
echo "done"
