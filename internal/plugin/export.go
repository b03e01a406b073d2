package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Export writes the plugin into a folder, which it creates, and reports whether anything changed. It
// refuses a folder that is not empty, unless it holds an earlier export without later changes.
//
// Each file is replaced atomically, the marketplace's last, because a client may read the folder
// meanwhile. The next export finishes one that was interrupted.
func Export(dir string, p Plugin) (changed bool, err error) {
	earlier, err := readChecksums(dir)
	if err != nil {
		return false, err
	}
	if earlier == nil {
		if err := requireEmpty(dir); err != nil {
			return false, err
		}
	}
	wanted := newChecksums(p.Files)
	stale, err := staleFiles(dir, earlier, p.Files)
	if err != nil {
		return false, err
	}
	if len(stale) == 0 && maps.EqualFunc(earlier, wanted, slices.Equal) {
		return false, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("export the plugin: %w", err)
	}
	// The old and the new checksums are written first, so that a crash leaves no file of ours unknown.
	if err := writeChecksums(dir, earlier.union(wanted)); err != nil {
		return false, err
	}
	for _, name := range stale {
		if err := writeOrRemove(dir, name, p.Files[name]); err != nil {
			return true, err
		}
	}
	return true, writeChecksums(dir, wanted)
}

// Remove removes an export from a folder, and the folder if it is empty then. It keeps files that
// were changed since, and returns them.
func Remove(dir string) (left []string, err error) {
	earlier, err := readChecksums(dir)
	if err != nil || earlier == nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(earlier)) {
		content, err := readExported(dir, name)
		switch {
		case err != nil:
			return left, err
		case content != nil && !earlier.matches(name, content):
			left = append(left, name)
		default:
			if err := writeOrRemove(dir, name, nil); err != nil {
				return left, err
			}
		}
	}
	if err := os.Remove(filepath.Join(dir, checksumsFile)); err != nil {
		return left, fmt.Errorf("remove the plugin: %w", err)
	}
	_ = os.Remove(dir) // which fails where something is in it
	return left, nil
}

// requireEmpty returns an error if the folder contains anything.
func requireEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failure.New(failure.Usage, "name a folder that is new or empty", "export the plugin: %w", err)
	}
	for _, e := range entries {
		if !atomicfile.IsTemp(e.Name()) { // left by an export that was killed
			return failure.New(failure.Usage, "name a folder that is new or empty",
				"%s is not empty, and pawl did not export its contents", dir)
		}
	}
	return nil
}

// staleFiles returns the files to write or remove, in that order. It returns an error if one of
// them was changed since the export.
func staleFiles(dir string, earlier checksums, wanted map[string][]byte) (stale []string, err error) {
	var foreign []string
	names := maps.Clone(wanted)
	for name := range earlier {
		names[name] = wanted[name]
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		have, err := readExported(dir, name)
		switch {
		case err != nil:
			return nil, err
		case (have == nil) == (names[name] == nil) && bytes.Equal(have, names[name]):
			continue
		case have != nil && !earlier.matches(name, have):
			foreign = append(foreign, name)
		}
		stale = append(stale, name)
	}
	if foreign != nil {
		return nil, failure.New(failure.Usage, "keep your changes elsewhere and delete the folder, or name another",
			"%s was changed since it was exported (%s)", dir, strings.Join(foreign, ", "))
	}
	slices.SortStableFunc(stale, func(a, b string) int { return writeOrder(a, names) - writeOrder(b, names) })
	return stale, nil
}

func writeOrder(name string, wanted map[string][]byte) int {
	switch {
	case wanted[name] == nil:
		return 2
	case name == marketplaceFile:
		return 1
	}
	return 0
}

// readExported returns a file of the export, nil if it does not exist.
func readExported(dir, name string) ([]byte, error) {
	data, err := atomicfile.Read(filepath.Join(dir, filepath.FromSlash(name)), atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at the plugin: %w", err)
	}
	return append([]byte{}, data...), nil // an empty file is one
}

// writeOrRemove writes a file of the export or, without content, removes it and the
// folders that are empty then.
func writeOrRemove(dir, name string, content []byte) error {
	file := filepath.Join(dir, filepath.FromSlash(name))
	if content != nil {
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = atomicfile.Write(file, content, 0o644)
		}
		if err != nil {
			return fmt.Errorf("export the plugin: %w", err)
		}
		return nil
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s of the plugin: %w", name, err)
	}
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		_ = os.Remove(filepath.Join(dir, filepath.FromSlash(folder))) // which fails where something is in it
	}
	return nil
}
