package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/store"
)

// WithHistory lets rules ask what the loop's agent did before. Nothing is read until they
// do.
func WithHistory(r guard.Rules, l *store.Loop) guard.Rules {
	began := func() (time.Time, bool) {
		spec, err := l.Spec()
		return spec.CreatedAt.Add(-maxModTimeLag), err == nil
	}
	r.History = guard.History{
		Calls: func() []toolcall.Call { return recordedCalls(l) },
		ChangedInLoop: func(path string) bool {
			at, ok := began()
			return ok && allModifiedSince(path, at)
		},
		TaggedInLoop: func(dir, tag string) bool {
			at, ok := began()
			shared := sharedGitDir(gitDir(dir))
			return ok && shared != "" && filepath.IsLocal(tag) && allModifiedSince(filepath.Join(shared, "refs", "tags", filepath.FromSlash(tag)), at)
		},
		NewestEntry:     lastReflogMessage,
		NewestStashTime: lastStashTime,
	}
	return r
}

// maxModTimeLag is how far the time of a file may lie behind the clock: Linux uses its
// coarse clock, which advances by at most 10 ms at a time.
const maxModTimeLag = 10 * time.Millisecond

// recordedCalls returns the recorded calls of the loop's agent, in its session and in
// runners. Calls with a start only are not included.
func recordedCalls(l *store.Loop) (calls []toolcall.Call) {
	for _, file := range []string{ToolCallsPath(l), RunnerCallsPath(l)} {
		recorded, _ := AgentCalls(file, 0, -1) // without the file no call is known to be the agent's
		for _, c := range recorded.Calls {
			if len(c.Command) >= authorship.MaxCommandBytes {
				continue
			}
			if file == ToolCallsPath(l) && !c.At.IsZero() { // recorded after the call ended
				c.At = c.At.Add(-guard.StashWindow)
			}
			calls = append(calls, c.ToolCall())
		}
	}
	return calls
}

// maxDirEntries bounds how many entries of a folder are read; a larger folder counts as not
// the agent's.
const maxDirEntries = 10_000

// allModifiedSince reports whether a file, or each file in a folder, was modified since a
// time.
func allModifiedSince(path string, since time.Time) bool {
	n := 0
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if n++; err != nil || n > maxDirEntries {
			return errors.Join(err, fs.ErrInvalid)
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err == nil && info.ModTime().Before(since) {
			err = fs.ErrExist
		}
		return err
	})
	return err == nil
}

// lastReflogMessage returns the message of the last line of a reflog (HEAD or refs/stash)
// in the repository of a folder, or "".
func lastReflogMessage(dir, log string) string {
	_, message := readReflog(dir, log)
	return message
}

// lastStashTime returns when the last stash was made, or zero.
func lastStashTime(dir string) time.Time {
	author, _ := readReflog(dir, "refs/stash")
	fields := strings.Fields(author)
	if len(fields) < 2 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(fields[len(fields)-2], 10, 64) // "… <mail> SECONDS ZONE"
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// readReflog returns that line, up to the tab and after it.
func readReflog(dir, log string) (author, message string) {
	folder := gitDir(dir)
	if log != "HEAD" {
		folder = sharedGitDir(gitDir(dir))
	}
	if folder == "" {
		return "", ""
	}
	f, err := atomicfile.Open(filepath.Join(folder, "logs", filepath.FromSlash(log)))
	if err != nil {
		return "", ""
	}
	defer func() { _ = f.Close() }()
	return lastReflogChange(f)
}

// lastReflogChange returns the last line of a reflog that records a change.
func lastReflogChange(f *os.File) (author, message string) {
	info, err := f.Stat()
	if err != nil {
		return "", ""
	}
	tail := make([]byte, min(info.Size(), maxHeadBytes))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return "", ""
	}
	lines := strings.Split(strings.TrimSuffix(string(tail), "\n"), "\n")
	for _, line := range slices.Backward(lines) {
		ids, message, _ := strings.Cut(line, "\t")
		if f := strings.Fields(ids); len(f) > 1 && f[0] != f[1] { // git stash resets to HEAD, which changes nothing
			return ids, message
		}
	}
	return "", ""
}
