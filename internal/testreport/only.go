package testreport

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// Only narrows a shell command to tests of these ids; false where that cannot be told:
// for another runner, for several, or where the command names tests itself. What a runner
// finds by a part of a name it may run more of.
func Only(command string, ids []string) (string, bool) {
	all := calls(command)
	if len(all) != 1 || len(ids) == 0 {
		return command, false
	}
	var tests []string
	for _, id := range ids {
		name, ok := testName(id)
		if !ok {
			return command, false
		}
		if !slices.Contains(tests, name) {
			tests = append(tests, name)
		}
	}
	words := all[0].words
	switch {
	case begins(words, "go", "test") && !hasFlag(words, "run", "test.run", "skip", "c", "bench", "fuzz", "args"):
		at := all[0].second
		return command[:at] + " -run " + shell.Quoted([]string{"^(" + strings.Join(tests, "|") + ")$"}) + command[at:], true
	case (begins(words, "pytest") || isModule(words, "pytest")) && !hasFlag(words, "k"):
		return command + " -k " + shell.Quoted([]string{strings.Join(tests, " or ")}), true
	case isModule(words, "unittest") && !hasFlag(words, "k") && !slices.Contains(words, "discover"):
		for _, name := range tests {
			command += " -k " + name
		}
		return command, true
	case begins(words, "cargo", "test") && !slices.ContainsFunc(words[2:], func(w string) bool { return !strings.HasPrefix(w, "-") || w == "--" }):
		return command + " -- " + strings.Join(tests, " "), true
	}
	return command, false
}

var (
	goTestID  = regexp.MustCompile(`\.((?:Test|Fuzz|Example)\w*)(?:/|$)`) // pkg.TestX/case
	plainName = regexp.MustCompile(`^\w+$`)
)

// testName is what a test is called in its file, by its id.
func testName(id string) (string, bool) {
	if m := goTestID.FindStringSubmatch(id); m != nil {
		return m[1], true
	}
	id, _, _ = strings.Cut(id, " (")
	id, _, _ = strings.Cut(id, "[")
	name := id[strings.LastIndexAny(id, ".:")+1:]
	return name, plainName.MatchString(name)
}

func begins(words []string, with ...string) bool {
	return len(words) >= len(with) && slices.Equal(words[:len(with)], with)
}

var python = regexp.MustCompile(`(?:^|/)python[\d.]*$`)

// isModule: the words run a module of Python's; its own arguments come behind it.
func isModule(words []string, name string) bool {
	return len(words) >= 3 && python.MatchString(words[0]) && words[1] == "-m" && words[2] == name
}

func hasFlag(words []string, names ...string) bool {
	return slices.ContainsFunc(words[1:], func(w string) bool {
		flag, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
		joined := strings.HasPrefix(w, "-k") && slices.Contains(names, "k") // -kNAME
		return strings.HasPrefix(w, "-") && (joined || slices.Contains(names, flag))
	})
}
