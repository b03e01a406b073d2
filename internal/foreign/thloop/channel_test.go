package thloop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/foreign/thloop"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

const today = "temp/th-channel/2026-01-31.md"

// told returns the text of the parts that are not the agent's own, and the stops as file:line,
// followed by "own" and "last".
func told(n thloop.News) (text, stops string) {
	for _, p := range n.Parts {
		if !p.Own {
			text += p.Text
		}
	}
	for _, s := range n.Stops {
		stops += " " + string(rune('0'+s.Line))
		if s.Own {
			stops += " own"
		}
		if s.Last {
			stops += " last"
		}
	}
	return text, strings.TrimSpace(stops)
}

// TestChannelReturnsNewText checks the rows of docs/reference/th-loop.md about the channel: each step is the file
// at a read, the new text, and the stops.
func TestChannelReturnsNewText(t *testing.T) {
	t.Parallel()
	type step struct {
		data, told, stops string
		settled           bool
	}
	tests := []struct {
		name, me string
		steps    []step
	}{
		{"first read", "", []step{{data: "## 10:00 nao\nhi\n", told: "## 10:00 nao\nhi\n"}}},
		{"text since the last read", "", []step{{data: "a\n", told: "a\n"}, {data: "a\n"}, {data: "a\nb\n", told: "b\n"}, {data: "a\nb\nc\nd\n", told: "c\nd\n"}}},
		{"same words again", "", []step{{data: "yes\n", told: "yes\n"}, {data: "yes\nyes\n", told: "yes\n"}}},
		{"truncated", "", []step{{data: "a\nb\n", told: "a\nb\n"}, {data: ""}, {data: "b\n", told: "b\n"}}},
		{"truncated to what was read once", "", []step{{data: "a\n", told: "a\n"}, {data: "a\nb\n", told: "b\n"}, {data: "a\n"}, {data: "a\nc\n", told: "c\n"}}},
		{"rewritten", "", []step{{data: "a\n", told: "a\n"}, {data: "a\nb\n", told: "b\n"}, {data: "a\nB\nc\n", told: "B\nc\n"}}},
		{"rewritten from its beginning", "", []step{{data: "a\nb\n", told: "a\nb\n"}, {data: "x\nb\n", told: "x\nb\n"}}},
		{"half a line", "", []step{{data: "a\nst", told: "a\n"}, {data: "a\nstop\n", told: "stop\n", stops: "2 last"}}},
		{"a last line without an end", "", []step{{data: "a\nstop", told: "a\nstop", stops: "2 last", settled: true}, {data: "a\nstop\n", told: "\n", settled: true}}},
		{"without time stamps", "", []step{{data: "do this\n\nthen that\n", told: "do this\n\nthen that\n"}}},
		{"CRLF", "", []step{{data: "a\r\nStop \r\n", told: "a\r\nStop \r\n", stops: "2 last"}}},
		{"stop in capitals and blanks", "", []step{{data: "  STOP\t\nplease\n", told: "  STOP\t\nplease\n", stops: "1"}}},
		{"stop among words", "", []step{{data: "stop it\n- stop\n**stop**\nstop.\n", told: "stop it\n- stop\n**stop**\nstop.\n"}}},
		{"stop in a quote", "", []step{{data: "> stop\n  > stop\n>stop\n", told: "> stop\n  > stop\n>stop\n"}}},
		{"stop in a fence", "", []step{{data: "```\nstop\n~~~\nstop\n``` x\nstop\n````\nstop\n", told: "```\nstop\n~~~\nstop\n``` x\nstop\n````\nstop\n", stops: "8 last"}}},
		{"a fence that an earlier read began", "", []step{{data: "~~~sh\n", told: "~~~sh\n"}, {data: "~~~sh\nstop\n", told: "stop\n"}, {data: "~~~sh\nstop\n~~~\nstop\n", told: "~~~\nstop\n", stops: "4 last"}}},
		{"code in a line is no fence", "", []step{{data: "```stop```\nstop\n", told: "```stop```\nstop\n", stops: "2 last"}}},
		{"the agent's own entry", "eris", []step{{data: "## 10:00 Eris\ndone\n\n### more\nof it\n## 10:05 nao\nok\n", told: "## 10:05 nao\nok\n"}}},
		{"own entries in other forms", "eris", []step{
			{data: "## Eris (10:00)\na\n"},
			{data: "## Eris (10:00)\na\n## [2026-01-31 10:05] from: eris\nb\n"},
			{data: "## Eris (10:00)\na\n## [2026-01-31 10:05] from: eris\nb\n## 1月31日 10:06\n**Eris**: c\n"},
			{data: "## Eris (10:00)\na\n## [2026-01-31 10:05] from: eris\nb\n## 1月31日 10:06\n**Eris**: c\n[10:07] eris: d\n\ne\n", told: "\ne\n"},
		}},
		{"an entry to the agent", "eris", []step{{data: "## 10:00 nao → Eris\ndo it\n", told: "## 10:00 nao → Eris\ndo it\n"}}},
		{"an entry about the agent", "eris", []step{{data: "## 10:00\nEris should do it\n", told: "## 10:00\nEris should do it\n"}}},
		{"own entries end at a rule", "eris", []step{{data: "# eris\na\n---\nb\n", told: "---\nb\n"}}},
		{"own entries end with the read", "eris", []step{{data: "# eris\na\n"}, {data: "# eris\na\nnow this\n", told: "now this\n"}}},
		{"stop in an own entry", "eris", []step{{data: "# eris\nstop\nbefore\n## 10:00 eris\nstop\n\n", stops: "2 own 5 own last"}}},
		{"stop behind an own entry", "eris", []step{{data: "# eris\na\n"}, {data: "# eris\na\nstop\n", told: "stop\n", stops: "3 last"}}},
		{"the same heads without a name", "", []step{{data: "## 10:00 eris\na\n", told: "## 10:00 eris\na\n"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var c thloop.Cursor
			for i, s := range tt.steps {
				var n thloop.News
				n, c = c.Read([]thloop.Source{{Name: today, Data: []byte(s.data), Complete: s.settled}}, tt.me, noon)
				text, stops := told(n)
				if text != s.told || stops != s.stops {
					t.Errorf("read %d told %q, stops %q; want %q, %q", i+1, text, stops, s.told, s.stops)
				}
			}
		})
	}
}

func TestDaysIncludeYesterday(t *testing.T) {
	t.Parallel()
	all := []string{"2026-01-01.md", "2026-01-29.md", "2026-01-30.md", "2026-01-31.md", "2026-02-01.md", "2026-02-02.md", "x.md", "2026-01-31.md~", "2026-01-32.md"}
	tests := []struct {
		name  string
		from  string
		names []string
		want  []string
	}{
		{"first read", "", all[:4], all[3:4]},
		{"first read, of a clock that is ahead", "", all, all[3:5]},
		{"first read, nothing today", "", all[:3], all[2:3]},
		{"first read, nothing lately", "", all[:2], nil},
		{"midnight", "2026-01-30", all[:4], all[2:4]},
		{"after days", "2026-01-29", all[:4], all[1:4]},
		{"names that are none, days to come", "2026-01-31", all, all[3:5]},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, thloop.Cursor{From: tt.from}.Days(tt.names, noon)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNothingIsLostAtMidnight checks that text from before and after midnight is returned in order.
func TestNothingIsLostAtMidnight(t *testing.T) {
	t.Parallel()
	disk := map[string]string{"2026-01-30.md": "old\n", "2026-01-31.md": "a\n"}
	var c thloop.Cursor
	read := func(now time.Time, want string) {
		t.Helper()
		var names []string
		for name := range disk {
			names = append(names, name)
		}
		var files []thloop.Source
		for _, name := range c.Days(names, now) {
			files = append(files, thloop.Source{Name: thloop.ChannelDir + "/" + name, Data: []byte(disk[name])})
		}
		var n thloop.News
		n, c = c.Read(files, "", now)
		if text, _ := told(n); text != want {
			t.Errorf("%s told %q, want %q", now, text, want)
		}
	}
	read(noon, "a\n")
	disk["2026-01-31.md"] += "b\n"
	disk["2026-02-01.md"] = "c\n"
	read(noon.AddDate(0, 0, 1), "b\nc\n")
	disk["2026-01-31.md"] += "late\n"
	read(noon.AddDate(0, 0, 1), "late\n")
	disk["2026-02-02.md"], disk["2026-02-04.md"] = "d\n", "e\n"
	read(noon.AddDate(0, 0, 4), "d\ne\n")
	if len(c.Marks) > 3 {
		t.Errorf("%d marks are kept: %v", len(c.Marks), c)
	}
	read(noon.AddDate(0, 0, 4), "")
}

func TestNoteIsLimited(t *testing.T) {
	t.Parallel()
	read := func(me, data string) string {
		n, _ := thloop.Cursor{}.Read([]thloop.Source{{Name: today, Data: []byte(data)}}, me, noon)
		return n.Note()
	}
	tests := []struct{ name, me, data, want string }{
		{"text", "", "\ufeff## 10:00 nao\r\nhi \x1b[2J\xff\r\n", "New in the channel:\n\nFrom " + today + ":1:\n## 10:00 nao\nhi [2J�"},
		{"blank lines", "", "\n \n", ""},
		{"own entries alone", "eris", "# eris\na\n", ""},
		{"own entries", "eris", "hi\n# eris\na\n# nao\nb\n", "New in the channel:\n\nFrom " + today + ":1:\nhi\n\n(" + today + ":2-3 is your own entry.)\n\nFrom " + today + ":4:\n# nao\nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, read(tt.me, tt.data)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	huge := read("eris", strings.Repeat("a line of it\n", 1000)+"# eris\nown\n# nao\nthe end\n")
	if len(huge) > 7000 || !strings.Contains(huge, "(read the rest there)") || !strings.HasSuffix(huge, "the end") {
		t.Errorf("%d bytes: %.200s", len(huge), huge)
	}
}
