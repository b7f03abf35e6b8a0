// Package state keeps one JSON file per volume, so that a driver that was killed knows what it had begun. A file is
// written beside its place, synced and renamed: it is there whole or not at all.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"posixgateway.io/csi/internal/trusted"
)

// Store keeps records of one type in one folder. Records of different keys may be written at the same time; the caller
// orders writes of one key. Keys must be file names.
type Store[Record any] struct {
	folder string
}

const suffix = ".json"

// Open makes the folder when it is missing, for this user alone, and removes what a killed writer left.
func Open[Record any](folder string) (*Store[Record], error) {
	return open[Record](folder, trusted.Folder)
}

// OpenAnywhere is Open for records on which nothing hangs but what is listed. They may lie where containers of a pod share a folder, who
// could replace them.
func OpenAnywhere[Record any](folder string) (*Store[Record], error) {
	return open[Record](folder, trusted.FolderAnywhere)
}

func open[Record any](folder string, look func(string, fs.FileMode) error) (*Store[Record], error) {
	if err := look(folder, 0o700); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"+suffix+".*"))
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	for _, path := range left {
		if strings.HasSuffix(path, suffix) { // the record of a key such as a.json.b
			continue
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
	}
	return &Store[Record]{folder: folder}, nil
}

func (s *Store[Record]) path(key string) string { return filepath.Join(s.folder, key+suffix) }

// Save writes a record durably.
func (s *Store[Record]) Save(key string, record *Record) (err error) {
	text, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return fmt.Errorf("state of %s: %w", key, err)
	}
	file, err := os.CreateTemp(s.folder, key+suffix+".*")
	if err != nil {
		return fmt.Errorf("state of %s: %w", key, err)
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), s.path(key))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("state of %s: %w", key, err), os.Remove(file.Name()))
	}
	return nil
}

// Load reads a record; nil when there is none.
func (s *Store[Record]) Load(key string) (*Record, error) {
	text, err := trusted.ReadFile(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("state of %s: %w", key, err)
	}
	record := new(Record)
	if err := json.Unmarshal(text, record); err != nil {
		return nil, fmt.Errorf("state file %s is damaged (%w): remove it", s.path(key), err)
	}
	return record, nil
}

// Remove forgets a record; none is fine.
func (s *Store[Record]) Remove(key string) error {
	if err := os.Remove(s.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("state of %s: %w", key, err)
	}
	return nil
}

// Keys lists what is stored, sorted.
func (s *Store[Record]) Keys() ([]string, error) {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	var keys []string
	for _, entry := range entries {
		if key, isRecord := strings.CutSuffix(entry.Name(), suffix); isRecord {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}
