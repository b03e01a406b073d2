package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/workfile"
)

// fileSeparator precedes each file in the bytes of a plan that is a folder with a file for each
// task. The file's name and a line end follow it. Text has no NUL, so the files can be separated
// again, and each mark has one offset.
const fileSeparator = "\x00"

// taskFile is a file of a plan that is a folder.
type taskFile struct {
	name string // relative to the folder, with slashes
	body region // the content
}

// folderFiles returns the files in the bytes of a folder, nil for any other plan.
func folderFiles(data []byte) []taskFile {
	if !bytes.HasPrefix(data, []byte(fileSeparator)) {
		return nil
	}
	var out []taskFile
	at := 0
	for part := range bytes.SplitSeq(data[1:], []byte(fileSeparator)) {
		at++
		name, _, _ := bytes.Cut(part, []byte("\n"))
		from := min(at+len(name)+1, at+len(part))
		out = append(out, taskFile{string(name), region{from, at + len(part)}})
		at += len(part)
	}
	return out
}

// Files returns the files of a plan by path: the plan itself, or the files of the folder.
func (f *File) Files(plan string) map[string][]byte {
	parts := folderFiles(f.data)
	if parts == nil {
		return map[string][]byte{plan: f.data}
	}
	files := make(map[string][]byte, len(parts))
	for _, m := range parts {
		if path.Dir(m.name) == "." { // others are settings beside the folder
			files[path.Join(filepath.ToSlash(plan), m.name)] = f.data[m.body.from:m.body.to]
		}
	}
	return files
}

// IsPlanFile reports whether a path is the plan, or a file of a plan that is a folder.
func IsPlanFile(plan, path string) bool {
	return plan != "" && (path == plan || strings.HasPrefix(filepath.ToSlash(path), filepath.ToSlash(plan)+"/"))
}

// ChangedFiles returns the files of a plan that differ from another version.
func (f *File) ChangedFiles(plan string, other *File) map[string][]byte {
	files, old := f.Files(plan), other.Files(plan)
	for name, data := range files {
		if was, ok := old[name]; ok && name != plan && bytes.Equal(was, data) {
			delete(files, name)
		}
	}
	return files
}

// Write writes a plan to disk; for a folder, only the files that differ. It deletes files of tasks
// that the plan does not have, and writes the settings if they do not exist.
func Write(at string, f *File) error {
	name := func(name string) string { return filepath.Join(at, filepath.FromSlash(name)) }
	if folderFiles(f.data) != nil {
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
	}
	return f.write(at,
		func(file string, data []byte) error { return atomicfile.Write(name(file), data, 0o644) },
		func(file string) error { return os.Remove(name(file)) })
}

// WriteBelow does the same for a plan in a folder that an agent may write. plan is relative to root,
// with slashes. It follows no link, see package workfile.
func WriteBelow(root, plan string, f *File) error {
	if folderFiles(f.data) != nil { // what is compared and removed must not be elsewhere
		if err := workfile.RemoveLinks(root, path.Join(plan, "task")); err != nil {
			return err
		}
	}
	return f.write(filepath.Join(root, filepath.FromSlash(plan)),
		func(file string, data []byte) error { return workfile.Write(root, path.Join(plan, file), data, 0o644) },
		func(file string) error { return workfile.RemoveAll(root, path.Join(plan, file)) })
}

// write calls put and remove for the files of a plan that are to change. Their names are relative to
// the plan; "" is the plan itself.
func (f *File) write(at string, put func(file string, data []byte) error, remove func(file string) error) error {
	parts := folderFiles(f.data)
	if parts == nil {
		return put("", f.data)
	}
	known := map[string]bool{}
	for _, m := range parts {
		known[m.name] = true
		data := f.data[m.body.from:m.body.to]
		old, err := atomicfile.Read(filepath.Join(at, filepath.FromSlash(m.name)), MaxSize)
		if err == nil && (m.name == backlogConfig || bytes.Equal(old, data)) {
			continue
		}
		if err := put(m.name, data); err != nil {
			return err
		}
	}
	there, err := taskFiles(at)
	if err != nil {
		return err
	}
	for _, name := range there {
		if !known[name] {
			if err := remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// taskFiles returns the sorted names of the files of tasks in a folder.
func taskFiles(at string) ([]string, error) {
	there, err := fileNames(at)
	return slices.DeleteFunc(there, func(name string) bool {
		return extension(name) != ".md" || strings.HasPrefix(name, ".") || strings.EqualFold(name, "readme.md") || strings.ContainsAny(name, "\n"+fileSeparator)
	}), err
}

// readFolder reads a plan that is a folder. Only Backlog.md has such plans.
func readFolder(at string) ([]byte, error) {
	if filepath.Base(at) == "backlog" {
		return nil, failure.New(failure.Usage, "name the folder of its tasks:  pawl run "+clean(filepath.Join(at, "tasks")), "%s is a folder of Backlog.md, not a plan", clean(at))
	}
	if _, err := os.Stat(filepath.Join(at, filepath.FromSlash(backlogConfig))); err != nil && filepath.Base(at) != "tasks" {
		return nil, errNotAPlan(at)
	}
	there, err := taskFiles(at)
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	for _, name := range append([]string{backlogConfig}, there...) {
		text, err := atomicfile.Read(filepath.Join(at, filepath.FromSlash(name)), MaxSize)
		if errors.Is(err, fs.ErrNotExist) && name == backlogConfig {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read plan %s: %w", clean(at), err)
		}
		if name != backlogConfig && !isBacklogTask(text) {
			continue
		}
		if problem, ok := unreadable(text); !ok {
			return nil, newInvalid(filepath.Join(at, name), problem)
		}
		data.WriteString(fileSeparator + name + "\n")
		data.Write(text)
		if data.Len() > MaxSize {
			return nil, newInvalid(at, tooLarge)
		}
	}
	if !slices.ContainsFunc(folderFiles(data.Bytes()), func(m taskFile) bool { return m.name != backlogConfig }) {
		return nil, errNotAPlan(at)
	}
	return data.Bytes(), nil
}

func errNotAPlan(at string) error {
	return failure.New(failure.Usage, "name the file in it", "%s is a folder, not a plan", clean(at))
}
