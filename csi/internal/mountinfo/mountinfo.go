// Package mountinfo answers questions about mounts from /proc/self/mountinfo, never by touching a mount: a stat of a
// mount whose server hangs would hang the caller.
package mountinfo

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Mount is one line of mountinfo, of this process's mount namespace.
type Mount struct {
	ID     int
	Parent int
	// Device is "major:minor" of the mounted file system.
	Device string
	// Root is the folder inside the file system that is mounted.
	Root       string
	MountPoint string
	// Options are those of this mount ("ro,nosuid"), not of the file system.
	Options string
	FSType  string
	Source  string
	// Super are the options of the file system, whatever mount shows it ("rw,allow_other").
	Super string
}

// ReadOnly says whether this mount refuses writes.
func (m Mount) ReadOnly() bool { return m.has("ro") }

// IDMapped says whether this mount shows other owners than the file system has.
func (m Mount) IDMapped() bool { return m.has("idmapped") }

func (m Mount) has(wanted string) bool { return slices.Contains(strings.Split(m.Options, ","), wanted) }

// With says whether the mount or its file system has an option.
func (m Mount) With(option string) bool {
	return m.has(option) || slices.Contains(strings.Split(m.Super, ","), option)
}

// Table is all mounts of a namespace, in the kernel's order.
type Table []Mount

// Read reads the mounts that this process sees.
//
// Linux before 5.8 ("proc/mounts: add cursor") may leave a mount out while another one is removed, as the table is read in pieces. A mount
// that is left out counts as gone, so a reading is believed when the next one is the same.
func Read() (Table, error) {
	return readStable(func() ([]byte, error) { return os.ReadFile("/proc/self/mountinfo") })
}

// maxReadings is many more than a node needs that mounts and unmounts all the time: one takes less than a millisecond.
const maxReadings = 64

func readStable(read func() ([]byte, error)) (Table, error) {
	last, err := read()
	if err != nil {
		return nil, err
	}
	for range maxReadings {
		next, err := read()
		if err != nil {
			return nil, err
		}
		if bytes.Equal(last, next) {
			return Parse(string(next))
		}
		last = next
	}
	return nil, fmt.Errorf("mountinfo: the table of mounts changed in each of %d readings: end the program that mounts all the time, or retry",
		maxReadings)
}

// Parse reads the text of a mountinfo file.
func Parse(text string) (Table, error) {
	var table Table
	for line := range strings.Lines(text) {
		mount, err := parseLine(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		table = append(table, mount)
	}
	return table, nil
}

// parseLine reads "ID PARENT MAJ:MIN ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPEROPTIONS".
func parseLine(line string) (Mount, error) {
	own, super, found := strings.Cut(line, " - ")
	fields, superFields := strings.Split(own, " "), strings.Split(super, " ")
	if !found || len(fields) < 6 || len(superFields) < 2 {
		return Mount{}, fmt.Errorf("mountinfo: line %q is not valid", line)
	}
	id, err := strconv.Atoi(fields[0])
	if err != nil {
		return Mount{}, fmt.Errorf("mountinfo: line %q: %w", line, err)
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return Mount{}, fmt.Errorf("mountinfo: line %q: %w", line, err)
	}
	if len(superFields) < 3 {
		superFields = append(superFields, "")
	}
	return Mount{
		ID: id, Parent: parent, Device: fields[2], Root: unescape(fields[3]), MountPoint: unescape(fields[4]),
		Options: fields[5], FSType: superFields[0], Source: unescape(superFields[1]), Super: superFields[2],
	}, nil
}

// unescape undoes the kernel's three-digit octal escapes (space, tab, newline, backslash).
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				plain.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		plain.WriteByte(text[i])
	}
	return plain.String()
}

// At returns the mount that a path walk to mountPoint ends on: of several stacked ones, the topmost.
func (t Table) At(mountPoint string) (Mount, bool) {
	var here Table
	covered := map[int]bool{}
	for _, mount := range t {
		if mount.MountPoint == mountPoint {
			here = append(here, mount)
			covered[mount.Parent] = true
		}
	}
	for i := len(here) - 1; i >= 0; i-- {
		if !covered[here[i].ID] {
			return here[i], true
		}
	}
	return Mount{}, false
}

// OfDevice returns the mounts of one file system.
func (t Table) OfDevice(device, fsType string) Table {
	var found Table
	for _, mount := range t {
		if mount.Device == device && mount.FSType == fsType {
			found = append(found, mount)
		}
	}
	return found
}
