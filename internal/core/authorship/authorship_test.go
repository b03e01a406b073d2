package authorship

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

var (
	edit    = func(path string) Call { return Call{Tool: "Edit", Kind: toolcall.Edit, Path: path} }
	command = func(text string) Call { return Call{Tool: "Bash", Kind: toolcall.Run, Command: text} }
)

// Whose a change of /w/src/a.go is.
func TestWhatCallsExplain(t *testing.T) {
	t.Parallel()
	const alone, beside = false, true
	for _, tt := range []struct {
		name       string
		call       Call
		besideUser bool
		want       string // of: wrote, names, changed, committed
	}{
		{"no call", Call{}, alone, ""},
		{"the file was edited", edit("/w/src/a.go"), alone, "wrote names changed"},
		{"beside the user, too", edit("/w/src/a.go"), beside, "wrote names changed"},
		{"by another case of its name", edit("/W/src/A.go"), alone, "wrote names changed"},
		{"by a link", edit("/link/a.go"), alone, "wrote names changed"},
		{"another file", edit("/w/src/a.gold"), alone, ""},
		{"a file was only read", Call{Tool: "Read", Kind: toolcall.Read, Path: "/w/src/a.go"}, alone, ""},
		{"a command in Pawl's own work tree", command("make"), alone, "changed committed"},
		{"a command beside the user", command("make"), beside, ""},
		{"one that names the file", command("sed -i s/x/y/ src/a.go"), beside, "names changed"},
		{"one that commits", command("git commit -qam x"), beside, "committed"},
		{"one that only reads git", command("git log"), beside, ""},
		{"a tool that nobody knows", Call{Tool: "put"}, alone, "changed committed"},
		{"the same beside the user", Call{Tool: "put"}, beside, ""},
		{"an agent whose calls are not seen", Call{AnyChange: true}, beside, "changed committed"},
		{"a span is no call", Call{At: at(1), Until: at(2)}, alone, ""},
	} {
		c := Calls{Resolve: func(path string) []string { return []string{path, strings.Replace(path, "/link/", "/w/src/", 1)} }}
		c.Add(tt.call, tt.besideUser)
		var got []string
		for _, q := range []struct {
			word string
			yes  bool
		}{{"wrote", c.Wrote("/w/src/a.go")}, {"names", c.Named("/w/src/a.go")}, {"changed", c.MayHaveChanged("/w/src/a.go")}, {"committed", c.MayHaveCommitted()}} {
			if q.yes {
				got = append(got, q.word)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
	c := Calls{}
	c.Add(edit("/w/src/a.go"), alone)
	if !c.Wrote("/w/src") || c.Wrote("/w/sr") {
		t.Error("of a folder: what was written in it counts, and nothing else")
	}
}

// What was attributed is forgotten with the next turn; what a turn did that died is not.
func TestWhatIsRememberedOfTurns(t *testing.T) {
	t.Parallel()
	var c Calls
	c.BeginTurn(false)
	c.Add(edit("/a"), false)
	c.BeginTurn(false)
	if !c.MayHaveChanged("/a") {
		t.Error("a turn that died is forgotten")
	}
	c.MarkAttributed()
	if !c.MayHaveChanged("/a") {
		t.Error("an attribution that is done again finds another author")
	}
	if c.BeginTurn(false); c.MayHaveChanged("/a") {
		t.Error("what was attributed explains a change of a later turn")
	}
	c.SetLeftRunning(true)
	c.MarkAttributed()
	if c.BeginTurn(false); !c.MayHaveChanged("/b") {
		t.Error("what works in the background explains nothing")
	}
	c.SetLeftRunning(false)
	c.MarkAttributed()
	if c.BeginTurn(true); !c.MayHaveChanged("/b") {
		t.Error("a turn whose calls are not seen explains nothing")
	}
}

// The agent was at work from 10 to 20, gates from 30 to 40; the loop started at 0.
func TestWhoMadeANewFile(t *testing.T) {
	t.Parallel()
	r := CallRecords{RunnerCalls: []Call{{At: at(10), Until: at(20)}, {At: at(30), Until: at(40), Gates: true}}}
	for _, tt := range []struct {
		name  string
		call  Call
		times [][]time.Time
		want  Author
		named bool
	}{
		{"between the calls", Call{}, [][]time.Time{{at(25)}}, User, false},
		{"in a call", Call{}, [][]time.Time{{at(15)}}, Agent, false},
		{"in a call that names it", command("touch new.txt"), [][]time.Time{{at(15)}}, Agent, true},
		{"between calls, named by a command", command("cat new.txt"), [][]time.Time{{at(25)}}, User, false},
		{"between calls, named by an editing tool", edit("/w/new.txt"), [][]time.Time{{at(25)}}, Agent, true},
		{"near a call", Call{}, [][]time.Time{{at(21)}}, Agent, false},
		{"while gates ran", Call{}, [][]time.Time{{at(35)}}, Gates, false},
		{"while gates ran, and changed since", Call{}, [][]time.Time{{at(35), at(50)}}, User, false},
		{"in a folder that a call made", Call{}, [][]time.Time{{at(25)}, {at(15)}}, Agent, false},
		{"older than the loop, as one that was moved", Call{}, [][]time.Time{{at(-5)}}, Agent, false},
		{"times unknown", Call{}, [][]time.Time{nil}, Agent, false},
	} {
		var c Calls
		c.Add(tt.call, true)
		author, named := NewFileAuthor("/w/new.txt", tt.times, &c, r.Timeline(at(0), at(60), time.Second))
		if author != tt.want || named != tt.named {
			t.Errorf("%s: by %s, named %v; want %s, %v", tt.name, author, named, tt.want, tt.named)
		}
	}
}

// Where it is unknown when calls ran, or one has no end, nothing is known to be the user's.
func TestNobodyKnowsWhenCallsRan(t *testing.T) {
	t.Parallel()
	began, ended := Call{At: at(10), ID: "a"}, Call{Tool: "Bash", Kind: toolcall.Run, Command: "make", At: at(20), ID: "a"}
	server := ended
	server.Command = "serve &"
	noID := ended
	noID.ID = ""
	for name, tt := range map[string]struct {
		CallRecords
		want Author
	}{
		"nothing ran":                           {CallRecords{}, User},
		"a call of the session that ended":      {CallRecords{SessionStarts: []Call{began}, SessionEnds: []Call{ended}}, User},
		"one that has not":                      {CallRecords{SessionStarts: []Call{began}}, Agent},
		"one that left a server":                {CallRecords{SessionStarts: []Call{began}, SessionEnds: []Call{server}}, Agent},
		"one whose end cannot be matched":       {CallRecords{SessionStarts: []Call{began}, SessionEnds: []Call{noID}}, Agent},
		"a runner that was killed in a call":    {CallRecords{RunnerCalls: []Call{{Tool: "Bash", Command: "make", At: at(10)}}}, Agent},
		"a call of which it is not known when":  {CallRecords{RunnerCalls: []Call{{Tool: "Bash", Command: "make"}}}, Agent},
		"the turn under way":                    {CallRecords{OpenSpan: Span{at(10), at(60)}}, Agent},
		"the user's own turn counts: in doubt…": {CallRecords{SessionStarts: []Call{began}, SessionEnds: []Call{{UserTurn: true}}}, Agent},
	} {
		if got := tt.Timeline(at(0), at(60), time.Second).FileAuthor([]time.Time{at(40)}); got != tt.want {
			t.Errorf("%s: by %s, want %s", name, got, tt.want)
		}
	}
}

// Calls of the user's turns are left out, also where a part of the file is read.
func TestParseChunkReturnsWholeLines(t *testing.T) {
	t.Parallel()
	const one = `{"tool":"Bash","command":"one"}` + "\n"
	from := int64(len(one))
	file := one + `{"tool":"Bash","command":"two"}` + "\n" + "{torn\n" + `{"user_turn":true,"from":32}` + "\n" + `{"tool":"Bash","command":"three"}` + "\n" + `{"tool":`
	texts := func(p Chunk) (all []string) {
		for _, c := range p.Calls {
			all = append(all, c.Command)
		}
		return all
	}
	whole := ParseChunk([]byte(file), 0)
	if diff := cmp.Diff([]string{"one", "three"}, texts(whole)); diff != "" || whole.UserCallsOffset != from || whole.End != int64(len(file)-len(`{"tool":`)) {
		t.Errorf("whole file: %+v %s", whole, diff)
	}
	if rest := ParseChunk([]byte(file)[from:], from); cmp.Diff([]string{"three"}, texts(rest)) != "" || rest.End != whole.End {
		t.Errorf("second part: %+v", rest)
	}
	if none := ParseChunk(nil, 7); none.End != 7 || none.UserCallsOffset != -1 {
		t.Errorf("nothing: %+v", none)
	}
	if all := ParseCalls([]byte(file)); len(all) != 4 {
		t.Errorf("every line: %+v", all)
	}
}

// One more call never makes a change the user's that was the agent's, nor does knowing of
// one more span; and alone the calls explain whatever they explain beside the user.
func TestMoreCallsExplainMore(t *testing.T) {
	t.Parallel()
	pool := []Call{edit("/w/a"), edit("/w/b"), command("touch a"), command("git pull"), {AnyChange: true}, {Tool: "Read", Kind: toolcall.Read, Path: "/w/a"}, {Tool: "put"}, {At: at(3), Until: at(4)}}
	answers := func(c *Calls) (yes [4]bool) {
		return [4]bool{c.Wrote("/w/a"), c.Named("/w/a"), c.MayHaveChanged("/w/a"), c.MayHaveCommitted()}
	}
	for range 500 {
		var alone, beside Calls
		var r CallRecords
		for range 6 {
			next := pool[rand.IntN(len(pool))]
			before, file := answers(&beside), []time.Time{at(rand.IntN(9))}
			author := r.Timeline(at(0), at(9), 0).FileAuthor(file)
			alone.Add(next, false)
			beside.Add(next, true)
			r.RunnerCalls = append(r.RunnerCalls, next)
			for i, yes := range answers(&beside) {
				if before[i] && !yes || yes && !answers(&alone)[i] {
					t.Fatalf("answer %d after %+v: before %v, beside the user %v, alone %v", i, next, before[i], yes, answers(&alone)[i])
				}
			}
			if now := r.Timeline(at(0), at(9), 0).FileAuthor(file); author == Agent && now != Agent {
				t.Fatalf("%+v made a file at %v by %s", next, file, now)
			}
		}
	}
}

// What was at work when its runner was killed was at work until the next owner, or until the machine
// was started again: what the user did after that is theirs.
func TestCutOffEndsWithTheMachine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ boot, until int }{
		"the same machine":   {-100, 60},
		"started again":      {20, 20},
		"a clock of its own": {90, 60},
	} {
		if got := CutOffSpan(at(10), at(tt.boot), at(60)); got != (Span{at(10), at(tt.until)}) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := CutOffSpan(at(10), time.Time{}, at(60)); got.Until != at(60) {
		t.Errorf("not known when it was started: %v", got)
	}
}

// A command may have staged a file if it stages all, or names it to git.
func TestCallsMayHaveStaged(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"git add -A": true, "cd app && git add . && git commit -m 'done'": true, "git -C app add --all": true, "git commit -qam work": true,
		"git add new.txt": true, "git add -u; make": true,
		"git add main.go": false, "git commit -m 'a change'": false, "git commit -m work -- main.go": false, "cat new.txt": false, "git status && ls -A": false,
	} {
		var c Calls
		c.Add(command(text), true)
		if got := c.MayHaveStaged("/w/new.txt"); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
