package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// much is by how much a hook that reads the transcript should cost more.
const much = 50

// against compares pawl-hook with another Stop hook, on the same payload and on
// transcripts of several sizes, which are written in full and removed again. It
// tells whether the other one costs at least fifty times as much at each size.
func against(ctx context.Context, l *lab, other string) (bool, error) {
	s, err := l.startSession(ctx)
	if err != nil {
		return false, err
	}
	rival := s.rival(command(other))
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "transcript\tan empty program\tpawl-hook\tthe other hook\tratio\tbound\t")
	all := true
	for _, size := range []int64{1 << 20, 10 << 20, 100 << 20, 1 << 30} {
		fmt.Fprintf(os.Stderr, "measuring: a transcript of %s, which takes as much of %s\n", megabytes(size), l.dir)
		free, err := room(ctx, l.dir)
		if err != nil {
			return false, err
		}
		if free < size+size/4 {
			fmt.Fprintf(out, "%s\tnot measured: %s are free\n", megabytes(size), megabytes(free))
			continue
		}
		line, ok, err := l.duel(ctx, s, rival, size)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(out, "%s\t%s\n", megabytes(size), line)
		all = all && ok
	}
	return all, out.Flush()
}

// duel compares both hooks on a transcript of one size.
func (l *lab) duel(ctx context.Context, s *liveSession, rival work, size int64) (line string, ok bool, err error) {
	if s.transcript, err = s.full(size); err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, os.Remove(s.transcript)) }()
	ours, empty, err := compare(ctx, min(l.runs, 51), s.turn(), l.nothing())
	if err != nil {
		return "", false, err
	}
	runs := max(3, 15-int(size>>26)) // a large one takes seconds, and varies less
	theirs, beside, err := compare(ctx, min(l.runs, runs), rival, s.turn())
	if err != nil {
		return "", false, err
	}
	verdict := "ok"
	if ok = theirs >= much*beside; !ok {
		verdict = "UNDER"
	}
	times := ratio(theirs, beside, much).result
	return strings.Join([]string{milliseconds(empty), milliseconds(ours), milliseconds(theirs), times, fmt.Sprintf("≥ %d ×", much), verdict}, "\t"), ok, nil
}

// command is how a hook is run: a file by itself, or by bash where it is not
// executable; everything else is a line for the shell.
func command(hook string) []string {
	path, err := filepath.Abs(hook)
	if err != nil {
		return []string{"bash", "-c", hook}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return []string{"bash", "-c", hook}
	case info.Mode()&0o111 != 0:
		return []string{path}
	}
	return []string{"bash", path}
}

// rival is the other hook at the end of a turn. Such hooks keep a state file in
// the project's folder and may delete it: it is written anew each time, in the
// shape of the ralph-loop plugin's.
func (s *liveSession) rival(argv []string) work {
	state := "---\nactive: true\niteration: 7\nsession_id: " + s.session +
		"\nmax_iterations: 0\ncompletion_promise: \"DONE\"\nstarted_at: \"2026-11-21T09:00:00Z\"\n---\n\nMake the parser take comments.\n"
	return func(ctx context.Context) (time.Duration, error) {
		if err := os.WriteFile(filepath.Join(s.root, ".claude", "ralph-loop.local.md"), []byte(state), 0o600); err != nil {
			return 0, err
		}
		p := process{dir: s.root, argv: argv, env: s.client(), in: s.stop()}
		out, done, err := p.run(ctx)
		if err != nil {
			return 0, err
		}
		if err := continues(out); err != nil {
			return 0, fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
		}
		return done.UserTime() + done.SystemTime(), nil
	}
}

// room is how much of the disk is free, in bytes.
func room(ctx context.Context, dir string) (int64, error) {
	out, _, err := process{argv: []string{"df", "-Pk", dir}}.run(ctx)
	if err != nil {
		return 0, err
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	fields := strings.Fields(lines[len(lines)-1])
	if len(fields) < 4 {
		return 0, fmt.Errorf("df said %q", out)
	}
	kb, err := strconv.ParseInt(fields[3], 10, 64)
	return kb << 10, err
}
