package guard_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/guard"
)

// The agent may edit only the done marks of a plan. They are claims.
func TestAgentMayEditOnlyDoneMarksOfPlan(t *testing.T) {
	t.Parallel()
	r := rules()
	r.Plans = []string{"/w/repo/plan.md"}
	edit := func(was, now string) map[string]any {
		return map[string]any{"file_path": "plan.md", "old_string": was, "new_string": now}
	}
	for _, c := range []struct {
		name, tool string
		input      map[string]any
		want       string
	}{
		{"a box", "Edit", edit("- [ ] US-1: a", "- [x] US-1: a"), ""},
		{"a box set back", "Edit", edit("- [X] US-1: a", "- [ ] US-1: a"), ""},
		{"an odd box", "Edit", edit("- [~] a\n- [] b\n- [ ]* c", "- [x] a\n- [x] b\n- [x]* c"), ""},
		{"a box made a task of", "Edit", edit("- a", "- [x] a"), guard.RuleProtected},
		{"a mark of JSON", "Edit", edit("\"title\": \"a\",\n  \"passes\": false", "\"title\": \"a\",\n  \"passes\" : true"), ""},
		{"more than the mark", "Edit", edit("- [ ] US-1: a", "- [x] US-1: b"), guard.RuleProtected},
		{"a task gone", "Edit", edit("- [ ] US-1: a\n- [ ] US-2: b", "- [x] US-1: a"), guard.RuleProtected},
		{"another key", "Edit", edit(`"optional": false`, `"optional": true`), guard.RuleProtected},
		{"nothing replaced", "Edit", edit("", "[ ]"), guard.RuleProtected},
		{"several marks", "MultiEdit", map[string]any{"file_path": "plan.md", "edits": []any{
			map[string]any{"old_string": "[ ] a", "new_string": "[x] a"}, map[string]any{"old_string": "[ ] b", "new_string": "[x] b"},
		}}, ""},
		{"marks and more", "MultiEdit", map[string]any{"file_path": "plan.md", "edits": []any{
			map[string]any{"old_string": "[ ] a", "new_string": "[x] a"}, map[string]any{"old_string": "b", "new_string": ""},
		}}, guard.RuleProtected},
		{"the whole file", "Write", map[string]any{"file_path": "plan.md", "content": "- [x] US-1: a"}, guard.RuleProtected},
		{"by a command", "Bash", map[string]any{"command": "sed -i 's/US-1/US-2/' plan.md"}, guard.RuleProtected},
		{"another file", "Write", map[string]any{"file_path": "docs/plan.md"}, ""},
	} {
		if v := guard.Check(codec.ToolCall(c.tool, c.input, ""), r); v.Rule != c.want {
			t.Errorf("%s: rule %q, want %q", c.name, v.Rule, c.want)
		}
	}
}
