package claim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/claim"
)

var (
	done    = []claim.Claim{{Kind: claim.Done, Text: "DONE"}}
	nothing []claim.Claim
)

func doneAs(text string) []claim.Claim { return []claim.Claim{{Kind: claim.Done, Text: text}} }
func blocked(reason string) []claim.Claim {
	return []claim.Claim{{Kind: claim.Blocked, Reason: reason}}
}

type example struct {
	name, text, promise string
	want                []claim.Claim
}

func check(t *testing.T, examples []example) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(e.want, claim.Parse(e.text, e.promise)); diff != "" {
				t.Errorf("claims of %q (-want +got):\n%s", e.text, diff)
			}
		})
	}
}

// What the official ralph-loop plugin does with each of these was measured;
// the rows that users call bugs are decided the other way here.
func TestAsRalphLoopUsersExpect(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{"new lines inside the tag", "<promise>\n  DONE\n</promise>", "", done},
		{"indented inside the tag", "<promise>\n\n      DONE\n\n      </promise>\nbye", "", done},
		{"text in the lines around it", "All green.\n\n<promise>DONE</promise>\n\nSee the log.", "", done},
		{"text before it at the end of the message", "All green. <promise>DONE</promise>\n", "", done},
		{"bare text", "DONE", "", nothing},
		{"bare text on a last line", "Everything works.\n\nDONE\n", "", nothing},
		{"a mention of what will be said", "When finished I will output <promise>DONE</promise>; not yet", "", nothing},
		{"the same in code", "When finished I will output `<promise>DONE</promise>`; not yet", "", nothing},
		{"two tags, the second right", "<promise>NOT YET</promise>\n<promise>DONE</promise>", "", done},
		{"two tags on the last line", "<promise>A</promise> <promise>DONE</promise>", "", done},
		{"two tags, the first right", "<promise>DONE</promise>\n<promise>NOT YET</promise>", "", done},
		{"another text block after it", "<promise>DONE</promise>\nI also tidied up.", "", done},
		{"only a tool call", "", "", nothing},
		{"a star is a star", "<promise>*</promise>", "*", doneAs("*")},
		{"a star is no pattern", "<promise>DONE</promise>", "*", nothing},
		{"brackets are no pattern", "<promise>D</promise>", "[A-Z]", nothing},
		{"two blanks in the promise", "<promise>A B</promise>", "A  B", doneAs("A B")},
		{"two blanks in the claim", "<promise>A \t B</promise>", "A B", doneAs("A B")},
		{"quotation marks in the promise", `<promise>say "hi"</promise>`, `say "hi"`, doneAs(`say "hi"`)},
		{"a code word in the promise", "<promise>`make` is green</promise>", "`make` is green", doneAs("`make` is green")},
		{"less-than in the promise", "<promise>a < b</promise>", "a < b", doneAs("a < b")},
	})
}

func TestOnlyThePositionMakesAClaim(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{"alone", "<promise>DONE</promise>", "", done},
		{"CRLF", "Yes.\r\n<promise>DONE</promise>\r\nBye.\r\n", "", done},
		{"up to three blanks before", "x\n   <promise>DONE</promise>\ny", "", done},
		{"blanks after", "<promise>DONE</promise>  \t\nx", "", done},
		{"text after on its line", "<promise>DONE</promise> I think\n", "", nothing},
		{"text before on its line", "so <promise>DONE</promise>\nx", "", nothing},
		{"a full stop at the end", "<promise>DONE</promise>.", "", nothing},
		{"in quotation marks", `"<promise>DONE</promise>"`, "", nothing},
		{"a list item at the end", "- <promise>DONE</promise>", "", done},
		{"a list item in the middle", "- <promise>DONE</promise>\n- more", "", nothing},
		{"a long tail of white space", "ok <promise>DONE</promise>\n\n \t\n", "", done},
		{"another text", "<promise>ALMOST</promise>", "", nothing},
		{"another case", "<promise>done</promise>", "", nothing},
		{"empty", "<promise></promise>", "", nothing},
		{"a promise of white space means the default", "<promise>DONE</promise>", " \n", done},
		{"another element", "<promised>DONE</promised>", "", nothing},
		{"never closed", "<promise>DONE", "", nothing},
		{"never opened", "DONE</promise>", "", nothing},
		{"closed by the other", "<promise>DONE</blocked>\n</promise>", "", nothing},
		{"a tag that is not finished", "<promise DONE", "", nothing},
		{"nested on one line", "<promise><promise>DONE</promise></promise>\nx", "", nothing},
		{"nested on its own lines", "<promise>\n<promise>DONE</promise>\n</promise>", "", done},
		{"an unclosed mention before it", "I may say <promise> soon.\n<promise>DONE</promise>\nx", "", done},
		{"not even valid text", "\xff\xfe<promise>\n<promise>DONE</promise>\n\xff", "", done},
	})
}

func TestCodeQuotesAndPastedOutputHoldNoClaim(t *testing.T) {
	t.Parallel()
	const tag = "<promise>DONE</promise>\n"
	check(t, []example{
		{"fence", "```\n" + tag + "```\n", "", nothing},
		{"fence with a language", "```xml\n" + tag + "```\n", "", nothing},
		{"tildes", "~~~\n" + tag + "~~~\n", "", nothing},
		{"a shorter fence closes nothing", "````\n```\n" + tag + "````\n", "", nothing},
		{"the other fence closes nothing", "~~~\n```\n" + tag, "", nothing},
		{"a fence that is never closed", "```\n" + tag, "", nothing},
		{"after a fence", "```\ncode\n```\n" + tag, "", done},
		{"an indented fence", "  ```\n" + tag + "  ```\n", "", nothing},
		{"a deeper fence closes nothing", "```\n    ```\n" + tag + "```\n", "", nothing},
		{"backticks with more on the line open nothing", "``` a ` b\n\n" + tag, "", done},
		{"indented code", "Like this:\n\n    " + tag, "", nothing},
		{"indented by a tab", "Like this:\n\n\t" + tag, "", nothing},
		{"indented by blanks and a tab", "  \t" + tag, "", nothing},
		{"inline code over the line", "`" + strings.TrimSpace(tag) + "`\n", "", nothing},
		{"inline code over lines", "say `\n" + tag + "` then", "", nothing},
		{"double backticks", "``\n" + tag + "` ``", "", nothing},
		{"a lone backtick", "it's ` odd\n" + tag + "x", "", done},
		{"backticks in another paragraph", "odd `\n\n" + tag + "\nodd `\n", "", done},
		{"runs of unlike length", "odd ``\n" + tag + "odd `\n", "", done},
		{"code before it", "I ran `make` and `go test`.\n" + tag, "", done},
		{"quote", "> " + tag, "", nothing},
		{"quote without a blank", ">" + tag, "", nothing},
		{"nested quote", " > > " + tag, "", nothing},
		{"after a quote", "> you asked\n\n" + tag, "", done},
		{"pasted tool output", "<tool_result>\n" + tag + "</tool_result>\n", "", nothing},
		{"pasted output with attributes", "<output id=\"1\">\n" + tag + "</output>\n", "", nothing},
		{"comment", "<!--\n" + tag + "-->\n", "", nothing},
		{"a container that is never closed", "<output> is fixed.\n" + tag, "", done},
		{"an element of a similar name", "<outputs>\n" + tag + "</outputs>\n", "", done},
		{"after pasted output", "<stdout>\n" + tag + "</stdout>\n" + tag, "", done},
		{"drawn tool output", "  ⎿  " + tag + "x", "", nothing},
	})
}

func TestClaimAttributesAreParsed(t *testing.T) {
	t.Parallel()
	tasks := func(ids ...string) []claim.Claim {
		return []claim.Claim{{Kind: claim.Done, Text: "DONE", Tasks: ids}}
	}
	unchanged := []claim.Claim{{Kind: claim.Done, Text: "DONE", NoBehaviourChange: true}}
	check(t, []example{
		{"no change", `<promise kind="no-behaviour-change">DONE</promise>`, "", unchanged},
		{"spelt the other way", `<promise kind='no-behavior-change'>DONE</promise>`, "", unchanged},
		{"unknown kind", `<promise kind="magic">DONE</promise>`, "", done},
		{"one task", `<promise task="US-001">DONE</promise>`, "", tasks("US-001")},
		{"tasks", `<promise task="US-001, US-002,,US-001">DONE</promise>`, "", tasks("US-001", "US-002")},
		{
			"both", `<promise task = "a" kind="no-behaviour-change" >DONE</promise>`, "",
			[]claim.Claim{{Kind: claim.Done, Text: "DONE", Tasks: []string{"a"}, NoBehaviourChange: true}},
		},
		{"unknown attribute", `<promise mood="good">DONE</promise>`, "", done},
		{"no quotation marks", `<promise task=a>DONE</promise>`, "", nothing},
		{"no value", `<promise task>DONE</promise>`, "", nothing},
		{"no name", `<promise ="a">DONE</promise>`, "", nothing},
		{"no end", `<promise task="a>DONE</promise>`, "", nothing},
		{"control characters in an id", "<promise task=\"a\x1b[31m\nb\">DONE</promise>", "", tasks("a [31m b")},
	})
}

func TestBlockedIsParsed(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{"reason", "<blocked>no network</blocked>", "", blocked("no network")},
		{"reason over lines", "Sorry.\n<blocked>\nno `npm`,\n\tno network\n</blocked>\nBye.", "", blocked("no `npm`, no network")},
		{"at the end of the message", "I give up: <blocked>no key</blocked>", "", blocked("no key")},
		{"no reason", "<blocked> \n </blocked>", "", nothing},
		{"as the prompt shows it", "Otherwise end with\n<blocked>reason</blocked>\n", "", nothing},
		{"in code", "`<blocked>x</blocked>`", "", nothing},
		{"hostile reason", "<blocked>a\x1b[2J\x00\u202eb</blocked>", "", blocked("a [2J b")},
		{"long reason", "<blocked>" + strings.Repeat("é", 400) + "</blocked>", "", blocked(strings.Repeat("é", 248) + "…")},
		{
			"done and blocked", "<promise>DONE</promise>\n<blocked>no key</blocked>", "",
			append(doneAs("DONE"), blocked("no key")...),
		},
	})
}

func TestManyClaimsKeepTheLast(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("<blocked>first</blocked>\n", 500) + strings.Repeat("<promise>DONE</promise>\n", 99)
	got := claim.Parse(text, "")
	if len(got) != 100 || got[0].Reason != "first" || got[1].Kind != claim.Done {
		t.Errorf("got %d claims, first %+v", len(got), got[0])
	}
	ids := strings.Repeat("x,y,", 10) + strings.Repeat("a", 300)
	for i := range 200 {
		ids += "," + string(rune('一'+i))
	}
	one := claim.Parse(`<promise task="`+ids+`">DONE</promise>`, "")
	if len(one) != 1 || len(one[0].Tasks) != 100 || len(one[0].Tasks[2]) != 200 {
		t.Errorf("tasks of a claim are not bounded: %+v", one)
	}
}

// Each of these costs minutes if any step looks back or ahead more than a
// bounded number of times.
func TestHugeMessagesAreReadInLinearTime(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	for _, piece := range []string{
		"<promise>", "</promise>", "<promise ", "<", "`", "` ``\n", "<pre>\n", "<!--\n", "> \n", "x",
		"<promise>DONE</promise>\n", "```\n", "<promise>DONE</promise> ", "\n", "    ",
	} {
		start := time.Now()
		claim.Parse(strings.Repeat(piece, size/len(piece)), "")
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("4 MB of %q took %v", piece, took)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"<promise>DONE</promise>", "```\n<promise>DONE</promise>\n```", "a `b` <blocked>c</blocked>",
		"<promise task=\"a\">\nDONE</promise>", "<!--\n-->\n> x\n", "<output>\n</output>", "<blocked>0</blocked >",
	} {
		f.Add(s, "")
	}
	f.Add("<promise>*</promise>", "*")
	f.Fuzz(func(t *testing.T, text, promise string) {
		got := claim.Parse(text, promise)
		for _, c := range got {
			if strings.ContainsAny(c.Reason, "\n\r\x00\x1b") || len(c.Reason) > 500 {
				t.Errorf("reason is not one clean line: %q", c.Reason)
			}
			if !strings.Contains(text, "</promise") && !strings.Contains(text, "</blocked") {
				t.Errorf("a claim without a closing tag: %+v", c)
			}
		}
		quoted := "> " + strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\n", "\n> ")
		if again := claim.Parse(quoted, promise); len(again) > 0 {
			t.Errorf("quoting the message left claims: %+v", again)
		}
		if len(got) > 0 && len(claim.Parse(text+"\n\n~~~\nend\n~~~", promise)) > len(got) {
			t.Errorf("more text after the message made more claims")
		}
	})
}

// A promise in brackets counts alone on the last line, too.
func TestBarePromiseMustEndTheMessage(t *testing.T) {
	t.Parallel()
	const want = "[LOOP_COMPLETE]"
	for text, counts := range map[string]bool{
		"All is done.\n\n[LOOP_COMPLETE]\n":       true,
		"  [LOOP_COMPLETE]  ":                     true,
		"<promise>[LOOP_COMPLETE]</promise>":      true,
		"I will say [LOOP_COMPLETE]":              false,
		"[LOOP_COMPLETE]\nNot yet.":               false,
		"> [LOOP_COMPLETE]":                       false,
		"```\n[LOOP_COMPLETE]\n```":               false,
		"[LOOP_COMPLETE] is what I will say then": false,
	} {
		if got := claim.Parse(text, want); (len(got) == 1 && got[0].Kind == claim.Done) != counts || !counts && len(got) > 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if got := claim.Parse("DONE", "DONE"); len(got) > 0 {
		t.Errorf("a word without brackets: %+v", got)
	}
}

func TestPromiseIsFound(t *testing.T) {
	for prompt, want := range map[string]string{
		"":                                "",
		"add a":                           "",
		"say <promise>COMPLETE":           "",
		"say <promise>COMPLETE</promise>": "COMPLETE",
		"say `<promise>ALL\n  DONE</promise>` at the end":                                        "ALL DONE",
		"say <promise>A</promise>; only then say <promise> A </promise>":                         "A",
		"say <promise>COMPLETE</promise>, or <promise>STUCK</promise>":                           "",
		"say <promise></promise>":                                                                "",
		"say <promise>a <b> c</promise>":                                                         "",
		"say <promise>" + strings.Repeat("x", 300) + "</promise>":                                "",
		"say </promise> <promise>COMPLETE</promise> and do not begin with another <promise> tag": "COMPLETE",
	} {
		if got := claim.PromiseIn(prompt); got != want {
			t.Errorf("PromiseIn(%q) = %q, want %q", prompt, got, want)
		}
	}
}

func TestOtherPromiseIsRecognized(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"<blocked>no key</blocked>": "",
		"all is done\n<promise>COMPLETE</promise>":                      "COMPLETE",
		"<promise>A</promise>\n<promise>all of it\nis done</promise>\n": "all of it is done",
		"I will say <promise>COMPLETE</promise> at the end, not now":    "",
		"<promise>COMPLETE</promise>\n<promise>FINISHED</promise>":      "FINISHED",
		"```\n<promise>COMPLETE</promise>\n```":                         "",
		`<promise task="T1">COMPLETE</promise>`:                         "COMPLETE",
		"<promise>" + strings.Repeat("x", 300) + "</promise>":           strings.Repeat("x", 197) + "…",
	} {
		if got := claim.OtherPromise(text); got != want {
			t.Errorf("OtherPromise(%q) = %q, want %q", text, got, want)
		}
	}
}
