#!/bin/bash
# shellcheck disable=SC2015 # fail ends the script
# In a mount namespace of its own: mount(8) with the helper. usage: mount-helper.sh HELPER FOLDER; its last line is "done".
set -u
helper=$1
folder=$2
at=$folder/mount
fail() {
    echo "FAILED: $*"
    exit 1
}
trap 'umount -l "$at" 2>/dev/null' EXIT
mount --make-rprivate /
# mount(8) looks for helpers in /sbin alone.
mkdir -p "$at" "$folder/sbin"
chmod 755 "$folder" # others go through it
mount -t tmpfs tmpfs "$folder/sbin" && mkdir "$folder/sbin/upper" "$folder/sbin/work" || fail "a tmpfs"
sbin=$(readlink -f /sbin)
mount -t overlay overlay -o "lowerdir=$sbin,upperdir=$folder/sbin/upper,workdir=$folder/sbin/work" "$sbin" || fail "an overlay"
ln -s "$helper" /sbin/mount.posix-gateway || fail "a link to the helper"
options() { findmnt -n -o VFS-OPTIONS --mountpoint "$at"; }
has() {
    for word in "$@"; do
        case ,$(options), in *,"$word",*) ;; *) fail "$word is missing in $(options)" ;; esac
    done
}
lacks() {
    for word in "$@"; do
        case ,$(options), in *,"$word",*) fail "$word is in $(options)" ;; esac
    done
}

mount -t posix-gateway memory "$at" -o "log_file=$folder/log" || fail "mount: $?"
has rw nosuid nodev
lacks noexec
setpriv --reuid 54321 --regid 54321 --clear-groups ls "$at" >/dev/null || fail "another user may not enter"
mknod "$at/null" c 1 3 && chmod 666 "$at/null" || fail "mknod"
(echo x >"$at/null") 2>/dev/null && fail "a device is opened though the mount is nodev"
umount "$at" || fail "umount"

printf 'memory %s posix-gateway user,suid,dev,exec,noatime,_netdev,nofail,x-systemd.automount,comment=c,log_file=%s 0 0\n' \
    "$at" "$folder/log" >"$folder/fstab"
mount --bind "$folder/fstab" /etc/fstab || fail "an /etc/fstab of its own"
mount "$at" || fail "mount by fstab: $?"
has noatime
lacks nosuid nodev noexec
mknod "$at/null" c 1 3 && (echo x >"$at/null") || fail "a device cannot be opened though the mount is dev"
cp "$(command -v id)" "$at/id" && chown 12345 "$at/id" && chmod 4755 "$at/id" || fail "a program"
is=$(setpriv --reuid 54321 --regid 54321 --clear-groups "$at/id" -u)
[ "$is" = 12345 ] || fail "set-user-id is not heeded though the mount is suid: $is"
said=$(mount -t posix-gateway memory "$at" 2>&1)
[ $? = 32 ] || fail "mounting twice is not status 32: $?"
case $said in *busy*) ;; *) fail "why is not told: $said" ;; esac
umount "$at" || fail "umount"

said=$(mount -t posix-gateway memory "$at" -o colour=red 2>&1)
[ $? = 1 ] || fail "a wrong option is not status 1: $?"
case $said in *"option 'colour' is not known"*) ;; *) fail "why is not told: $said" ;; esac
mount -f -t posix-gateway memory "$at" -o ro || fail "mount -f"
findmnt "$at" >/dev/null && fail "mount -f mounted"
mount -s -t posix-gateway memory "$at" -o "ro,noexec,colour=red,log_file=$folder/log" || fail "mount -s"
has ro noexec nosuid nodev
said=$("$helper" 2>&1)
[ $? = 1 ] || fail "no argument is not status 1"
case $said in *"/etc/fstab"*) ;; *) fail "usage: $said" ;; esac
umount "$at" || fail "umount"
echo "done"
