// Package install adds Pawl's hooks to the settings files of agents, and removes them.
//
// A settings file is the user's. The editor keeps every byte of it: comments, trailing commas, line
// ends, and numbers as they are written. What is added follows the file's indentation, and nothing
// else changes:
//
//	path, err := install.User.Path("", home)
//	result, err := install.Install(install.Request{Scope: install.User, Path: path, Home: pawlHome,
//		Entries: install.ClaudeHooks("/usr/bin/pawl-hook", []string{"claude"})})
//
// Entries are recognised as ours by the program that they start, so a second install replaces them
// or changes nothing. Add and Remove work on bytes, and Add checks that each edit can be undone. A
// record in Pawl's home keeps the Origin of a file: whether it existed, and which lists did.
// Without that record, Uninstall removes our hooks and the lists that become empty.
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

// Scope is a set of Claude Code's sessions that read a settings file.
type Scope string

// The scopes that have a settings file.
const (
	User    Scope = "user"    // all sessions of the user
	Project Scope = "project" // sessions in a repository, of all users: the file is under version control
	Local   Scope = "local"   // sessions of the user in a repository
)

// Path returns the settings file of a scope. root is the repository, config the user's configuration
// folder of the client.
func (s Scope) Path(root, config string) (string, error) {
	switch s {
	case User:
		if config == "" {
			return "", failure.New(failure.Usage, "set HOME, or --scope local", "there is no home folder with settings")
		}
		return filepath.Join(config, "settings.json"), nil
	case Project:
		return filepath.Join(root, ".claude", "settings.json"), nil
	case Local:
		return filepath.Join(root, ".claude", "settings.local.json"), nil
	}
	return "", failure.New(failure.Usage, "user, project and local do", "scope %q has no settings file", string(s))
}

// fileMode returns the mode of a new settings file. Users keep keys in their own.
func (s Scope) fileMode() fs.FileMode {
	if s == Project {
		return 0o644
	}
	return 0o600
}

// Request describes an edit of a settings file.
type Request struct {
	Scope   Scope
	Path    string  // absolute
	Home    string  // Pawl's home, which holds the record
	Entries Entries // for Install
	DryRun  bool    // change nothing
}

// Result holds a settings file before and after an edit; nil means no file.
type Result struct {
	Before, After []byte
}

// Changed reports whether the edit changes anything.
func (r Result) Changed() bool {
	return !bytes.Equal(r.Before, r.After) || (r.Before == nil) != (r.After == nil)
}

// Diff returns the edit as a unified diff. name is how the user knows the file.
func (r Result) Diff(name string) string {
	_, text, _ := bytes.Cut(diff.Diff(name, r.Before, name, r.After), []byte("\n")) // without the line "diff …"
	return string(text)
}

// UnreadReason returns why Claude Code cannot read the file after the edit, "" if it can. With a
// comment or a trailing comma, the client ignores all settings (measured with 2.1.332).
func (r Result) UnreadReason() string {
	if r.After == nil {
		return ""
	}
	d, err := parse(r.After)
	if err != nil {
		return err.Error()
	}
	fault, refused := errors.AsType[*json.SyntaxError](json.Unmarshal(r.After[len(d.bom):], new(json.RawMessage)))
	if d.isBlank || !refused {
		return ""
	}
	return d.errorAt(int(fault.Offset)-1, "a comment or a trailing comma").Error()
}

// Install adds entries to a settings file, which it creates if necessary. It refuses a file that
// cannot be edited (invalid JSON, read-only, a folder) and leaves it as it is.
func Install(r Request) (Result, error) {
	file, err := readSettings(r.Path)
	if err != nil {
		return Result{}, err
	}
	was, err := readRecord(r.Home, r.Path)
	if err != nil {
		return Result{}, err
	}
	after, origin, err := Add(file, r.Entries, was)
	if err != nil {
		return Result{}, cannotEdit(r.Path, err)
	}
	result := Result{Before: file, After: after}
	if !result.Changed() {
		return result, nil
	}
	if err := checkWritable(r.Path); err != nil || r.DryRun {
		return result, err
	}
	return result, r.write(after, origin)
}

// write writes the edited file. It writes the record first: without our entries in the file, the
// record has no effect.
func (r Request) write(after []byte, origin *Origin) (err error) {
	folder := filepath.Dir(r.Path)
	switch err := os.Mkdir(folder, 0o755); {
	case err == nil:
		origin.Folder = true
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("make the settings' folder: %w", err)
	}
	if err = writeRecord(r.Home, r.Path, origin); err == nil {
		err = atomicfile.Write(r.Path, after, r.Scope.fileMode())
	}
	if err != nil && origin.Folder {
		_ = os.Remove(folder) // fails if the folder is not empty
	}
	return err
}

// Uninstall removes our entries from a settings file. If nothing else changed since, every byte is
// as before Install. A file that Install created is removed.
func Uninstall(r Request) (Result, error) {
	file, err := readSettings(r.Path)
	if err != nil {
		return Result{}, err
	}
	was, err := readRecord(r.Home, r.Path)
	if err != nil {
		return Result{}, err
	}
	after, err := Remove(file, was)
	if err != nil {
		return Result{}, cannotEdit(r.Path, err)
	}
	if after == nil && file != nil && isSymlink(r.Path) {
		after = []byte("{}\n") // keep the user's link valid
	}
	result := Result{Before: file, After: after}
	if result.Changed() {
		if err := checkWritable(r.Path); err != nil {
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
			_ = os.Remove(filepath.Dir(r.Path)) // fails if the folder is not empty
		}
	default:
		err = atomicfile.Write(r.Path, after, r.Scope.fileMode())
	}
	if err != nil {
		return result, fmt.Errorf("take the hooks out: %w", err)
	}
	return result, deleteRecord(r.Home, r.Path)
}

// Variable returns the value of a variable in a settings file, and whether it is set. A value that
// is not a string is returned as written.
func Variable(path, name string) (string, bool, error) {
	file, err := readSettings(path)
	if err != nil {
		return "", false, err
	}
	e, err := newEditor(file)
	if err != nil {
		return "", false, cannotEdit(path, err)
	}
	env, err := e.object("env")
	if err != nil {
		return "", false, cannotEdit(path, err)
	}
	if env == nil {
		return "", false, nil
	}
	v := lastMember(env, name)
	if v == nil {
		return "", false, nil
	}
	if value, ok := stringValue(v); ok {
		return value, true, nil
	}
	return string(hujson.Value{Value: v.Value}.Pack()), true, nil
}

func cannotEdit(path string, err error) error {
	return failure.New(failure.Usage, "the file was not changed; correct it and try again", "%s: %w", path, err)
}

// readSettings returns the content of a file, nil if it does not exist.
func readSettings(path string) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.New(failure.Usage, "create its target, or remove the link", "%s is a broken link", path)
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

// checkWritable returns an error for a read-only file. A rename would replace it anyway.
func checkWritable(path string) error {
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
		return failure.New(failure.Error, "make it writable, or change the program that generates it", "%s is read-only: %w", path, err)
	}
	return nil
}

// isSymlink reports whether a path is a symbolic link.
func isSymlink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == fs.ModeSymlink
}
