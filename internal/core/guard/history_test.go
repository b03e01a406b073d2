package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// The agent may remove what an earlier call of its own made. If the maker is unknown, removal is
// denied.
func TestAgentMayRemoveFilesItMade(t *testing.T) {
	t.Parallel()
	const bg = "background: "
	now := time.Date(2026, 3, 1, 9, 0, 0, 500, time.UTC)
	cases := []struct {
		name    string
		earlier []string // commands; Write PATH is that tool's
		newest  string   // entry of git's log
		old     string   // is older than the loop
		command string
		want    string
	}{
		{"clean: a file that a tool wrote", []string{"Write note.txt"}, "", "", "git clean -f note.txt", "allow "},
		{"clean: files of commands", []string{"mkdir -p out && echo x > out/a", "touch b"}, "", "", "git clean -fdx out b", "allow "},
		{"clean: in a folder", []string{"cd sub && touch b"}, "", "", "cd sub; git clean -f b", "allow "},
		{"clean: one that nobody is known to have made", []string{"Write note.txt"}, "", "", "git clean -f note.txt other.txt", "deny destructive"},
		{"clean: one that was read", []string{"cat note.txt"}, "", "", "git clean -f note.txt", "deny destructive"},
		{"clean: one that was removed since", []string{"touch b", "rm b"}, "", "", "git clean -f b", "deny destructive"},
		{"clean: one that lay there before", []string{"echo x >> b"}, "", "/w/repo/b", "git clean -f b", "deny destructive"},
		{"clean: everything that there is", []string{"Write note.txt", "touch b"}, "", "", "git clean -fd", "allow "},
		{"clean: everything, quietly", []string{"Write note.txt", "touch b"}, "", "", "git clean -d --force -q", "allow "},
		{"clean: everything, with somebody's", []string{"Write note.txt"}, "", "", "git clean -fd", "deny destructive"},
		{"clean: everything, and one that lay there", []string{"Write note.txt", "touch b"}, "", "/w/repo/b", "git clean -fd", "deny destructive"},
		{"clean: what is ignored, too", []string{"Write note.txt", "touch b"}, "", "", "git clean -fdx", "deny destructive"},
		{"clean: everything in another folder", []string{"Write note.txt", "touch b"}, "", "", "cd sub; git clean -fd", "deny destructive"},
		{"clean: everything, by name", []string{"Write note.txt"}, "", "", "git clean -fd .", "deny destructive"},
		{"clean: a pattern", []string{"Write note.txt"}, "", "", "git clean -f '*.txt'", "deny destructive"},
		{"clean: a protected file", []string{"Write Makefile"}, "", "", "git clean -f Makefile", "deny protected"},

		{"amend: its own commit", []string{"git commit -qm 'a word'"}, "commit: a word", "", "git commit --amend -m 'two words'", "allow "},
		{"amend: twice", []string{"git commit -m a", "git commit --amend -m b"}, "commit (amend): b", "", "git commit --amend --no-edit", "allow "},
		{"amend: the first one", []string{"git commit -am a"}, "commit (initial): a", "", "git commit --amend --no-edit", "allow "},
		{"amend: a message of lines", []string{"git commit -m \"$(cat <<'EOF'\na word\n\nand why\nEOF\n)\""}, "commit: a word", "", "git commit --amend --no-edit", "allow "},
		{"amend: somebody's since", []string{"git commit -m a"}, "commit: theirs", "", "git commit --amend --no-edit", "deny history"},
		{"amend: Pawl's of the same name", []string{"git commit -m a"}, "pawl: a", "", "git commit --amend --no-edit", "deny history"},
		{"amend: in another repository", []string{"git -C /tmp/x commit -m a"}, "commit: a", "", "git commit --amend --no-edit", "deny history"},
		{"amend: a message that cannot be told", []string{"git commit -m \"$X\""}, "commit: a", "", "git commit --amend --no-edit", "deny history"},
		{"amend: past the hooks", []string{"git commit -m a"}, "commit: a", "", "git commit --amend --no-edit --no-verify", "deny hooks"},

		{"stash: its own", []string{"git stash push -m mine"}, "On work: mine", "", "git stash drop", "allow "},
		{"stash: by number", []string{"git stash save mine too"}, "On work: mine too", "", "git stash drop stash@{0}", "allow "},
		{"stash: somebody's on top", []string{"git stash push -m mine"}, "On work: theirs", "", "git stash drop", "deny destructive"},
		{"stash: without a name", []string{"git stash"}, "WIP on work: 1234567 a", "", "git stash drop", "allow "},
		{"stash: without a name, pushed", []string{"git stash push -u"}, "WIP on work: 1234567 a", "", "git stash drop", "allow "},
		{"stash: without a name, somebody's since", []string{"git stash"}, "WIP on work: 1234567 later", "", "git stash drop", "deny destructive"},
		{"stash: without a name, nobody's", []string{"git status"}, "WIP on work: 1234567 a", "", "git stash drop", "deny destructive"},
		{"stash: an older one", []string{"git stash push -m mine"}, "On work: mine", "", "git stash drop stash@{1}", "deny destructive"},
		{"stash: all", []string{"git stash push -m mine"}, "On work: mine", "", "git stash clear", "deny destructive"},

		{"tag: its own", []string{"git tag v1"}, "", "", "git tag -d v1", "allow "},
		{"tag: with a message", []string{"git tag -a -m first v1"}, "", "", "git tag --delete v1", "allow "},
		{"tag: one of two", []string{"git tag v1"}, "", "", "git tag -d v1 v0", "deny history"},
		{"tag: one that was there", []string{"git tag v1"}, "", "v1", "git tag -d v1", "deny history"},
		{"tag: one that was listed", []string{"git tag -l v1"}, "", "", "git tag -d v1", "deny history"},

		{"kill: what a shell left running", []string{"node server.js --port 8123 &"}, "", "", "pkill -f 'server.js --port 8123'", "allow "},
		{"kill: what the client left running", []string{bg + "npm start"}, "", "", "pkill -9 -f 'npm start'", "allow "},
		{"kill: through nohup", []string{"nohup python3 -m http.server 8123 >log 2>&1 &"}, "", "", "pkill -TERM -f 'http.server 8123'", "allow "},
		{"kill: what has ended with its call", []string{"npm start"}, "", "", "pkill -f 'npm start'", "deny kill"},
		{"kill: another", []string{bg + "npm start"}, "", "", "pkill -f 'npm run dev'", "deny kill"},
		{"kill: half a word", []string{bg + "npm start"}, "", "", "pkill -f 'm start'", "deny kill"},
		{"kill: a program's name", []string{bg + "node server.js"}, "", "", "pkill -f node", "deny kill"},
		{"kill: by name", []string{bg + "npm start"}, "", "", "pkill npm", "deny kill"},
		{"kill: a pattern", []string{bg + "npm start"}, "", "", "pkill -f 'npm start|x'", "deny kill"},
		{"killall: its own", []string{bg + "vite --port 8123"}, "", "", "killall vite", "allow "},
		{"killall: with a signal", []string{"nohup vite >log 2>&1 &"}, "", "", "killall -9 vite", "allow "},
		{"killall: others run it too", []string{bg + "node server.js"}, "", "", "killall node", "deny kill"},
		{"killall: one of two", []string{bg + "vite"}, "", "", "killall vite node", "deny kill"},
		{"killall: what has ended with its call", []string{"vite build"}, "", "", "killall vite", "deny kill"},
		{"killall: a pattern", []string{bg + "vite"}, "", "", "killall -r vite", "deny kill"},
		{"kill: a user's", []string{bg + "npm start"}, "", "", "pkill -u me -f 'npm start'", "deny kill"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var calls []toolcall.Call
			for _, e := range c.earlier {
				if path, ok := strings.CutPrefix(e, "Write "); ok {
					calls = append(calls, toolcall.Call{Kind: toolcall.Write, Path: "/w/repo/" + path})
					continue
				}
				command, background := strings.CutPrefix(e, bg)
				calls = append(calls, toolcall.Call{Kind: toolcall.Run, Command: command, Background: background, Dir: "/w/repo", At: now})
			}
			r := rules()
			call := toolcall.Call{Kind: toolcall.Run, Command: c.command, Dir: "/w/repo"}
			if v := guard.Check(call, r); v.Decision != guard.Deny {
				t.Errorf("with an unknown history: %+v", v)
			}
			r.History = guard.History{
				Calls:         func() []toolcall.Call { return calls },
				ChangedInLoop: func(path string) bool { return path != c.old },
				TaggedInLoop:  func(_, tag string) bool { return tag != c.old },
				NewestEntry:   func(dir, _ string) string { return map[string]string{"/w/repo": c.newest}[dir] },
				NewestStashTime: func(string) time.Time {
					if strings.HasSuffix(c.newest, " later") {
						return now.Add(time.Minute)
					}
					return now.Truncate(time.Second)
				},
				UntrackedFiles:   func(dir string) ([]string, bool) { return []string{"/w/repo/note.txt", "/w/repo/b"}, dir == "/w/repo" },
				OwnsEveryProcess: func(program string) bool { return program == "vite" },
			}
			v := guard.Check(call, r)
			if got := string(v.Decision) + " " + v.Rule; got != c.want {
				t.Errorf("got %s (%s), want %s", got, v.Reason, c.want)
			}
		})
	}
}

// In a shared folder the agent may create files and change those that it created.
func TestAgentMayChangeOnlyOwnFilesInSharedFolder(t *testing.T) {
	t.Parallel()
	r := rules()
	r.Root, r.WritableFolders, r.SharedFolders = "/tmp/w/repo", []string{"/temp"}, []string{"/tmp"}
	r.Exists = func(path string) bool { return path != "/tmp/new" }
	r.History = guard.History{
		Calls: func() []toolcall.Call {
			return []toolcall.Call{{Kind: toolcall.Run, Command: "mkdir /tmp/mine; echo x > /tmp/old/x", Dir: r.Root}}
		},
		ChangedInLoop: func(path string) bool { return path == "/tmp/mine" },
	}
	for command, want := range map[string]string{
		"echo x > /tmp/new":               "allow ",
		"mkdir -p /tmp/new/a":             "allow ",
		"rm -rf /tmp/mine":                "allow ",
		"echo x > /tmp/mine/a":            "allow ",
		"cd /tmp/mine && git clean -fdx":  "allow ",
		"rm -rf /tmp/old":                 "deny outside",
		"echo x > /tmp/theirs/a":          "deny outside",
		"echo x > /tmp/w/other":           "deny outside",
		"rm -rf /tmp":                     "deny outside",
		"rm -rf /tmp/*":                   "deny outside",
		"git -C /tmp/theirs reset --hard": "deny outside",
	} {
		v := guard.Check(toolcall.Call{Kind: toolcall.Run, Command: command, Dir: r.Root}, r)
		if got := string(v.Decision) + " " + v.Rule; got != want {
			t.Errorf("%s: got %s (%s), want %s", command, got, v.Reason, want)
		}
	}
}
