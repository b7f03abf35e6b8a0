package mountinfo

import (
	"strings"
	"testing"
)

const sample = `22 27 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
31 27 0:52 / /mnt/with\040space\134and\012line ro,nosuid,nodev shared:9 master:3 - fuse.posix-gateway pv\0401 rw,user_id=0
40 27 0:60 / /mnt/a rw - tmpfs tmpfs rw
41 40 0:61 / /mnt/a rw - fuse.posix-gateway vol rw
42 27 0:61 /sub /mnt/b rw - fuse.posix-gateway vol rw
`

func TestParse(t *testing.T) {
	table, err := Parse(sample)
	if err != nil {
		t.Fatal(err)
	}
	odd, found := table.At("/mnt/with space\\and\nline")
	if !found || odd.Source != "pv 1" || odd.Device != "0:52" || !odd.ReadOnly() {
		t.Errorf("escaped names: got %+v, %v", odd, found)
	}
	if !odd.With("nosuid") || !odd.With("user_id=0") || odd.With("user_id") {
		t.Errorf("options: got %+v", odd)
	}
	if top, _ := table.At("/mnt/a"); top.ID != 41 || top.ReadOnly() {
		t.Errorf("of two stacked mounts the topmost counts: got %+v", top)
	}
	if _, found := table.At("/mnt/none"); found {
		t.Error("a mount where there is none")
	}
	if mounts := table.OfDevice("0:61", "fuse.posix-gateway"); len(mounts) != 2 {
		t.Errorf("mounts of a device: got %+v", mounts)
	}
	if mounts := table.OfDevice("0:61", "ext4"); len(mounts) != 0 {
		t.Errorf("a device number that another file system reused: got %+v", mounts)
	}
}

// The kernel escapes space, tab, newline and backslash alone. Whoever makes a folder in a volume names it as he likes, and a subPath of a
// pod shows that name as the root of a mount.
func TestParseTakesNoNameApart(t *testing.T) {
	for _, odd := range []string{"\v", "\f", "\r", "\u0085", "\u00a0", "\u2003"} {
		table, err := Parse("40 27 0:60 / /pods/victim rw - fuse.posix-gateway pv rw\n" +
			"41 27 0:61 /a" + odd + "/pods/victim /pods/other ro - fuse.posix-gateway vol rw\n" +
			"42 27 0:62 / /b" + odd + "ro rw - tmpfs tmpfs rw\n")
		if err != nil {
			t.Fatal(err)
		}
		if victim, _ := table.At("/pods/victim"); victim.ID != 40 {
			t.Errorf("a name with %q says where another mount is: got %+v", odd, victim)
		}
		if other, found := table.At("/pods/other"); !found || other.Root != "/a"+odd+"/pods/victim" || !other.ReadOnly() {
			t.Errorf("the mount of a name with %q: got %+v, %v", odd, other, found)
		}
		if mount, found := table.At("/b" + odd + "ro"); !found || mount.ReadOnly() {
			t.Errorf("the mount at a name with %q: got %+v, %v", odd, mount, found)
		}
	}
}

func TestParseRefusesWhatItDoesNotUnderstand(t *testing.T) {
	for _, line := range []string{"", "1 2 3", "x 27 0:20 / /sys rw - sysfs sysfs rw", "1 y 0:20 / /sys rw - sysfs sysfs rw"} {
		if _, err := Parse(line + "\n"); err == nil || !strings.Contains(err.Error(), "mountinfo") {
			t.Errorf("line %q: got %v", line, err)
		}
	}
}

// As Linux before 5.8 does while another mount is removed.
func TestAMountThatOneReadingLeavesOutIsThere(t *testing.T) {
	lines := strings.SplitAfter(sample, "\n")
	for leavesOut := range 3 {
		readings := 0
		table, err := readStable(func() ([]byte, error) {
			readings++
			if readings == leavesOut {
				return []byte(strings.Join(lines[1:], "")), nil
			}
			return []byte(sample), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, found := table.At("/sys"); !found {
			t.Errorf("reading %d left it out, and it counts as gone", leavesOut)
		}
	}
}

func TestATableThatNeverStaysTheSameIsNotBelieved(t *testing.T) {
	readings := 0
	_, err := readStable(func() ([]byte, error) {
		readings++
		return []byte(strings.Repeat("22 27 0:20 / /sys rw - sysfs sysfs rw\n", readings)), nil
	})
	if err == nil || !strings.Contains(err.Error(), "changed in each") {
		t.Fatal(err)
	}
}

func TestReadSeesThisMachine(t *testing.T) {
	table, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	if _, found := table.At("/"); !found {
		t.Error("no root mount")
	}
}
