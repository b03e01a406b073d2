package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Frozen are the files that decide what a gate does: the scripts that gates
// name, the test runners' configuration, Pawl's own, and what the person
// protects. Copies are kept outside the work tree. Test files are none of them:
// those may change, see Request.Judge.
type Frozen struct {
	o     FreezeOptions
	files map[string]frozenFile // by path relative to the root, with slashes
}

// FreezeOptions say what to freeze and where to keep it.
type FreezeOptions struct {
	Root    string      // of the work tree, absolute
	Store   string      // folder outside the work tree for the copies
	Gates   []gate.Gate // their commands name scripts
	Protect []string    // globs of the person's, relative to Root
}

type frozenFile struct {
	Content []byte      `json:"content"`
	Mode    fs.FileMode `json:"mode"`
	Absent  bool        `json:"absent,omitempty"` // it was not there, and must not come to be
}

// runnerFiles configure test runners.
const runnerFiles = `
	jest.config.{js,ts,mjs,cjs,json} vitest.{config,workspace}.{js,ts,mjs,cjs,mts,cts} playwright.config.{js,ts,mjs,cjs}
	.mocharc* ava.config.{js,mjs,cjs} karma.conf.{js,ts} cypress.config.{js,ts,mjs,cjs} bunfig.toml .taprc
	pytest.ini tox.ini phpunit.xml phpunit.xml.dist .rspec package.json`

// buildFiles count where a gate runs the tool that reads them.
const buildFiles = `
	make:Makefile make:makefile make:GNUmakefile just:justfile just:.justfile just:Justfile task:Taskfile.yml task:Taskfile.yaml`

// maxFrozen is the largest file that is frozen, in bytes.
const maxFrozen = 8 << 20

// Freeze takes the copies; where the store holds some already, from before a
// crash, it takes those: the work tree may have been changed since.
func Freeze(o FreezeOptions) (*Frozen, error) {
	f := &Frozen{o: o, files: map[string]frozenFile{}}
	b, err := os.ReadFile(f.index())
	if err == nil {
		if err := json.Unmarshal(b, &f.files); err != nil {
			return nil, fmt.Errorf("read frozen copies %s: %w", f.index(), err)
		}
		return f, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read frozen copies: %w", err)
	}
	paths, err := f.find()
	if err != nil {
		return nil, err
	}
	for _, path := range append(paths, "pawl.toml") {
		file, err := f.read(path)
		if err != nil {
			return nil, err
		}
		f.files[path] = file
	}
	return f, f.save()
}

func (f *Frozen) index() string { return filepath.Join(f.o.Store, "frozen.json") }

func (f *Frozen) save() error {
	b, err := json.Marshal(f.files)
	if err != nil {
		return fmt.Errorf("keep frozen copies: %w", err)
	}
	if err := os.MkdirAll(f.o.Store, 0o700); err != nil {
		return fmt.Errorf("keep frozen copies: %w", err)
	}
	if err := atomicfile.Write(f.index(), b, 0o600); err != nil {
		return fmt.Errorf("keep frozen copies: %w", err)
	}
	return nil
}

// find lists what there is to freeze.
func (f *Frozen) find() ([]string, error) {
	globs := strings.Fields(runnerFiles)
	words := f.words()
	for pair := range strings.FieldsSeq(buildFiles) {
		if tool, file, _ := strings.Cut(pair, ":"); slices.Contains(words, tool) {
			globs = append(globs, file)
		}
	}
	found := map[string]bool{}
	for _, dir := range f.dirs() {
		for _, glob := range globs {
			if err := f.match(found, dir+glob); err != nil {
				return nil, err
			}
		}
		for _, script := range f.scripts() {
			if rel := filepath.ToSlash(filepath.Clean(dir + script)); filepath.IsLocal(rel) {
				found[rel] = true
			}
		}
	}
	for _, glob := range f.o.Protect {
		if err := f.match(found, glob); err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(found, func(path string, _ bool) bool {
		info, err := os.Lstat(f.path(path))
		return err != nil || !info.Mode().IsRegular() || info.Size() > maxFrozen
	})
	return slices.Sorted(maps.Keys(found)), nil
}

func (f *Frozen) match(found map[string]bool, glob string) error {
	matches, err := doublestar.Glob(os.DirFS(f.o.Root), strings.TrimPrefix(glob, "./"), doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	if err != nil {
		return fmt.Errorf("find protected files by %q: %w", glob, err)
	}
	for _, m := range matches {
		if m != ".git" && !strings.HasPrefix(m, ".git/") {
			found[m] = true
		}
	}
	return nil
}

// dirs are the root and the folders that gates run in, each "" or with a slash.
func (f *Frozen) dirs() []string {
	dirs := []string{""}
	for _, g := range f.o.Gates {
		if dir := filepath.ToSlash(filepath.Clean(filepath.FromSlash(g.Dir))); g.Dir != "" && dir != "." && filepath.IsLocal(dir) {
			dirs = append(dirs, dir+"/")
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

func text(g gate.Gate) string {
	if len(g.Argv) > 0 {
		return quoted(g.Argv)
	}
	return g.Command
}

// words of all gates' commands.
func (f *Frozen) words() []string {
	var words []string
	for _, g := range f.o.Gates {
		words = append(words, strings.FieldsFunc(text(g), notInWord)...)
	}
	return words
}

func notInWord(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"", r) }

// scripts are the files that gates execute: a command that is a path, and what
// a shell is given to run.
func (f *Frozen) scripts() []string {
	var found []string
	for _, g := range f.o.Gates {
		file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text(g)), "")
		if err != nil {
			continue
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok {
				found = append(found, executed(c.Args)...)
			}
			return true
		})
	}
	return found
}

func executed(args []*syntax.Word) []string {
	if len(args) == 0 {
		return nil
	}
	name := args[0].Lit()
	switch filepath.Base(name) {
	case "sh", "bash", "dash", "zsh", "ksh", "source", ".":
		for _, arg := range args[1:] {
			if lit := arg.Lit(); lit != "" && !strings.HasPrefix(lit, "-") {
				return []string{lit}
			}
		}
		return nil
	}
	if strings.Contains(name, "/") {
		return []string{name}
	}
	return nil
}

func (f *Frozen) path(rel string) string { return filepath.Join(f.o.Root, filepath.FromSlash(rel)) }

func (f *Frozen) read(rel string) (frozenFile, error) {
	info, err := os.Lstat(f.path(rel))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return frozenFile{Absent: true}, nil
	}
	if err == nil {
		var b []byte
		if b, err = os.ReadFile(f.path(rel)); err == nil {
			return frozenFile{Content: b, Mode: info.Mode().Perm()}, nil
		}
	}
	return frozenFile{}, fmt.Errorf("read what judges: %w", err)
}

// Changes lists the frozen files that are not what they were, sorted, by path
// relative to the root with slashes. Of a package.json only the scripts that
// gates use count, and the runners' settings in it.
func (f *Frozen) Changes() ([]string, error) {
	var changed []string
	for _, path := range slices.Sorted(maps.Keys(f.files)) {
		now, err := f.read(path)
		if err != nil {
			return nil, err
		}
		was := f.files[path]
		same := was.Absent == now.Absent && bytes.Equal(was.Content, now.Content) && was.Mode&0o111 == now.Mode&0o111
		if !same && isManifest(path) && !was.Absent && !now.Absent {
			same = len(manifestChanges(was.Content, now.Content, f.words())) == 0
		}
		if !same {
			changed = append(changed, path)
		}
	}
	return changed, nil
}

// Adopt takes a file as it is now for the copy: the change was the person's.
func (f *Frozen) Adopt(path string) error {
	if _, frozen := f.files[path]; !frozen {
		return nil
	}
	now, err := f.read(path)
	if err != nil {
		return err
	}
	f.files[path] = now
	return f.save()
}

// PutBack makes these files what they were, of a package.json only what counts.
// What is not frozen is left alone.
func (f *Frozen) PutBack(paths []string) error {
	var failed error
	for _, path := range paths {
		if was, frozen := f.files[path]; frozen {
			failed = errors.Join(failed, f.putBack(path, was))
		}
	}
	if failed != nil {
		return fmt.Errorf("put back what judges: %w", failed)
	}
	return nil
}

func (f *Frozen) putBack(rel string, was frozenFile) error {
	path := f.path(rel)
	info, err := os.Lstat(path)
	there := err == nil
	if was.Absent {
		if there {
			return os.RemoveAll(path)
		}
		return nil
	}
	content := was.Content
	if there && !info.Mode().IsRegular() {
		if err := os.RemoveAll(path); err != nil { // a link would lead the copy elsewhere
			return err
		}
	} else if there && isManifest(rel) {
		now, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		content = mendManifest(was.Content, now, f.words())
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := atomicfile.Write(path, content, was.Mode); err != nil {
		return err
	}
	return os.Chmod(path, was.Mode)
}
