package state

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type record struct{ Name string }

func TestRecordsOutliveTheirWriter(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	store, err := Open[record](folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"b", "a", "a.json.b"} { // the last one looks like what a killed writer leaves
		if err := store.Save(key, &record{Name: key}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Save("a", &record{Name: "changed"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a.json.123"), []byte("{"), 0o600); err != nil { // of a killed writer
		t.Fatal(err)
	}
	again, err := Open[record](folder)
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := again.Keys(); err != nil || !slices.Equal(keys, []string{"a", "a.json.b", "b"}) {
		t.Fatal(keys, err)
	}
	if found, err := again.Load("a"); err != nil || found.Name != "changed" {
		t.Fatal(found, err)
	}
	for range 2 {
		if err := again.Remove("a"); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := again.Load("a"); err != nil || found != nil {
		t.Fatal(found, err)
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 2 {
		t.Fatal(entries)
	}
	if info, _ := os.Stat(folder); info.Mode().Perm() != 0o700 {
		t.Fatal(info.Mode())
	}
}

func TestADamagedRecordIsNamed(t *testing.T) {
	folder := t.TempDir()
	store, err := Open[record](folder)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "a.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Load("a"); err == nil || !strings.Contains(err.Error(), path) {
		t.Fatal(err)
	}
}
