package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/controlpb"
	"posixgateway.io/csi/internal/fusetest"
	"posixgateway.io/csi/internal/mounts"
)

// root opens the root of a published volume; what leads there is open to kubelet only.
func (v *volume) root(pod string) *os.Root {
	v.r.t.Helper()
	root, err := os.OpenRoot(v.target(pod))
	if err != nil {
		v.r.t.Fatal(err)
	}
	return root
}

func owner(t *testing.T, info fs.FileInfo) (uid, gid uint32) {
	t.Helper()
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatal("no owner in", info)
	}
	return stat.Uid, stat.Gid
}

// What a pod does in a volume with a secret, the user of the secret does in Alluxio.
func TestTheUserOfTheSecretOwnsAndMayWhatAlluxioSays(t *testing.T) {
	const daemon = 1 // of the same name here and in Alluxio
	onTheGateway(t, func(t *testing.T, r *rig) {
		plain := published(t, r, "pvc-plain")
		path := plain.context[attributes.AlluxioPath]
		theirs := func(name, user string) *volume {
			v := &volume{
				r: r, name: name, id: name, context: map[string]string{attributes.AlluxioPath: path},
				secrets: map[string]string{attributes.SecretUser: user, "alluxio.security.login.impersonation.username": "_NONE_"},
			}
			r.until("staging", v.stage)
			r.until("publishing", func(ctx context.Context) error { return v.publish(ctx, "pod", false) })
			return v
		}
		first, second := theirs("first", "daemon"), theirs("second", "carol-4711")
		inFirst, inSecond, inPlain := first.root("pod"), second.root("pod"), plain.root("pod")
		if err := fusetest.As(daemon, daemon, func() error {
			return errors.Join(inFirst.WriteFile("file", []byte("text"), 0o600), inFirst.Mkdir("folder", 0o700), inFirst.WriteFile("folder/file", nil, 0o600))
		}); err != nil {
			t.Fatal(err)
		}
		for name, in := range map[string]*os.Root{"first": inFirst, "plain": inPlain} {
			info, err := in.Stat("file")
			if err != nil {
				t.Fatal(err)
			}
			if uid, _ := owner(t, info); uid != daemon {
				t.Errorf("%s: the file belongs to %d", name, uid)
			}
		}
		// Root of this machine is nobody in Alluxio when the secret says who it is. Alluxio checks the folders above a file.
		if text, err := inSecond.ReadFile("folder/file"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("another user read %q, %v", text, err)
		}
		if err := inSecond.WriteFile("folder/other", nil, 0o600); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("another user wrote: %v", err)
		}
		r.kill("gateway")
		r.kill("driver")
		r.start("gateway")
		r.start("driver")
		if err := inSecond.WriteFile("mine", []byte("text"), 0o600); err != nil {
			t.Error(err)
		}
		if err := fusetest.As(daemon, daemon, func() error { return inFirst.WriteFile("after", nil, 0o600) }); err != nil {
			t.Error("after the death of driver and gateway:", err)
		}
		r.nowhere("carol-4711")
		for _, root := range []*os.Root{inFirst, inSecond, inPlain} {
			_ = root.Close()
		}
		for _, v := range []*volume{first, second} {
			r.until("unpublishing", func(ctx context.Context) error { return v.unpublish(ctx, "pod") })
			r.until("unstaging", v.unstage)
		}
		plain.finish(t)
		r.nothingLeft()
	})
}

// nowhere checks that a secret is in no command line, environment, log or file of the rig.
func (r *rig) nowhere(secret string) {
	r.t.Helper()
	var files []string
	for _, process := range r.processes {
		for _, name := range []string{"cmdline", "environ"} {
			files = append(files, fmt.Sprintf("/proc/%d/%s", process.Process.Pid, name))
		}
	}
	for _, place := range []string{r.logFile(), r.state(), r.spool(), filepath.Join(r.dir, "alluxio-site.properties")} {
		if err := filepath.WalkDir(place, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				files = append(files, path)
			}
			return err
		}); err != nil {
			r.t.Error(err)
		}
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil {
			r.t.Error(err)
		} else if at := strings.Index(string(text), secret); at >= 0 {
			r.t.Errorf("%s has the secret: ...%s", file, text[max(0, at-200):at])
		}
	}
}

// A user whom Alluxio refuses the folder is told so before the pod starts, and nothing stays.
func TestAUserWhoMayNotIsToldAndLeavesNothing(t *testing.T) {
	onTheGateway(t, func(t *testing.T, r *rig) {
		v := &volume{r: r, name: "pvc-closed", parameters: map[string]string{attributes.DirectoryMode: "700"}}
		r.until("the volume", v.create)
		inside := &volume{
			r: r, name: "inside", id: "inside", context: map[string]string{attributes.AlluxioPath: v.context[attributes.AlluxioPath] + "/deeper"},
			secrets: map[string]string{attributes.SecretUser: "daemon"},
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := inside.stage(ctx); status.Code(err) != codes.PermissionDenied || !strings.Contains(err.Error(), "daemon") {
			t.Error(err)
		}
		r.until("the end", v.remove)
		r.nothingLeft()
	})
}

// A gateway that may nothing on this machine serves by the descriptors that the keeper hands it, over its own death too.
func TestAGatewayWithoutPrivilegesServes(t *testing.T) {
	const nobody, user = 65534, 1000
	fusetest.RequireFuse(t)
	program, lacking := realProgram()
	if lacking == "" {
		if err := fusetest.As(nobody, nobody, func() error { _, err := os.ReadFile(program); return err }); err != nil {
			lacking = "nobody may not read the gateway: " + err.Error()
		}
	}
	if lacking != "" {
		t.Skip("skipped:", lacking)
	}
	r := newRigAs(t, program, nobody)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.processes["gateway"].Process.Pid))
	if err != nil || !strings.Contains(string(status), "CapEff:\t0000000000000000\n") || !strings.Contains(string(status), "Uid:\t65534\t65534\t65534\t65534\n") {
		t.Fatalf("the gateway has privileges: %s, %v", status, err)
	}
	// Of files that never change the kernel would read block files by itself.
	v := &volume{r: r, name: "pvc-unprivileged", parameters: map[string]string{"consistency": "immutable"}}
	r.until("the volume", v.create)
	r.until("staging", v.stage)
	r.until("publishing", func(ctx context.Context) error { return v.publish(ctx, "pod", false) })
	root := v.root("pod")
	data := bytes.Repeat([]byte("0123456789abcdef"), 128<<10)
	if err := fusetest.As(user, user, func() error { return root.WriteFile("file", data, 0o600) }); err != nil {
		t.Fatal(err)
	}
	list, err := r.gateway.List(t.Context(), &controlpb.ListRequest{})
	if err != nil || len(list.GetVolumes()) != 1 || !strings.Contains(list.GetVolumes()[0].GetSessionLine(), "passthrough(needs CAP_SYS_ADMIN)") {
		t.Errorf("the session does not say what needs privileges: %v, %v", list, err)
	}
	r.kill("gateway")
	r.start("gateway")
	if text, err := root.ReadFile("file"); err != nil || !bytes.Equal(text, data) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if err := fusetest.As(user, user, func() error { return errors.Join(root.Rename("file", "moved"), root.WriteFile("after", data, 0o600)) }); err != nil {
		t.Error(err)
	}
	if err := fusetest.As(user+1, user+1, func() error { _, err := root.ReadFile("moved"); return err }); !errors.Is(err, fs.ErrPermission) {
		t.Error("another user reads:", err)
	}
	_ = root.Close()
	v.finish(t)
	r.nothingLeft()
}

// The group of a pod's securityContext.fsGroup may what the group of the volume may, and is seen as its group.
func TestTheGroupOfThePodMayAndOthersMayNot(t *testing.T) {
	const user, group, otherGroup = 1000, 2000, 3000
	onTheGateway(t, func(t *testing.T, r *rig) {
		v := &volume{r: r, name: "pvc-group", group: "2000", parameters: map[string]string{attributes.DirectoryMode: "770"}}
		r.until("the volume", v.create)
		r.until("staging", v.stage)
		r.until("publishing", func(ctx context.Context) error { return v.publish(ctx, "pod", false) })
		root := v.root("pod")
		if err := fusetest.As(user, group, func() error { return root.WriteFile("file", []byte("text"), 0o640) }); err != nil {
			t.Error(err)
		}
		for _, name := range []string{".", "file"} {
			info, err := root.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, gid := owner(t, info); gid != group {
				t.Errorf("%s belongs to the group %d", name, gid)
			}
		}
		if err := fusetest.As(user+1, group, func() error { _, err := root.ReadFile("file"); return err }); err != nil {
			t.Error("another of the group:", err)
		}
		if err := fusetest.As(user+1, otherGroup, func() error { _, err := root.ReadFile("file"); return err }); !errors.Is(err, fs.ErrPermission) {
			t.Error("one of another group:", err)
		}
		_ = root.Close()
		v.finish(t)
		r.nothingLeft()
	})
}

// Two pods of different fsGroups on one node are each shown their own, and what one writes the other reads. A kernel that cannot show both
// has the second refused.
func TestTheGroupsOfTwoPodsAreEachShownTheirOwn(t *testing.T) {
	const user, first, second = 1000, 2000, 1000680000
	onTheGateway(t, func(t *testing.T, r *rig) {
		v := &volume{r: r, name: "pvc-groups", group: strconv.Itoa(first), parameters: map[string]string{attributes.DirectoryMode: "770"}}
		r.until("the volume", v.create)
		r.until("staging", v.stage)
		r.until("publishing", func(ctx context.Context) error { return v.publish(ctx, "pod", false) })
		other := *v
		other.group = strconv.Itoa(second)
		if err := other.publish(t.Context(), "other", false); err != nil {
			list, listErr := r.gateway.List(t.Context(), &controlpb.ListRequest{})
			if status.Code(err) != codes.FailedPrecondition || listErr != nil || !strings.Contains(list.String(), "allow_idmap(not in this kernel)") {
				t.Error(err, list, listErr)
			}
			v.finish(t)
			r.nothingLeft()
			return
		}
		inFirst, inSecond := v.root("pod"), v.root("other")
		check := func(name string) {
			t.Helper()
			for group, in := range map[uint32]*os.Root{first: inFirst, second: inSecond} {
				info, err := in.Stat(name)
				if err != nil {
					t.Error(err)
				} else if uid, gid := owner(t, info); gid != group || name != "." && uid != user {
					t.Errorf("%s belongs to %d:%d for the pod of group %d", name, uid, gid, group)
				}
			}
		}
		check(".")
		if err := fusetest.As(user, first, func() error { return inFirst.WriteFile("by-first", []byte("1"), 0o660) }); err != nil {
			t.Error(err)
		}
		if err := fusetest.As(user, second, func() error { return inSecond.WriteFile("by-second", []byte("2"), 0o660) }); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"by-first", "by-second"} {
			check(name)
			if err := fusetest.As(user+1, second, func() error { _, err := inSecond.ReadFile(name); return err }); err != nil {
				t.Error("the second pod's group:", err)
			}
			if err := fusetest.As(user+1, first, func() error { _, err := inSecond.ReadFile(name); return err }); !errors.Is(err, fs.ErrPermission) {
				t.Error("the first pod's group in the second pod:", err)
			}
		}
		insideAUserNamespace(t, v.target("pod"), filepath.Join(r.dir, "inside"), user, first)
		r.kill("gateway")
		r.start("gateway")
		if err := fusetest.As(user, second, func() error { return inSecond.Rename("by-second", "renamed") }); err != nil {
			t.Error(err)
		}
		check("renamed")
		_ = errors.Join(inFirst.Close(), inSecond.Close())
		r.until("unpublishing", func(ctx context.Context) error { return v.unpublish(ctx, "other") })
		v.finish(t)
		r.nothingLeft()
	})
}

// insideAUserNamespace does what a container runtime does for a pod with hostUsers: false, and what that pod then does.
func insideAUserNamespace(t *testing.T, published, inside string, user, group int) {
	t.Helper()
	const shift = 100_000
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	shifted := mounts.IDs{{ContainerID: 0, HostID: shift, Size: 65536}}
	if err := mounts.BindMapped(published, inside, false, shifted, shifted); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(unix.Unmount(inside, unix.MNT_DETACH), os.Remove(inside)) }()
	outer, outerErr := os.OpenRoot(published)
	inner, innerErr := os.OpenRoot(inside)
	if err := errors.Join(outerErr, innerErr); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(outer.Close(), inner.Close()) }()
	if err := fusetest.As(shift+user, shift+group, func() error { return inner.WriteFile("by-inside", nil, 0o660) }); err != nil {
		t.Error(err)
	}
	for added, in := range map[int]*os.Root{0: outer, shift: inner} {
		info, err := in.Stat("by-inside")
		if err != nil {
			t.Fatal(err)
		}
		if uid, gid := owner(t, info); int(uid) != added+user || int(gid) != added+group {
			t.Errorf("the file belongs to %d:%d where owners are shown %d higher", uid, gid, added)
		}
	}
}

// Each access mode with two pods on the node, the second of them read-only.
func TestWhatEachAccessModeAllows(t *testing.T) {
	type mode = csi.VolumeCapability_AccessMode_Mode
	cases := map[mode]struct{ writable, twice bool }{
		csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER:   {true, true},
		csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER:        {true, true},
		csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER:  {true, true},
		csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER: {true, false},
		csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY:    {false, true},
	}
	onTheGateway(t, func(t *testing.T, r *rig) {
		for mode, allowed := range cases {
			v := &volume{r: r, name: "pvc-" + strings.ToLower(strings.ReplaceAll(mode.String(), "_", "-")), mode: mode}
			r.until("the volume", v.create)
			r.until("staging", v.stage)
			r.until("publishing", func(ctx context.Context) error { return v.publish(ctx, "pod", false) })
			err := os.WriteFile(filepath.Join(v.target("pod"), "file"), []byte("text"), 0o644)
			if allowed.writable && err != nil || !allowed.writable && !errors.Is(err, syscall.EROFS) {
				t.Errorf("%v: the first pod writes: %v", mode, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			err = v.publish(ctx, "reader", true)
			cancel()
			if allowed.twice && err != nil || !allowed.twice && status.Code(err) != codes.FailedPrecondition {
				t.Errorf("%v: a second pod: %v", mode, err)
			}
			if err == nil {
				if err := os.WriteFile(filepath.Join(v.target("reader"), "other"), nil, 0o644); !errors.Is(err, syscall.EROFS) {
					t.Errorf("%v: the second pod writes: %v", mode, err)
				}
			}
			r.until("unpublishing", func(ctx context.Context) error { return v.unpublish(ctx, "reader") })
			v.finish(t)
		}
		r.nothingLeft()
	})
}

// An Alluxio property that is allowed reaches the client; one that is not, or that Alluxio does not know, is told.
func TestAlluxioPropertiesOfAVolume(t *testing.T) {
	onTheGateway(t, func(t *testing.T, r *rig) {
		v := &volume{r: r, name: "pvc-properties", parameters: map[string]string{"alluxio.user.block.size.bytes.default": "1MB"}}
		r.until("the volume", v.create)
		r.until("staging", v.stage)
		r.until("publishing", func(ctx context.Context) error { return v.publish(ctx, "pod", false) })
		if err := os.WriteFile(filepath.Join(v.target("pod"), "file"), make([]byte, 3<<20), 0o644); err != nil {
			t.Fatal(err)
		}
		list, err := r.gateway.List(t.Context(), &controlpb.ListRequest{})
		if err != nil || len(list.GetVolumes()) != 1 {
			t.Fatal(list, err)
		}
		info, err := r.gateway.PathInfo(t.Context(), &controlpb.PathInfoRequest{Volume: list.GetVolumes()[0].GetVolume(), Path: "/file"})
		if err != nil || len(info.GetBlocks()) != 3 {
			t.Errorf("the file has other blocks: %v, %v", info, err)
		}
		for name, says := range map[string]string{
			"alluxio.master.hostname":           "alluxio-site.properties",
			"alluxio.user.client.cache.enabled": "workers",
			"alluxio.user.streaming.nonsense":   "nonsense",
		} {
			bad := &volume{r: r, name: "bad", id: "bad", context: map[string]string{attributes.AlluxioPath: "/", name: "1"}}
			if err := bad.stage(t.Context()); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", name, err)
			}
		}
		v.finish(t)
		r.nothingLeft()
	})
}

// What a claim asks for and what Alluxio has are told as they are: nothing enforces the first.
func TestCapacityIsToldAsItIs(t *testing.T) {
	onTheGateway(t, func(t *testing.T, r *rig) {
		const asked = 5 << 30
		var made []*csi.Volume
		for number := range 5 {
			answer, err := r.control.CreateVolume(t.Context(), &csi.CreateVolumeRequest{
				Name: fmt.Sprintf("pvc-size-%d", number), VolumeCapabilities: []*csi.VolumeCapability{(&volume{}).capability()},
				CapacityRange: &csi.CapacityRange{RequiredBytes: asked},
			})
			if err != nil || answer.GetVolume().GetCapacityBytes() != asked {
				t.Fatal(answer, err)
			}
			made = append(made, answer.GetVolume())
		}
		var listed []string
		for token, first := "", true; first || token != ""; first = false {
			page, err := r.control.ListVolumes(t.Context(), &csi.ListVolumesRequest{MaxEntries: 2, StartingToken: token})
			if err != nil || len(page.GetEntries()) > 2 {
				t.Fatal(page, err)
			}
			for _, entry := range page.GetEntries() {
				listed = append(listed, entry.GetVolume().GetVolumeId())
			}
			token = page.GetNextToken()
		}
		for _, one := range made {
			if !slices.Contains(listed, one.GetVolumeId()) || len(listed) != len(made) {
				t.Errorf("%s is not among %v", one.GetVolumeId(), listed)
			}
		}
		v := &volume{r: r, name: "pvc-size-0", id: made[0].GetVolumeId(), context: made[0].GetVolumeContext()}
		r.until("staging", v.stage)
		r.until("publishing", func(ctx context.Context) error { return v.publish(ctx, "pod", false) })
		r.until("the figures of Alluxio", func(ctx context.Context) error {
			stats, err := v.stats(ctx)
			if err != nil {
				return err
			}
			usage := stats.GetUsage()[0]
			var disk syscall.Statfs_t
			if err := syscall.Statfs(v.target("pod"), &disk); err != nil {
				t.Error(err)
			}
			if total := int64(disk.Blocks) * disk.Bsize; usage.GetTotal() <= 0 || usage.GetTotal() != total || stats.GetVolumeCondition().GetAbnormal() {
				return fmt.Errorf("%v, while statfs says %d bytes", stats, total)
			}
			return nil
		})
		r.until("unpublishing", func(ctx context.Context) error { return v.unpublish(ctx, "pod") })
		r.until("unstaging", v.unstage)
		for _, one := range made {
			r.until("the end of "+one.GetVolumeId(), (&volume{r: r, id: one.GetVolumeId()}).remove)
		}
		r.nothingLeft()
	})
}
