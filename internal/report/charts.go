package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/narrate"
)

// plot is a bar chart. Each bar has its value in words, so a screen reader reads it as a table.
type plot struct {
	ID, Title, Sum string // Sum says in a sentence what it shows
	Height         int
	Bars           []bar
}

// bar is one row: its words and the bar below them. Width is in percent.
type bar struct {
	Label, Value string
	Y, TextY     int
	Width        float64
}

const (
	rowHeight = 32
	maxBars   = 60 // maximum number of bars in a plot
)

// plots returns charts of cost and time by task and by turn, and of each turn's context and failing
// tests.
func plots(l Loop) []plot {
	var out []plot
	add := func(id, title string, values []float64, label func(i int) string, words func(float64) string) {
		if p, ok := drawBars(values, label, words); ok {
			p.ID, p.Title = id, title
			out = append(out, p)
		}
	}
	tasks := slices.DeleteFunc(slices.Clone(l.State.Tasks), func(t loop.Task) bool { return t.Turns == 0 })
	task := func(i int) string { return narrate.Name(tasks[i]) }
	turn := func(i int) string { return fmt.Sprintf("iteration %d", l.Iterations[i].Number) }
	var cost, took, spent, lasted, context, failing []float64
	for _, t := range tasks {
		cost, took = append(cost, t.CostUSD), append(took, t.Took.Seconds())
	}
	for _, i := range l.Iterations {
		spent, lasted, context, failing = append(spent, i.CostUSD), append(lasted, i.Seconds), append(context, float64(i.Context)), append(failing, float64(i.Failing))
	}
	seconds := func(v float64) string { return figure.Duration(time.Duration(v * float64(time.Second))) }
	agent := 0.0
	for _, v := range lasted {
		agent += v
	}
	away, all := l.State.TimeAway(l.Now).Seconds(), l.State.Elapsed().Seconds()
	parts := []string{"the agent's turns", "waiting for limits and for you", "gates, checks and commits"}
	add("time", "Where the time went", []float64{agent, away, max(0, all-agent)}, func(i int) string { return parts[i] }, seconds)
	add("task-cost", "Cost of each task", cost, task, figure.Money)
	add("task-time", "Time of each task", took, task, seconds)
	add("turn-cost", "Cost of each iteration", spent, turn, figure.Money)
	add("turn-time", "Time of each iteration", lasted, turn, seconds)
	add("turn-context", "Context used at the end of each iteration", context, turn, func(v float64) string { return fmt.Sprintf("%.0f %%", v) })
	add("turn-failing", "Tests and gates that failed after each iteration", failing, turn, func(v float64) string { return fmt.Sprintf("%.0f", v) })
	return out
}

// drawBars draws values; negative ones are unknown. It returns false if there is nothing to show.
func drawBars(values []float64, label func(i int) string, words func(float64) string) (plot, bool) {
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	if most == 0 || len(values) < 2 {
		return plot{}, false
	}
	var p plot
	first := max(0, len(values)-maxBars)
	for i, v := range values {
		if v < 0 || i < first {
			continue
		}
		p.Bars = append(p.Bars, bar{Label: label(i), Value: words(v), Y: p.Height + 19, TextY: p.Height + 14, Width: math.Round(1000*v/most) / 10})
		p.Height += rowHeight
	}
	p.Sum = fmt.Sprintf("%s, the highest %s", figure.Count(len(p.Bars), "bar"), words(most))
	if first > 0 {
		p.Sum += fmt.Sprintf("; the %d before them are not drawn", first)
	}
	return p, len(p.Bars) > 0
}
