// Package keeperapi is the keeper's protocol: its messages, a connection that carries lines and file descriptors, and a
// client. The keeper and everybody who talks to it import it; it imports nothing of this module but trusted.
package keeperapi

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// DefaultSocket is where a keeper listens unless told otherwise.
const DefaultSocket = "/run/posix-gateway/keeper.sock"

// FSType is the type of every mount of this project, as mountinfo shows it.
const FSType = "fuse.posix-gateway"

// Limits of the protocol.
const (
	MaxIDBytes         = 255
	MaxRecordBytes     = 64 << 10
	MaxMemoryBytes     = 16 << 30
	DefaultMemoryBytes = 1 << 20
	MaxNoticeBytes     = 16 << 10
	maxLineBytes       = 256 << 10
	// maxFiles is more than any message carries.
	maxFiles = 16
)

// Operations, as they stand in Request.Op.
const (
	OpInfo     = "info"
	OpMount    = "mount"
	OpTake     = "take"
	OpAdopt    = "adopt"
	OpRecord   = "record"
	OpNotify   = "notify"
	OpList     = "list"
	OpUnmount  = "unmount"
	OpHandover = "handover"
	OpTaken    = "taken"
)

// Codes of refusals.
const (
	NotFound = "not_found"
	Exists   = "exists"
	Invalid  = "invalid"
	Failed   = "failed"
)

// Error is a refusal: Code is one of the above, Message a sentence that says what to do.
type Error struct {
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Message }

// Errorf makes a refusal.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Request is any line from a client; which fields count depends on Op.
type Request struct {
	Op                 string `json:"op"`
	ID                 string `json:"id,omitempty"`
	Target             string `json:"target,omitempty"`
	Source             string `json:"source,omitempty"`
	FSType             string `json:"fstype,omitempty"`
	ReadOnly           bool   `json:"read_only,omitempty"`
	AllowOther         bool   `json:"allow_other,omitempty"`
	DefaultPermissions bool   `json:"default_permissions,omitempty"`
	// Flags are of MountFlags: what is mounted otherwise than nosuid, nodev.
	Flags []string `json:"flags,omitempty"`
	// MaxRead is in bytes; 0: the kernel's own limit.
	MaxRead     uint32 `json:"max_read,omitempty"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
	// Device is "major:minor" of the mount that notices are for; "" is any.
	Device string `json:"device,omitempty"`
	Force  bool   `json:"force,omitempty"`
	// Clone asks OpTake for what a gateway needs besides: With of the answer.
	Clone bool `json:"clone,omitempty"`
	// Takes is how often a session that is to be adopted was taken.
	Takes int64 `json:"takes,omitempty"`
	// Data, in base64, is the record (nil asks for it, empty deletes it), or notices for the kernel.
	Data *[]byte `json:"data,omitempty"`
}

// Status opens every answer.
type Status struct {
	OK      bool   `json:"ok"`
	Code    string `json:"code,omitempty"`
	Message string `json:"error,omitempty"`
}

// Info answers OpInfo.
type Info struct {
	Status
	Version    string `json:"version"`
	PID        int    `json:"pid"`
	Sessions   int    `json:"sessions"`
	Generation string `json:"generation"`
}

// Done answers OpMount and OpUnmount. Existing: the session was there before the call.
type Done struct {
	Status
	Existing bool `json:"existing"`
}

// What a gateway is given besides connection and memory; the keeper keeps no copy of either.
const (
	// WithClone is a descriptor of the connection with requests of its own: what is read from it and not answered is ended by the
	// kernel when its owner ends.
	WithClone = "clone"
	// WithLock is a file whose lock says that its owner lives.
	WithLock = "lock"
)

// Taken answers OpTake; the /dev/fuse connection and the session memory come with it, in this order, then what With names.
type Taken struct {
	Status
	ID          string `json:"id"`
	Target      string `json:"target"`
	MemoryBytes int64  `json:"memory_bytes"`
	ReadOnly    bool   `json:"read_only"`
	// Takes counts the takes before this one.
	Takes int64 `json:"takes"`
	// Device is "major:minor" of the mount, which tells whose an open file is.
	Device string `json:"device,omitempty"`
	// With names the further descriptors, in their order.
	With []string `json:"with,omitempty"`
}

// Record answers OpRecord.
type Record struct {
	Status
	Data []byte `json:"data"`
}

// Notified answers OpNotify: what the kernel said, 0 or an errno.
type Notified struct {
	Status
	Errno int `json:"errno"`
}

// Session is one element of List.
type Session struct {
	ID       string `json:"id"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"read_only"`
	Takes    int64  `json:"takes"`
	// Mounted: mountinfo shows the session's file system somewhere.
	Mounted   bool `json:"mounted"`
	HasRecord bool `json:"has_record"`
	// Ended: its connection was aborted. Nobody can serve it any more, and the next OpMount makes it anew.
	Ended bool `json:"ended,omitempty"`
}

// List answers OpList, sorted by id.
type List struct {
	Status
	List []Session `json:"list"`
}

// Handover opens the answer to OpHandover; Count lines of HandedSession follow, each with its two descriptors.
type Handover struct {
	Status
	Count      int    `json:"count"`
	Generation string `json:"generation"`
}

// HandedSession is everything a keeper knows of a session.
type HandedSession struct {
	ID          string `json:"id"`
	Target      string `json:"target"`
	MountPoint  string `json:"mount_point"`
	Device      string `json:"device"`
	MemoryBytes int64  `json:"memory_bytes"`
	ReadOnly    bool   `json:"read_only"`
	Takes       int64  `json:"takes"`
	Data        []byte `json:"data"`
}

// MountFlags are the words that Request.Flags may hold.
var MountFlags = []string{"suid", "dev", "noexec", "sync", "dirsync", "noatime", "nodiratime", "strictatime"}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,255}$`)

// CheckID refuses a session id that is not 1 to 255 of [A-Za-z0-9._:-].
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return Errorf(Invalid, "id %.80q: give 1 to %d of the characters A-Z a-z 0-9 . _ : -", id, MaxIDBytes)
	}
	return nil
}

// Check refuses a mount request that the keeper would not carry out, and fills in defaults.
func (r *Request) Check() error {
	r.FSType, r.Source, r.MemoryBytes = cmp.Or(r.FSType, FSType), cmp.Or(r.Source, r.ID), cmp.Or(r.MemoryBytes, DefaultMemoryBytes)
	if err := CheckID(r.ID); err != nil {
		return err
	}
	if !isTarget(r.Target) {
		return Errorf(Invalid, "target %.80q: give the absolute path of a folder, without . or .. in it", r.Target)
	}
	if r.FSType != FSType {
		return Errorf(Invalid, "fstype %.80q: only %s is allowed", r.FSType, FSType)
	}
	if len(r.Source) > 1024 || strings.ContainsFunc(r.Source, unicode.IsControl) {
		return Errorf(Invalid, "source %.80q: give at most 1024 bytes without control characters", r.Source)
	}
	for _, flag := range r.Flags {
		if !slices.Contains(MountFlags, flag) {
			return Errorf(Invalid, "flag %.80q: give one or more of %s", flag, strings.Join(MountFlags, ", "))
		}
	}
	if r.MemoryBytes < 0 || r.MemoryBytes > MaxMemoryBytes {
		return Errorf(Invalid, "memory_bytes %d: give 1 to %d, or 0 for %d", r.MemoryBytes, int64(MaxMemoryBytes), DefaultMemoryBytes)
	}
	return nil
}

func isTarget(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && path != "/" && len(path) < 4096 && !strings.ContainsAny(path, "\x00\n")
}
