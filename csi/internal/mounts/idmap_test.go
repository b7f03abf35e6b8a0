package mounts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/fusetest"
	"posixgateway.io/csi/internal/mountinfo"
)

func TestMain(m *testing.M) { fusetest.Main(m) }

// group is OpenShift's kind: ten digits.
const group = 1000680000

// sourceAndTarget are a file system in memory, whose owners the kernel can map, and an empty folder.
func sourceAndTarget(t *testing.T) (source, target string) {
	t.Helper()
	fusetest.RequireFuse(t) // root, in a mount namespace of its own
	source, target = t.TempDir(), t.TempDir()
	if err := unix.Mount("none", source, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOATIME, "mode=777"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(unix.Unmount(target, unix.MNT_DETACH), unix.Unmount(source, unix.MNT_DETACH)) })
	return source, target
}

func orSkip(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, ErrNoIDMap) {
		t.Skip("skipped: tmpfs cannot be id-mapped before Linux 6.3:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, uid, gid int) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, nil, 0o660), os.Chown(path, uid, gid)); err != nil {
		t.Fatal(err)
	}
}

// rootOf opens a folder above which nobody else may go.
func rootOf(t *testing.T, folder string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func wantOwner(t *testing.T, path string, uid, gid uint32) {
	t.Helper()
	var found unix.Stat_t
	if err := unix.Lstat(path, &found); err != nil || found.Uid != uid || found.Gid != gid {
		t.Errorf("%s belongs to %d:%d, want %d:%d, %v", filepath.Base(path), found.Uid, found.Gid, uid, gid, err)
	}
}

func TestAGroupIsShownAndReachedAsAnother(t *testing.T) {
	const shown, user = 2000, 1000
	source, target := sourceAndTarget(t)
	for name, gid := range map[string]int{"of the group": group, "of a third": 5, "of the shown": shown} {
		write(t, filepath.Join(source, name), 7, gid)
	}
	orSkip(t, Kernel{}.BindShownAs(source, target, false, group, shown))
	wantOwner(t, filepath.Join(target, "of the group"), 7, shown)
	wantOwner(t, filepath.Join(target, "of a third"), 7, 5)
	wantOwner(t, filepath.Join(target, "of the shown"), 7, group)
	root := rootOf(t, target)
	for gid, may := range map[int]bool{shown: true, group: false} {
		err := fusetest.As(user, gid, func() error { _, err := root.ReadFile("of the group"); return err })
		if may && err != nil || !may && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("one of the group %d reads: %v", gid, err)
		}
	}
	if err := fusetest.As(user, shown, func() error { return root.WriteFile("new", nil, 0o600) }); err != nil {
		t.Fatal(err)
	}
	wantOwner(t, filepath.Join(source, "new"), user, group)
	wantOwner(t, filepath.Join(target, "new"), user, shown)
	wantMount(t, target, "rw,nosuid,nodev,noatime,idmapped")
}

func wantMount(t *testing.T, target, options string) {
	t.Helper()
	table, err := mountinfo.Read()
	if err != nil {
		t.Fatal(err)
	}
	if mount, found := table.At(target); !found || mount.Options != options || !mount.IDMapped() {
		t.Errorf("%+v, want %s", mount, options)
	}
}

func TestAReadOnlyViewOfAGroupStaysReadOnly(t *testing.T) {
	source, target := sourceAndTarget(t)
	orSkip(t, Kernel{}.BindShownAs(source, target, true, group, 0))
	if err := os.WriteFile(filepath.Join(target, "new"), nil, 0o600); !errors.Is(err, unix.EROFS) {
		t.Error(err)
	}
	wantMount(t, target, "ro,nosuid,nodev,noatime,idmapped")
}

// What a container runtime does for a pod with hostUsers: false.
func TestOwnersAreShownInsideAPodsUserNamespaceAsTheyAreOutside(t *testing.T) {
	const first = 100_000
	source, target := sourceAndTarget(t)
	write(t, filepath.Join(source, "root's"), 0, 0)
	shifted := IDs{{ContainerID: 0, HostID: first, Size: 65536}}
	orSkip(t, BindMapped(source, target, false, shifted, shifted))
	wantOwner(t, filepath.Join(target, "root's"), first, first)
	root := rootOf(t, target)
	if err := fusetest.As(first+7, first+8, func() error { return root.WriteFile("new", nil, 0o600) }); err != nil {
		t.Fatal(err)
	}
	wantOwner(t, filepath.Join(source, "new"), 7, 8)
	if err := os.WriteFile(filepath.Join(target, "by root outside"), nil, 0o600); !errors.Is(err, unix.EOVERFLOW) {
		t.Errorf("a user without a place in the map writes: %v", err)
	}
}

// A session that did not ask for it, or a kernel before 6.12.
func TestAFileSystemThatCannotBeMappedIsToldAndNotMounted(t *testing.T) {
	fusetest.RequireFuse(t)
	source, target := t.TempDir(), t.TempDir()
	fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	data := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions", fuse.Fd())
	if err := unix.Mount("test", source, "fuse", unix.MS_NOSUID|unix.MS_NODEV, data); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Unmount(source, unix.MNT_DETACH) }()
	server, err := fusetest.Serve(fuse)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	if err := fusetest.Read(source); err != nil { // the session has begun
		t.Fatal(err)
	}
	if err := (Kernel{}).BindShownAs(source, target, false, group, 2000); !errors.Is(err, ErrNoIDMap) {
		t.Fatal(err)
	}
	table, err := mountinfo.Read()
	if err != nil {
		t.Fatal(err)
	}
	if mount, found := table.At(target); found {
		t.Error(mount)
	}
}

func TestMapsOfGroupsLeadBack(t *testing.T) {
	const last = maxIDs - 1
	for _, pair := range [][2]uint32{{0, 1}, {1, 0}, {0, last}, {last, last - 1}, {5, 7}, {group, 2000}, {3, 3}} {
		parts := swapped(pair[0], pair[1])
		shown := func(id uint32) int {
			for _, part := range parts {
				if offset := int(id) - part.ContainerID; offset >= 0 && offset < part.Size {
					return part.HostID + offset
				}
			}
			return -1
		}
		for id, want := range map[uint32]uint32{pair[0]: pair[1], pair[1]: pair[0]} {
			if got := shown(id); got != int(want) {
				t.Errorf("%v: %d is shown as %d", pair, id, got)
			}
		}
		for _, id := range []uint32{0, 1, 4, 6, 8, 2001, group + 1, last} {
			if got := shown(id); id != pair[0] && id != pair[1] && got != int(id) {
				t.Errorf("%v: %d is shown as %d", pair, id, got)
			}
		}
		checkSizes(t, parts)
	}
}

func checkSizes(t *testing.T, parts []syscall.SysProcIDMap) {
	t.Helper()
	inside, outside := 0, map[int]int{}
	for _, part := range parts {
		if part.ContainerID != inside || part.Size <= 0 {
			t.Fatal(parts)
		}
		inside += part.Size
		outside[part.HostID] = part.Size
	}
	covered := 0
	for size, found := outside[0]; found; size, found = outside[covered] {
		covered += size
	}
	if inside != maxIDs || covered != maxIDs {
		t.Fatal(parts)
	}
}
