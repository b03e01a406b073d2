package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Lesson is a rule for later turns: what was tried, what happened, what to do instead. Lessons
// written by a user or the agent have Instead only.
type Lesson struct {
	Tried        string `json:"tried,omitempty"`
	Broke        string `json:"broke,omitempty"`
	FailedBefore bool   `json:"failed_before,omitempty"` // what Broke names failed before too: it did not help
	Instead      string `json:"instead"`
	Key          string `json:"key,omitempty"`     // lessons with the same key are one; "": keyed by the text
	Times        int    `json:"times,omitempty"`   // repetitions after the first
	ByUser       bool   `json:"by_user,omitempty"` // dropped last when there are too many
}

const (
	maxLessons     = 20
	maxLessonBytes = 600 // of each part
)

// String returns the lesson in one line.
func (l Lesson) String() string {
	came := "Result: "
	if l.FailedBefore {
		came = "That did not work: "
	}
	var parts []string
	for _, p := range []struct{ label, text string }{{"Tried: ", l.Tried}, {came, l.Broke}} {
		if p.text != "" {
			parts = append(parts, p.label+strings.TrimSuffix(p.text, "."))
		}
	}
	instead := l.Instead
	if len(parts) > 0 {
		instead = "Instead: " + instead
	}
	s := strings.Join(append(parts, instead), ". ")
	if l.Times > 0 {
		s += fmt.Sprintf(" (learnt %d times)", l.Times+1)
	}
	return s
}

func (l Lesson) key() string {
	if l.Key != "" {
		return l.Key
	}
	return l.Instead
}

// learn adds a lesson. A repeated one is counted and moves to the end. When full, the oldest lesson
// not written by a user is dropped.
func (m *machine) learn(l Lesson) {
	l.Tried, l.Broke, l.Instead = plan.OneLine(l.Tried, maxLessonBytes), plan.OneLine(l.Broke, maxLessonBytes), plan.OneLine(l.Instead, maxLessonBytes)
	if l.Instead == "" {
		return
	}
	kept := slices.Clone(m.s.Lessons)
	if i := slices.IndexFunc(kept, func(k Lesson) bool { return k.key() == l.key() }); i >= 0 {
		if kept[i].ByUser { // as they wrote it
			return
		}
		l.Times = kept[i].Times + 1
		kept = slices.Delete(kept, i, i+1)
	}
	if len(kept) >= maxLessons {
		i := slices.IndexFunc(kept, func(k Lesson) bool { return !k.ByUser })
		if i < 0 && !l.ByUser {
			return
		}
		kept = slices.Delete(kept, max(i, 0), max(i, 0)+1)
	}
	kept = append(kept, l)
	m.s.Lessons = kept
}

// forget removes the lesson whose String is text.
func (m *machine) forget(text string) {
	m.s.Lessons = slices.DeleteFunc(slices.Clone(m.s.Lessons), func(l Lesson) bool { return l.String() == text })
}

// undoneLesson returns the lesson of a restore.
func (m *machine) undoneLesson() Lesson {
	f := *m.s.Failing
	l := Lesson{
		Tried: "task " + m.s.Current, Broke: f.Reason, FailedBefore: f.FailedBefore, Instead: "take another way",
		Key: "restore " + m.s.Current + " " + strings.Join(f.Tests, " "),
	}
	if f.GateTimedOut {
		l.Instead = "find out what takes so long or blocks"
	}
	if m.s.LastAgentLine != "" {
		l.Tried += fmt.Sprintf(" (the agent said %q)", m.s.LastAgentLine)
	}
	if f.FirstError != "" && !strings.Contains(f.Reason, f.FirstError) {
		l.Broke += " (" + f.FirstError + ")"
	}
	switch named := slices.ContainsFunc(f.Tests, func(t string) bool { return strings.Contains(f.Reason, t) }); {
	case len(f.Tests) == 0:
		l.Key += gate.WithoutVarying(f.Reason)
	case named:
		l.Instead += ", and see it pass before you claim"
	default:
		l.Instead += ", and see it pass before you claim: " + strings.Join(f.Tests[:min(len(f.Tests), 3)], ", ")
	}
	return l
}

// violationLesson returns the lesson of a violation.
func violationLesson(what string) Lesson {
	return Lesson{
		Tried: "to change " + what, Broke: "that file is protected: the agent may not change it",
		Instead: "make the work pass with the file unchanged; if it is wrong, say so with <blocked>reason</blocked>", Key: "violation " + what,
	}
}
