package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// lab is the temporary folder in which everything is measured, with the two
// programs that most rows need.
type lab struct {
	options
	dir   string
	empty string // an empty Go program
	pawl  string
	hook  string // of `bench hook`
	self  string // this program, to measure a package in a process of its own

	daemons []*daemon
}

func newLab(ctx context.Context, o options) (*lab, error) {
	l, err := emptyLab(o)
	if err != nil {
		return nil, err
	}
	return l, l.build(ctx, map[string]string{l.empty: l.empty + ".go", l.pawl: "github.com/pawl-dev/pawl/cmd/pawl"})
}

// emptyLab has its folder, and no program yet.
func emptyLab(o options) (*lab, error) {
	dir, err := os.MkdirTemp("", "pawl-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{options: o, dir: dir, empty: exe(dir, "empty"), pawl: exe(dir, "pawl"), hook: exe(dir, "pawl-hook")}
	if l.self, err = os.Executable(); err != nil {
		return nil, err
	}
	return l, os.WriteFile(l.empty+".go", []byte("package main\n\nfunc main() {}\n"), 0o600)
}

// build makes programs of packages or source files, all with the same flags. The
// lab is gone where that fails.
func (l *lab) build(ctx context.Context, programs map[string]string, flags ...string) error {
	for program, source := range programs {
		argv := append(append([]string{"go", "build", "-trimpath", "-o", program}, flags...), source)
		if _, _, err := (process{argv: argv}).run(ctx); err != nil {
			l.close()
			return err
		}
	}
	return nil
}

func (l *lab) close() {
	for _, k := range l.daemons {
		if k != nil {
			_ = k.cmd.Process.Kill()
			_ = k.cmd.Wait()
		}
	}
	_ = os.RemoveAll(l.dir)
}

// nothing is the reference of most rows: starting a process that does nothing.
func (l *lab) nothing() work { return process{argv: []string{l.empty}}.cpu }

func exe(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

// repository makes a git repository with so many small files, committed. Git makes them all
// at once: to add each takes ten times as long.
func (l *lab) repository(ctx context.Context, name string, files int) (string, error) {
	dir := filepath.Join(l.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	var all strings.Builder
	all.WriteString("commit refs/heads/main\ncommitter bench <bench@localhost> 1700000000 +0000\ndata 6\nstart\n")
	for i := range files {
		text := fmt.Sprintf("package p\n\nconst n = %d\n", i)
		fmt.Fprintf(&all, "M 644 inline %s\ndata %d\n%s\n", filepath.ToSlash(file("", i)), len(text), text)
	}
	for _, args := range []string{
		"init -q -b main", "config user.name bench", "config user.email bench@localhost",
		"fast-import --quiet", "checkout -q -f -b work main", "status --porcelain",
	} {
		p := process{dir: dir, argv: append([]string{"git"}, strings.Fields(args)...), in: all.String()}
		if _, _, err := p.run(ctx); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// file is the path of file i of a repository; a hundred share a folder.
func file(dir string, i int) string {
	return filepath.Join(dir, fmt.Sprintf("d%03d", i/100), fmt.Sprintf("f%05d.go", i))
}
