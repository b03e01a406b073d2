package telemetry

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Metric is a measured quantity of a run.
type Metric struct {
	Name, Unit, About string
	Bounds            []float64 // of the buckets of a histogram; nil for a sum
	Points            []Point
}

// Point is the value of a metric for one set of attributes.
type Point struct {
	Attributes []Attribute
	Sum        float64
	Counts     []int // of each bucket of a histogram; the last bucket has no upper bound
}

// tokenBounds returns the bucket bounds for tokens that OpenTelemetry's semantic conventions for
// generative AI recommend.
func tokenBounds() []float64 {
	bounds := []float64{1}
	for range 13 {
		bounds = append(bounds, 4*bounds[len(bounds)-1])
	}
	return bounds
}

// turnBounds returns the bucket bounds for the duration of turns, in seconds.
func turnBounds() []float64 { return []float64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600} }

// add adds a value to its bucket.
func (p *Point) add(bounds []float64, value float64) {
	if p.Counts == nil {
		p.Counts = make([]int, len(bounds)+1)
	}
	at, _ := slices.BinarySearch(bounds, value)
	p.Counts[at]++
	p.Sum += value
}

// metrics returns the metrics of the run that ends with state s.
func (b *builder) metrics(s loop.State) []Metric {
	tokens := Metric{Name: "gen_ai.client.token.usage", Unit: "{token}", About: "tokens of the agent's turns", Bounds: tokenBounds()}
	took := Metric{Name: "gen_ai.client.operation.duration", Unit: "s", About: "time of the agent's turns", Bounds: turnBounds()}
	input := Point{Attributes: append(b.operationAttributes(), Attribute{"gen_ai.token.type", "input"})}
	output := Point{Attributes: append(b.operationAttributes(), Attribute{"gen_ai.token.type", "output"})}
	turns := map[string]*Point{}
	var order []string
	for _, t := range b.turns {
		if t.usage != (loop.Usage{}) {
			input.add(tokens.Bounds, float64(t.inputTokens()))
			output.add(tokens.Bounds, float64(t.usage.Output))
		}
		p := turns[t.failure]
		if p == nil {
			p = &Point{Attributes: b.operationAttributes()}
			if t.failure != "" {
				p.Attributes = append(p.Attributes, Attribute{"error.type", t.failure})
			}
			turns[t.failure], order = p, append(order, t.failure)
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
		withValue(Metric{Name: "pawl.cost", Unit: "USD", About: "cost of the agent's turns and of reviews"}, s.Usage.CostUSD-b.before.Usage.CostUSD),
		withValue(Metric{Name: "pawl.iterations", Unit: "{iteration}", About: "turns of the agent"}, float64(s.Iteration-b.before.Iteration)),
		withValue(Metric{Name: "pawl.claims.refused", Unit: "{claim}", About: "claims that were refused"}, float64(s.Refusals-b.before.Refusals)),
		withValue(Metric{Name: "pawl.restores", Unit: "{restore}", About: "trees that were put back"}, float64(s.Restores-b.before.Restores)),
		withValue(Metric{Name: "pawl.violations", Unit: "{violation}", About: "changes of protected files"}, float64(s.Violations-b.before.Violations)),
		withValue(Metric{Name: "pawl.loop.time", Unit: "s", About: "time from start to end"}, root.End.Sub(root.Start).Seconds()),
		withValue(Metric{Name: "pawl.loop.ends", Unit: "{loop}", About: "loops that ended, by outcome"}, 1, Attribute{"pawl.outcome", string(s.Outcome)}),
		b.tasksByEnd(s),
	}
	return slices.DeleteFunc(all, func(m Metric) bool { return len(m.Points) == 0 })
}

// withValue returns the metric with one value.
func withValue(m Metric, value float64, with ...Attribute) Metric {
	m.Points = []Point{{Attributes: with, Sum: value}}
	return m
}

// tasksByEnd counts the tasks that ended in this run, by status and evidence.
func (b *builder) tasksByEnd(s loop.State) Metric {
	m := Metric{Name: "pawl.tasks", Unit: "{task}", About: "tasks, by how they ended"}
	for _, t := range s.Tasks {
		if was, ok := b.before.Task(t.ID); t.DoneEarlier || ok && was.Status == t.Status && t.Status != loop.Open {
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
