package frozen

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// maxPersonal bounds the files of one glob in the user's home.
const maxPersonal = 64

// ChangedTools names what affects gates from outside the work tree and has changed since
// the last call: git's converters, and settings in the user's home of tools that gates often
// run. Programs a claim names, see package verify. Nothing of it is restored; a clean checkout
// does not see it. The first call returns nothing.
func (f *Files) ChangedTools(converters map[string]string) ([]string, error) {
	now := map[string]string{}
	for _, glob := range f.o.Personal {
		names, err := filepath.Glob(glob)
		if err != nil { // a home with brackets in its name
			names = []string{glob}
		}
		for _, name := range names[:min(len(names), maxPersonal)] {
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				now["the user's "+name] = state(name, info)
			}
		}
	}
	for name, value := range converters {
		now["git's "+name] = value
	}
	file := filepath.Join(f.o.Store, "around.json")
	var was map[string]string
	b, err := atomicfile.Read(file, atomicfile.Large)
	first := errors.Is(err, fs.ErrNotExist)
	if err == nil {
		err = json.Unmarshal(b, &was)
	}
	if err != nil && !first {
		return nil, fmt.Errorf("read what is around the work tree: %w", err)
	}
	var moved []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if !first && was[name] != now[name] {
			moved = append(moved, name+" is another than before: "+now[name])
		}
	}
	if maps.Equal(was, now) {
		return nil, nil
	}
	if b, err = json.Marshal(now); err == nil {
		err = atomicfile.Write(file, b, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("keep what is around the work tree: %w", err)
	}
	return moved, nil
}

// recordTools asks for the first time.
func (f *Files) recordTools() error {
	var converters map[string]string
	if f.o.Converters != nil {
		var err error
		if converters, err = f.o.Converters(); err != nil {
			return err
		}
	}
	_, err := f.ChangedTools(converters)
	return err
}

// maxHashed bounds the files that are told apart by their content.
const maxHashed = 1 << 20

// state tells one state of a file from another, in words. What it holds is not for the
// log: there may be passwords in it.
func state(file string, info fs.FileInfo) string {
	if info.Size() > maxHashed {
		return fmt.Sprintf("%d bytes, of %s", info.Size(), info.ModTime().Format("2006-01-02 15:04:05"))
	}
	return fmt.Sprintf("%d bytes, sha256 %.12s…", info.Size(), atomicfile.Fingerprint(file, maxHashed))
}
