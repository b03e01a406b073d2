package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

const (
	peersGate = `#!/bin/sh
echo run >>'%s'
for t in tests/t_*.sh; do
	[ ! -f "$t" ] || sh "$t" || exit 1
done
`
	// bareLoop is what people write themselves: the client once a task, the gate, a commit.
	bareLoop = `i=1
while [ $i -le $TASKS ]; do
	claude -p "Write f$i, with a test." --allowedTools Bash >/dev/null || exit 1
	sh gate.sh || exit 1
	git add -A && git commit -q -m "Write f$i" || exit 1
	i=$((i+1))
done
`
	// firstOpen does the first task that is open: a file, and a test that fails without it.
	firstOpen = `n=1; while [ -f f$n ]; do n=$((n+1)); done
mkdir -p tests
echo "grep -q work$n f$n" >tests/t_f$n.sh
echo "work$n" >f$n
`
	// tickAndCommit is what tools that leave this to the agent tell it to do.
	tickAndCommit = `sed "s/- \[ \] write f$n\$/- [x] write f$n/" PLAN.md >PLAN.new && mv PLAN.new PLAN.md
git add -A && git commit -q -m "Write f$n"
`
)

// contestant does all tasks of the plan with the client.
type contestant struct {
	name  string
	argv  []string
	model string  // what the model's tool call runs
	bound float64 // most time for a task, of the bare loop's; 0 = none
}

// peers are the commands of other tools, as NAME=COMMAND.
type peers []contestant

func (p *peers) String() string { return "" }

func (p *peers) Set(s string) error {
	name, command, ok := strings.Cut(s, "=")
	if !ok {
		return errors.New("want NAME=COMMAND")
	}
	*p = append(*p, contestant{name: name, argv: []string{"sh", "-c", command}, model: firstOpen + tickAndCommit})
	return nil
}

// benchPeers has the same tasks done by a bare loop around the client, by Pawl, and by
// other tools, in turn, and tells whether the bounds hold:
//
//	go run ./bench peers
//	go run ./bench peers -rounds 5 -peer 'other=other --plan PLAN.md'
//
// The client is the pinned one, its model is played from a script and answers at once.
// A tool's command runs in a repository with PLAN.md and gate.sh, and finds the client as claude
// on its PATH. The model does the first open task, ticks it and commits it by one call of
// Bash; of Pawl and the bare loop it asks neither tick nor commit.
func benchPeers(args []string) (bool, error) {
	var others peers
	f := flag.NewFlagSet("bench peers", flag.ExitOnError)
	rounds := f.Int("rounds", 3, "do the plan `N` times with each")
	tasks := f.Int("tasks", 10, "`N` tasks in the plan")
	says := f.String("says", "", "what else the model says at the end of a task, for other tools")
	only := f.String("only", "", "only the bare loop and those whose name has `TEXT`")
	before := f.String("before", "", "another build of pawl, to compare with")
	page := f.String("page", "", "write the table into this page, in place of the one there")
	f.Var(&others, "peer", "another tool, as `NAME=COMMAND`; may be repeated")
	if err := f.Parse(args); err != nil {
		return false, err
	}
	ctx, done := timed(30 * time.Minute)
	defer done()
	l, err := newLab(ctx, options{runs: *rounds})
	if err != nil {
		return false, err
	}
	defer l.close()
	c, err := l.contest(ctx, *tasks, *says)
	if err != nil {
		return false, err
	}
	defer c.api.Close()
	all := []contestant{{name: "bare claude -p", argv: []string{"sh", "-c", bareLoop}, model: firstOpen}}
	ours := []contestant{
		{name: "pawl run", argv: c.pawlRun(l.pawl), model: firstOpen, bound: 0.75},
		{name: "pawl run --warm=false", argv: c.pawlRun(l.pawl, "--warm=false"), model: firstOpen},
	}
	if *before != "" {
		ours = append(ours, contestant{name: "pawl run, before", argv: c.pawlRun(*before), model: firstOpen},
			contestant{name: "pawl run --warm=false, before", argv: c.pawlRun(*before, "--warm=false"), model: firstOpen})
	}
	for _, x := range append(ours, others...) {
		if strings.Contains(x.name, *only) {
			all = append(all, x)
		}
	}
	got, err := c.play(ctx, all, *rounds)
	if err != nil {
		return false, err
	}
	t, held := c.table(all, got)
	if *page != "" {
		return held, t.writeInto(*page, peersBegin)
	}
	return held, t.print(os.Stdout)
}

// contest is one plan in one repository, for all.
type contest struct {
	dir, home string
	runs      string // a line for each run of the gate
	tasks     int
	says      string
	api       *messagesapi.Server
	env       []string
}

func (l *lab) contest(ctx context.Context, tasks int, says string) (*contest, error) {
	client, err := pinnedClient()
	if err != nil {
		return nil, err
	}
	dir, err := l.repository(ctx, "peers", 100)
	if err != nil {
		return nil, err
	}
	var plan strings.Builder
	plan.WriteString("# Plan\n\n")
	for i := range tasks {
		fmt.Fprintf(&plan, "- [ ] write f%d\n", i+1)
	}
	bin, home, runs := filepath.Join(l.dir, "bin"), filepath.Join(l.dir, "home"), filepath.Join(l.dir, "gate-runs")
	err = errors.Join(os.Mkdir(bin, 0o700), os.Mkdir(home, 0o700), os.Symlink(client, filepath.Join(bin, "claude")),
		os.WriteFile(filepath.Join(dir, "PLAN.md"), []byte(plan.String()), 0o600), os.WriteFile(filepath.Join(dir, "gate.sh"), fmt.Appendf(nil, peersGate, runs), 0o600))
	if err != nil {
		return nil, err
	}
	for _, args := range []string{"add .", "commit -q -m plan", "branch start"} {
		if _, _, err := (process{dir: dir, argv: append([]string{"git"}, strings.Fields(args)...)}).run(ctx); err != nil {
			return nil, err
		}
	}
	c := &contest{dir: dir, home: home, runs: runs, tasks: tasks, says: says, api: messagesapi.Serve(messagesapi.Steps(messagesapi.Text("")))}
	c.env = []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"ANTHROPIC_BASE_URL=" + c.api.URL, "ANTHROPIC_API_KEY=scripted",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"TASKS=" + strconv.Itoa(tasks),
	}
	return c, nil
}

func (c *contest) pawlRun(pawl string, more ...string) []string {
	return append([]string{pawl, "run", "PLAN.md", "--gate", "sh gate.sh", "--yes", "--quiet"}, more...)
}

// model plays the model of a contestant: one call of Bash, then the end of the turn.
func (c *contest) model(x contestant) messagesapi.Script {
	return func(r messagesapi.Request) messagesapi.Response {
		if len(r.ToolResults()) == 0 {
			return messagesapi.Bash(x.model)
		}
		return messagesapi.Text(strings.TrimSpace("Done.\n\n<promise>DONE</promise>\n" + c.says))
	}
}

// score is what one plan cost.
type score struct {
	elapsed, cpu   time.Duration
	requests, runs int
}

// play has each do the plan, in turn. The first round warms caches and does not count.
func (c *contest) play(ctx context.Context, all []contestant, rounds int) ([][]score, error) {
	got := make([][]score, len(all))
	for round := range rounds + 1 {
		for i, x := range all {
			s, err := c.once(ctx, x, c.model(x))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.name, err)
			}
			fmt.Fprintf(os.Stderr, "round %d: %s: %.2f s a task\n", round, x.name, s.elapsed.Seconds()/float64(c.tasks))
			if round > 0 {
				got[i] = append(got[i], s)
			}
		}
	}
	return got, nil
}

// once does the plan from the start, and looks whether it was done.
func (c *contest) once(ctx context.Context, x contestant, model messagesapi.Script) (score, error) {
	git := func(args string) (string, error) {
		out, _, err := process{dir: c.dir, argv: append([]string{"git"}, strings.Fields(args)...)}.run(ctx)
		return strings.TrimSpace(out), err
	}
	for _, args := range []string{"checkout -q -f -B work start", "clean -fdq"} {
		if _, err := git(args); err != nil {
			return score{}, err
		}
	}
	state, err := os.MkdirTemp(c.home, "pawl")
	if err != nil {
		return score{}, err
	}
	defer os.RemoveAll(state)
	if err := os.WriteFile(c.runs, nil, 0o600); err != nil {
		return score{}, err
	}
	asked := len(c.api.Requests())
	c.api.Play(model)
	began := time.Now()
	_, end, err := process{dir: c.dir, env: append([]string{"PAWL_HOME=" + state}, c.env...), argv: x.argv}.run(ctx)
	if err != nil {
		return score{}, err
	}
	s := score{elapsed: time.Since(began), cpu: end.UserTime() + end.SystemTime(), requests: len(c.api.Requests()) - asked}
	for _, file := range []string{"f1", "f" + strconv.Itoa(c.tasks)} {
		if _, err := git("cat-file -e HEAD:" + file); err != nil {
			return score{}, fmt.Errorf("%s was not committed: %w", file, err)
		}
	}
	runs, err := os.ReadFile(c.runs)
	s.runs = strings.Count(string(runs), "\n")
	return s, err
}

// table returns the cost of a task with each contestant, and whether the bounds hold.
func (c *contest) table(all []contestant, got [][]score) (t table, held bool) {
	t, held = table{peersHeader()}, true
	for i, x := range all {
		task := func(f func(score) float64) float64 { return medianOf(got[i], f) / float64(c.tasks) }
		var of []float64 // in each round, whose load all shared
		for round, s := range got[i] {
			of = append(of, s.elapsed.Seconds()/got[0][round].elapsed.Seconds())
		}
		bound := ""
		share := medianOf(of, func(x float64) float64 { return x })
		if x.bound > 0 {
			bound = fmt.Sprintf("≤ %.2f ×, ok", x.bound)
			if share > x.bound {
				bound, held = fmt.Sprintf("≤ %.2f ×, OVER", x.bound), false
			}
		}
		t = append(t, []string{
			x.name, fmt.Sprintf("%.2f", task(func(s score) float64 { return s.elapsed.Seconds() })), fmt.Sprintf("%.2f ×", share), bound,
			fmt.Sprintf("%.2f", task(func(s score) float64 { return s.cpu.Seconds() })),
			fmt.Sprintf("%.1f", task(func(s score) float64 { return float64(s.requests) })), fmt.Sprintf("%.1f", task(func(s score) float64 { return float64(s.runs) })),
		})
	}
	return t, held
}

func peersHeader() []string {
	return []string{"who", "s/task", "of the bare loop", "bound", "CPU s/task", "model requests/task", "gate runs there/task"}
}

func medianOf[T any](all []T, f func(T) float64) float64 {
	var d []time.Duration
	for _, x := range all {
		d = append(d, time.Duration(f(x)*float64(time.Second)))
	}
	return median(d).Seconds()
}
