package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
)

// TestDialogues performs the lines of a dialogue between a client and its user, and compares the
// hook's answers and the stored state:
//
//	loop iterations=2 verify     starts a loop in session s1; see specOf for the words
//	gates red green              sets the next results of the gates
//	env cap=0 plugin=1           sets the hooks' environment
//	> Stop {"…":…}               an event; missing fields have default values
//	stdin FILE                   an event from a file of the archive
//	used                         a tool call ran
//	post note TEXT               a message from another terminal
//	write home/x FILE            and rm, append: files; LOOP is the loop's folder
//	hold, release                another process drives the loop
//	own                          another owner takes the loop
//	< …                          the hook's answer
//	= …                          new journal records, the loop's state, the binding
//
// UPDATE=1 writes the lines < and = again.
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no dialogues", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(path)
			if err != nil || len(a.Files) == 0 || a.Files[0].Name != "dialogue" {
				t.Fatalf("not a dialogue: %v", err)
			}
			d := &dialogue{fixture: newFixture(t), a: a}
			got := d.play(string(a.Files[0].Data))
			if os.Getenv("UPDATE") != "" {
				a.Files[0].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(a.Files[0].Data); got != want {
				t.Errorf("%s\n--- got\n%s--- want\n%s", strings.TrimSpace(string(a.Comment)), got, want)
			}
		})
	}
}

type dialogue struct {
	*fixture
	a       *txtar.Archive
	read    int64 // sequence number of the last record that was shown
	release func()
	asked   bool // a binding was there
}

// play performs the lines and returns them with their results.
func (d *dialogue) play(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "< ") || strings.HasPrefix(line, "= ") || strings.HasPrefix(line, "! ") {
			continue
		}
		out.WriteString(line + "\n")
		verb, rest, _ := strings.Cut(line, " ")
		for range d.takeRepetitions(&verb, &rest) - 1 { // all but the last are not shown
			d.event(rest)
		}
		if verb == ">" || verb == "stdin" {
			payload := d.payload(rest)
			if verb == "stdin" {
				payload = d.file(rest)
			}
			out.WriteString(d.describeAnswer(d.hook(payload)))
			out.WriteString(d.describeState())
		} else if line != "" && verb != "#" {
			d.perform(verb, rest)
		}
	}
	if d.release != nil {
		d.release()
	}
	return out.String()
}

// takeRepetitions parses the count of "repeat 5 > Stop …".
func (d *dialogue) takeRepetitions(verb, rest *string) int {
	if *verb != "repeat" {
		return 1
	}
	n, more, _ := strings.Cut(*rest, " ")
	times, err := strconv.Atoi(n)
	if err != nil {
		d.t.Fatal(err)
	}
	*verb, *rest, _ = strings.Cut(more, " ")
	return times
}

func (d *dialogue) event(rest string) { d.hook(d.payload(rest)) }

// payload returns an event as the client sends it. Missing fields are zero; unknown fields are
// ignored.
func (d *dialogue) payload(rest string) []byte {
	name, fields, _ := strings.Cut(rest, " ")
	p := map[string]any{
		"session_id": "s1", "cwd": d.root, "hook_event_name": name, "prompt_id": "p1", "permission_mode": "default",
		"transcript_path": filepath.Join(d.root, "transcript.jsonl"),
	}
	if name == codec.Stop {
		maps.Copy(p, map[string]any{"stop_hook_active": false, "last_assistant_message": "I looked around.", "background_tasks": []any{}, "session_crons": []any{}})
	}
	if fields != "" {
		if err := json.Unmarshal([]byte(strings.ReplaceAll(fields, "ROOT", d.root)), &p); err != nil {
			d.t.Fatalf("%s: %v", rest, err)
		}
	}
	data, err := json.Marshal(p)
	if err != nil {
		d.t.Fatal(err)
	}
	return append(data, '\n')
}

// hook runs the hook on an event. Its answer must be one that the client takes.
func (w *fixture) hook(payload []byte) (out, problem []byte, code int) {
	w.t.Helper()
	out, problem, code = w.run(bytes.NewReader(payload), "claude")
	var p struct {
		Event string `json:"hook_event_name"`
	}
	_ = json.Unmarshal(payload, &p) // what is no JSON gets no answer
	if bad := answerFaults(p.Event, out); bad != nil || code != exitOK && (p.Event != codec.SessionEnd || len(problem) == 0) {
		w.t.Errorf("%s: exit %d, %q\n%s", payload, code, bad, out)
	}
	return out, problem, code
}

func (w *fixture) run(in io.Reader, args ...string) ([]byte, []byte, int) {
	var out, problem bytes.Buffer
	code := Run(w.t.Context(), Call{
		Args: args, In: in, Out: &out, Err: &problem, Env: w.env,
		Tool: os.Args[:1], Parent: os.Getppid(), Version: "test", start: startChild,
	})
	return out.Bytes(), problem.Bytes(), code
}

// describeAnswer returns the lines that show an answer.
func (d *dialogue) describeAnswer(out, problem []byte, _ int) string {
	text := "< nothing\n"
	if len(out) > 0 {
		text = "< " + string(out)
	}
	for line := range strings.Lines(string(problem)) {
		text += "! " + line
	}
	if text = d.normalize(text); len(text) > 2000 {
		text = fmt.Sprintf("%s… %d bytes\n", text[:60], len(text))
	}
	return text
}

// describeState returns the lines that show the stored state.
func (d *dialogue) describeState() string {
	text := ""
	if b, err := session.Open(d.home).Find("s1"); err == nil && b.Loop != "" {
		if d.loop == nil || d.loop.ID != b.Loop {
			d.loop, d.read = store.Open(d.home).Loop(b.Loop), 0
		}
	}
	if d.loop != nil {
		if news := d.newRecords(); news != "" {
			text += "= journal: " + news + "\n"
		}
		m, _, err := record.Load(d.loop)
		d.checkSnapshot(m, err)
		text += fmt.Sprintf("= %s %d", m.State.Phase, m.State.Iteration)
		if m.State.Outcome != "" {
			text += " " + string(m.State.Outcome)
		}
		if err != nil {
			text += ", damaged"
		}
		text += fmt.Sprintf(", %d begun\n", m.TurnsBegun)
	}
	b, err := session.Open(d.home).Find("s1")
	switch {
	case err == nil:
		d.asked = true
		text += "= binding: " + describeBinding(b) + "\n"
	case d.loop != nil || d.asked:
		text += "= " + err.Error() + "\n"
	}
	return d.normalize(text)
}

func describeBinding(b session.Binding) string {
	words := []string{fmt.Sprintf("given %d", b.GivenTurns)}
	add := func(yes bool, word string) {
		if yes {
			words = append(words, word)
		}
	}
	add(b.Loop == "", "requested "+b.RequestedPrompt.Prompt)
	add(b.Responder != "", "responder "+b.Responder)
	add(b.ConsecutiveBlocks > 0, fmt.Sprintf("blocks %d", b.ConsecutiveBlocks))
	add(b.Busy, "busy")
	add(b.WaitingForTurn, "left")
	add(b.LoopMoved, "gone")
	add(b.EndShown, "end shown")
	add(b.Unattended, "unattended")
	return strings.Join(words, ", ")
}

// perform performs a line that is not an event.
func (d *dialogue) perform(verb, rest string) {
	d.t.Helper()
	words := strings.Fields(rest)
	var err error
	switch verb {
	case "loop":
		d.begin(specOf(d.t, words))
		d.read = 0
		d.newRecords()
	case "used":
		d.event(`PostToolUse {"tool_name":"Bash","tool_input":{"command":"true"}}`)
	case "gates":
		err = os.WriteFile(filepath.Join(d.home, "script"), []byte(rest), 0o600)
	case "env":
		d.setenv(words)
	case "post":
		kind, text, _ := strings.Cut(rest, " ")
		err = d.loop.Post(fmt.Sprintf("m%d", time.Now().UnixNano()), record.Message{Kind: kind, Text: text})
	case "write":
		err = os.MkdirAll(filepath.Dir(d.path(words[0])), 0o700)
		if err == nil {
			err = os.WriteFile(d.path(words[0]), d.file(words[1]), 0o600)
		}
	case "rm":
		err = os.RemoveAll(d.path(words[0]))
	case "append":
		err = d.edit(words[0], func(data []byte) []byte { return append(data, rest[len(words[0])+1:]...) })
	case "replace":
		err = d.edit(words[0], func(data []byte) []byte { return bytes.Replace(data, spaced(words[1]), spaced(words[2]), 1) })
	case "has":
		data, _ := os.ReadFile(d.path(words[0]))
		if !strings.Contains(string(data), rest[len(words[0])+1:]) {
			d.t.Errorf("%s: not in\n%s", rest, data)
		}
	case "gone":
		if fileExists(d.path(words[0])) {
			d.t.Errorf("%s is there", rest)
		}
	case "hold":
		d.release = d.holdLease()
	case "release":
		d.release()
		d.release = nil
	case "drive":
		err = drive(d.t.Context(), d.home, d.loop.ID)
	case "finish": // whoever has the loop is told to end it
		err = d.finish()
	case "own":
		var o *store.Owner
		if o, err = d.loop.Own(d.t.Context()); err == nil {
			err = o.Close()
		}
	default:
		d.t.Fatalf("no such verb: %s", verb)
	}
	if err != nil {
		d.t.Fatalf("%s %s: %v", verb, rest, err)
	}
}

func (d *dialogue) edit(path string, change func([]byte) []byte) error {
	data, err := os.ReadFile(d.path(path))
	if err != nil {
		return err
	}
	return os.WriteFile(d.path(path), change(data), 0o600)
}

func spaced(word string) []byte { return []byte(strings.ReplaceAll(word, "_", " ")) }

func (d *dialogue) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "LOOP"); ok {
		return filepath.Join(d.loop.Dir, filepath.FromSlash(rest))
	}
	return filepath.Join(filepath.Dir(d.home), filepath.FromSlash(name))
}

func (d *dialogue) file(name string) []byte {
	i := slices.IndexFunc(d.a.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		d.t.Fatalf("no file %s in the archive", name)
	}
	return bytes.ReplaceAll(d.a.Files[i].Data, []byte("ROOT"), []byte(d.root))
}

func (d *dialogue) setenv(words []string) {
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		s := &d.env.Session
		switch name {
		case "cap":
			s.Cap = value
		case "plugin":
			s.Plugin = value
		case "unattended":
			s.Unattended = value == "1"
		case "loop":
			d.env.Loop = value
		case "client":
			s.Client, _ = strconv.Atoi(value)
		case "inside":
			s.Inside = value == "1"
		default:
			d.t.Fatalf("env %s: not known", name)
		}
	}
}

// specOf returns the specification for a line "loop …".
func specOf(t testing.TB, words []string) record.Spec {
	t.Helper()
	s := usualSpec()
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "iterations":
			s.Policy.Limits.Iterations, _ = strconv.Atoi(value)
		case "verify":
			s.Policy.Verify = true
		case "everyturn":
			s.Policy.EveryTurn = true
		case "handover":
			s.Policy.Handover, s.Policy.HandoverAt = true, 80
		case "offer":
			s.Policy.HandoverAt = 80
		case "isolate":
			s.Policy.Verify, s.Policy.Isolate, s.Policy.Tries = true, true, 1
		case "nogates":
			s.Policy.Gates = false
		case "explore":
			s.Policy.Kind = loop.Explore
		case "long":
			s.Prompt = "a long one"
		case "plan":
			s.Plan = "plan.md"
		case "unattended":
			s.Unattended = true
		case "scope":
			s.Scopes = map[string][]string{loop.GoalTask: {value}}
		case "deny":
			var p guard.Pattern
			if err := p.UnmarshalText([]byte(value)); err != nil {
				t.Fatal(err)
			}
			s.Guard = record.GuardConfig{Deny: []guard.Pattern{p}, TickOnly: "plan.md"}
		case "file":
			s.CompatFile = ".claude/ralph-loop.local.md"
		case "planloop":
			s.CompatFormat, s.Plan = statefile.PlanLoopName, ".ralph/PRD-1/plan.md"
			s.Tasks = []loop.Task{{ID: "US-001", Title: "do it", Status: loop.Open}}
		default:
			t.Fatalf("loop %s: not known", word)
		}
	}
	return s
}
