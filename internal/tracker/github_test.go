//go:build unix

package tracker_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/tracker"
	"github.com/pawl-dev/pawl/internal/tracker/trackertest"
)

// These tests use the real gh, which talks to a simulated GitHub on a socket.

func github(t *testing.T, g *trackertest.GitHub, env ...string) *tracker.GitHub {
	t.Helper()
	agenttest.Needs(t, "gh")
	env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, slices.Concat(g.Serve(t), env)...)
	return &tracker.GitHub{Dir: t.TempDir(), Env: env}
}

const address = "https://github.com/o/r/issues/"

func keys(issues []tracker.Issue) (out []string) {
	for _, i := range issues {
		text := i.Key
		for _, d := range i.DependsOn {
			text += " after #" + strings.TrimPrefix(d, address)
		}
		if i.ClaimedBy != "" {
			text += " by " + i.ClaimedBy
		}
		if i.Closed {
			text += " closed"
		}
		out = append(out, text)
	}
	return out
}

func TestGitHubLists(t *testing.T) {
	t.Parallel()
	many := []trackertest.Issue{
		{Number: 12, Title: "Export", Labels: []string{"ready"}, Sub: []int{13, 14}, BlockedBy: []int{10, 11}},
		{Number: 13, Title: "CSV"},
		{Number: 14, Title: "JSON", Closed: true},
		{Number: 10, Title: "Schema", Labels: []string{"ready", "big"}},
		{Number: 11, Title: "Old", Closed: true},
		{Number: 15, Title: "Taken", Labels: []string{"ready"}, Assignees: []string{"bob"}},
		{Number: 16, Title: "Mine", Assignees: []string{"bob", "ann"}},
		{Number: 17, Title: "A change", Labels: []string{"ready"}, Pull: true},
	}
	for n := range 120 {
		many = append(many, trackertest.Issue{Number: 1000 + n, Title: "One of many", Labels: []string{"many"}})
	}
	g := github(t, trackertest.New(many...))
	for query, want := range map[string][]string{
		address + "13":          {"#13"},
		address + "12":          {"#13", "#12 after #13 after #10"},
		"14":                    {"#14 closed"},
		"#13,10":                {"#13", "#10"},
		"label=ready":           {"#13", "#12 after #13 after #10", "#10", "#15 by bob"},
		"label=ready,label=big": {"#10"},
		"label=none":            nil,
		"16":                    {"#16"},
	} {
		r, err := g.Handle(t.Context(), tracker.Request{Do: tracker.List, Query: query})
		if diff := cmp.Diff(want, keys(r.Issues)); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", query, err, diff)
		}
	}
	r, err := g.Handle(t.Context(), tracker.Request{Do: tracker.List, Query: "label=many"})
	if len(r.Issues) != 120 || err != nil {
		t.Errorf("of 120 issues on two pages: %d, %v", len(r.Issues), err)
	}
}

func TestGitHubClaimsAndTells(t *testing.T) {
	t.Parallel()
	server := trackertest.New(
		trackertest.Issue{Number: 1, Title: "Free"},
		trackertest.Issue{Number: 2, Title: "Mine", Assignees: []string{"ann"}},
		trackertest.Issue{Number: 3, Title: "By label"},
	)
	g := github(t, server)
	do := func(r tracker.Request) tracker.Reply {
		t.Helper()
		answer, err := g.Handle(t.Context(), r)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		return answer
	}
	if r := do(tracker.Request{Do: tracker.Claim, Issue: address + "1"}); !r.Changed || !slices.Contains(server.Issue(1).Assignees, "ann") {
		t.Errorf("claim: %+v, %v", r, server.Issue(1).Assignees)
	}
	if r := do(tracker.Request{Do: tracker.Claim, Issue: address + "2"}); r.Changed {
		t.Error("what was the user's before is said to be claimed")
	}
	for range 2 { // the second is another process, which does not know the first
		do(tracker.Request{Do: tracker.Done, Issue: address + "1", Key: "brisk-otter 1", Text: "**Done**", Release: true})
	}
	if i := server.Issue(1); len(i.Assignees) > 0 || len(i.Comments) != 1 || !strings.HasPrefix(i.Comments[0], "**Done**\n") {
		t.Errorf("done: %+v", i)
	}
	do(tracker.Request{Do: tracker.Comment, Issue: address + "1", Key: "brisk-otter 2", Text: "More"})
	do(tracker.Request{Do: tracker.Blocked, Issue: address + "2", Key: "brisk-otter 3", Text: "**Not done**"})
	if one, two := server.Issue(1), server.Issue(2); len(one.Comments) != 2 || len(two.Comments) != 1 || len(two.Assignees) != 1 {
		t.Errorf("comment, blocked: %+v %+v", one, two)
	}
	if r := do(tracker.Request{Do: tracker.Claim, Issue: address + "3", Label: "in work"}); !r.Changed || !slices.Contains(server.Issue(3).Labels, "in work") {
		t.Errorf("claim by label: %+v, %v", r, server.Issue(3).Labels)
	}
	if listed := do(tracker.Request{Do: tracker.List, Query: "3", Label: "in work"}); listed.Issues[0].ClaimedBy == "" {
		t.Error("an issue with the label is free")
	}
	do(tracker.Request{Do: tracker.Blocked, Issue: address + "3", Label: "in work", Release: true})
	if i := server.Issue(3); len(i.Labels)+len(i.Comments) > 0 {
		t.Errorf("released: %+v", i)
	}
}

func TestGitHubSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	type ask = tracker.Request
	list := ask{Do: tracker.List, Query: "12"}
	claim := ask{Do: tracker.Claim, Issue: address + "12"}
	limit := trackertest.Fault{Status: 403, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1792000000"}, Message: "API rate limit exceeded for user ID 1."}
	for name, c := range map[string]struct {
		ask        ask
		set        func(*trackertest.GitHub)
		env        string
		what, hint string
		retry      bool
	}{
		"no such issue": {ask: ask{Do: tracker.List, Query: "99"}, what: "GitHub has no {owner}/{repo}/issues/99, or this login may not see it", hint: "check the address, and  gh auth status"},
		"a pull request": {
			ask: ask{Do: tracker.List, Query: "17"}, what: "#17 is a pull request", hint: "name an issue",
		},
		"no login":     {ask: list, env: "GH_TOKEN=", what: "gh is not logged in", hint: "gh auth login, or set GH_TOKEN", retry: true},
		"an old login": {ask: list, env: "GH_TOKEN=old", what: "GitHub answers 401 to GET {owner}/{repo}/issues/12: Bad credentials", hint: "gh auth login: the login of gh is not valid any more", retry: true},
		"no network":   {ask: list, env: "GH_CONFIG_DIR=/nowhere", what: "gh: exit 1: error connecting to api.github.com", hint: "check the network, and  gh auth status", retry: true},
		"a rate limit": {ask: list, set: func(g *trackertest.GitHub) { g.FailRequests("GET /repos/o/r/issues/12", limit) }, what: "GitHub's rate limit is reached until ", hint: "try again then; logged-in users have a higher limit", retry: true},
		"a closed one": {ask: ask{Do: tracker.Claim, Issue: address + "11"}, what: "issue #11 is closed", hint: "reopen it, or name another"},
		"another's":    {ask: ask{Do: tracker.Claim, Issue: address + "15"}, what: "issue #15 is assigned to bob", hint: "name another"},
		"no permission": {ask: claim, set: func(g *trackertest.GitHub) {
			g.FailRequests("POST /repos/o/r/issues/12/assignees", trackertest.Fault{Status: 403, Message: "Must have push access"})
		}, what: "GitHub answers 403 to POST o/r/issues/12/assignees: Must have push access", hint: "the login of gh needs write access to the issues: gh auth status"},
		"not assigned": {ask: claim, set: func(g *trackertest.GitHub) { g.SetReadOnly() }, what: "GitHub does not assign #12 to ann", hint: "ask for write access, or claim by a label: [tracker] label in pawl.toml"},
		"a bad day": {ask: list, set: func(g *trackertest.GitHub) {
			g.FailRequests("GET /repos/o/r/issues/12", trackertest.Fault{Status: 502, Message: "Server Error"})
		}, what: "GitHub answers 502 to GET {owner}/{repo}/issues/12: Server Error", hint: "try again later", retry: true},
		"no filter":     {ask: ask{Do: tracker.List}, what: `"" does not name issues of GitHub`, hint: "such as github:label=ready, github:12,13 or https://github.com/OWNER/REPO/issues/12"},
		"an odd filter": {ask: ask{Do: tracker.List, Query: "colour=red"}, what: `issues of GitHub are chosen by label, milestone, assignee or creator, not by "colour"`, hint: "such as github:label=ready, github:12,13 or https://github.com/OWNER/REPO/issues/12"},
		"an odd issue":  {ask: ask{Do: tracker.Done, Issue: "--help"}, what: `"--help" is not an issue on GitHub`},
		"an odd verb":   {ask: ask{Do: "delete", Issue: address + "12"}, what: `unknown request "delete"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := trackertest.New(
				trackertest.Issue{Number: 12, Title: "Export"},
				trackertest.Issue{Number: 11, Title: "Old", Closed: true},
				trackertest.Issue{Number: 15, Title: "Taken", Assignees: []string{"bob"}},
				trackertest.Issue{Number: 17, Title: "A change", Pull: true},
			)
			if c.set != nil {
				c.set(server)
			}
			_, err := github(t, server, c.env).Handle(t.Context(), c.ask)
			told, ok := errors.AsType[*tracker.Error](err)
			if !ok || !strings.HasPrefix(told.What, c.what) || told.Hint != c.hint || told.Retry != c.retry {
				t.Errorf("%#v, want %q, hint %q, retry %t", told, c.what, c.hint, c.retry)
			}
		})
	}
}

func TestGitHubNeedsGh(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := (&tracker.GitHub{Dir: t.TempDir()}).Handle(t.Context(), tracker.Request{Do: tracker.List, Query: "12"})
	told, ok := errors.AsType[*tracker.Error](err)
	if !ok || told.What != "gh is not installed" || !strings.Contains(told.Hint, "gh auth login") {
		t.Errorf("%v", err)
	}
}
