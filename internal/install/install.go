// Package install adds Pawl's hooks to the settings files of agents, and removes them.
//
// A settings file is the user's. It is edited as a tree that holds every byte
// (comments, trailing commas, line ends, numbers as they are written); what is
// added follows the file's own indentation, and nothing else changes:
//
//	path, err := install.User.Path("", home)
//	result, err := install.Install(install.Request{Scope: install.User, Path: path, Home: pawlHome,
//		Wanted: install.ClaudeHooks("/usr/bin/pawl-hook", []string{"claude"})})
//
// Entries are recognised as ours by the program that they start, so installing
// again replaces them, or does nothing. Plan and Remove are the decisions, on
// bytes; each edit is proved to be reversible before it is written. What a file
// does not tell itself (whether it was there, which lists were) is kept as its
// Origin in a record under Pawl's home. Without that record, Uninstall takes out
// our hooks and what is empty without them.
package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/tailscale/hujson"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Scope is for which sessions of Claude Code a settings file counts.
type Scope string

// The scopes that have a settings file.
const (
	User    Scope = "user"    // all sessions of the user
	Project Scope = "project" // those in a repository, for everybody who works on it: the file is under version control
	Local   Scope = "local"   // those of the user in a repository
)

// Path is the settings file of a scope, by the repository's root and the
// user's home folder.
func (s Scope) Path(root, home string) (string, error) {
	switch s {
	case User:
		if home == "" {
			return "", failure.New(failure.Usage, "set HOME, or --scope local", "there is no home folder with settings")
		}
		return filepath.Join(home, ".claude", "settings.json"), nil
	case Project:
		return filepath.Join(root, ".claude", "settings.json"), nil
	case Local:
		return filepath.Join(root, ".claude", "settings.local.json"), nil
	}
	return "", failure.New(failure.Usage, "user, project and local do", "scope %q has no settings file", string(s))
}

// perm is the mode of a new settings file. People keep keys in their own.
func (s Scope) perm() fs.FileMode {
	if s == Project {
		return 0o644
	}
	return 0o600
}

// Request says which file is to be edited.
type Request struct {
	Scope  Scope
	Path   string // absolute
	Home   string // Pawl's own, that keeps the record
	Wanted Wanted // for Install
	DryRun bool   // only tell what would change
}

// Result is what an edit did, or would do. nil stands for no file.
type Result struct {
	Before, After []byte
}

// Changed reports whether the edit changes anything.
func (r Result) Changed() bool {
	return !bytes.Equal(r.Before, r.After) || (r.Before == nil) != (r.After == nil)
}

// Diff shows the edit of the file, by the name that a user knows it by, as a
// unified diff.
func (r Result) Diff(name string) string {
	_, text, _ := bytes.Cut(diff.Diff(name, r.Before, name, r.After), []byte("\n")) // less the line "diff …"
	return string(text)
}

// Unread says why Claude Code does not read the file as it is after the edit; ""
// if it does. The client takes neither comments nor trailing commas: with one of
// them in it, none of the settings counts (measured with 2.1.332).
func (r Result) Unread() string {
	if r.After == nil {
		return ""
	}
	d, err := parse(r.After)
	if err != nil {
		return err.Error()
	}
	fault, refused := errors.AsType[*json.SyntaxError](json.Unmarshal(r.After[len(d.mark):], new(json.RawMessage)))
	if d.blank || !refused {
		return ""
	}
	return d.fault(int(fault.Offset)-1, "a comment or a trailing comma").Error()
}

// Install puts the wanted entries into a settings file, which is made if it is
// not there. A file that cannot be edited (no JSON, read-only, a folder) is
// refused and left as it is.
func Install(r Request) (Result, error) {
	file, err := read(r.Path)
	if err != nil {
		return Result{}, err
	}
	was, err := readRecord(r.Home, r.Path)
	if err != nil {
		return Result{}, err
	}
	after, origin, err := Plan(file, r.Wanted, was)
	if err != nil {
		return Result{}, refused(r.Path, err)
	}
	result := Result{Before: file, After: after}
	if !result.Changed() {
		return result, nil
	}
	if err := writable(r.Path); err != nil || r.DryRun {
		return result, err
	}
	return result, r.write(after, origin)
}

// write makes the file hold what was planned. The record comes first: of a file
// without our entries it says nothing.
func (r Request) write(after []byte, origin *Origin) (err error) {
	folder := filepath.Dir(r.Path)
	switch err := os.Mkdir(folder, 0o755); {
	case err == nil:
		origin.Folder = true
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("make the settings' folder: %w", err)
	}
	if err = writeRecord(r.Home, r.Path, origin); err == nil {
		err = atomicfile.Write(r.Path, after, r.Scope.perm())
	}
	if err != nil && origin.Folder {
		_ = os.Remove(folder) // which fails where somebody has put something in
	}
	return err
}

// Uninstall takes our entries out of a settings file. Where nothing else has
// changed since, the file is as it was before Install, to the byte; a file that
// was not there goes.
func Uninstall(r Request) (Result, error) {
	file, err := read(r.Path)
	if err != nil {
		return Result{}, err
	}
	was, err := readRecord(r.Home, r.Path)
	if err != nil {
		return Result{}, err
	}
	after, err := Remove(file, was)
	if err != nil {
		return Result{}, refused(r.Path, err)
	}
	if after == nil && file != nil && linked(r.Path) {
		after = []byte("{}\n") // the link is somebody else's
	}
	result := Result{Before: file, After: after}
	if result.Changed() {
		if err := writable(r.Path); err != nil {
			return result, err
		}
	}
	if r.DryRun {
		return result, nil
	}
	switch {
	case !result.Changed():
	case after == nil:
		err = os.Remove(r.Path)
		if err == nil && was.Folder {
			_ = os.Remove(filepath.Dir(r.Path)) // which fails where something is in it
		}
	default:
		err = atomicfile.Write(r.Path, after, r.Scope.perm())
	}
	if err != nil {
		return result, fmt.Errorf("take the hooks out: %w", err)
	}
	return result, dropRecord(r.Home, r.Path)
}

// Variable is what a settings file sets a variable to; false if it does not. A
// value that is not a string is given as it is written.
func Variable(path, name string) (string, bool, error) {
	file, err := read(path)
	if err != nil {
		return "", false, err
	}
	e, err := newEditor(file)
	if err != nil {
		return "", false, refused(path, err)
	}
	env, err := e.object("env")
	if err != nil {
		return "", false, refused(path, err)
	}
	if env == nil {
		return "", false, nil
	}
	v := last(env, name)
	if v == nil {
		return "", false, nil
	}
	if value, ok := text(v); ok {
		return value, true, nil
	}
	return string(hujson.Value{Value: v.Value}.Pack()), true, nil
}

func refused(path string, err error) error {
	return failure.New(failure.Usage, "the file was left as it is; correct it and try again", "%s: %w", path, err)
}

// read is the content of a file, nil if there is none.
func read(path string) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.New(failure.Usage, "make what it leads to, or remove the link", "%s is a link that leads nowhere", path)
	case err == nil && !info.Mode().IsRegular():
		return nil, failure.New(failure.Usage, "", "%s: %w", path, atomicfile.ErrNotRegular)
	case err != nil:
		return nil, fmt.Errorf("read settings: %w", err)
	}
	data, err := atomicfile.Read(path, atomicfile.Large)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return data, nil
}

// writable refuses a file that its owner does not want to be written. Replacing
// it would do so all the same.
func writable(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		err = fs.ErrPermission
	}
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		return failure.New(failure.Error, "make it writable, or change what makes it", "%s is read-only: %w", path, err)
	}
	return nil
}

// linked reports whether a path is a symbolic link.
func linked(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == fs.ModeSymlink
}
