package git

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Status is the result of `git status`.
type Status struct {
	Branch    string   // "" if HEAD is detached
	Head      string   // commit
	Detached  bool     // HEAD is on no branch
	Dirty     []string // tracked files that differ from HEAD, in the index or the work tree
	Untracked []string // files neither tracked nor ignored; a nested repository ends with /
	// Submodules lists submodules with uncommitted changes. They do not make the tree dirty, and
	// are never captured.
	Submodules []string
	// Hidden lists tracked files whose changes git ignores (assume-unchanged, skip-worktree).
	// Snapshots contain them as they are on disk. Those hidden before a loop belong to the user and
	// are not committed.
	Hidden []string
}

// Status reads the state of the user's index and work tree without writing anything.
func (r *Repo) Status(ctx context.Context) (Status, error) {
	stamp, errStamp := indexStamp(filepath.Join(r.gitDir, "index"))
	report, err := r.status(ctx, call{})
	if err != nil {
		return Status{}, fmt.Errorf("read status: %w", err)
	}
	s := Status{Branch: report.branch, Head: report.head, Detached: report.branch == ""}
	for _, f := range report.files {
		switch {
		case r.isByproduct(f.path, f.staged == '?'):
		case f.staged == '?':
			s.Untracked = append(s.Untracked, f.path)
		case f.hasInnerChanges() && f.staged == '.' && f.sub[1] == '.':
			s.Submodules = append(s.Submodules, f.path)
		default:
			if f.hasInnerChanges() {
				s.Submodules = append(s.Submodules, f.path)
			}
			s.Dirty = append(s.Dirty, f.path)
		}
	}
	hidden, err := r.hidden(ctx, "")
	s.Hidden = slices.Compact(slices.Sorted(slices.Values(slices.Concat(hidden.assumed, hidden.skipped))))
	if err == nil && errStamp == nil {
		r.noteAligned(stamp, s)
	}
	return s, err
}

// UntrackedBelow returns the untracked files below an absolute folder of the work tree.
func (r *Repo) UntrackedBelow(ctx context.Context, dir string) ([]string, error) {
	if below, err := filepath.Rel(r.root, RealPath(dir)); err != nil || !filepath.IsLocal(below) {
		return nil, fmt.Errorf("%s is not in the work tree %s", dir, r.root)
	}
	status, err := r.Status(ctx)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, file := range status.Untracked {
		path := r.path(file)
		if in, err := filepath.Rel(RealPath(dir), path); err == nil && filepath.IsLocal(in) {
			files = append(files, filepath.ToSlash(filepath.Join(dir, in)))
		}
	}
	return files, nil
}

// statusArgs request everything, whatever the user's configuration hides, but nothing inside of
// submodules: see addInnerChanges.
var statusArgs = []string{
	"status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind",
	"--untracked-files=all", "--no-renames", "--ignore-submodules=dirty",
}

// status runs git status for some paths, or all. The call has the index and the environment.
func (r *Repo) status(ctx context.Context, c call, paths ...string) (statusReport, error) {
	c.args = statusArgs
	if len(paths) > 0 {
		c.args = slices.Concat([]string{"--literal-pathspecs"}, statusArgs, []string{"--"}, paths)
	}
	out, err := r.run(ctx, c)
	if err != nil {
		return statusReport{}, err
	}
	report, err := parseStatus(out)
	if err != nil {
		return statusReport{}, err
	}
	return report, r.addInnerChanges(ctx, &report, paths)
}

// statusReport is the parsed output of git status --porcelain=v2 -z --branch.
type statusReport struct {
	branch string // "" = detached
	head   string // "" = no commit yet
	files  []statusFile
}

// statusFile is one file of a report. staged compares HEAD with the index, unstaged the index with
// the work tree: '.', M, T, A, D, U. An untracked file has '?' in both.
type statusFile struct {
	staged, unstaged byte
	sub              string // N... or S<c><m><u>: a submodule, commit changed, modified, untracked inside
	path             string
}

// hasInnerChanges reports whether a submodule has uncommitted changes.
func (f statusFile) hasInnerChanges() bool {
	return len(f.sub) == 4 && f.sub[0] == 'S' && (f.sub[2] != '.' || f.sub[3] != '.')
}

// parseStatus reads the format that git-status(1) calls "Porcelain Format Version 2" with -z.
// Unknown kinds of lines are errors, unknown headers are not.
func parseStatus(out []byte) (statusReport, error) {
	var report statusReport
	records := splitNul(out)
	for i := 0; i < len(records); i++ {
		rec := records[i]
		kind, rest, ok := strings.Cut(rec, " ")
		if !ok || rest == "" {
			return report, fmt.Errorf("read status: unexpected line %q", rec)
		}
		switch kind {
		case "#":
			report.header(rest)
		case "?":
			report.files = append(report.files, statusFile{staged: '?', unstaged: '?', sub: "N...", path: rest})
		case "!":
		case "1", "2", "u":
			// XY, sub, then modes and ids, then the path: 6 more fields for 1, 7 for 2, 8 for u.
			n := map[string]int{"1": 8, "2": 9, "u": 10}[kind]
			parts := strings.SplitN(rest, " ", n)
			// 1: XY sub mH mI mW hH hI path; u: XY sub m1 m2 m3 mW h1 h2 h3 path
			if len(parts) != n || len(parts[0]) != 2 || len(parts[1]) != 4 || parts[n-1] == "" {
				return report, fmt.Errorf("read status: unexpected line %q", rec)
			}
			report.files = append(report.files, statusFile{
				staged: parts[0][0], unstaged: parts[0][1], sub: parts[1], path: parts[n-1],
			})
			if kind == "2" {
				i++ // the next record is the name before the rename
			}
		default:
			return report, fmt.Errorf("read status: unexpected line %q", rec)
		}
	}
	return report, nil
}

func (s *statusReport) header(line string) {
	key, value, _ := strings.Cut(line, " ")
	switch {
	case key == "branch.oid" && value != "(initial)":
		s.head = value
	case key == "branch.head" && value != "(detached)":
		s.branch = value
	}
}
