package verify

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// listen returns the writer for a gate's standard output, and a function that
// gives the report once the gate has ended with an exit code.
func (v *Verifier) listen(format, root string, out io.Writer) (func(code int) (testreport.Report, error), io.Writer) {
	if pattern, ok := strings.CutPrefix(format, testreport.JUnit+":"); ok {
		earlier, err := setAside(root, pattern)
		return func(code int) (testreport.Report, error) {
			if err != nil {
				return testreport.Report{}, errors.Join(err, earlier.putBack())
			}
			return earlier.read(root, pattern, code)
		}, out
	}
	fixed := func(r func() testreport.Report, err error) func(int) (testreport.Report, error) {
		return func(int) (testreport.Report, error) { return r(), err }
	}
	if format == "" {
		return fixed(func() testreport.Report { return testreport.Report{} }, nil), out
	}
	stream, err := testreport.NewStream(format, out)
	if err != nil {
		return fixed(func() testreport.Report { return testreport.Report{} }, err), out
	}
	return fixed(stream.Report, nil), stream
}

// aside are the report files that were there before a gate ran. They say nothing
// of the run that comes: another run wrote them, or the agent did. Without them a
// build tool that finds nothing to do writes its report anew.
type aside struct {
	began time.Time
	files []asideFile
	left  []string // too large
}

type asideFile struct {
	path    string
	content []byte
	info    fs.FileInfo
	link    string
}

// maxReport is the largest report that is set aside, in bytes; of a larger one
// the time tells whether the run wrote it.
const maxReport = 64 << 20

func setAside(root, pattern string) (aside, error) {
	a := aside{began: time.Now()}
	paths, err := doublestar.FilepathGlob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil {
		return a, fmt.Errorf("find junit reports %s: %w", pattern, err)
	}
	for _, path := range paths {
		if err := a.take(path); err != nil {
			return a, fmt.Errorf("set an earlier report aside: %w", err)
		}
	}
	return a, nil
}

func (a *aside) take(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	f := asideFile{path: path, info: info}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		f.link, err = os.Readlink(path)
	case !info.Mode().IsRegular() || info.Size() > maxReport:
		a.left = append(a.left, path)
		return nil
	default:
		f.content, err = atomicfile.Read(path, maxReport)
	}
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	a.files = append(a.files, f)
	return nil
}

// putBack brings the reports back that the run did not write anew.
func (a *aside) putBack() error {
	var failed error
	for _, f := range a.files {
		if _, err := os.Lstat(f.path); err == nil {
			continue
		}
		failed = errors.Join(failed, f.write())
	}
	if failed != nil {
		return fmt.Errorf("put earlier reports back: %w", failed)
	}
	return nil
}

func (f asideFile) write() error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return err
	}
	if f.link != "" {
		return os.Symlink(f.link, f.path)
	}
	if err := atomicfile.Write(f.path, f.content, f.info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(f.path, f.info.ModTime(), f.info.ModTime())
}

// read reads the reports that the run wrote. After a failed one only those with a
// time of the run count; a build tool may bring back what it has kept of a green
// one, time and all, and then there must be some.
func (a *aside) read(root, pattern string, code int) (rep testreport.Report, err error) {
	paths, err := doublestar.FilepathGlob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil {
		return rep, errors.Join(fmt.Errorf("read junit report %s: %w", pattern, err), a.putBack())
	}
	read := 0
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || a.old(path, info, code) { // a pipe would be waited for without end
			continue
		}
		one, err := readReport(path)
		if err != nil {
			return rep, errors.Join(err, a.putBack())
		}
		rep.Merge(one)
		read++
	}
	if read == 0 && code == 0 {
		err = fmt.Errorf("no report was written to %s", pattern)
	}
	return rep, errors.Join(err, a.putBack())
}

// old: the run did not write it.
func (a *aside) old(path string, info fs.FileInfo, code int) bool {
	return (code != 0 || slices.Contains(a.left, path)) && info.ModTime().Before(a.began.Add(-time.Second))
}

func readReport(path string) (testreport.Report, error) {
	f, err := atomicfile.Open(path)
	if err != nil {
		return testreport.Report{}, fmt.Errorf("read junit report: %w", err)
	}
	defer f.Close()
	return testreport.Parse(testreport.JUnit, f)
}
