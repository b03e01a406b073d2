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

// Options say which loops a screen or pages show, and how to run the user's commands.
type Options struct {
	Store *store.Store
	Root  string // show the loops of its repository
	All   bool   // show the loops of every repository

	Env     environment.Environment
	Program string // path of pawl
	Dir     string // folder to run it in
}

// Screen is the source of `pawl watch`.
type Screen struct {
	Options
	ctx            context.Context
	isInRepository func(root string) bool // reports whether a folder belongs to this repository

	mu            sync.Mutex
	history       *history                // history of the open loop, or nil
	newsPositions map[string]newsPosition // what News returned, by loop
	list          *store.Lister[record.Summary]
}

// NewScreen returns a screen that follows the journal of a loop until ctx ends. It does not read loops
// again that have ended.
func NewScreen(ctx context.Context, o Options) *Screen {
	w := newScreen(ctx, o)
	w.list.IsIdle = func(s record.Summary) bool { return s.State == "ended" }
	return w
}

func newScreen(ctx context.Context, o Options) *Screen {
	return &Screen{Options: o, ctx: ctx, isInRepository: record.SameRepository(o.Root), list: &store.Lister[record.Summary]{Derive: record.ReadSummary}}
}

// history is the history of a loop. It grows with the loop's journal.
type history struct {
	id    string
	stop  context.CancelFunc
	mu    sync.Mutex
	state loop.State
	lines []watch.Line
}

// maxLines is the maximum number of history lines kept for a loop.
const maxLines = 5000

// Loops returns the summaries of the loops of this repository, or of all.
func (w *Screen) Loops() ([]record.Summary, error) {
	listed, err := w.list.List(w.Store) // a screen calls this every second
	if err != nil {
		return nil, err
	}
	var out []record.Summary
	for _, l := range listed {
		if sum := CurrentSummary(l); sum.Root != "" && w.shows(sum.Root) {
			out = append(out, sum)
		}
	}
	return out, nil
}

// shows reports whether the loops of a folder are shown.
func (w *Screen) shows(root string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.All || w.isInRepository(root)
}

// journalStamp returns a value that changes when a journal grows, or a loop is created or deleted.
func journalStamp(loops []*store.Loop) string {
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

// Loop returns one loop with its history.
func (w *Screen) Loop(id string) (watch.Detail, error) {
	s, err := ReadDamaged(w.Store.Loop(id))
	if err != nil {
		return watch.Detail{}, err
	}
	sum, h := s.Summary(), w.followHistory(s)
	h.mu.Lock()
	defer h.mu.Unlock()
	d := watch.Detail{Summary: sum, Headline: s.Headline(sum, time.Now()), State: s.Memory.State, Lines: slices.Clone(h.lines)}
	d.LimitOptions = cmp.Or(strings.Join(s.Memory.State.Policy.Limits.Flags(), " "), "--max-iterations=0")
	if s.HasEnded() {
		d.LimitOptions, d.RaiseOption = "", s.Memory.State.MoreFlags(loop.Limits{})
	}
	return d, nil
}

// newsPosition is the position in a loop's history up to which News has returned lines.
type newsPosition struct {
	mark  journal.Mark
	state loop.State
}

// News returns what was added to a loop's history since the last call.
func (w *Screen) News(id string) ([]string, error) {
	l := w.Store.Loop(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	t, known := w.newsPositions[id]
	if size, err := l.JournalSize(); err != nil || known && size == t.mark.End {
		return nil, err
	}
	m, mark, err := record.Load(l)
	if _, corrupt := errors.AsType[*journal.CorruptError](err); err != nil && !corrupt {
		return nil, err
	}
	if w.newsPositions == nil {
		w.newsPositions = map[string]newsPosition{}
	}
	w.newsPositions[id] = newsPosition{mark, m.State}
	if !known {
		return nil, nil
	}
	var lines []string
	for r, err := range l.Records(t.mark) {
		if err != nil { // pawl log reports what cannot be read
			continue
		}
		if r.Seq > mark.Seq { // the next call returns it
			break
		}
		step := narrate.StepOf(r, t.state)
		t.state, lines = step.After, append(lines, TimedLines(r, step)...)
	}
	return lines, nil
}

// Diff returns the diff of a task.
func (w *Screen) Diff(ctx context.Context, id, task string) ([]report.DiffLine, error) {
	s, err := ReadDamaged(w.Store.Loop(id))
	if err != nil {
		return nil, err
	}
	diff, err := s.TaskDiff(ctx, task)
	if err != nil {
		return nil, err
	}
	return report.DiffLines(diff, maxLines), nil
}

// followHistory returns the history of a loop, and stops following another one.
func (w *Screen) followHistory(s *Loop) *history {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.history; h != nil && h.id == s.ID {
		return h
	} else if h != nil {
		h.stop()
	}
	ctx, stop := context.WithCancel(w.ctx)
	n := &history{id: s.ID, stop: stop}
	w.history = n
	last := int64(0)
	for r, err := range s.Records(journal.Mark{}) {
		if err == nil { // pawl log reports what cannot be read
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

// historyLines returns the lines of a record for the screen. A gate that did not pass is followed by
// the end of its output.
func historyLines(r journal.Record, t narrate.Step) []watch.Line {
	lines := append(TimedLines(r, t), gateOutput(r)...)
	if len(lines) == 0 {
		return nil
	}
	out, tasks, trouble := make([]watch.Line, len(lines)), t.Tasks(), t.IsTrouble(r)
	for i, text := range lines {
		out[i] = watch.Line{Text: text, Tasks: tasks, Trouble: trouble}
	}
	return out
}

// gateOutput returns the end of the output of a gate that did not pass.
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

func (n *history) add(r journal.Record) {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := narrate.StepOf(r, n.state)
	n.state, n.lines = t.After, append(n.lines, historyLines(r, t)...)
	n.lines = n.lines[max(0, len(n.lines)-maxLines):]
}

// Command runs pawl in the screen's folder.
func (w *Screen) Command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, w.Program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.Dir, w.Env.Vars, 2*time.Second
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
