package page

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
)

const (
	listCacheTime = 5 * time.Second
	maxEnded      = 100 // ended loops on the first page
)

// MaxAttempts is how many attempts the page of a loop shows.
const MaxAttempts = 200

// overviewPage lists all loops.
type overviewPage struct {
	layout
	Filter  string
	Groups  []groupView
	Found   bool
	NoLoops bool // there is no loop at all
}

type groupView struct {
	ID, Name string
	Count    int
	Rows     []rowView
	More     int // that are not shown
}

type rowView struct{ ID, State, Done, Cost, Age, Goal, Needs, Where string }

func (s *server) serveOverview(w http.ResponseWriter, r *http.Request) {
	loops, err := s.loops()
	if err != nil {
		s.renderError(w, err)
		return
	}
	filter, now := r.URL.Query().Get("q"), s.Now()
	p := overviewPage{Filter: filter, NoLoops: len(loops) == 0, layout: layout{Live: true}}
	all := r.URL.Query().Has("all")
	for _, sum := range record.FilterAndGroup(loops, filter, now) {
		g := sum.Group(now)
		if last := len(p.Groups) - 1; last < 0 || p.Groups[last].Name != groupName(g) {
			p.Groups = append(p.Groups, groupView{ID: fmt.Sprintf("group-%d", g), Name: groupName(g)})
		}
		v := &p.Groups[len(p.Groups)-1]
		v.Count++
		if g == record.GroupEnded && len(v.Rows) >= maxEnded && !all {
			v.More++
			continue
		}
		v.Rows = append(v.Rows, newRow(sum, now))
	}
	p.Found = len(p.Groups) > 0
	var counts []string
	for _, g := range p.Groups {
		words := strings.ToLower(g.Name)
		if g.Name == groupName(record.GroupNeedsYou) && g.Count > 1 {
			words = "need you"
		}
		counts = append(counts, fmt.Sprintf("%d %s", g.Count, words))
	}
	p.Title = cmp.Or(strings.Join(counts, " · "), "No loops")
	s.render(w, http.StatusOK, "overview", p)
}

func groupName(g record.Group) string {
	name := strings.ToLower(g.String())
	return strings.ToUpper(name[:1]) + name[1:]
}

// loops returns all loops. It reads them again when a journal has grown, and after listCacheTime,
// since an owner may die.
func (s *server) loops() ([]record.Summary, error) {
	now, err := s.journalStamp("")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list.text == now && time.Since(s.list.at) < listCacheTime {
		return s.listed, nil
	}
	loops, err := s.Source.Loops()
	if err != nil {
		return nil, fmt.Errorf("list loops: %w", err)
	}
	s.listed, s.list = loops, stamp{now, time.Now()}
	return loops, nil
}

func newRow(sum record.Summary, now time.Time) rowView {
	v := rowView{
		ID: sum.ID, State: cmp.Or(string(sum.Outcome), sum.State), Cost: narrate.Cost(sum),
		Age: age(sum, now), Goal: plan.OneLine(cmp.Or(sum.Goal, sum.Name), 200), Where: sum.Root,
	}
	if n := sum.Tasks.Done + sum.Tasks.Open + sum.Tasks.Skipped; n > 1 {
		v.Done = fmt.Sprintf("%d of %d tasks done", sum.Tasks.Done, n)
	}
	v.Needs = narrate.NeedsUser(sum, now)
	return v
}

// age returns how long ago a loop ended, or else started.
func age(sum record.Summary, now time.Time) string {
	what, since := "started ", now.Sub(cmp.Or(sum.StartedAt, sum.CreatedAt))
	if !sum.EndedAt.IsZero() {
		what, since = "ended ", now.Sub(sum.EndedAt)
	}
	if since = max(0, since); since > time.Minute {
		since = since.Truncate(time.Minute)
	}
	return what + figure.Chosen(since) + " ago"
}

// loopPage is the page of one loop.
type loopPage struct {
	layout
	ID, Headline, Current string // Current is the task at work
	Questions             []questionView
	Tests                 []string // whose change waits for an approval
	TestsKey              string
	Failing               *loop.Failing
	Why                   string // why it ended with open work
	Messages              []string
	Report                any
	Attempts              []attemptView
	Earlier               int // attempts that are not shown
	History               []string
	Ended, Resumable      bool
	Goal                  string
	Limits                string // that hold now
	Restorable            bool   // no agent works in the tree
	CanUndo               bool   // there is a restore to undo
	tasks                 []loop.Task
}

// taskAction is a button of a task: its command, its label, and the question to confirm.
type taskAction struct{ Do, Label, Confirm string }

// Actions returns what a user can do with a task now.
func (p loopPage) Actions(id string) (out []taskAction) {
	i := slices.IndexFunc(p.tasks, func(t loop.Task) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	open := p.tasks[i].Status == loop.Open
	undone := p.tasks[i].Status == loop.Skipped || p.tasks[i].Status == loop.Blocked
	switch {
	case open && !p.Ended && id != loop.GoalTask:
		out = append(out, taskAction{"skip", "Skip", "Skip task " + id + "? Its work so far is undone and saved."})
	case undone && !p.Ended && id != loop.GoalTask:
		out = append(out, taskAction{"retry", "Try again", "Try task " + id + " again?"})
	}
	if p.tasks[i].Restorable() && p.Restorable {
		out = append(out, taskAction{"restore", "Restore the work", "Restore the undone work of task " + id + " into the files?"})
	}
	return out
}

type questionView struct {
	loop.Question
	Key   string
	Lines []string
}

type attemptView struct {
	Attempt
	Result string
	Open   bool
	Latest callsView // tool calls of the newest attempt
}

func (s *server) serveLoop(w http.ResponseWriter, r *http.Request) {
	d, err := s.loadDetail(r, 0)
	if err != nil {
		s.renderError(w, err)
		return
	}
	st, sum := d.Report.State, d.Summary
	p := loopPage{
		layout: layout{Title: sum.ID, Loop: sum.ID, Live: true}, ID: sum.ID, Headline: d.Headline, Goal: plan.OneLine(cmp.Or(sum.Goal, sum.Name), 400),
		Tests: sum.Tests, TestsKey: testsKey(sum.Tests), Messages: narrate.Messages(st.Conversation), Report: report.TemplateData(d.Report), History: d.History,
		Ended: sum.State == "ended", Resumable: sum.State == "paused" || sum.State == "orphaned" || st.HasWorkLeft() && sum.State == "ended",
		Limits: cmp.Or(narrate.Limits(st.Policy.Limits), "none"), tasks: st.Tasks,
	}
	p.Restorable = p.Ended || p.Resumable
	p.CanUndo = p.Restorable && st.HasRestore()
	if p.Ended && st.Outcome != loop.Verified {
		p.Why = plan.OneLine(st.Reason, 0)
	}
	if !p.Ended {
		p.Failing, p.Current = st.Failing, st.Current
		for _, q := range st.Unanswered() {
			p.Questions = append(p.Questions, questionView{q, questionKey(q), q.Lines()})
		}
	}
	if len(d.Attempts) > 0 {
		p.Earlier = d.Attempts[0].Number - 1
	}
	for i := range slices.Backward(d.Attempts) {
		p.Attempts = append(p.Attempts, newAttemptView(d, i))
	}
	if len(p.Attempts) > 0 {
		calls, dropped, err := s.Source.Calls(r.Context(), sum.ID, p.Attempts[0].Number)
		if err != nil {
			s.renderError(w, err)
			return
		}
		p.Attempts[0].Latest = newCallsView(calls, dropped, len(calls)-maxLatestCalls+1, maxLatestCalls)
	}
	s.render(w, http.StatusOK, "loop", p)
}
