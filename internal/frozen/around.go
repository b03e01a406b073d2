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
)

const programOf = "the program "

// Moved says what has a word in the gates' results though it lies outside of the
// work tree, and is no longer what it was when this was last asked: the programs
// that gates run by name, git's converters, and the settings in the user's home of
// those that gates often run. It is the user's, so it is named
// and not put back. The first time there is nothing to say.
func (f *Files) Moved(converters map[string]string) ([]string, error) {
	now := f.personal()
	for name, value := range converters {
		now["git's "+name] = value
	}
	steps, _ := f.reach()
	for _, step := range steps {
		for _, word := range step.Words {
			now[programOf+word+" of the gates"] = f.outside(word)
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

// lookAround asks for the first time.
func (f *Files) lookAround() error {
	var converters map[string]string
	if f.o.Converters != nil {
		var err error
		if converters, err = f.o.Converters(); err != nil {
			return err
		}
	}
	_, err := f.Moved(converters)
	return err
}

// outside tells the program that a word of a command names outside of the work
// tree: which file, and which state of it. "" if there is none.
func (f *Files) outside(word string) string {
	if word == "" || strings.ContainsAny(word, `/\=`) || strings.HasPrefix(word, "-") {
		return ""
	}
	for _, dir := range filepath.SplitList(f.o.Path) {
		info, err := os.Stat(filepath.Join(dir, word))
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		if rel, err := filepath.Rel(f.o.Root, dir); err == nil && filepath.IsLocal(rel) {
			return "" // it is frozen
		}
		return fmt.Sprintf("%s, %d bytes, of %s", filepath.Join(dir, word), info.Size(), info.ModTime().Format("2006-01-02 15:04:05"))
	}
	return ""
}
