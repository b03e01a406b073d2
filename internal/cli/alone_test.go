package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/clihelp"
)

// Each command parses alone as it does among all commands.
func TestEachCommandParsesAloneAsInFullGrammar(t *testing.T) {
	t.Parallel()
	whole := newParser(&grammar{})
	for _, command := range whole.Model.Children {
		alone := singleCommandGrammar([]string{command.Name, "x"})
		if alone == nil {
			t.Errorf("%s is not found", command.Name)
			continue
		}
		k := newParser(alone)
		if diff := cmp.Diff(clihelp.Help(command, 80), clihelp.Help(k.Model.Children[0], 80)); diff != "" || len(k.Model.Children) != 1 {
			t.Errorf("%s: %d commands, help:\n%s", command.Name, len(k.Model.Children), diff)
		}
	}
	if singleCommandGrammar([]string{"nothing"}) != nil || singleCommandGrammar(nil) != nil {
		t.Error("a command that is not there is found")
	}
}

// The first help reads only a part of the grammar, and prints the same.
func TestFirstHelpMatchesFullGrammar(t *testing.T) {
	t.Parallel()
	whole := newParser(&grammar{})
	part := newParser(firstHelpGrammar())
	if diff := cmp.Diff(clihelp.Help(whole.Model.Node, 80), clihelp.Help(part.Model.Node, 80)); diff != "" {
		t.Error(diff)
	}
}
