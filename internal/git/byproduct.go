package git

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// isByproduct reports whether a file is neither work nor an input of gates. That is this process's
// output file, or a new file that a package manager or compiler made. Every build writes such
// files, and not every repository ignores them. If they counted as work, they would be committed.
// In a tree, stale binaries would run instead of sources that changed since.
func (r *Repo) isByproduct(file string, isNew bool) bool {
	if isNew && r.isInstalled(file) {
		return true
	}
	info, err := os.Lstat(r.path(file))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	isPyc := path.Base(path.Dir(file)) == "__pycache__" && path.Ext(file) == ".pyc"
	return isOwnOutput(info) || isNew && (isPyc || mayBeCompiled(file, info) && isCompiled(r.path(file)))
}

// isInstalled reports whether a path is in a folder of installed packages.
func (r *Repo) isInstalled(file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if r.isInstallation(dir) {
			return true
		}
	}
	return false
}

// isInstallation reports whether a folder of the work tree contains installed packages of Node.js,
// or a virtual environment of Python. vendor/ does not count, because many projects commit it.
func (r *Repo) isInstallation(dir string) bool {
	switch path.Base(dir) {
	case "node_modules":
		return true
	case ".venv", "venv":
		_, err := os.Lstat(r.path(path.Join(dir, "pyvenv.cfg")))
		return err == nil
	}
	return false
}

// installations returns such folders at the top of the work tree and up to two levels below.
func (r *Repo) installations() (dirs []string) {
	_ = fs.WalkDir(os.DirFS(r.root), ".", func(dir string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // a folder that cannot be read holds nothing that git clean can remove
		case !e.IsDir():
			return nil
		case r.isInstallation(dir):
			dirs = append(dirs, dir)
			return fs.SkipDir
		case dir == ".git" || strings.Count(dir, "/") == 2:
			return fs.SkipDir
		}
		return nil
	})
	return dirs
}

// keepInstallations returns arguments that make git clean keep installed packages, like ignored
// files.
func (r *Repo) keepInstallations() (args []string) {
	literal := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`) // see gitignore(5)
	for _, dir := range r.installations() {
		args = append(args, "-e", "/"+literal.Replace(dir)+"/")
	}
	return args
}

// isOwnOutput reports whether this process writes its output or errors to a file, as in pawl run …
// > pawl.log. It grows with each line that Pawl prints.
func isOwnOutput(file os.FileInfo) bool {
	return slices.ContainsFunc([]*os.File{os.Stdout, os.Stderr}, func(stream *os.File) bool {
		own, err := stream.Stat()
		return err == nil && os.SameFile(file, own)
	})
}

// mayBeCompiled reports whether a file's content has to be checked.
func mayBeCompiled(file string, info os.FileInfo) bool {
	const exts = " .o .obj .a .lib .so .dylib .dll .exe .class .rlib "
	return info.Mode()&0o111 != 0 || strings.Contains(exts, " "+path.Ext(file)+" ")
}

// isCompiled reports whether a file starts like an executable, an object file or a library: ELF,
// Mach-O or a Java class, PE, an archive of objects, COFF for x86 and x86-64.
func isCompiled(file string) bool {
	f, err := atomicfile.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 8)
	n, _ := io.ReadFull(f, head)
	for _, magic := range []string{
		"\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe",
		"MZ", "!<arch>\n", "\x4c\x01", "\x64\x86",
	} {
		if bytes.HasPrefix(head[:n], []byte(magic)) {
			return true
		}
	}
	return false
}
