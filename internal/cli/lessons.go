package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/lesson"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

type lessonsCmd struct {
	List lessonsListCmd `cmd:"" default:"withargs" help:"list the lessons of a loop and of the project"`
	Add  lessonsAddCmd  `cmd:"" user:"write lessons" help:"add a lesson"`
	Drop lessonsDropCmd `cmd:"" user:"take lessons out" help:"delete a lesson"`
	Keep lessonsKeepCmd `cmd:"" user:"keep lessons for the project" help:"keep a loop's lesson for later loops of this project"`
}

// lessonLoop names a loop by a flag, because the operands are something else.
type lessonLoop struct {
	Loop string `placeholder:"LOOP" help:"id of a loop or its beginning; default: the unfinished loop here"`
}

type lessonsListCmd struct {
	loopArg
	JSON bool `name:"json" help:"print a JSON object (docs/reference/lessons.schema.json)"`
}

// lessonLists is the output of `pawl lessons --json`.
type lessonLists struct {
	Loop    string   `json:"loop,omitempty"` // its id; absent without a loop
	Learnt  []string `json:"learnt"`         // of the loop
	Project []string `json:"project"`        // those of the project, for every loop here
}

// Run lists the lessons with consecutive numbers.
func (c *lessonsListCmd) Run(a *app) error {
	l, _, err := a.lessons(c.Loop)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.printJSON(l)
	}
	if len(l.Learnt)+len(l.Project) == 0 {
		a.printf("no lessons here yet\n")
		return nil
	}
	for i, text := range l.all() {
		if i == 0 && len(l.Learnt) > 0 {
			a.printf("%s\n", l.Loop)
		}
		if i == len(l.Learnt) {
			a.printf("the project\n")
		}
		a.printf("  %d  %s\n", i+1, text)
	}
	return nil
}

func (l lessonLists) all() []string { return slices.Concat(l.Learnt, l.Project) }

// lessonNumber names a lesson by its number.
type lessonNumber struct {
	lessonLoop
	Number int `arg:"" help:"its number in the list"`
}

// find returns the lesson, whether it belongs to the project, and the loop.
func (n lessonNumber) find(a *app) (text string, project bool, s *loopinfo.Loop, err error) {
	l, s, err := a.lessons(n.Loop)
	if err != nil {
		return "", false, nil, err
	}
	all := l.all()
	if n.Number < 1 || n.Number > len(all) {
		return "", false, nil, failure.New(failure.Usage, "pawl lessons lists them", "there is no lesson %d", n.Number)
	}
	return all[n.Number-1], n.Number > len(l.Learnt), s, nil
}

// lessons returns the lessons of the project and of the loop, if there is one.
func (a *app) lessons(ref string) (lessonLists, *loopinfo.Loop, error) {
	project, err := lesson.NewStore(a.env.PawlHome).List(a.root())
	if err != nil {
		return lessonLists{}, nil, err
	}
	l := lessonLists{Learnt: []string{}, Project: append([]string{}, project...)}
	s, err := a.find(ref)
	if ref == "" && errors.Is(err, store.ErrNotFound) {
		return l, nil, nil
	}
	if err != nil {
		return lessonLists{}, nil, err
	}
	l.Loop = s.ID
	for _, learnt := range s.Memory.State.Lessons {
		l.Learnt = append(l.Learnt, learnt.String())
	}
	return l, s, nil
}

type lessonsAddCmd struct {
	lessonLoop
	Project bool     `help:"keep it for every later loop of this project"`
	Text    []string `arg:"" help:"the lesson"`
}

// Run adds a lesson.
func (c *lessonsAddCmd) Run(ctx context.Context, a *app) error {
	text := plan.OneLine(a.withoutSecrets(strings.Join(c.Text, " ")), 600)
	if text == "" {
		return failure.New(failure.Usage, `pawl lessons add "the fixtures need a migrated database"`, "the lesson has no text")
	}
	if c.Project {
		return a.keepLesson(ctx, text)
	}
	s, err := a.find(c.Loop)
	if c.Loop == "" && errors.Is(err, store.ErrNotFound) {
		return failure.New(failure.Usage, "--project keeps it for later loops", "%w", err)
	}
	if err != nil {
		return err
	}
	return a.sendLessonChange(s, record.Message{Kind: record.MessageLearn, Text: text, ByUser: true})
}

type lessonsDropCmd struct{ lessonNumber }

// Run deletes a lesson.
func (c *lessonsDropCmd) Run(ctx context.Context, a *app) error {
	text, project, s, err := c.find(a)
	if err != nil {
		return err
	}
	if !project {
		return a.sendLessonChange(s, record.Message{Kind: record.MessageForget, Text: text})
	}
	if err := lesson.NewStore(a.env.PawlHome).Remove(ctx, a.root(), text); err != nil {
		return err
	}
	a.printf("deleted: later loops of this project do not get it\n")
	return nil
}

type lessonsKeepCmd struct{ lessonNumber }

// Run copies a loop's lesson to the project.
func (c *lessonsKeepCmd) Run(ctx context.Context, a *app) error {
	text, project, _, err := c.find(a)
	if err != nil {
		return err
	}
	if project {
		return failure.New(failure.Usage, "", "lesson %d is already kept for the project", c.Number)
	}
	return a.keepLesson(ctx, text)
}

func (a *app) keepLesson(ctx context.Context, text string) error {
	if err := lesson.NewStore(a.env.PawlHome).Add(ctx, a.root(), text); err != nil {
		return err
	}
	a.printf("kept: every later loop of this project gets it\n")
	return nil
}

// sendLessonChange sends the change to the loop, or applies it to one that has ended.
func (a *app) sendLessonChange(s *loopinfo.Loop, m record.Message) error {
	if s.HasEnded() && !s.HasWorkLeft() {
		return failure.New(failure.Usage, "pawl lessons keep, or add --project, keeps it for later loops", "loop %s has ended", s.ID)
	}
	if s.HasEnded() {
		e, _ := m.Event()
		if _, err := launch.ApplyToEnded(a.untilSignal(), s.Loop, a.env, e); err != nil {
			return fmt.Errorf("change the lessons of %s: %w", s.ID, err)
		}
		a.printf("%s has ended; the change counts after  pawl resume %[1]s\n", s.ID)
		return nil
	}
	if err := a.send(s, m); err != nil {
		return fmt.Errorf("change the lessons of %s: %w", s.ID, err)
	}
	a.printf("%s gets the change with its next prompt\n", s.ID)
	return nil
}
