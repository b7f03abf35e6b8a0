package seccomp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type rule struct {
	Names  []string
	Action string
	Args   []struct{ Index, Value, ValueTwo uint64 }
}

func allowed(t *testing.T) map[string]bool {
	t.Helper()
	var read struct {
		DefaultAction string
		Architectures []string
		Syscalls      []rule
	}
	if err := json.Unmarshal(profile, &read); err != nil {
		t.Fatal(err)
	}
	if read.DefaultAction != "SCMP_ACT_ERRNO" || len(read.Architectures) != 2 {
		t.Fatal("what is not named must be denied", read)
	}
	names := map[string]bool{}
	for _, each := range read.Syscalls {
		for _, name := range each.Names {
			if _, twice := names[name]; twice {
				t.Errorf("%s is named twice", name)
			}
			names[name] = each.Action == "SCMP_ACT_ALLOW" && len(each.Args) == 0
		}
	}
	return names
}

func TestTheProfileAllowsIoUringAndNothingThatLeadsOutOfAContainer(t *testing.T) {
	names := allowed(t)
	for _, name := range []string{"io_uring_setup", "io_uring_enter", "io_uring_register", "openat2", "futex", "recvmsg"} {
		if !names[name] {
			t.Errorf("%s is denied", name)
		}
	}
	for _, name := range strings.Fields("mount umount2 pivot_root move_mount open_tree fsopen fsmount mount_setattr unshare setns clone clone3 " +
		"ptrace process_vm_readv process_vm_writev kcmp bpf perf_event_open userfaultfd keyctl add_key request_key init_module finit_module " +
		"delete_module kexec_load reboot swapon acct quotactl open_by_handle_at name_to_handle_at iopl ioperm settimeofday socket personality") {
		if names[name] {
			t.Errorf("%s is allowed whatever its arguments", name)
		}
	}
}

func TestTheProfileIsWrittenWholeForTheRuntimeToRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "posix-gateway", "io-uring.json")
	var complaints strings.Builder
	for range 2 { // of an upgrade
		if status := Run([]string{path}, &complaints); status != 0 {
			t.Fatal(complaints.String())
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != string(profile) {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	entries, listErr := os.ReadDir(filepath.Dir(path))
	if err != nil || listErr != nil || info.Mode() != 0o644 || len(entries) != 1 {
		t.Fatal(info.Mode(), entries, err, listErr)
	}
}

func TestAFolderOfOthersGetsNoProfile(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	if status := Run([]string{filepath.Join(folder, "io-uring.json")}, &complaints); status != 1 || !strings.Contains(complaints.String(), "chmod go-w") {
		t.Fatal(status, complaints.String())
	}
	for _, arguments := range [][]string{nil, {""}, {"a", "b"}} {
		if status := Run(arguments, &complaints); status != 2 {
			t.Fatal(arguments, status)
		}
	}
}
