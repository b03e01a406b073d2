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
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/testreport"
)

const (
	programOf   = "the program "
	maxPersonal = 64 // files of one glob in the user's home
)

// ChangedTools names what affects gates from outside the work tree and has changed since
// the last call: the programs that gates run by name, git's converters, and settings in the
// user's home of tools that gates often run. Nothing of it is restored; a clean checkout
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
	steps, _ := testreport.Reach(f.o.Gates, testreport.FilesIn(f.o.Root))
	for _, step := range steps {
		for _, word := range step.Words {
			now[programOf+word+" of the gates"] = f.program(word)
		}
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
		before, known := was[name]
		if first || now[name] == "" || !known && strings.HasPrefix(name, programOf) { // a new word in a script
			continue
		}
		if before != now[name] {
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

// binDirs are the folders in a work tree to which dependencies bring programs.
const binDirs = "node_modules/.bin venv/bin .venv/bin vendor/bin"

// program tells which program a word of a command names, and which state of it. "" if
// there is none.
func (f *Files) program(word string) string {
	if word == "" || strings.ContainsAny(word, `/\=`) || strings.HasPrefix(word, "-") {
		return ""
	}
	var dirs []string
	for dir := range strings.FieldsSeq(binDirs) {
		dirs = append(dirs, filepath.Join(f.o.Root, filepath.FromSlash(dir)))
	}
	for _, dir := range append(dirs, filepath.SplitList(f.o.Path)...) {
		file := filepath.Join(dir, word)
		info, err := os.Stat(file)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file + ", " + state(file, info)
		}
	}
	return ""
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
