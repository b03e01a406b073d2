package telemetry

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Metric is a measured quantity of a run.
type Metric struct {
	Name, Unit, About string
	Bounds            []float64 // of a histogram's buckets; nil: it is a sum
	Points            []Point
}

// Point is the value of a metric for one set of attributes.
type Point struct {
	Attributes []Attribute
	Sum        float64
	Counts     []int // of a histogram: for each bucket, the last one without a bound
}

// tokenBounds returns the bucket bounds that the conventions recommend for tokens.
func tokenBounds() []float64 {
	bounds := []float64{1}
	for range 13 {
		bounds = append(bounds, 4*bounds[len(bounds)-1])
	}
	return bounds
}

// turnBounds returns the bucket bounds for the duration of turns, in seconds.
func turnBounds() []float64 { return []float64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600} }

// add counts a value into its bucket.
func (p *Point) add(bounds []float64, value float64) {
	if p.Counts == nil {
		p.Counts = make([]int, len(bounds)+1)
	}
	at, _ := slices.BinarySearch(bounds, value)
	p.Counts[at]++
	p.Sum += value
}

// metrics are those of the run that ends with a state.
func (b *builder) metrics(s loop.State) []Metric {
	tokens := Metric{Name: "gen_ai.client.token.usage", Unit: "{token}", About: "tokens of the agent's turns", Bounds: tokenBounds()}
	took := Metric{Name: "gen_ai.client.operation.duration", Unit: "s", About: "time of the agent's turns", Bounds: turnBounds()}
	input := Point{Attributes: append(b.operation(), Attribute{"gen_ai.token.type", "input"})}
	output := Point{Attributes: append(b.operation(), Attribute{"gen_ai.token.type", "output"})}
	turns := map[string]*Point{}
	var order []string
	for _, t := range b.turns {
		if t.usage != (loop.Usage{}) {
			input.add(tokens.Bounds, float64(t.input()))
			output.add(tokens.Bounds, float64(t.usage.Output))
		}
		p := turns[t.failed]
		if p == nil {
			p = &Point{Attributes: b.operation()}
			if t.failed != "" {
				p.Attributes = append(p.Attributes, Attribute{"error.type", t.failed})
			}
			turns[t.failed], order = p, append(order, t.failed)
		}
		p.add(took.Bounds, t.seconds)
	}
	for _, key := range order {
		took.Points = append(took.Points, *turns[key])
	}
	if input.Counts != nil {
		tokens.Points = []Point{input, output}
	}
	root := b.run.Spans[0]
	all := []Metric{
		tokens, took,
		sum(Metric{Name: "pawl.cost", Unit: "USD", About: "cost of the agent's turns and of reviews"}, s.Usage.CostUSD-b.first.Usage.CostUSD),
		sum(Metric{Name: "pawl.iterations", Unit: "{iteration}", About: "turns of the agent"}, float64(s.Iteration-b.first.Iteration)),
		sum(Metric{Name: "pawl.claims.refused", Unit: "{claim}", About: "claims that were refused"}, float64(s.Refusals-b.first.Refusals)),
		sum(Metric{Name: "pawl.restores", Unit: "{restore}", About: "trees that were put back"}, float64(s.Restores-b.first.Restores)),
		sum(Metric{Name: "pawl.violations", Unit: "{violation}", About: "changes of protected files"}, float64(s.Violations-b.first.Violations)),
		sum(Metric{Name: "pawl.loop.time", Unit: "s", About: "time from start to end"}, root.End.Sub(root.Start).Seconds()),
		sum(Metric{Name: "pawl.loop.ends", Unit: "{loop}", About: "loops that ended, by outcome"}, 1, Attribute{"pawl.outcome", string(s.Outcome)}),
		b.tasksByEnd(s),
	}
	return slices.DeleteFunc(all, func(m Metric) bool { return len(m.Points) == 0 })
}

// sum is the metric with one value.
func sum(m Metric, value float64, with ...Attribute) Metric {
	m.Points = []Point{{Attributes: with, Sum: value}}
	return m
}

// tasksByEnd counts the tasks whose end is of this run, by status and evidence.
func (b *builder) tasksByEnd(s loop.State) Metric {
	m := Metric{Name: "pawl.tasks", Unit: "{task}", About: "tasks, by how they ended"}
	for _, t := range s.Tasks {
		if was, ok := b.first.Task(t.ID); t.DoneEarlier || ok && was.Status == t.Status && t.Status != loop.Open {
			continue
		}
		status, evidence := string(t.Status), string(t.Evidence)
		at := slices.IndexFunc(m.Points, func(p Point) bool { return p.Attributes[0].Value == status && p.Attributes[1].Value == evidence })
		if at < 0 {
			at = len(m.Points)
			m.Points = append(m.Points, Point{Attributes: []Attribute{{"pawl.task.status", status}, {"pawl.task.evidence", evidence}}})
		}
		m.Points[at].Sum++
	}
	return m
}
