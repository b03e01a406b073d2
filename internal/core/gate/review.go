package gate

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/answer"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Kind of a gate.
type Kind string

// The kinds. A review is asked for only where every command passes, and is
// evidence of its own level: models that judge err often.
const (
	ByCommand Kind = ""       // a command of the user's
	ByReview  Kind = "review" // another agent, which looks and touches nothing
)

// Commands are the gates that run a command, Reviews those that ask an agent.
func Commands(gates []Gate) []Gate { return ofKind(gates, ByCommand) }

// Reviews are the gates that ask an agent.
func Reviews(gates []Gate) []Gate { return ofKind(gates, ByReview) }

func ofKind(gates []Gate, k Kind) []Gate {
	var out []Gate
	for _, g := range gates {
		if g.Kind == k {
			out = append(out, g)
		}
	}
	return out
}

// Opinion is what a reviewer answers. It is not taken at its word: see Weigh.
type Opinion struct {
	Verdict  string    `json:"verdict"`  // pass, fail or unsure
	Findings []Finding `json:"findings"` // what is wrong, the worst first
	Evidence []Cited   `json:"evidence"` // what the verdict rests on
	// Tests are asked about only where the gate may approve their change.
	Tests []ChangedTest `json:"tests,omitempty"`
}

// ChangedTest is what a reviewer thinks of the change of an old test.
type ChangedTest struct {
	File   string `json:"file"`
	Needed bool   `json:"needed"` // what was asked cannot be done without it, and it checks no less
	Why    string `json:"why"`
}

// Finding is one thing that a reviewer found wrong.
type Finding struct {
	File     string `json:"file"` // below the root, "" where it is about none
	Line     int    `json:"line"` // from 1, 0 unknown
	What     string `json:"what"`
	Severity string `json:"severity"` // blocker: it must not pass like this; minor
}

// Cited is something that a reviewer points at.
type Cited struct {
	What  string `json:"what"`
	Where string `json:"where"` // FILE:LINE, FILE:FROM-TO, answer:LINE, or the id of a gate's receipt
}

// OpinionSchema is the JSON Schema of an Opinion, for agents that can be held to one.
const OpinionSchema = `{"type":"object","additionalProperties":false,"required":["verdict","findings","evidence"],"properties":{` +
	`"verdict":{"type":"string","enum":["pass","fail","unsure"]},` +
	`"findings":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["file","line","what","severity"],"properties":{` +
	`"file":{"type":"string"},"line":{"type":"integer","minimum":0},"what":{"type":"string"},"severity":{"type":"string","enum":["blocker","minor"]}}}},` +
	`"evidence":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["what","where"],"properties":{` +
	`"what":{"type":"string"},"where":{"type":"string"}}}},` +
	`"tests":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["file","needed","why"],"properties":{` +
	`"file":{"type":"string"},"needed":{"type":"boolean"},"why":{"type":"string"}}}}}}`

const (
	opinionMax  = 256 << 10 // bytes of an answer that are read at all
	findingsMax = 20        // that are kept, of each list
	blocker     = "blocker"
)

// ParseOpinion reads a reviewer's last message: one JSON object, alone or as the
// only fenced block, at the message's end. Nothing is searched for in prose, and
// what is not of the schema is an error that says so.
func ParseOpinion(text string) (Opinion, error) {
	var o Opinion
	if err := answer.Decode(text, opinionMax, &o); err != nil {
		return Opinion{}, err
	}
	return o, o.check()
}

func (o *Opinion) check() error {
	if !slices.Contains([]string{string(Pass), string(Fail), "unsure"}, o.Verdict) {
		return fmt.Errorf("the answer's verdict is %q, and not pass, fail or unsure", o.Verdict)
	}
	o.Findings = slices.DeleteFunc(o.Findings, func(f Finding) bool { return strings.TrimSpace(f.What) == "" })
	o.Findings, o.Evidence = o.Findings[:min(len(o.Findings), findingsMax)], o.Evidence[:min(len(o.Evidence), findingsMax)]
	return nil
}

// String is "file:line: what", for the agent and the user.
func (f Finding) String() string {
	switch {
	case f.File == "":
		return f.What
	case f.Line <= 0:
		return f.File + ": " + f.What
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.What)
}

// Weigh says what an opinion counts for, and why in one line. A pass must point
// at evidence, all of which exists: a reviewer that makes up one place has not
// looked. A fail must name what is wrong. What falls short of that is unknown, as
// is an opinion that contradicts itself.
func (o Opinion) Weigh(exists func(where string) bool) (Status, string) {
	i := slices.IndexFunc(o.Findings, func(f Finding) bool { return f.Severity == blocker })
	switch {
	case o.Verdict == string(Fail) && len(o.Findings) == 0:
		return Unknown, "it fails the work and names nothing that is wrong"
	case o.Verdict == string(Fail):
		return Fail, o.Findings[max(i, 0)].String()
	case o.Verdict != string(Pass) && len(o.Findings) > 0:
		return Unknown, "the reviewer is not sure: " + o.Findings[max(i, 0)].String()
	case o.Verdict != string(Pass):
		return Unknown, "the reviewer is not sure"
	case i >= 0:
		return Unknown, "it passes the work and calls this a blocker: " + o.Findings[i].String()
	case len(o.Evidence) == 0:
		return Unknown, "it passes the work and points at no evidence"
	}
	var where []string
	for _, c := range o.Evidence {
		if !exists(c.Where) {
			return Unknown, fmt.Sprintf("it points at %q, which is not there", c.Where)
		}
		where = append(where, c.Where)
	}
	return Pass, "it points at " + plan.Few(where, 4)
}

// Approvals are those of the changed tests that the opinion calls needed, and says why.
// Of a test that it names twice, each word must be so.
func (o Opinion) Approvals(changed []string) []string {
	var out []string
	for _, file := range changed {
		about := func(t ChangedTest) bool { return path.Clean(t.File) == file }
		doubted := func(t ChangedTest) bool { return about(t) && (!t.Needed || strings.TrimSpace(t.Why) == "") }
		if slices.ContainsFunc(o.Tests, about) && !slices.ContainsFunc(o.Tests, doubted) {
			out = append(out, file)
		}
	}
	return out
}

// Place reads FILE:LINE or FILE:FROM-TO; to is the last line that is meant. It is
// not ok where the lines cannot be.
func Place(where string) (file string, to int, ok bool) {
	i := strings.LastIndexByte(where, ':')
	if i <= 0 {
		return "", 0, false
	}
	first, last, span := strings.Cut(where[i+1:], "-")
	if !span {
		last = first
	}
	from, err := strconv.ParseUint(first, 10, 31)
	end, err2 := strconv.ParseUint(last, 10, 31)
	return where[:i], int(end), err == nil && err2 == nil && from > 0 && end >= from
}

// AfterReview is the evidence of work that stood at e before every review passed it:
// at least Reviewed, and never more than it was found to be without.
func AfterReview(e Evidence) Evidence {
	if e.Satisfies(Reviewed) {
		return e
	}
	return Reviewed
}
