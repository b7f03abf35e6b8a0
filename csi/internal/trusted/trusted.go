// Package trusted looks at who could have put something where this process finds it, before it is believed. Processes of this project
// run as root and work in folders of well-known names: whoever can write there, or made them first, would otherwise say what they mount,
// abort and hand over. It imports nothing of this module.
package trusted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// MaxFileBytes bounds what ReadFile reads: no record of this project comes near it.
const MaxFileBytes = 16 << 20

const writableByOthers = 0o022

// self is a variable for tests.
var self = os.Geteuid

// warned has the folders that the log named.
var warned sync.Map

// isOwn says whether a user may say what this process does: root, and its own.
func isOwn(uid uint32) bool { return uid == 0 || uid == uint32(self()) }

// Folder makes a folder and those above it where they are missing, and refuses one that another user owns, may write to, could replace,
// or has put a symbolic link for. The error says what to do. A folder that stands already is accepted below one of another user, as
// earlier versions did, and so is one below a folder that a group may write to: the log names them.
func Folder(path string, mode fs.FileMode) error {
	_, err := os.Stat(path)
	stands := err == nil
	if !stands {
		// Refused before it is made: made, it would stand the next time.
		if err := above(path, stands); err != nil {
			return err
		}
	}
	if err := FolderAnywhere(path, mode); err != nil {
		return err
	}
	return above(path, stands)
}

// FolderAnywhere is Folder for what is not trusted, a lock or a list, which may lie where containers of a pod share a folder: it does not
// look at who could replace it.
func FolderAnywhere(path string, mode fs.FileMode) error {
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	var entry, folder unix.Stat_t
	if err := errors.Join(unix.Lstat(path, &entry), unix.Stat(path, &folder)); err != nil {
		return fmt.Errorf("folder %s: %w", path, err)
	}
	if entry.Mode&unix.S_IFMT == unix.S_IFLNK && !isOwn(entry.Uid) {
		return fmt.Errorf("%s is a link that user %d made: remove it", path, entry.Uid)
	}
	return check(path, &folder, unix.S_IFDIR)
}

// above refuses a folder that another user could put another one in the place of: by a link on the way there, or from a folder above it.
func above(path string, stands bool) error {
	whole, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	there, rest := whole, ""
	for isMissing(there) {
		there, rest = filepath.Dir(there), "missing"
	}
	resolved, err := filepath.EvalSymlinks(there)
	if err != nil {
		return err
	}
	for _, way := range []string{filepath.Join(there, rest), filepath.Join(resolved, rest)} {
		for at := filepath.Dir(way); ; at = filepath.Dir(at) {
			if err := step(path, at, stands); err != nil {
				return err
			}
			if at == "/" {
				break
			}
		}
	}
	return nil
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// step looks at one of the names that lead to path, which may stand already. Anybody may write above it where names can be changed by
// their owners only.
func step(path, at string, stands bool) error {
	var found unix.Stat_t
	if err := unix.Lstat(at, &found); err != nil {
		return fmt.Errorf("folder %s: %w", at, err)
	}
	isFolder := found.Mode&unix.S_IFMT == unix.S_IFDIR
	isOpen := isFolder && found.Mode&unix.S_ISVTX == 0
	switch {
	case !isOwn(found.Uid) && (!isFolder || !stands):
		return fmt.Errorf("%s lies in %s of user %d, who could replace it: move it, or give that folder to root", path, at, found.Uid)
	case isOpen && found.Mode&unix.S_IWOTH != 0:
		return fmt.Errorf("%s lies in %s, where every user could replace it: move it, or chmod o-w %s", path, at, at)
	case !isOwn(found.Uid):
		warn(path, at, fmt.Sprintf("user %d", found.Uid), "chown root "+at)
	case isOpen && isOfAnotherGroup(&found):
		warn(path, at, fmt.Sprintf("group %d", found.Gid), "chmod g-w "+at)
	}
	return nil
}

// isOfAnotherGroup says whether a group may write that is neither root's nor this process's.
func isOfAnotherGroup(found *unix.Stat_t) bool {
	return found.Mode&unix.S_IWGRP != 0 && found.Gid != 0 && found.Gid != uint32(os.Getegid())
}

func warn(path, at, who, mends string) {
	if _, before := warned.LoadOrStore(at, true); !before {
		slog.Warn("others could replace a trusted folder: if they are not trusted, move it, or change the folder above",
			"folder", path, "above", at, "who", who, "command", mends)
	}
}

// ReadFile reads a whole file that lies in a folder which Folder has accepted. It refuses what is no regular file, has another name
// elsewhere, or belongs to or may be written by another user; fs.ErrNotExist where there is none.
func ReadFile(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("file %s is a symbolic link: remove it", path)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	file := os.NewFile(uintptr(fd), path)
	defer func() { _ = file.Close() }()
	var found unix.Stat_t
	if err := unix.Fstat(fd, &found); err != nil {
		return nil, fmt.Errorf("file %s: %w", path, err)
	}
	if err := check(path, &found, unix.S_IFREG); err != nil {
		return nil, err
	}
	if found.Nlink > 1 {
		return nil, fmt.Errorf("file %s has %d hard links: remove it", path, found.Nlink)
	}
	if found.Size > MaxFileBytes {
		return nil, fmt.Errorf("file %s has %d bytes, but a record has at most %d: remove it", path, found.Size, MaxFileBytes)
	}
	return io.ReadAll(io.LimitReader(file, MaxFileBytes))
}

// Peer refuses a connection to a Unix socket at which a process of another user listens.
func Peer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var failure error
	err = raw.Control(func(fd uintptr) { peer, failure = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(err, failure); err != nil {
		return fmt.Errorf("who listens: %w", err)
	}
	if !isOwn(peer.Uid) {
		return fmt.Errorf("a process of user %d listens there (pid %d): only root and user %d are trusted; end it and remove the socket",
			peer.Uid, peer.Pid, self())
	}
	return nil
}

func check(path string, found *unix.Stat_t, kind uint32) error {
	switch {
	case found.Mode&unix.S_IFMT != kind:
		return fmt.Errorf("%s has the wrong file type: remove it", path)
	case !isOwn(found.Uid):
		return fmt.Errorf("%s belongs to user %d, and only root and user %d are trusted: remove it, or give it to root", path, found.Uid, self())
	case found.Mode&writableByOthers != 0:
		return fmt.Errorf("%s has mode %04o, so other users may write to it: chmod go-w %s", path, found.Mode&0o7777, path)
	}
	return nil
}
