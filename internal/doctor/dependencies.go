package doctor

import (
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
)

// lacking finds the dependencies that the project's gates need and that are not
// installed. Where it names no gates, those that its files suggest count.
func lacking(root string) []deps.Missing {
	project, err := config.ReadProject(root)
	if err != nil {
		return nil // pawl run says what is wrong with it
	}
	s, err := config.Resolve(project)
	if err != nil {
		return nil
	}
	gates := s.Gates
	if len(gates) == 0 {
		for _, command := range config.Suggest(root) {
			gates = append(gates, gate.Gate{Name: command, Command: command})
		}
	}
	return deps.Find(root, gates)
}

// checkDependencies says what gates lack here. Checkouts in which they are judged get
// copies of what is installed here.
func checkDependencies(f Facts) []Finding {
	var all []Finding
	for _, m := range f.lacking {
		all = append(all, warn(m.Command+"; "+m.Setup()+" does so in each checkout that work is judged in", "%s", m))
	}
	return all
}
