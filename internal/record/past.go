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
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/store"
)

// WithPast lets rules ask what the loop's agent did before. Nothing is read until
// they do.
func WithPast(r guard.Rules, l *store.Loop) guard.Rules {
	began := func() (time.Time, bool) {
		spec, err := l.Spec()
		return spec.CreatedAt.Add(-stampLag), err == nil
	}
	r.Past = guard.Past{
		Calls: func() []guard.Call { return pastCalls(l) },
		Since: func(path string) bool {
			at, ok := began()
			return ok && allSince(path, at)
		},
		Tagged: func(dir, tag string) bool {
			at, ok := began()
			shared := sharedGitDir(dir)
			return ok && shared != "" && filepath.IsLocal(tag) && allSince(filepath.Join(shared, "refs", "tags", filepath.FromSlash(tag)), at)
		},
		Newest:  newestEntry,
		Stashed: stashedAt,
	}
	return r
}

// stampLag is how far the time of a file may lie behind the clock: Linux stamps files
// with its coarse clock, which advances by a tick, 10 ms at most.
const stampLag = 10 * time.Millisecond

// pastCalls are the calls of the loop's agent that were written down, in a session
// and by runners. One of which only the beginning is known says nothing.
func pastCalls(l *store.Loop) (calls []guard.Call) {
	for _, file := range []string{ToolCallsPath(l), RanPath(l)} {
		data, err := atomicfile.Read(file, atomicfile.Large)
		if err != nil {
			continue // then nothing is known to be the agent's
		}
		ran, _ := AgentsCalls(data, 0)
		for _, c := range ran {
			if len(c.Command) >= CommandMax {
				continue
			}
			input := map[string]any{"run_in_background": c.Background}
			if c.Command != "" {
				input["command"] = c.Command
			} else {
				input["file_path"] = c.Path
			}
			if file == ToolCallsPath(l) && !c.At.IsZero() { // a session tells when it has run
				c.At = c.At.Add(-guard.StashPatience)
			}
			calls = append(calls, guard.Call{Tool: c.Tool, Input: input, Dir: c.Dir, At: c.At})
		}
	}
	return calls
}

// Started returns what tells whether a process that began at a time may be one that the
// session's agent left running: one of its calls that names the program ran then.
func Started(l *store.Loop, program string) func(began time.Time) bool {
	var ran []ToolCall
	if data, err := atomicfile.Read(ToolCallsPath(l), atomicfile.Large); err == nil {
		ran, _ = AgentsCalls(data, 0)
	}
	return func(began time.Time) bool {
		return slices.ContainsFunc(ran, func(c ToolCall) bool {
			return !c.At.IsZero() && strings.Contains(c.Command, program) && began.After(c.At.Add(-startPatience)) && began.Before(c.At.Add(startLag))
		})
	}
}

const (
	startPatience = 10 * time.Second // how long before the end of its call a process may have begun
	startLag      = time.Second      // how long after it: the client tells of a call left running at once
)

// mostEntries bounds how much of a folder is looked at: more is not vouched for.
const mostEntries = 10_000

// allSince reports whether a file, or each file in a folder, was made or changed
// since a time.
func allSince(path string, since time.Time) bool {
	n := 0
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if n++; err != nil || n > mostEntries {
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

// newestEntry is the message of the last line of one of git's logs, HEAD or
// refs/stash, in the repository that a folder is in; "" if there is none.
func newestEntry(dir, log string) string {
	_, message := newestLine(dir, log)
	return message
}

// stashedAt is when the newest stash was made, zero if there is none.
func stashedAt(dir string) time.Time {
	who, _ := newestLine(dir, "refs/stash")
	fields := strings.Fields(who)
	if len(fields) < 2 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(fields[len(fields)-2], 10, 64) // "… <mail> SECONDS ZONE"
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// newestLine is that line, up to the tab and behind it.
func newestLine(dir, log string) (who, message string) {
	place := gitDir(dir)
	if log != "HEAD" {
		place = sharedGitDir(dir)
	}
	if place == "" {
		return "", ""
	}
	f, err := atomicfile.Open(filepath.Join(place, "logs", filepath.FromSlash(log)))
	if err != nil {
		return "", ""
	}
	defer func() { _ = f.Close() }()
	return lastLine(f)
}

// lastLine reads the end of a log: the last line that tells of a change.
func lastLine(f *os.File) (who, message string) {
	info, err := f.Stat()
	if err != nil {
		return "", ""
	}
	tail := make([]byte, min(info.Size(), maxHead))
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
