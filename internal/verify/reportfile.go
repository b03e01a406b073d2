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

// readerFor returns a function that reads the report after the gate ended with an exit code, and
// the writer for the gate's standard output.
func (v *Verifier) readerFor(format, root string, out io.Writer) (func(code int) (testreport.Report, error), io.Writer) {
	if pattern, ok := strings.CutPrefix(format, testreport.JUnit+":"); ok {
		earlier, err := hideReports(root, pattern)
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

// earlierReports are report files from before a run, hidden under names that no pattern matches.
// They are from another run, or the agent wrote them. Hiding them makes a build tool with nothing
// to do write its report again.
type earlierReports struct {
	began time.Time
	files []string // their own names
}

// hiddenSuffix ends the name of a hidden report.
const hiddenSuffix = ".pawl-before"

func hideReports(root, pattern string) (earlierReports, error) {
	a := earlierReports{began: time.Now()}
	paths, err := reportFiles(root, pattern)
	for _, file := range paths {
		if err = os.Rename(file, file+hiddenSuffix); err != nil {
			break
		}
		a.files = append(a.files, file)
	}
	if err != nil {
		return a, fmt.Errorf("move an earlier report away: %w", err)
	}
	return a, nil
}

// reportFiles returns the files that match a pattern below root, without hidden ones.
func reportFiles(root, pattern string) ([]string, error) {
	paths, err := doublestar.FilepathGlob(filepath.Join(root, filepath.FromSlash(pattern)), doublestar.WithFilesOnly())
	if err != nil {
		return nil, fmt.Errorf("find junit reports %s: %w", pattern, err)
	}
	return slices.DeleteFunc(paths, func(file string) bool { return strings.HasSuffix(file, hiddenSuffix) }), nil
}

// putBack restores the reports that the run did not write again.
func (a *earlierReports) putBack() error {
	var failed error
	for _, file := range a.files {
		back := func() error { return os.Rename(file+hiddenSuffix, file) }
		if _, err := os.Lstat(file); err == nil {
			back = func() error { return os.Remove(file + hiddenSuffix) }
		}
		if err := back(); !errors.Is(err, fs.ErrNotExist) { // the run removed the folder
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		return fmt.Errorf("restore earlier reports: %w", failed)
	}
	return nil
}

// read reads the reports that the run wrote. After a failure, only reports with a time of the run
// count. After success, a build tool may restore a cached report with its old time, and there must
// be one.
func (a *earlierReports) read(root, pattern string, code int) (rep testreport.Report, err error) {
	paths, err := reportFiles(root, pattern)
	read := 0
	for _, file := range paths {
		info, statErr := os.Stat(file)
		old := statErr == nil && code != 0 && info.ModTime().Before(a.began.Add(-time.Second))
		if statErr != nil || !info.Mode().IsRegular() || old { // a pipe would be waited for without end
			continue
		}
		one, readErr := readReport(file)
		if err = readErr; err != nil {
			break
		}
		rep.Merge(one)
		read++
	}
	if err == nil && read == 0 && code == 0 {
		err = fmt.Errorf("no report was written to %s", pattern)
	}
	return rep, errors.Join(err, a.putBack())
}

func readReport(path string) (testreport.Report, error) {
	f, err := atomicfile.Open(path)
	if err != nil {
		return testreport.Report{}, fmt.Errorf("read junit report: %w", err)
	}
	defer f.Close()
	return testreport.Parse(testreport.JUnit, f)
}
