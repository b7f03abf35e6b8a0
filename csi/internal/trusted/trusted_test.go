package trusted

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// stranger is a user who is neither root nor the test's.
const stranger = 54321

func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root gives files to others")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Fatalf("got %v, want something about %q", err, says)
	}
}

func TestAFolderIsMadeOnceAndBelieved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		must(t, Folder(path, 0o700))
	}
}

func logged(t *testing.T) *bytes.Buffer {
	t.Helper()
	before, log := slog.Default(), &bytes.Buffer{}
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return log
}

// As the folders of a project are, and /var/local of Debian.
func TestAGroupMayWriteAboveAndTheLogSaysSoOnce(t *testing.T) {
	needRoot(t)
	parent := filepath.Join(t.TempDir(), "parent")
	path := filepath.Join(parent, "f")
	must(t, os.Mkdir(parent, 0o755))
	must(t, os.Chown(parent, 0, stranger))
	must(t, os.Chmod(parent, 0o775|os.ModeSetgid))
	log := logged(t)
	for range 2 {
		must(t, Folder(path, 0o700))
	}
	if strings.Count(log.String(), "chmod g-w "+parent) != 1 || !strings.Contains(log.String(), "group 54321") {
		t.Fatalf("the log says %q", log)
	}
}

func TestFoldersThatOthersCouldReplaceAreRefused(t *testing.T) {
	needRoot(t)
	parent := filepath.Join(t.TempDir(), "parent")
	path := filepath.Join(parent, "a", "f")
	must(t, os.MkdirAll(path, 0o755))
	must(t, Folder(path, 0o700))
	must(t, os.Chmod(parent, 0o777))
	refused(t, Folder(path, 0o700), "every user could replace it")
	must(t, os.Chmod(parent, 0o777|os.ModeSticky))
	must(t, Folder(path, 0o700))
	must(t, os.Chmod(parent, 0o755))
	must(t, os.Chown(parent, stranger, stranger))
	for range 2 {
		refused(t, Folder(filepath.Join(parent, "b", "f"), 0o700), "of user 54321, who could replace it")
	}
	log := logged(t)
	must(t, Folder(path, 0o700))
	if !strings.Contains(log.String(), "chown root "+parent) {
		t.Fatalf("the log says %q", log)
	}
	must(t, os.Chmod(parent, 0o757))
	refused(t, Folder(path, 0o700), "every user could replace it")
	must(t, os.Chmod(parent, 0o755))
	must(t, os.Chown(parent, 0, 0))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(parent, link))
	must(t, Folder(filepath.Join(link, "a", "f"), 0o700))
	must(t, os.Lchown(link, stranger, stranger))
	refused(t, Folder(filepath.Join(link, "a", "f"), 0o700), "of user 54321, who could replace it")
}

func TestFoldersThatOthersCouldFillAreRefused(t *testing.T) {
	needRoot(t)
	parent := t.TempDir()
	path := filepath.Join(parent, "f")
	must(t, os.Mkdir(path, 0o755))
	must(t, os.Chmod(path, 0o775))
	refused(t, Folder(path, 0o700), "chmod go-w")
	must(t, os.Chmod(path, 0o1777))
	refused(t, Folder(path, 0o700), "chmod go-w")
	must(t, os.Chmod(path, 0o755))
	must(t, Folder(path, 0o700))
	must(t, os.Chown(path, stranger, stranger))
	refused(t, Folder(path, 0o700), "belongs to user 54321")
	must(t, os.Symlink("/etc", filepath.Join(parent, "link")))
	must(t, Folder(filepath.Join(parent, "link"), 0o700))
	must(t, os.Lchown(filepath.Join(parent, "link"), stranger, stranger))
	refused(t, Folder(filepath.Join(parent, "link"), 0o700), "link that user 54321 made")
	must(t, os.WriteFile(filepath.Join(parent, "file"), nil, 0o600))
	if err := Folder(filepath.Join(parent, "file"), 0o700); err == nil {
		t.Fatal("a file was taken for a folder")
	}
}

func TestFilesThatOthersCouldHaveWrittenAreRefused(t *testing.T) {
	needRoot(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "record")
	read := func() error { _, err := ReadFile(path); return err }
	if err := read(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	must(t, os.WriteFile(path, []byte("text"), 0o600))
	if text, err := ReadFile(path); err != nil || string(text) != "text" {
		t.Fatal(text, err)
	}
	must(t, os.Chmod(path, 0o662))
	refused(t, read(), "chmod go-w")
	must(t, os.Chmod(path, 0o600))
	must(t, os.Chown(path, stranger, stranger))
	refused(t, read(), "belongs to user 54321")
	must(t, os.Chown(path, 0, 0))
	must(t, os.Link(path, filepath.Join(folder, "other")))
	refused(t, read(), "2 hard links")
	must(t, os.Remove(path))
	must(t, os.Symlink("other", path))
	refused(t, read(), "symbolic link")
	must(t, os.Remove(path))
	must(t, unix.Mkfifo(path, 0o600))
	refused(t, read(), "wrong file type")
	must(t, os.Remove(path))
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, os.Truncate(path, MaxFileBytes+1))
	refused(t, read(), "remove it")
}

// listenAs makes a socket as another user, on a thread that ends with it.
func listenAs(t *testing.T, uid int, path string) {
	t.Helper()
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends, and with it the other user
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
			made <- errno
			return
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err == nil {
			t.Cleanup(func() { _ = unix.Close(fd) })
			err = errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 1))
		}
		made <- err
	}()
	must(t, <-made)
}

func TestASocketOfAnotherUserIsNotBelieved(t *testing.T) {
	needRoot(t)
	folder := t.TempDir()
	must(t, os.Chmod(filepath.Dir(folder), 0o755))
	must(t, os.Chmod(folder, 0o777))
	for uid, says := range map[int]string{0: "", stranger: "user 54321 listens"} {
		path := filepath.Join(folder, "s"+strconv.Itoa(uid))
		listenAs(t, uid, path)
		conn, err := net.Dial("unix", path)
		must(t, err)
		defer func() { _ = conn.Close() }()
		if err := Peer(conn.(*net.UnixConn)); says == "" {
			must(t, err)
		} else {
			refused(t, err, says)
		}
	}
}
