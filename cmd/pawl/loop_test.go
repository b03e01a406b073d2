package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/verify"
)

// loopFile is a loop as testdata/loops holds it. $NAME in it stands for a
// variable of the script.
type loopFile struct {
	Created time.Time       `json:"created_at"`
	Spec    json.RawMessage `json:"spec"`
	Records []struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	} `json:"records"`
}

func makeLoop(ts *testscript.TestScript, loops string, args []string) {
	kind, id, dir := args[0], args[1], "."
	if len(args) > 2 {
		dir = args[2]
	}
	text, err := os.ReadFile(filepath.Join(loops, kind+".json"))
	ts.Check(err)
	var f loopFile
	ts.Check(json.Unmarshal(text, &f))
	root, err := filepath.EvalSymlinks(ts.MkAbs(dir))
	ts.Check(err)

	l := loopOf(ts, id)
	ts.Check(os.MkdirAll(filepath.Join(l.Dir, "inbox"), 0o700))
	body := os.Expand(string(f.Spec), ts.Getenv)
	spec, err := json.Marshal(store.Spec{ID: id, Root: root, CreatedAt: f.Created, Body: json.RawMessage(body)})
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(l.Dir, "spec.json"), spec, 0o600))
	if len(f.Records) == 0 {
		return
	}
	ts.Setenv("RECEIPTS", "")
	o, err := l.Own(context.Background())
	ts.Check(err)
	for _, r := range f.Records {
		_, err := o.Append(journal.Entry{Type: r.Type, Data: sealed(ts, r.Type, r.Data)})
		ts.Check(err)
	}
	ts.Check(o.Close())
}

// sealed gives a receipt the id that it would have, and tells the loop's
// receipts to the script as $RECEIPTS.
func sealed(ts *testscript.TestScript, kind string, data json.RawMessage) any {
	if kind != memory.TypeReceipt {
		return json.RawMessage(os.Expand(string(data), ts.Getenv))
	}
	var r verify.Receipt
	ts.Check(json.Unmarshal([]byte(os.Expand(string(data), ts.Getenv)), &r))
	r = verify.NewReceipt(gate.Result{
		Gate: r.Gate, Command: r.Command, Status: r.Status, ExitCode: r.ExitCode, Tree: r.Gated, Duration: r.Duration,
	}, r.At)
	ts.Setenv("RECEIPTS", strings.TrimSpace(ts.Getenv("RECEIPTS")+" "+r.ID))
	return r
}

func loopOf(ts *testscript.TestScript, id string) *store.Loop {
	return &store.Loop{ID: id, Dir: filepath.Join(ts.Getenv("PAWL_HOME"), "loops", id)}
}

func drive(ts *testscript.TestScript, id string) *store.Owner {
	l := loopOf(ts, id)
	o, err := l.Own(context.Background())
	ts.Check(err)
	ts.Defer(func() { _ = o.Close() }) // obey may have
	// We stand above every command of the script, which do not come out of the loop.
	h, _, err := l.Holder()
	ts.Check(err)
	h.PID = 1 << 30
	data, err := json.Marshal(h)
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(l.Dir, "owner.lock.json"), data, 0o600))
	return o
}

func obey(ts *testscript.TestScript, id string) {
	l, o := loopOf(ts, id), drive(ts, id)
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if msgs, err := l.Drain(); err == nil && len(msgs) > 0 && bytes.Contains(msgs[0].Body, []byte(record.MessageStop)) {
				_, _ = o.Append(
					journal.Entry{Type: memory.TypeEvent, Data: loop.Event{At: time.Now(), Payload: loop.Cancelled{Cause: loop.ByStop}}},
					journal.Entry{Type: memory.TypeEvent, Data: loop.Event{
						At: time.Now(), Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.Interrupted, Message: "interrupted"}},
					}},
					journal.Entry{Type: memory.TypeEvent, Data: loop.Event{At: time.Now(), Payload: loop.Concluded{}}},
				)
				_ = o.Close()
				return
			}
		}
	}()
	ts.Defer(func() { close(stop); <-done })
}

// remember sets a variable to what was printed last.
func remember(ts *testscript.TestScript, name string) {
	ts.Setenv(name, strings.TrimSpace(ts.ReadFile("stdout")))
}

func checkpoint(ts *testscript.TestScript, id, text string) {
	repo, err := git.Open(context.Background(), ts.MkAbs("."))
	ts.Check(err)
	_, err = repo.Checkpoint(context.Background(), id, text)
	ts.Check(err)
}

func damage(ts *testscript.TestScript, id string) {
	path := filepath.Join(loopOf(ts, id).Dir, "journal.jsonl")
	data, err := os.ReadFile(path)
	ts.Check(err)
	changed := bytes.Replace(data, []byte(`"kind":"checkpointed"`), []byte(`"kind":"checkpointeD"`), 1)
	if bytes.Equal(data, changed) {
		ts.Fatalf("the journal of %s has no checkpoint to damage", id)
	}
	ts.Check(os.WriteFile(path, changed, 0o600))
}

// until runs a command until what it prints matches.
func until(ts *testscript.TestScript, pattern string, argv []string) {
	wanted := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		ts.Check(ts.Exec(argv[0], argv[1:]...))
		out := ts.ReadFile("stdout")
		if wanted.MatchString(out) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s is never printed; last it was\n%s", pattern, out)
		}
	}
}
