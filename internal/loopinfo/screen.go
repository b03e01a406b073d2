package loopinfo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/verify"
	"github.com/pawl-dev/pawl/internal/watch"
)

// Options say which loops a screen or pages show, and how what a user does there is done.
type Options struct {
	Store *store.Store
	Root  string // whose repository's loops are shown
	All   bool   // the loops of every repository are

	Env     environment.Environment
	Program string // path of pawl
	Dir     string // that it runs in
}

// Screen is what `pawl watch` shows.
type Screen struct {
	Options
	ctx  context.Context
	here func(root string) bool // whether a loop there is one of this repository

	mu      sync.Mutex
	history *narrated       // of the loop that is open, nil for none
	told    map[string]told // by loop: what News returned
	list    *store.Lister[record.Summary]
}

// NewScreen returns a screen, which follows the journal of a loop until ctx is done. It does
// not look again at loops that have ended.
func NewScreen(ctx context.Context, o Options) *Screen {
	w := newScreen(ctx, o)
	w.list.Rests = func(s record.Summary) bool { return s.State == "ended" }
	return w
}

func newScreen(ctx context.Context, o Options) *Screen {
	return &Screen{Options: o, ctx: ctx, here: record.SameRepository(o.Root), list: &store.Lister[record.Summary]{Derive: record.ReadSummary}}
}

// narrated is the history of a loop. It grows with the loop's journal.
type narrated struct {
	id    string
	stop  context.CancelFunc
	mu    sync.Mutex
	state loop.State
	lines []watch.Line
}

// maxLines bounds the history that is kept of a loop.
const maxLines = 5000

// Loops returns the summaries of the loops of this repository, or of all.
func (w *Screen) Loops() ([]record.Summary, error) {
	listed, err := w.list.List(w.Store) // a screen asks every second
	if err != nil {
		return nil, err
	}
	var out []record.Summary
	for _, l := range listed {
		if sum := Present(l); sum.Root != "" && w.shows(sum.Root) {
			out = append(out, sum)
		}
	}
	return out, nil
}

// shows reports whether the loops of a folder are shown.
func (w *Screen) shows(root string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.All || w.here(root)
}

// stampOf changes when a journal grows, or a loop comes or goes.
func stampOf(loops []*store.Loop) string {
	sum := fnv.New64a()
	for _, l := range loops {
		size, err := l.JournalSize()
		if err != nil {
			continue
		}
		fmt.Fprintf(sum, "%s %d\n", l.ID, size)
	}
	return fmt.Sprintf("%x", sum.Sum64())
}

// Loop returns one loop, with what was added to its history since the last call.
func (w *Screen) Loop(id string) (watch.Detail, error) {
	s, err := ReadDamaged(w.Store.Loop(id))
	if err != nil {
		return watch.Detail{}, err
	}
	sum := s.Summary()
	d := watch.Detail{Summary: sum, Headline: s.Headline(sum, time.Now()), State: s.Memory.State, Lines: w.narrated(s).all()}
	d.Limits = cmp.Or(strings.Join(s.Memory.State.Policy.Limits.Flags(), " "), "--max-iterations=0")
	if s.HasEnded() {
		d.Limits, d.More = "", s.Memory.State.MoreFlag()
	}
	return d, nil
}

// told is how far News has told a loop's history.
type told struct {
	mark  journal.Mark
	state loop.State
}

// News returns what was added to the history of a loop since the last call.
func (w *Screen) News(id string) ([]string, error) {
	l := w.Store.Loop(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	t, known := w.told[id]
	if size, err := l.JournalSize(); err != nil || known && size == t.mark.End {
		return nil, err
	}
	m, mark, err := record.Load(l)
	if _, corrupt := errors.AsType[*journal.CorruptError](err); err != nil && !corrupt {
		return nil, err
	}
	if w.told == nil {
		w.told = map[string]told{}
	}
	w.told[id] = told{mark, m.State}
	if !known {
		return nil, nil
	}
	var lines []string
	for r, err := range l.Records(t.mark) {
		if err != nil { // pawl log tells of what cannot be read
			continue
		}
		if r.Seq > mark.Seq { // the next call
			break
		}
		step := narrate.Read(r, t.state)
		t.state, lines = step.After, append(lines, Stamped(r, step)...)
	}
	return lines, nil
}

// Diff returns what a task changed.
func (w *Screen) Diff(ctx context.Context, id, task string) (watch.DiffText, error) {
	s, err := ReadDamaged(w.Store.Loop(id))
	if err != nil {
		return nil, err
	}
	diff, err := s.TaskDiff(ctx, task)
	if err != nil {
		return nil, err
	}
	var text watch.DiffText
	for _, l := range report.DiffLines(diff, maxLines) {
		text = append(text, watch.DiffLine{Kind: l.Kind, Text: l.Text})
	}
	return text, nil
}

// narrated is the history of a loop; that of another one is followed no more.
func (w *Screen) narrated(s *Loop) *narrated {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.history; h != nil && h.id == s.ID {
		return h
	} else if h != nil {
		h.stop()
	}
	ctx, stop := context.WithCancel(w.ctx)
	n := &narrated{id: s.ID, stop: stop}
	w.history = n
	last := int64(0)
	for r, err := range s.Records(journal.Mark{}) {
		if err == nil { // pawl log tells of what cannot be read
			n.add(r)
			last = r.Seq
		}
	}
	go func() {
		for r, err := range s.Follow(ctx, last+1) {
			if err == nil {
				n.add(r)
			}
		}
	}()
	return n
}

// historyLines are the lines of a record as the screen shows them; below a gate that did
// not pass stands the end of its output.
func historyLines(r journal.Record, t narrate.Step) []watch.Line {
	lines := append(Stamped(r, t), gateOutput(r)...)
	if len(lines) == 0 {
		return nil
	}
	out, tasks, trouble := make([]watch.Line, len(lines)), t.Tasks(), t.Trouble(r)
	for i, text := range lines {
		out[i] = watch.Line{Text: text, Tasks: tasks, Trouble: trouble}
	}
	return out
}

// gateOutput is the end of what a gate printed that did not pass.
func gateOutput(r journal.Record) (lines []string) {
	const most = 4
	var rec verify.Receipt
	if r.Type != memory.TypeReceipt || json.Unmarshal(r.Data, &rec) != nil || rec.Status == gate.Pass {
		return nil
	}
	printed := strings.Split(strings.TrimSpace(rec.Tail), "\n")
	for _, line := range printed[max(0, len(printed)-most):] {
		if line = term.Clean(line); strings.TrimSpace(line) != "" {
			lines = append(lines, strings.Repeat(" ", len("15:04:05  "))+"| "+line)
		}
	}
	return lines
}

// Calls returns the tool calls of a loop's newest iteration.
func (w *Screen) Calls(id string) ([]record.Call, error) {
	s, err := ReadDamaged(w.Store.Loop(id))
	if err != nil {
		return nil, err
	}
	calls, _, err := s.Calls(max(1, s.Memory.State.Iteration))
	return calls, err
}

func (n *narrated) add(r journal.Record) {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := narrate.Read(r, n.state)
	n.state, n.lines = t.After, append(n.lines, historyLines(r, t)...)
	n.lines = n.lines[max(0, len(n.lines)-maxLines):]
}

func (n *narrated) all() []watch.Line {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.lines)
}

// Command runs pawl in the folder of this one.
func (w *Screen) Command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, w.Program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.Dir, w.Env.Vars, 2*time.Second
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
