package keeper

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"posixgateway.io/csi/internal/fusetest"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/mountinfo"
	"posixgateway.io/csi/internal/orphans"
)

// Its gateway would believe that the kernel checks what it does not, such as permission bits.
func TestAMountWithOtherOptionsIsNotTakenForTheOneRequested(t *testing.T) {
	fusetest.RequireFuse(t)
	s := newTestServer(t, New("g"), filepath.Join(t.TempDir(), "k.sock"))
	for number, options := range []keeperapi.Request{
		{},
		{DefaultPermissions: true},
		{AllowOther: true, ReadOnly: true},
		{Flags: []string{"suid", "dev"}},
		{Flags: []string{"noexec", "noatime"}},
		{Flags: []string{"sync", "dirsync"}},
		{Flags: []string{"nodiratime"}, AllowOther: true, DefaultPermissions: true, MaxRead: 65536},
		{Flags: []string{"strictatime"}},
	} {
		options.ID, options.Target = fmt.Sprintf("vol-%d", number), t.TempDir()
		for _, existing := range []bool{false, true} {
			if got, err := s.client.Mount(t.Context(), options); err != nil || got != existing {
				t.Fatal(options, got, err)
			}
		}
		for _, change := range []func(*keeperapi.Request){
			func(r *keeperapi.Request) { r.DefaultPermissions = !r.DefaultPermissions },
			func(r *keeperapi.Request) { r.AllowOther = !r.AllowOther },
			func(r *keeperapi.Request) { r.ReadOnly = !r.ReadOnly },
			func(r *keeperapi.Request) { r.Flags = append([]string{"noexec"}, r.Flags...) },
			func(r *keeperapi.Request) { r.Flags = append([]string{"noexec", "suid"}, r.Flags...) },
			func(r *keeperapi.Request) { r.Flags = []string{"nodiratime", "noexec", "sync"} },
		} {
			other := options
			change(&other)
			if slices.Equal(other.Flags, []string{"noexec", "noexec", "noatime"}) {
				continue // the same
			}
			_, err := s.client.Mount(t.Context(), other)
			wantCode(t, err, keeperapi.Exists)
			if !strings.Contains(err.Error(), "Unmount it first") {
				t.Fatal(err)
			}
		}
		attach(t, s.client, options.ID)
		if err := read(t, options.Target); err != nil {
			t.Fatal(err)
		}
		if got, err := s.client.Mount(t.Context(), options); err != nil || !got {
			t.Fatal("once it is served:", options, got, err)
		}
	}
}

// Such as by abort_after of its gateway, or by the kernel's own limit of a request.
func TestAMountWhoseConnectionWasAbortedIsMadeAnew(t *testing.T) {
	fusetest.RequireFuse(t)
	s := newTestServer(t, New("g"), filepath.Join(t.TempDir(), "k.sock"))
	target, _ := mounted(t, s.client, "vol-1")
	request := keeperapi.Request{ID: "vol-1", Target: target, AllowOther: true}
	if existing, err := s.client.Mount(t.Context(), request); err != nil || !existing {
		t.Fatal("a mount that works:", existing, err)
	}
	abort(t, target)
	if err := read(t, target); err == nil {
		t.Fatal("it works still")
	}
	if list, err := s.client.List(t.Context()); err != nil || len(list) != 1 || !list[0].Ended {
		t.Fatal("the list does not say so:", list, err)
	}
	if existing, err := s.client.Mount(t.Context(), request); err != nil || existing {
		t.Fatal("it counts as a mount that works:", existing, err)
	}
	attach(t, s.client, "vol-1")
	if err := read(t, target); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Unmount(t.Context(), "vol-1", false); err != nil {
		t.Fatal(err)
	}
	mustNotBeMounted(t, target)
}

// abort ends the connection of the mount at target, through fusectl.
func abort(t *testing.T, target string) {
	t.Helper()
	table, err := mountinfo.Read()
	if err != nil {
		t.Fatal(err)
	}
	mount, found := table.At(target)
	if !found {
		t.Fatal("nothing is mounted at", target)
	}
	connection, err := orphans.Open(mount.Device)
	if err == nil {
		err = connection.Abort()
	}
	if err != nil {
		t.Fatal(err)
	}
	connection.Close()
}
