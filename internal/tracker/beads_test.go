//go:build unix

package tracker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/tracker"
)

// double replaces bd: it prints what the documentation of beads shows, from answers/COMMAND (with
// the status of an issue in status), and logs its calls.
const double = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
for a; do printf '%s|' "$a"; done >>calls
echo >>calls
case "$*" in
"show bd-gone"*) echo 'Error: issue not found: bd-gone' >&2; exit 1 ;;
"update bd-taken --claim"*) echo '{"error":"issue already claimed by bob"}'; exit 1 ;;
show*) sed "s/STATUS/$(cat status)/" show ;;
*ready*--parent*) cat children ;;
*ready*) cat ready ;;
esac
`

// beads returns the tracker with the double, and a function that returns the double's calls.
func beads(t *testing.T, status string, answers map[string]string) (*tracker.Beads, func() []string) {
	t.Helper()
	dir := t.TempDir()
	answers["bd"], answers["status"] = double, status
	for name, text := range answers {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return &tracker.Beads{Dir: dir, Env: os.Environ()}, func() []string {
		data, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
}

const (
	readyInEnvelope = `{"schema_version":1,"data":[
 {"id":"bd-1","title":"Export","description":"As CSV.","design":"One pass.","acceptance_criteria":"- quoted\n- sorted","status":"open","priority":0,"issue_type":"task"},
 {"id":"bd-2","title":"Import","status":"in_progress","assignee":"bob","priority":2,"issue_type":"task",
  "dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"},{"issue_id":"bd-2","depends_on_id":"bd-9","type":"parent-child"}]}]}`
	children = `[{"id":"bd-5.1","title":"A child","status":"open","priority":1,"issue_type":"task"}]`
	shown    = `[{"id":"bd-1","title":"Export","status":"STATUS","notes":"said before [pawl: k1]","issue_type":"TYPE",
 "dependencies":[{"id":"bd-3","title":"Before","status":"open","dependency_type":"blocks"},{"id":"bd-4","title":"Older","status":"closed","dependency_type":"blocks"}]}]`
)

func TestBeadsLists(t *testing.T) {
	answers := map[string]string{"ready": readyInEnvelope, "children": children, "show": strings.ReplaceAll(shown, "TYPE", "task")}
	b, _ := beads(t, "open", answers)
	r, err := b.Handle(t.Context(), tracker.Request{Do: tracker.List})
	want := []tracker.Issue{
		{ID: "bd-1", Key: "bd-1", Title: "Export", Body: "As CSV.\n\nOne pass.", Criteria: []string{"quoted", "sorted"}, Priority: 1},
		{ID: "bd-2", Key: "bd-2", Title: "Import", Priority: 3, ClaimedBy: "bob", DependsOn: []string{"bd-1"}},
	}
	if diff := cmp.Diff(want, r.Issues); diff != "" || err != nil {
		t.Error(err, diff)
	}
	r, err = b.Handle(t.Context(), tracker.Request{Do: tracker.List, Query: "bd-1"})
	if diff := cmp.Diff([]tracker.Issue{{ID: "bd-1", Key: "bd-1", Title: "Export", Priority: 1, DependsOn: []string{"bd-3"}}}, r.Issues); diff != "" || err != nil {
		t.Error(err, diff)
	}
	answers["show"] = strings.ReplaceAll(shown, "TYPE", "epic")
	b, calls := beads(t, "open", answers)
	r, err = b.Handle(t.Context(), tracker.Request{Do: tracker.List, Query: "bd-5"})
	if len(r.Issues) != 1 || r.Issues[0].ID != "bd-5.1" || err != nil {
		t.Error(err, r.Issues)
	}
	if diff := cmp.Diff([]string{"show|bd-5|--json|", "ready|--json|-n|0|--parent|bd-5|"}, calls()); diff != "" {
		t.Error(diff)
	}
}

func TestBeadsClaimsAndTells(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		ask    tracker.Request
		want   []string // calls after show
	}{
		"claim":           {"open", tracker.Request{Do: tracker.Claim}, []string{"update|bd-1|--claim|--json|"}},
		"done":            {"in_progress", tracker.Request{Do: tracker.Done, Text: "verified", Key: "k2", Release: true}, []string{"close|bd-1|-r|verified|--json|"}},
		"done before":     {"closed", tracker.Request{Do: tracker.Done, Text: "verified", Key: "k2"}, nil},
		"comment":         {"open", tracker.Request{Do: tracker.Comment, Text: "more", Key: "k2"}, []string{"update|bd-1|--append-notes|more", "[pawl: k2]|--json|"}},
		"comment again":   {"open", tracker.Request{Do: tracker.Comment, Text: "more", Key: "k1"}, nil},
		"blocked":         {"in_progress", tracker.Request{Do: tracker.Blocked, Text: "why", Key: "k2", Release: true}, []string{"update|bd-1|--append-notes|why", "[pawl: k2]|--json|", "update|bd-1|--status|open|--assignee||--json|"}},
		"blocked, silent": {"in_progress", tracker.Request{Do: tracker.Blocked, Release: true}, []string{"update|bd-1|--status|open|--assignee||--json|"}},
		"blocked, closed": {"closed", tracker.Request{Do: tracker.Blocked, Release: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b, calls := beads(t, c.status, map[string]string{"show": shown})
			c.ask.Issue = "bd-1"
			if _, err := b.Handle(t.Context(), c.ask); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append([]string{"show|bd-1|--json|"}, c.want...), calls()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBeadsSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		ask    tracker.Request
		want   string
	}{
		"no such issue": {"open", tracker.Request{Do: tracker.List, Query: "bd-gone"}, "bd show: exit 1: Error: issue not found: bd-gone"},
		"closed":        {"closed", tracker.Request{Do: tracker.Claim, Issue: "bd-1"}, "issue bd-1 is closed"},
		"taken":         {"open", tracker.Request{Do: tracker.Claim, Issue: "bd-taken"}, "bd update: exit 1: issue already claimed by bob"},
		"an option":     {"open", tracker.Request{Do: tracker.Done, Issue: "--all"}, `"--all" is not an issue of beads`},
		"another":       {"open", tracker.Request{Do: tracker.List, Query: "--all"}, `"--all" is not an issue of beads`},
		"an odd verb":   {"open", tracker.Request{Do: "delete", Issue: "bd-1"}, `unknown request "delete"`},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := beads(t, c.status, map[string]string{"show": shown})
			_, err := b.Handle(t.Context(), c.ask)
			if told, ok := errors.AsType[*tracker.Error](err); !ok || told.What != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	_, err := (&tracker.Beads{}).Handle(t.Context(), tracker.Request{Do: tracker.List})
	if told, ok := errors.AsType[*tracker.Error](err); !ok || told.What != "bd is not installed" {
		t.Error(err)
	}
}
