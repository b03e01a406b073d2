package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
)

// StatLoop is one loop in the statistics.
type StatLoop struct {
	Agent, Model, Root string // "" = unknown
	State              loop.State
}

// Stats holds statistics of loops (`pawl stats --json`).
type Stats struct {
	Since        time.Time `json:"since,omitzero"`
	All          Figures   `json:"all"`
	ByAgent      []Figures `json:"by_agent"`
	ByModel      []Figures `json:"by_model"`
	ByRepository []Figures `json:"by_repository"`
	ByWeek       []Figures `json:"by_week"`
}

// Figures holds the statistics of a group of loops.
type Figures struct {
	Name          string         `json:"name"`     // agent, model, repository, or the Monday of the week
	Loops         int            `json:"loops"`    // number of loops that have started
	Outcomes      map[string]int `json:"outcomes"` // number of ended loops, by outcome
	Tasks         int            `json:"tasks"`    // number of tasks worked on
	Done          int            `json:"done"`     // number of done tasks
	Proven        int            `json:"proven"`   // number of proven tasks
	Refusals      int            `json:"refusals"`
	Restores      int            `json:"restores"`
	Violations    int            `json:"violations"`
	CostUSD       float64        `json:"cost_usd"`
	CostUnknown   int            `json:"cost_unknown"` // number of loops whose agent reported neither cost nor tokens
	WorkSeconds   float64        `json:"work_seconds"`
	MedianSeconds float64        `json:"median_seconds"` // median work time of a done task
	MedianUSD     float64        `json:"median_usd"`

	took, cost []float64 // of done tasks
}

// Count returns the statistics of loops.
func Count(since time.Time, loops []StatLoop) Stats {
	s := Stats{Since: since}
	groups := [4]map[string]*Figures{{}, {}, {}, {}}
	for _, l := range loops {
		begun := l.State.StartedAt.Local()
		monday := begun.AddDate(0, 0, -(int(begun.Weekday())+6)%7)
		s.All.add(l.State)
		for i, name := range []string{cmp.Or(l.Agent, "unknown"), cmp.Or(l.Model, "unknown"), cmp.Or(l.Root, "unknown"), monday.Format(time.DateOnly)} {
			if groups[i][name] == nil {
				groups[i][name] = &Figures{Name: name}
			}
			groups[i][name].add(l.State)
		}
	}
	s.All.Name = "all"
	s.All.medians()
	for i, into := range []*[]Figures{&s.ByAgent, &s.ByModel, &s.ByRepository, &s.ByWeek} {
		*into = []Figures{}
		for _, name := range slices.Sorted(maps.Keys(groups[i])) {
			groups[i][name].medians()
			*into = append(*into, *groups[i][name])
		}
	}
	return s
}

// add adds a loop.
func (f *Figures) add(s loop.State) {
	if f.Outcomes == nil {
		f.Outcomes = map[string]int{}
	}
	f.Loops++
	if s.Outcome != "" {
		f.Outcomes[string(s.Outcome)]++
	}
	f.Refusals += s.Refusals
	f.Restores += s.Restores
	f.Violations += s.Violations
	f.CostUSD += s.Usage.CostUSD
	if s.CostUnknown() {
		f.CostUnknown++
	}
	f.WorkSeconds += s.Elapsed().Seconds()
	for _, t := range s.Tasks {
		// A task that was done before counts only in the loop that did it.
		if t.DoneEarlier || t.LeftOut || t.Turns == 0 && t.Status == loop.Open {
			continue
		}
		f.Tasks++
		if t.Status != loop.Done {
			continue
		}
		f.Done++
		if t.Evidence == gate.Proven {
			f.Proven++
		}
		f.took = append(f.took, t.Took.Seconds())
		if !s.CostUnknown() {
			f.cost = append(f.cost, t.CostUSD)
		}
	}
}

func (f *Figures) medians() {
	if f.Outcomes == nil {
		f.Outcomes = map[string]int{}
	}
	if len(f.took) > 0 {
		f.MedianSeconds = loop.Median(f.took)
	}
	if len(f.cost) > 0 {
		f.MedianUSD = loop.Median(f.cost)
	}
}

// Text returns the statistics as a table.
func (s Stats) Text() string {
	var b bytes.Buffer
	since := ""
	if !s.Since.IsZero() {
		since = " since " + s.Since.Format("2006-01-02 15:04")
	}
	fmt.Fprintf(&b, "%s%s%s\n", figure.Count(s.All.Loops, "loop"), since, outcomeText(s.All))
	if s.All.Loops > 0 {
		b.WriteByte('\n')
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "\tloops\tverified\tdone\tproven\ttime/task\tcost/task\trefused\trestores\tviolations\tcost")
		s.All.row(t, "all")
		for _, g := range []struct {
			name string
			rows []Figures
		}{{"agent", s.ByAgent}, {"model", s.ByModel}, {"repository", s.ByRepository}, {"week of", s.ByWeek}} {
			for _, f := range g.rows {
				f.row(t, g.name+" "+plan.OneLine(f.Name, 60))
			}
		}
		_ = t.Flush() // writing to memory does not fail
		b.WriteString("\ntime/task and cost/task are medians of the tasks that are done; a task that no turn worked on is not counted\n")
		b.WriteString(s.weekly())
	}
	return b.String()
}

const (
	weeksPlotted = 12
	plotWidth    = 40 // length of the longest bar, in columns
)

// weekly draws a bar for the tasks of each of the last weeks: proven, done, and worked on. It returns
// "" for loops of one week.
func (s Stats) weekly() string {
	if len(s.ByWeek) < 2 {
		return ""
	}
	weeks, oldest := map[string]Figures{}, s.ByWeek[0].Name
	for _, f := range s.ByWeek {
		weeks[f.Name] = f
	}
	monday, err := time.Parse(time.DateOnly, s.ByWeek[len(s.ByWeek)-1].Name)
	if err != nil {
		return ""
	}
	most := 1
	var names []string
	for ; len(names) < weeksPlotted && monday.Format(time.DateOnly) >= oldest; monday = monday.AddDate(0, 0, -7) {
		names = append(names, monday.Format(time.DateOnly))
		most = max(most, weeks[names[len(names)-1]].Tasks)
	}
	var b strings.Builder
	b.WriteString("\ntasks by week: █ proven  ▒ done  ░ not done\n")
	for _, name := range slices.Backward(names) {
		f := weeks[name]
		end := func(n int) int { return (n*plotWidth + most - 1) / most }
		bar := strings.Repeat("█", end(f.Proven)) + strings.Repeat("▒", end(f.Done)-end(f.Proven)) + strings.Repeat("░", end(f.Tasks)-end(f.Done))
		fmt.Fprintf(&b, "%s  %s%s  %d of %d, %s\n", name, bar, strings.Repeat(" ", plotWidth-end(f.Tasks)), f.Done, f.Tasks, figure.Cost(f.CostUSD, f.CostUnknown > 0))
	}
	return b.String()
}

// outcomeText lists the outcomes, the most frequent first.
func outcomeText(f Figures) string {
	names := slices.SortedFunc(maps.Keys(f.Outcomes), func(a, b string) int {
		return cmp.Or(f.Outcomes[b]-f.Outcomes[a], strings.Compare(a, b))
	})
	ended := 0
	for i, name := range names {
		ended += f.Outcomes[name]
		names[i] = fmt.Sprintf("%d %s", f.Outcomes[name], name)
	}
	if f.Loops > ended {
		names = append(names, fmt.Sprintf("%d not ended", f.Loops-ended))
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

func (f Figures) row(w io.Writer, name string) {
	took, cost := "-", "-" // if no task is done
	if len(f.took) > 0 {
		took = figure.Duration(time.Duration(f.MedianSeconds * float64(time.Second)))
		cost = figure.Cost(f.MedianUSD, len(f.cost) == 0)
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%d of %d\t%d\t%s\t%s\t%d\t%d\t%d\t%s\n", name, f.Loops, f.Outcomes[string(loop.Verified)], f.Done, f.Tasks, f.Proven,
		took, cost, f.Refusals, f.Restores, f.Violations, figure.Cost(f.CostUSD, f.CostUnknown > 0))
}
