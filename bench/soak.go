package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// soak is a long loop of an instant agent, whose turns fail from time to time.
type soak struct {
	*lab
	iterations int
	repo, home string
	samples    []sample
}

// sample is what the loop takes after so many iterations.
type sample struct {
	iteration          int
	rss, files, thread int   // kB, open files and threads of the runner
	state, disk        int64 // bytes: state.json, and the loop's folder with .git
}

// failEvery is how many turns lie between two that fail.
const failEvery = 50

// failures returns the failures, in turn. The last two end the loop, which is resumed then. Left
// out are timed_out, silent and interrupted, for the agent plays such a turn again and would
// fail so for ever, and over_budget, which finishes an exploration.
func failures() []string {
	return []string{"usage_limit 1ms", "overloaded", "network", "refused", "crashed", "login", "billing"}
}

// benchSoak runs a loop of many iterations, and tells whether what it takes of memory,
// files and threads stays flat, and of the disk grows with the iterations only:
//
//	go run ./bench soak                  # 10,000 iterations
//	go run ./bench soak -iterations 500
func benchSoak(args []string) (bool, error) {
	f := flag.NewFlagSet("bench soak", flag.ExitOnError)
	iterations := f.Int("iterations", 10_000, "`N` iterations")
	if err := f.Parse(args); err != nil {
		return false, err
	}
	ctx, done := timed(3 * time.Hour)
	defer done()
	l, err := newLab(ctx, options{})
	if err != nil {
		return false, err
	}
	defer l.close()
	s := &soak{lab: l, iterations: *iterations, home: filepath.Join(l.dir, "home")}
	if s.repo, err = l.repository(ctx, "soak", 100); err != nil {
		return false, err
	}
	if err := s.run(ctx); err != nil {
		return false, err
	}
	return s.tell()
}

// script is the agent's: each turn writes a file; some fail.
func (s *soak) script() string {
	var b strings.Builder
	b.WriteString("-- 1+/files/notes.txt --\nnotes\n-- 1+/run --\ndate +%N >> d000/f00000.go\n-- 1+/reply --\nThere is more to do.\n")
	for i, n := 0, failEvery; n < s.iterations*2; i, n = i+1, n+failEvery {
		fmt.Fprintf(&b, "-- %d/failure --\n%s\n", n, failures()[i%len(failures())])
	}
	return b.String()
}

// run runs the loop to the end of its iterations, and resumes it as often as it ends before.
func (s *soak) run(ctx context.Context) error {
	script := filepath.Join(s.dir, "soak.txtar")
	if err := os.WriteFile(script, []byte(s.script()), 0o600); err != nil {
		return err
	}
	argv := []string{
		"run", "look around", "--kind", "explore", "--agent", "scripted", "--agent-command", script, "--branch", "current",
		"--max-iterations", strconv.Itoa(s.iterations), "--max-duration", "0", "--yes", "--quiet",
	}
	for ends := 0; ; ends++ {
		out, err := s.drive(ctx, argv)
		if err != nil {
			return err
		}
		id, outcome, err := s.loop(ctx)
		switch {
		case err != nil:
			return err
		case outcome == "finished" && s.iteration() < s.iterations:
			return fmt.Errorf("the loop ended after %d iterations: %s", s.iteration(), out)
		case outcome == "finished":
			fmt.Printf("%d iterations, %d failed turns, resumed %d times\n", s.iterations, s.iterations/failEvery, ends)
			return nil
		case outcome != "error" || ends > s.iterations/failEvery:
			return fmt.Errorf("the loop ended %q: %s", outcome, out)
		}
		argv = []string{"resume", id, "--quiet"}
	}
}

// drive runs pawl, and takes samples until it ends.
func (s *soak) drive(ctx context.Context, argv []string) (string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, s.pawl, argv...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.repo, append(os.Environ(), "PAWL_HOME="+s.home), &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how the loop ended is asked for
		close(ended)
	}()
	for tick := time.NewTicker(time.Second); ; {
		select {
		case <-tick.C:
			s.sample(cmd.Process.Pid)
		case <-ended:
			tick.Stop()
			return out.String(), ctx.Err()
		}
	}
}

// sample measures the runner at every twentieth of the iterations. What has just ended is
// not measured.
func (s *soak) sample(pid int) {
	data, n := s.state()
	if last := len(s.samples) - 1; n == 0 || last >= 0 && n < s.samples[last].iteration+s.iterations/20 {
		return
	}
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	at := sample{iteration: n, state: int64(len(data)), disk: size(s.home) + size(filepath.Join(s.repo, ".git"))}
	open, err := os.ReadDir(filepath.Join(proc, "fd"))
	at.files = len(open)
	var failed [2]error
	at.rss, failed[0] = status(filepath.Join(proc, "status"), "VmRSS")
	at.thread, failed[1] = status(filepath.Join(proc, "status"), "Threads")
	if errors.Join(err, failed[0], failed[1]) == nil {
		s.samples = append(s.samples, at)
	}
}

// state returns state.json of the only loop, and how many iterations it has begun.
func (s *soak) state() (data []byte, iteration int) {
	states, _ := filepath.Glob(filepath.Join(s.home, "loops", "*", "state.json"))
	if len(states) != 1 {
		return nil, 0
	}
	data, _ = os.ReadFile(states[0])
	_, rest, _ := strings.Cut(string(data), `"iteration":`)
	iteration, _ = strconv.Atoi(rest[:max(0, strings.IndexAny(rest, ",}"))])
	return data, iteration
}

func (s *soak) iteration() int {
	_, n := s.state()
	return n
}

// size adds up the files in a folder.
func size(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// loop returns the only loop, and how it ended.
func (s *soak) loop(ctx context.Context) (id, outcome string, err error) {
	cmd := exec.CommandContext(ctx, s.pawl, "list", "--json")
	cmd.Dir, cmd.Env = s.repo, append(os.Environ(), "PAWL_HOME="+s.home)
	out, err := cmd.Output()
	var loops []struct{ ID, Outcome string }
	if err == nil {
		err = json.Unmarshal(out, &loops)
	}
	if err == nil && len(loops) != 1 {
		err = fmt.Errorf("there are %d loops", len(loops))
	}
	if err != nil {
		return "", "", err
	}
	return loops[0].ID, loops[0].Outcome, nil
}

// tell prints the samples, and whether those of the second half are as those of the first.
func (s *soak) tell() (bool, error) {
	if len(s.samples) < 4 {
		return false, fmt.Errorf("%d samples were taken: the loop was too short", len(s.samples))
	}
	t := table{{"iterations", "memory", "open files", "threads", "state.json", "disk"}}
	for _, a := range s.samples {
		t = append(t, []string{
			strconv.Itoa(a.iteration), fmt.Sprintf("%d kB", a.rss), strconv.Itoa(a.files), strconv.Itoa(a.thread),
			fmt.Sprintf("%d B", a.state), fmt.Sprintf("%d kB", a.disk>>10),
		})
	}
	if err := t.print(os.Stdout); err != nil {
		return false, err
	}
	first, middle, last := s.samples[0], s.samples[len(s.samples)/2], s.samples[len(s.samples)-1]
	growth := func(a, b sample) float64 { return float64(b.disk-a.disk) / float64(max(1, b.iteration-a.iteration)) }
	held := true
	for _, c := range []struct {
		what         string
		early, later float64
		most         float64
	}{
		{"memory in kB", float64(middle.rss), float64(last.rss), 1.5},
		{"open files", float64(middle.files), float64(last.files), 2},
		{"threads", float64(middle.thread), float64(last.thread), 2},
		{"state.json in bytes", float64(middle.state), float64(last.state), 1.5},
		{"disk in bytes an iteration", growth(first, middle), growth(middle, last), 1.5},
	} {
		verdict := "ok"
		if c.later > c.early*c.most {
			verdict, held = "OVER", false
		}
		fmt.Printf("%s: %.0f at half, %.0f at the end, at most %.1f × expected: %s\n", c.what, c.early, c.later, c.most, verdict)
	}
	left, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range left {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte("PAWL_HOME="+s.home+"\x00")) {
			fmt.Println("a process is left:", filepath.Dir(file))
			held = false
		}
	}
	return held, nil
}
