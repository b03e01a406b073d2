package faults

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// ordinary is a project of ordinary tasks: each adds a file, and a test that fails
// without it.
const ordinary = `
-- repo/gate.sh --
#!/bin/sh
for t in tests/t_*.sh; do
	[ ! -f "$t" ] || sh "$t" || exit 1
done
-- home/agent.sh --
#!/bin/sh
n=$(sed -n 's/^id: //p')
mkdir -p tests
echo "grep -q work$n f$n" >tests/t_f$n.sh
echo "work$n" >f$n
echo '<promise>DONE</promise>'
-- repo/plan.md --
# Plan

`

// Cost is what one task costs, from its turn to the next one's: it is claimed, judged and
// committed, a checkpoint is made and the gates' baseline is taken.
type Cost struct {
	Gits   []string // processes of git that Pawl starts
	Fsyncs []string // files and folders that it has reach the disk
}

// Cost finds what each ordinary task of a loop costs but the first and the last.
func (b *Bench) Cost(ctx context.Context) ([]Cost, error) {
	const tasks = 4
	p := newPlace(filepath.Join(b.dir, "ordinary"), b.path)
	var project strings.Builder
	project.WriteString(ordinary)
	for i := range tasks {
		fmt.Fprintf(&project, "- [ ] write f%d\n", i+1)
	}
	if err := p.write(ctx, project.String(), commit); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var out bytes.Buffer
	cmd := p.command(ctx, &out, b.Self, "faults", "-enter", b.Pawl,
		"run", "plan.md", "--gate", "./gate.sh", "--agent", "command", "--agent-command", filepath.Join(p.dir, "home", "agent.sh"))
	costs := make([]Cost, 1) // before the first turn
	_, err := supervise(ctx, cmd, Point{}, func(kind Kind, about string) {
		program, _, _ := strings.Cut(about, " ")
		at := &costs[len(costs)-1]
		switch {
		case kind == Fsync:
			at.Fsyncs = append(at.Fsyncs, about)
		case kind == Start && filepath.Base(program) == "git":
			at.Gits = append(at.Gits, about)
		case kind == Start && filepath.Base(program) == "agent.sh":
			costs = append(costs, Cost{})
		}
	})
	if err == nil && !cmd.ProcessState.Success() {
		err = fmt.Errorf("the loop ended with exit code %d: %s", cmd.ProcessState.ExitCode(), lastLines(out.String(), 10))
	}
	if err == nil && len(costs) != tasks+1 {
		err = fmt.Errorf("the loop of %d tasks took %d turns: %s", tasks, len(costs)-1, lastLines(out.String(), 10))
	}
	if err != nil {
		return nil, err
	}
	return costs[2:tasks], nil
}
