package planfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/planfile"
)

func TestConvertKeepsTasks(t *testing.T) {
	t.Parallel()
	p := decode(t, "p.json", `{"project":"Shop","description":"Small.","userStories":[
		{"id":"US-001","title":"Cart","description":"# As a customer","acceptanceCriteria":["adds up"],"passes":true},
		{"id":"pay","title":"Pay <!-- pawl: evidence=unproven -->","priority":2,"dependsOn":["US-001"],"evidence":"reviewed","scope":"src/**, docs/*.md","allow_test_changes":true}]}`).Plan()
	cases := []struct{ format, want string }{
		{planfile.Checklist, `# Shop

Small.

- [x] US-001: Cart
  - adds up

  \# As a customer

- [ ] Pay <! -- pawl: evidence=unproven --> <!-- pawl: id=pay depends_on=US-001 priority=2 evidence=reviewed scope=src/**,docs/*.md allow_test_changes=true -->
`},
		{planfile.Ralphex, `# Shop

Small.

### Task 1: Cart <!-- pawl: id=US-001 -->

\# As a customer

- [x] adds up

### Task 2: Pay <! -- pawl: evidence=unproven --> <!-- pawl: id=pay depends_on=US-001 priority=2 evidence=reviewed scope=src/**,docs/*.md allow_test_changes=true -->

- [ ] Done
`},
		{planfile.PRD, `# Shop

Small.

### [x] US-001: Cart

\# As a customer

- [x] adds up

### [ ] Pay <! -- pawl: evidence=unproven --> <!-- pawl: id=pay depends_on=US-001 priority=2 evidence=reviewed scope=src/**,docs/*.md allow_test_changes=true -->

`},
		{planfile.FeatureList, `[
  {
    "id": "US-001",
    "category": "functional",
    "description": "Cart",
    "steps": [
      "adds up"
    ],
    "passes": true,
    "notes": "# As a customer"
  },
  {
    "id": "pay",
    "category": "functional",
    "description": "Pay <!-- pawl: evidence=unproven -->",
    "priority": 2,
    "passes": false,
    "dependsOn": [
      "US-001"
    ],
    "evidence": "reviewed",
    "scope": [
      "src/**",
      "docs/*.md"
    ],
    "allow_test_changes": true
  }
]
`},
	}
	for _, c := range cases {
		t.Run(c.format, func(t *testing.T) {
			t.Parallel()
			got, err := planfile.Convert(p, c.format)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("converted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConvertRefuses(t *testing.T) {
	t.Parallel()
	p := decode(t, "p.json", `[{"id":"a b","title":"c"}]`).Plan()
	for _, format := range []string{planfile.Checklist, "yaml"} {
		if _, err := planfile.Convert(p, format); failure.CodeOf(err) != failure.Usage || failure.Hint(err) == "" {
			t.Errorf("convert to %s: error = %v", format, err)
		}
	}
}

func TestEveryTestPlanConverts(t *testing.T) {
	t.Parallel()
	for _, path := range plans(t) {
		f, err := planfile.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		converts(t, f.Plan())
	}
}

// A command with a command substitution stays the same.
func TestConvertKeepsACommandWithBackticks(t *testing.T) {
	t.Parallel()
	gates := []string{"go test ./...", "test `wc -l < a.txt` = 3"}
	p := decode(t, "p.json", `{"project":"Shop","userStories":[{"id":"US-001","title":"Add `+"`Sub`"+` to calc"}]}`).Plan()
	p.Gates = gates
	data, err := planfile.Convert(p, planfile.Ralphex)
	if err != nil {
		t.Fatal(err)
	}
	again := decode(t, "plan.md", string(data)).Plan()
	if diff := cmp.Diff(gates, again.Gates); diff != "" {
		t.Errorf("gates (-want +got):\n%s\n%s", diff, data)
	}
	if got := again.Tasks[0].Title; got != "Add `Sub` to calc" {
		t.Errorf("title: %s", got)
	}
}
