package plan

import "testing"

// The id that a user types in front of a new task's title is told once.
func TestAddedTaskIsTold(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"A-4: vier":  `task A-4, "vier", is added`,
		"A-4 vier":   `task A-4, "vier", is added`,
		"vier":       `task A-4, "vier", is added`,
		"A-44: vier": `task A-4, "A-44: vier", is added`,
		"A-4":        `task A-4, "A-4", is added`,
	} {
		if got := (Edit{Do: Add, Task: "A-4", Title: title}).String(); got != want {
			t.Errorf("%q: %s, want %s", title, got, want)
		}
	}
}
