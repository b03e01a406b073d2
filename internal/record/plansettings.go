package record

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/store"
)

// PlanSettings are what the user says of tasks in the plan, beside their titles. They follow the
// user's edits while the loop lives. An edit that may be the agent's changes none of them, since
// they decide what the agent may do.
type PlanSettings struct {
	Scopes        map[string][]string `json:"scopes,omitempty"`                 // globs of the files that a task may change, by task id; none: any
	TaskTexts     map[string]string   `json:"task_texts,omitempty"`             // all that a task says, by its id; none: it is not known to be the user's
	PlanTestTasks []string            `json:"plan_test_change_tasks,omitempty"` // tasks that may change tests
	Evidence      map[string]string   `json:"task_evidence,omitempty"`          // evidence wanted by edits since the start, by task id; "": the loop's
}

// maxTaskText bounds the text of a task that a loop keeps, in bytes.
const maxTaskText = 20_000

// Follow returns the settings after the user edited the plan. Tasks that the edit leaves alone
// keep what is known of them: an earlier edit of them may have been the agent's.
func (ps PlanSettings) Follow(was, now plan.Plan) PlanSettings {
	next := PlanSettings{Scopes: map[string][]string{}, TaskTexts: map[string]string{}, Evidence: map[string]string{}}
	had := was.Index()
	for _, t := range now.Tasks {
		i, known := had[t.ID]
		from := ps
		if !known || !t.SameButMark(was.Tasks[i]) {
			from = settingsOf(t)
		}
		if scope := from.Scopes[t.ID]; len(scope) > 0 {
			next.Scopes[t.ID] = scope
		}
		if text, ok := from.TaskTexts[t.ID]; ok {
			next.TaskTexts[t.ID] = text
		}
		if slices.Contains(from.PlanTestTasks, t.ID) {
			next.PlanTestTasks = append(next.PlanTestTasks, t.ID)
		}
		if evidence, ok := ps.Evidence[t.ID]; ok {
			next.Evidence[t.ID] = evidence
		}
		if known && t.Evidence != was.Tasks[i].Evidence {
			next.Evidence[t.ID] = t.Evidence
		}
	}
	return next
}

// settingsOf returns what a task says by itself.
func settingsOf(t plan.Task) PlanSettings {
	text := strings.Join(slices.DeleteFunc(append([]string{t.Title, t.Detail}, t.Criteria...), func(s string) bool { return s == "" }), "\n")
	ps := PlanSettings{
		Scopes:    map[string][]string{t.ID: t.Scope},
		TaskTexts: map[string]string{t.ID: strings.ToValidUTF8(text[:min(len(text), maxTaskText)], "")},
	}
	if t.AllowTestChanges {
		ps.PlanTestTasks = []string{t.ID}
	}
	return ps
}

// planSettingsPath returns the file with the settings after the user's last edit of the plan.
func planSettingsPath(l *store.Loop) string { return filepath.Join(l.Dir, "plan.settings.json") }

// SavePlanSettings stores the settings after a user's edit.
func SavePlanSettings(l *store.Loop, ps PlanSettings) error {
	if err := atomicfile.WriteJSON(planSettingsPath(l), ps); err != nil {
		return fmt.Errorf("save what the plan says of its tasks: %w", err)
	}
	return nil
}

// readPlanSettings returns the stored settings, or those of the loop's start if no user edited
// the plan since.
func readPlanSettings(l *store.Loop, start PlanSettings) (PlanSettings, error) {
	var ps PlanSettings
	err := atomicfile.ReadJSON(planSettingsPath(l), &ps)
	if errors.Is(err, fs.ErrNotExist) {
		return start, nil
	}
	if err != nil {
		return ps, fmt.Errorf("read what the plan says of its tasks: %w", err)
	}
	return ps, nil
}
