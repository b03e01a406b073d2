package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// If a named pipe replaces a file that git reads, git opens it and waits for a writer that never
// comes. So the files that every git call reads are checked before each call. The others may be
// anywhere (a .gitignore of any folder, a branch), and are only searched if a call takes unusually
// long.

// pipeSearchDelay is how long a call runs before the search for pipes starts. The interval between
// two searches doubles.
const pipeSearchDelay = 2 * time.Second

// PipeError means that there is a named pipe or a device where git expects a file.
type PipeError struct{ Path string } // absolute

func (e *PipeError) Error() string {
	return e.Path + " is a named pipe or a device; git expects a file there and would wait for ever"
}

// pipeError returns the error for a pipe at path.
func pipeError(path string) error {
	return failure.New(failure.Error,
		fmt.Sprintf("put a file in its place, or remove it:  rm '%s'", path), "%w", &PipeError{path})
}

// gitDirs holds the folders that git reads; "" = unknown.
type gitDirs struct{ root, gitDir, commonDir string }

func (r *Repo) gitDirs() gitDirs { return gitDirs{r.root, r.gitDir, r.commonDir} }

// findGitDirs finds the folders of an unopened repository as git does: by the first .git in dir or
// above it.
func findGitDirs(dir string) gitDirs {
	for {
		at := filepath.Join(dir, ".git")
		if info, err := os.Stat(at); err == nil {
			if info.Mode().IsRegular() { // a linked worktree or a submodule
				at = readLink(at, "gitdir: ", dir)
			}
			common := at
			if file := filepath.Join(at, "commondir"); at != "" {
				if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
					common = readLink(file, "", at)
				}
			}
			return gitDirs{dir, at, common}
		}
		if dir == filepath.Dir(dir) {
			return gitDirs{}
		}
		dir = filepath.Dir(dir)
	}
}

// readLink returns the path, relative to dir, that a file contains after a prefix, or "".
func readLink(file, prefix, dir string) string {
	b, err := atomicfile.Read(file, maxConfigBytes)
	path, ok := strings.CutPrefix(strings.TrimSpace(string(b)), prefix)
	if err != nil || !ok || path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path
}

// check checks the files that nearly every git call reads. It returns the path of a pipe, or "".
func (p gitDirs) check() string {
	for _, in := range []struct {
		dir   string
		names []string
	}{
		{p.gitDir, []string{"HEAD", "index", "config.worktree"}},
		{p.commonDir, []string{"config", "packed-refs", filepath.Join("info", "exclude"), filepath.Join("info", "attributes")}},
		{p.root, ruleFiles},
	} {
		for _, name := range in.names {
			if path := filepath.Join(in.dir, name); in.dir != "" && isPipe(path) {
				return path
			}
		}
	}
	return ""
}

// ruleFiles lists files of a work tree that git itself reads.
var ruleFiles = []string{".gitignore", ".gitattributes", ".gitmodules", ".mailmap"}

// search checks all files that git may read. It returns the path of a pipe, or "" if there is none
// or ctx has ended.
func (p gitDirs) search(ctx context.Context) string {
	if path := p.check(); path != "" {
		return path
	}
	for _, dir := range []string{p.commonDir, p.gitDir} {
		if path := searchDir(ctx, dir, true); path != "" {
			return path
		}
	}
	return searchDir(ctx, p.root, false)
}

// searchDir searches a git directory, or a work tree with the git directories in it.
func searchDir(ctx context.Context, dir string, isGitDir bool) (found string) {
	if dir == "" {
		return ""
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil, d.IsDir():
			return nil //nolint:nilerr // git says itself what it cannot read
		case !readByGit(dir, path, isGitDir), d.Type().IsRegular(), !isPipe(path):
			return nil
		}
		found = path
		return fs.SkipAll
	})
	return found
}

// readByGit reports whether git itself reads a file, other than as content to store.
func readByGit(dir, path string, isGitDir bool) bool {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	if !isGitDir {
		if slices.Contains(ruleFiles, filepath.Base(path)) {
			return true
		}
		var inGitDir bool
		if _, rel, inGitDir = strings.Cut("/"+rel, "/.git/"); !inGitDir {
			return false
		}
	}
	top, _, below := strings.Cut(rel, "/")
	if below {
		return slices.Contains(gitFolders, top)
	}
	return slices.Contains(gitFiles, top) || strings.HasSuffix(top, "HEAD")
}

// Files in a git directory that git reads, besides HEAD, ORIG_HEAD and the like. Other programs
// store files there too.
var (
	gitFiles   = []string{"config", "config.worktree", "index", "packed-refs", "shallow", "commondir", "gitdir"}
	gitFolders = []string{"refs", "logs", "info", "objects", "worktrees", "modules", "rebase-merge", "rebase-apply", "sequencer"}
)

// isPipe reports whether opening or reading a file may block forever. The null device does not.
func isPipe(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice) == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// watch cancels a call that waits for a pipe. It ends with ctx.
func (p gitDirs) watch(ctx context.Context, cancel context.CancelCauseFunc, after time.Duration) {
	for ; ; after *= 2 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(after):
		}
		if path := p.search(ctx); path != "" {
			cancel(&PipeError{path})
			return
		}
	}
}
