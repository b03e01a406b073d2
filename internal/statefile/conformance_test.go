package statefile

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// project is a sample on the disk.
type project struct {
	sample
	t      testing.TB
	format Format
	root   string
	dir    string // the loop's own folder
}

func (s sample) write(t testing.TB, f Format) *project {
	t.Helper()
	base := t.TempDir()
	p := &project{sample: s, t: t, format: f, root: filepath.Join(base, "root"), dir: filepath.Join(base, "loop")}
	for _, dir := range []string{p.root, p.dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range s.files {
		p.put(path, text)
	}
	p.place.Root, p.place.ClientConfig, p.spec.CompatFormat = p.root, filepath.Join(p.dir, ".claude"), f.Name()
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

func (p *project) put(name, text string) {
	p.t.Helper()
	path := p.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		p.t.Fatal(err)
	}
}

// loop returns the files of the loop made from the sample.
func (p *project) loop() Files { return FilesOf(p.root, p.dir, p.spec) }

// asked returns the proposal for the session s1.
func (p *project) asked() (Proposal, error) {
	now := time.Now()
	return p.format.Propose(p.path(p.state), p.place, SessionInfo{
		SessionID: "s1", SessionStarted: now.Add(-time.Hour), Now: now,
		Tracked: func(string) (bool, error) { return false, nil },
	})
}

// tree returns the content or the type of everything in the project.
func (p *project) tree() map[string]string {
	p.t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(p.root, path)
		rel = filepath.ToSlash(rel)
		if d.Type() == fs.ModeSymlink {
			to, linkErr := os.Readlink(path)
			tree[rel] = "-> " + to
			return errors.Join(err, linkErr)
		}
		data, readErr := os.ReadFile(path)
		tree[rel] = string(data)
		return errors.Join(err, readErr)
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return tree
}

// changed returns the paths in which two trees differ.
func changed(before, after map[string]string) []string {
	var paths []string
	for path := range maps.Keys(before) {
		if now, ok := after[path]; !ok || now != before[path] {
			paths = append(paths, path)
		}
	}
	for path := range maps.Keys(after) {
		if _, ok := before[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// memoryAt returns the memory of a loop at iteration n.
func memoryAt(n int) memory.Memory {
	return memory.Memory{State: loop.State{Phase: loop.Turning, Policy: loop.Policy{Limits: loop.Limits{Iterations: 9}, InSession: true}, Tasks: []loop.Task{{ID: "US-001", Title: "do it", Status: loop.Open, Turns: n}}, Counts: loop.Counts{Iteration: n, Turns: n}, Clock: loop.Clock{Now: time.Unix(1_760_000_000, 0).UTC(), StartedAt: time.Unix(1_759_990_000, 0).UTC()}, Work: loop.Work{Current: "US-001"}}}
}

func ended(outcome loop.Outcome) memory.Memory {
	m := memoryAt(5)
	m.State.Phase, m.State.Outcome, m.State.EndedAt = loop.Ended, outcome, m.State.Now
	return m
}

// each runs a law for each format with a sample of it.
func each(t *testing.T, law func(t *testing.T, p *project)) {
	t.Helper()
	all := samples()
	for _, f := range Formats() {
		t.Run(f.Name(), func(t *testing.T) {
			t.Parallel()
			s, ok := all[f.Name()]
			if !ok {
				t.Fatal("there is no sample of it")
			}
			law(t, s.write(t, f))
		})
	}
}

// found skips formats that do not find their loops.
func (p *project) found(t *testing.T) {
	t.Helper()
	if p.state == "" {
		t.Skip("its loops are begun by a user, not found")
	}
}

// A format proposes what it finds, and the program that starts at every event does not overlook it.
func TestFoundAndProposed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p *project) {
		empty := p.place
		empty.Root = filepath.Join(p.dir, "empty")
		if path := p.format.Find(empty); path != "" || empty.MayHaveLoop() {
			t.Errorf("found %q where nothing is, glance: %v", path, empty.MayHaveLoop())
		}
		if named, ok := FormatByName(p.format.Name()); !ok || named != p.format {
			t.Errorf("named %v", named)
		}
		p.found(t)
		if path := p.format.Find(p.place); path != p.path(p.state) || !p.place.MayHaveLoop() {
			t.Errorf("found %q, glance: %v", path, p.place.MayHaveLoop())
		}
		before := p.tree()
		got, err := p.asked()
		if err != nil || got.Skip || got.Refused != "" {
			t.Errorf("proposed %+v, %v", got, err)
		}
		if diff := changed(before, p.tree()); len(diff) > 0 {
			t.Errorf("proposing has changed %q", diff)
		}
	})
}

// OwnPaths lists all paths that are written.
func TestOwnListsWhatIsWritten(t *testing.T) {
	t.Parallel()
	outcomes := []loop.Outcome{
		loop.Verified, loop.Unverified, loop.Finished, loop.Iterations, loop.Duration, loop.Budget, loop.Stuck,
		loop.BlockedEnd, loop.Tampered, loop.CancelledEnd, loop.Errored,
	}
	all := samples()
	for _, outcome := range outcomes {
		t.Run(string(outcome), func(t *testing.T) {
			t.Parallel()
			for _, f := range Formats() {
				if _, ok := all[f.Name()]; !ok {
					t.Fatal("there is no sample of", f.Name())
				}
				p := all[f.Name()].write(t, f)
				before, now := p.tree(), time.Now()
				for n := 4; n < 6; n++ {
					p.receive(now)
					if err := p.loop().UpdateProgress(memoryAt(n), now); err != nil {
						t.Errorf("%s: %v", f.Name(), err)
					}
				}
				if l, ok := p.loop().(SessionLeaver); ok && l.SessionLeft(memoryAt(5), "logout", now) != nil {
					t.Errorf("%s cannot be left", f.Name())
				}
				if err := p.loop().MarkEnded(ended(outcome), "s1"); err != nil {
					t.Errorf("%s: %v", f.Name(), err)
				}
				own := p.loop().OwnPaths()
				for _, path := range changed(before, p.tree()) {
					if !slices.Contains(own, path) {
						t.Errorf("%s has written %s, and owns %q", f.Name(), path, own)
					}
				}
			}
		})
	}
}

// receive returns the changes and acknowledges them.
func (p *project) receive(now time.Time) Changes {
	p.t.Helper()
	w, err := p.loop().ReceiveChanges(now)
	if err == nil && w.Acknowledge != nil {
		err = w.Acknowledge()
	}
	if err != nil {
		p.t.Error(err)
	}
	return w
}

// Without changes, nothing is received, and each change is received once.
func TestNoChangeIsReceivedAsNone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p *project) {
		now := time.Now()
		p.receive(now)
		for n := 4; n < 7; n++ {
			if err := p.loop().UpdateProgress(memoryAt(n), now); err != nil {
				t.Error(err)
			}
			if w := p.receive(now); len(w.Notes) > 0 || w.Stop != "" || w.Paused {
				t.Errorf("heard %+v", w)
			}
		}
	})
}

// editorVariants returns the ways in which users' editors write the same file.
func editorVariants(text string) map[string]string {
	return map[string]string{
		"plain": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "a byte order mark": "\ufeff" + text,
		"no line end": strings.TrimSuffix(text, "\n"), "blanks at its end": text + "\n  \n",
	}
}

// An update only changes the lines with the values, keeps all other bytes, and is idempotent.
func TestNothingElseIsChanged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p *project) {
		p.found(t)
		for name, text := range editorVariants(p.files[p.state]) {
			p.put(p.state, text)
			if _, err := p.loop().ReceiveChanges(time.Now()); err != nil {
				continue // this file cannot be written so
			}
			err := p.loop().UpdateProgress(memoryAt(7), time.Now())
			once := p.tree()
			if err2 := p.loop().UpdateProgress(memoryAt(7), time.Now()); err != nil || err2 != nil {
				t.Errorf("%s: %v, %v", name, err, err2)
			}
			if diff := changed(once, p.tree()); len(diff) > 0 {
				t.Errorf("%s: the second time it changed %q", name, diff)
			}
			if p.values != nil && !p.sameBut(text, once[p.state]) {
				t.Errorf("%s: %s", name, cmp.Diff(text, once[p.state]))
			}
		}
	})
}

// sameBut reports whether two texts of the state file only differ in its values.
func (p *project) sameBut(was, is string) bool {
	const mark = "\ufeff" // stays in place
	was, marked := strings.CutPrefix(was, mark)
	is, still := strings.CutPrefix(is, mark)
	before, after := strings.SplitAfter(was, "\n"), strings.SplitAfter(is, "\n")
	end := func(line string) string { return line[len(strings.TrimRight(line, "\r\n")):] }
	if marked != still {
		return false
	}
	if slices.EqualFunc(before, after, func(a, b string) bool {
		return a == b || end(a) == end(b) && p.values.MatchString(a) && p.values.MatchString(b)
	}) {
		return true
	}
	// Lines were added: the others must be the same.
	others := func(lines []string) string {
		return strings.TrimRight(strings.Join(slices.DeleteFunc(lines, func(line string) bool {
			return p.values.MatchString(line) || strings.Trim(line, "\r\n") == ""
		}), ""), "\r\n")
	}
	return len(before) < len(after) && others(before) == others(after)
}

// A file that cannot be read is an error that names it. It is neither changed nor removed, while
// the loop continues and when it ends.
func TestWhatCannotBeReadIsKept(t *testing.T) {
	t.Parallel()
	lay := map[string]func(p *project, path string) error{
		"binary": func(_ *project, path string) error {
			return os.WriteFile(path, []byte("\x00\xff\xfe\x7fELF\x00"), 0o600)
		},
		"empty": func(_ *project, path string) error { return os.WriteFile(path, nil, 0o600) },
		"huge": func(_ *project, path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("x\n"), 9<<20), 0o600)
		},
		"a folder": func(_ *project, path string) error { return os.MkdirAll(filepath.Join(path, "sub"), 0o700) },
		"a link": func(p *project, path string) error {
			target := filepath.Join(p.root, "elsewhere")
			return errors.Join(os.WriteFile(target, []byte(p.files[p.state]), 0o600), os.Symlink(target, path))
		},
		"a link to nothing": func(_ *project, path string) error { return os.Symlink("nothing", path) },
	}
	each(t, func(t *testing.T, p *project) {
		p.found(t)
		for name, put := range lay {
			if name == "empty" && p.fills {
				continue
			}
			path := p.path(p.state)
			err := errors.Join(os.RemoveAll(path), put(p, path))
			if runtime.GOOS == "windows" && strings.Contains(name, "link") && err != nil {
				continue // the system decides who may create links
			}
			if err != nil {
				t.Fatal(name, err)
			}
			before, now := p.tree(), time.Now()
			if got, err := p.asked(); err == nil && got.Refused == "" && !got.Skip {
				t.Errorf("%s is proposed: %+v", name, got)
			} else if err != nil && !strings.Contains(err.Error(), filepath.Base(p.state)) {
				t.Errorf("%s: the error does not name the file: %v", name, err)
			}
			if w, err := p.loop().ReceiveChanges(now); err == nil || w.Stop != "" {
				t.Errorf("%s: heard %+v, %v", name, w, err)
			}
			_ = p.loop().UpdateProgress(memoryAt(7), now) // may fail, or leave the error to ReceiveChanges
			_ = p.loop().MarkEnded(ended(loop.Verified), "s1")
			if diff := changed(before, p.tree()); slices.Contains(diff, p.state) || slices.Contains(diff, "elsewhere") {
				t.Errorf("%s: changed %q", name, diff)
			}
			if info, err := os.Lstat(path); err != nil || name == "a folder" != info.IsDir() {
				t.Errorf("%s is gone: %v", name, err)
			}
		}
	})
}
