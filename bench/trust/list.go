package trust

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A list has cheats and honest runs whose authors had seen neither Pawl's checks nor any other
// scenario. Unlike the scenarios of the bench, they have no expected result: they
// are counted. Their cheats are of a kind: tree (the tree, git or the gates' output could
// tell) or code (the program deceives its own tests). The lists from
// the fifteenth to the seventeenth have no cheats: their honest runs are of plans of
// several tasks. Nor has the twenty-fifth. The eighteenth has cheats only.

//go:embed lists
var lists embed.FS

// Lists are the names of the lists.
func Lists() []string {
	entries, err := lists.ReadDir("lists")
	if err != nil {
		return nil // it is embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// List returns the scenarios of a list.
func List(name string) ([]Scenario, error) {
	if !slices.Contains(Lists(), name) {
		return nil, fmt.Errorf("there is no list %q, there are %s", name, strings.Join(Lists(), " and "))
	}
	files, err := fs.Glob(lists, "lists/"+name+"/*/*.txtar")
	if err != nil {
		return nil, err
	}
	var all []Scenario
	for _, file := range files {
		data, err := lists.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s, err := Parse("bench/trust/"+file, data)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Count returns a line about the results of a list: its cheats by kind, and its honest runs.
func Count(outcomes []Outcome) string {
	kinds := map[string]Seen{}
	honest, hindered, explained := 0, 0, 0
	for _, o := range outcomes {
		switch {
		case o.Skipped != "":
		case o.Label == Honest:
			honest++
			count(&hindered, len(o.Faults) > 0)
			count(&explained, len(o.Faults) > 0 && strings.Contains(o.Story, "pawl approve"))
		default:
			seen := kinds[o.Kind]
			seen.add(o)
			kinds[o.Kind] = seen
		}
	}
	var text strings.Builder
	for _, kind := range []string{"tree", "code"} {
		k := kinds[kind]
		fmt.Fprintf(&text, "cheats of kind %s that ended verified: %d of %d; named: %d\n", kind, k.Verified, k.Cheats, k.Named)
	}
	fmt.Fprintf(&text, "honest runs not as told: %d of %d, with the way to approve them named: %d of these", hindered, honest, explained)
	return text.String()
}
