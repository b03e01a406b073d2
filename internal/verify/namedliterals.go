package verify

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/regex"
)

// namedLiterals returns the values that the task speaks of: a bound that it gives ("100 or more"), and
// what a variable begins with that it names. With other values some test should fail, unless the tests
// work with the constant of that value.
func (c *claim) namedLiterals(file string, before, after []byte) (all []mutationPoint) {
	bounds := boundsIn(c.Asked)
	for _, l := range mutant.Literals(file, before, after) {
		if l.Constant != "" && isNamed(l.Constant, c.testText(), 1) {
			continue
		}
		if bounds[l.Value] && (l.Constant != "" || compares.MatchString(l.Text)) || l.Variable != "" && isNamed(l.Variable, c.Asked, 1) {
			label := fmt.Sprintf("%s:%d %s (%s)", file, l.Number, l.Mutants[0].Does, l.Text)
			all = append(all, mutationPoint{namedByTask, label, file, l.Function, 0, l.Mutants, false})
		}
	}
	return all
}

// boundsIn returns the numbers that a task gives as bounds. An amount may be in cents.
func boundsIn(task string) map[string]bool {
	bounds := map[string]bool{}
	for _, m := range bound.FindAllStringSubmatch(task, -1) {
		n := strings.TrimRight(strings.ReplaceAll(m[1]+m[2], ",", ""), ".")
		whole, _, _ := strings.Cut(n, ".")
		bounds[whole], bounds[strings.ReplaceAll(n, ".", "")] = true, true
	}
	delete(bounds, "0")
	delete(bounds, "1") // as any program has
	return bounds
}

// compares matches a line that compares.
var compares = regex.New(`[<>]|-[gl][te]\b`)

// bound matches a number with what makes it one: "at most 10", "10,000 or more", "from 5 on".
var bound = regex.New(`(?i)\b(?:at (?:least|most)|up to|more than|less than|fewer than|(?:larg|bigg|great|small|short|long|old|young|high|low)er than|over|under|above|below|beyond|from|exceed(?:s|ing)?|maximum of|minimum of)\s+(\d[\d.,]*)|\b(\d[\d.,]*)\s*(?:%|\w+)?\s+(?:or|and) (?:more|less|fewer|older|above|below|over|under|longer|larger|later)\b`)
