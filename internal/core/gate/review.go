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

// Kind says who checks: a command or a reviewer.
type Kind string

// The kinds. A review runs only if every command passes, and gives its own level of evidence:
// reviewing models often err.
const (
	ByCommand Kind = ""       // a command of the user's
	ByReview  Kind = "review" // another agent with read-only access
)

// Commands returns the gates that run a command.
func Commands(gates []Gate) []Gate { return ofKind(gates, ByCommand) }

// Reviews returns the gates that ask an agent.
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

// Opinion is a reviewer's answer. Assess decides what it counts for.
type Opinion struct {
	Verdict  string     `json:"verdict"`  // pass, fail or unsure
	Findings []Finding  `json:"findings"` // what is wrong, the worst first
	Evidence []Citation `json:"evidence"` // the places that support the verdict
	// Tests are requested only if the gate may approve test changes.
	Tests []ChangedTest `json:"tests,omitempty"`
}

// ChangedTest is a reviewer's opinion on the change of an old test.
type ChangedTest struct {
	File   string `json:"file"`
	Needed bool   `json:"needed"` // the task cannot be done without it, and the test checks as much as before
	Why    string `json:"why"`
}

// Finding is one thing that a reviewer found wrong.
type Finding struct {
	File     string `json:"file"` // below the root, "" = no file
	Line     int    `json:"line"` // from 1, 0 unknown
	What     string `json:"what"`
	Severity string `json:"severity"` // blocker (must not pass) or minor
}

// Citation is a place that supports a reviewer's verdict.
type Citation struct {
	What  string `json:"what"`
	Where string `json:"where"` // FILE:LINE, FILE:FROM-TO, answer:LINE, or the id of a gate's receipt
}

// OpinionSchema is the JSON Schema of Opinion, for agents with structured output.
const OpinionSchema = `{"type":"object","additionalProperties":false,"required":["verdict","findings","evidence"],"properties":{` +
	`"verdict":{"type":"string","enum":["pass","fail","unsure"]},` +
	`"findings":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["file","line","what","severity"],"properties":{` +
	`"file":{"type":"string"},"line":{"type":"integer","minimum":0},"what":{"type":"string"},"severity":{"type":"string","enum":["blocker","minor"]}}}},` +
	`"evidence":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["what","where"],"properties":{` +
	`"what":{"type":"string"},"where":{"type":"string"}}}},` +
	`"tests":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["file","needed","why"],"properties":{` +
	`"file":{"type":"string"},"needed":{"type":"boolean"},"why":{"type":"string"}}}}}}`

const (
	maxFindings = 20 // kept from each list
	blocker     = "blocker"
)

// ParseOpinion reads a reviewer's last message: one JSON object, alone or as the only fenced block
// at the end. It never searches prose; a schema violation is an error that names it.
func ParseOpinion(text string) (Opinion, error) {
	var o Opinion
	if err := answer.Decode(text, &o); err != nil {
		return Opinion{}, err
	}
	return o, o.check()
}

func (o *Opinion) check() error {
	if !slices.Contains([]string{string(Pass), string(Fail), "unsure"}, o.Verdict) {
		return fmt.Errorf("the answer's verdict is %q, and not pass, fail or unsure", o.Verdict)
	}
	o.Findings = slices.DeleteFunc(o.Findings, func(f Finding) bool { return strings.TrimSpace(f.What) == "" })
	o.Findings, o.Evidence = o.Findings[:min(len(o.Findings), maxFindings)], o.Evidence[:min(len(o.Evidence), maxFindings)]
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

// Assess turns an opinion into a status and a one-line reason. A pass must cite evidence that
// exists: one invented place shows that the reviewer did not look. A fail must name a finding.
// Anything less, or a contradiction, is unknown.
func (o Opinion) Assess(exists func(where string) bool) (Status, string) {
	i := slices.IndexFunc(o.Findings, func(f Finding) bool { return f.Severity == blocker })
	switch {
	case o.Verdict == string(Fail) && len(o.Findings) == 0:
		return Unknown, "it fails the work but names no fault"
	case o.Verdict == string(Fail):
		return Fail, o.Findings[max(i, 0)].String()
	case o.Verdict != string(Pass) && len(o.Findings) > 0:
		return Unknown, "the reviewer is not sure: " + o.Findings[max(i, 0)].String()
	case o.Verdict != string(Pass):
		return Unknown, "the reviewer is not sure"
	case i >= 0:
		return Unknown, "it passes the work but calls this a blocker: " + o.Findings[i].String()
	case len(o.Evidence) == 0:
		return Unknown, "it passes the work but names no evidence"
	}
	var where []string
	for _, c := range o.Evidence {
		if !exists(c.Where) {
			return Unknown, fmt.Sprintf("it points at %q, which does not exist", c.Where)
		}
		where = append(where, c.Where)
	}
	return Pass, "it points at " + plan.Few(where, 4)
}

// Approvals returns the changed tests that the opinion calls needed, with a reason. If it lists a
// test twice, both entries must agree.
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

// ParsePlace parses FILE:LINE or FILE:FROM-TO. to is the last line; ok is false if the lines are
// invalid.
func ParsePlace(where string) (file string, to int, ok bool) {
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

// AfterReview returns the evidence after all reviews passed: at least Reviewed.
func AfterReview(e Evidence) Evidence {
	if e.Satisfies(Reviewed) {
		return e
	}
	return Reviewed
}
