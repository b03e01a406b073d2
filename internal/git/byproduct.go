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

// isByproduct reports whether a file is neither work nor anything that gates read: this process's own
// output or, of files that HEAD lacks, what a package manager installed or a compiler made. Each build
// writes the latter, the agent's and the gates' alike, and not each repository ignores it. As work it
// would be committed, and in a tree it would be run in place of sources that were changed since.
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

// isInstallation reports whether packages are installed into a folder of the work tree: of Node.js, or
// of a virtual environment of Python's. vendor/ is not one: many projects commit it.
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

// installations are such folders at the top of the work tree and up to two folders below.
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

// keepInstallations are arguments with which git clean leaves installed packages there, as it leaves
// what a rule ignores.
func (r *Repo) keepInstallations() (args []string) {
	literal := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`) // see gitignore(5)
	for _, dir := range r.installations() {
		args = append(args, "-e", "/"+literal.Replace(dir)+"/")
	}
	return args
}

// isOwnOutput reports whether a file is the one that this process writes its output or
// errors to (pawl run … > pawl.log in the work tree). It grows with each line of Pawl's.
func isOwnOutput(file os.FileInfo) bool {
	return slices.ContainsFunc([]*os.File{os.Stdout, os.Stderr}, func(stream *os.File) bool {
		own, err := stream.Stat()
		return err == nil && os.SameFile(file, own)
	})
}

// mayBeCompiled reports whether a look at the content is worth it.
func mayBeCompiled(file string, info os.FileInfo) bool {
	const exts = " .o .obj .a .lib .so .dylib .dll .exe .class .rlib "
	return info.Mode()&0o111 != 0 || strings.Contains(exts, " "+path.Ext(file)+" ")
}

// isCompiled reports whether a file begins as an executable, an object or a library does: ELF,
// Mach-O or a Java class, PE, an archive of objects, COFF of x86 and of x86-64.
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
