package shell_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// recorder is a host that records what it receives as text.
type recorder struct{ lines []string }

func (h *recorder) Run(c *shell.Command) {
	line := strings.ReplaceAll(shell.Join(c.Args).Text, shell.Unknown, "?")
	if c.Dir != "/w" {
		line = c.Dir + "$ " + line
	}
	for _, w := range c.Env {
		line = w.Text + " " + line
	}
	for _, w := range c.Writes {
		line += " > " + w.Text
	}
	for _, w := range c.Reads {
		line += " < " + w.Text
	}
	h.lines = append(h.lines, line)
}

func (h *recorder) Script(_ *shell.Command, w shell.Word) {
	h.lines = append(h.lines, "script: "+w.Source)
}
func (h *recorder) TooLong(_ *shell.Command, _ shell.Word) { h.lines = append(h.lines, "too much") }
func (h *recorder) Code(c *shell.Command, w shell.Word) {
	h.lines = append(h.lines, c.Args[0].Text+" code: "+w.Text)
}

func read(script string) []string {
	h := &recorder{}
	shell.Read(script, shell.Options{Dir: "/w", Home: "/home/u", Root: "/w", Temp: "/tmp", Vars: map[string]string{"KNOWN": "yes"}}, h)
	return h.lines
}

func TestWhatAScriptWouldRun(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"a; b && c || d":                          "a | b | c | d",
		"cd x && ls; cd ..; ls":                   "cd x | /w/x$ ls | /w/x$ cd .. | ls",
		"(cd x; ls); ls":                          "cd x | /w/x$ ls | ls",
		"cd; ls; cd -; ls":                        "cd | /home/u$ ls | /home/u$ cd - | $ ls",
		"pushd a; popd; ls":                       "pushd a | /w/a$ popd | ls",
		"echo $KNOWN $OTHER":                      "echo yes ?",
		"x='a  b'; echo $x \"$x\"":                " | echo a b a  b",
		"x=a; (x=b; echo $x); echo $x":            " |  | echo b | echo a",
		"x=1; c && x=2; echo $x":                  " | c |  | echo 2",
		"x=1; c || x=2; echo $x":                  " | c |  | echo 2 | echo 1",
		"if c; then x=1; fi; echo $x":             "c |  | echo 1 | echo ?",
		"echo {a,b}{1..3}":                        "echo a1 a2 a3 b1 b2 b3",
		"echo {c..a} {1..10..4}":                  "echo c b a 1 5 9",
		`echo $'a\tb\x41\u00e9\101'`:              "echo a\tbAéA",
		"echo ${x:-d} ${KNOWN:+alt}":              "echo d alt",
		"p=/a/b.c.d; echo ${p##*/} ${p%.*}":       " | echo b.c.d /a/b.c",
		"p=abcabc; echo ${p/b/x} ${p//b/x}":       " | echo axcabc axcaxc",
		"p=abc; echo ${p:1} ${p:0:2} ${p^^}":      " | echo bc ab ABC",
		"a=(x 'y z'); echo ${a[1]} ${#a[@]}":      " | echo y z x y z?",
		"a=(x y z); echo ${a[-1]} ${a[9]} $a":     " | echo z x y z? x",
		"a=(x); a+=(y); echo ${a[*]}":             " |  | echo x y",
		"a=(x); a[n]=y; echo ${a[0]}":             " |  | echo x",
		"p=abc; echo ${p: -2} ${p:n} ${p/?/x}":    " | echo bc abc? abc?",
		"x=; echo ${x:?no} ${KNOWN:?no}":          " | echo yes",
		"f() { echo \"$2\" $#; }; f a b":          "f a b | echo b ?",
		"f() { g; }":                              "g",
		"for i in a b; do echo $i; done":          "echo a | echo b",
		"for i in *.go; do echo $i; done":         "echo *.go",
		"case $x in a) b;; *) c;; esac":           "b | c",
		"while a; do b; done < f":                 " < f | a | b",
		"a > x 2> y < z":                          "a > x > y < z",
		"> x":                                     " > x",
		"A=1 b c":                                 "A=1 b c",
		"env -u X A=1 b":                          "env -u X A=1 b | A=1 b",
		"env -C d ls":                             "env -C d ls | /w/d$ ls",
		"sudo -u me timeout 5 ls":                 "sudo -u me timeout 5 ls | timeout 5 ls | ls",
		"bash -c 'a; b' x":                        "bash -c a; b x | a | b",
		"bash -c \"a $X\"":                        "bash -c a ? | a ?",
		"bash -c \"$X\"":                          "bash -c ? | script: \"$X\" | ?",
		"eval 'x=1'; echo $x":                     "eval x=1 |  | echo 1",
		"echo 'a b' | sh":                         "echo a b | sh | a b",
		"cat <<E | sh\na $KNOWN\nE":               "cat | sh | a yes",
		"cat <<'E' | sh\na $KNOWN\nE":             "cat | sh | a yes",
		"curl u | sh":                             "curl u | sh | script: what curl prints | ?",
		"echo a > f; sh f":                        "echo a > f | sh f | a",
		"x=$(echo a b); $x":                       "echo a b |  | a b",
		"x=$(pwd)/y; echo $x":                     "pwd |  | echo /w/y",
		"echo $(mktemp -d)":                       "mktemp -d | echo /tmp/tmp.XXXXXX",
		"read a b <<< 'x y z'; echo $b":           "read a b | echo y z",
		"set -- a b; shift; echo $1 $2":           "set -- a b | shift | echo b",
		"printf '%s-%s\\n' a b c d | sh":          "printf %s-%s\\n a b c d | sh | a-b | c-d",
		"echo a b | xargs -n1 rm -f":              "echo a b | xargs -n1 rm -f | rm -f a | rm -f b",
		"find a -name '*.o' -print0|xargs -0 b":   "find a -name *.o -print0 | xargs -0 b | b a/*.o ?",
		"cd $(dirname b/c); a $(basename d/e .x)": "dirname b/c | cd b | /w/b$ basename d/e .x | /w/b$ a e",
		"ls | xargs rm":                           "ls | xargs rm | rm ?",
		"echo a b | xargs -I@ mv @ @.x":           "echo a b | xargs -I@ mv @ @.x | mv a a.x | mv b b.x",
		"find a -name '*.o' -exec rm {} +":        "find a -name *.o -exec rm {} + | rm a/*.o",
		"find . -delete":                          "find . -delete | rm -rf .",
		"alias l='ls -l'; l x":                    "alias l=ls -l | ls -l | l x | ls -l x",
		"git -c alias.p='!a b' p":                 "git -c alias.p=!a b p | a b",
		"PAGER='a b' git log":                     "PAGER=a b git log | a b",
		"GIT_EDITOR='git x' git commit":           "GIT_EDITOR=git x git commit | git x",
		"git -c core.askpass=a fetch":             "git -c core.askpass=a fetch | a",
		"parallel -j 2 a {} ::: b 'c d'":          "parallel -j 2 a {} ::: b c d | a b | a c d",
		"parallel a {2}{1} ::: b c ::: d":         "parallel a {2}{1} ::: b c ::: d | a db | a dc",
		"parallel ::: 'a b' c":                    "parallel ::: a b c | a b | c",
		"printf 'a\\nb\\n' | parallel c":          "printf a\\nb\\n | parallel c | c a | c b",
		"ls | parallel rm":                        "ls | parallel rm | rm ?",
		"screen -dmS x a b":                       "screen -dmS x a b | a b",
		"tmux -L x new -d 'a b'":                  "tmux -L x new -d a b | a b | a b",
		"tmux ls":                                 "tmux ls",
		"gdb -batch --args a -b":                  "gdb -batch --args a -b | a -b",
		"gdb a":                                   "gdb a",
		"ssh -p 22 h 'cd x; a' b":                 "ssh -p 22 h cd x; a b | $ cd x | $ a b",
		"ssh h <<< a":                             "ssh h | $ a",
		"docker run x rm y":                       "docker run x rm y",
		"nix develop .#x -c a b":                  "nix develop .#x -c a b | a b",
		"nix develop":                             "nix develop",
		"python3 -c 'x' y":                        "python3 -c x y | python3 code: x",
		"python3 <<'E'\nx\nE":                     "python3 | python3 code: x\n",
		"perl -lne 'x' f":                         "perl -lne x f | perl code: x",
		"python3 -m http.server":                  "python3 -m http.server",
		"awk '{print}' f":                         "awk {print} f",
		"if":                                      "script: if",
		"trap 'a' EXIT":                           "trap a EXIT | a",
		"a & b":                                   "a | b",
		"cat <(a) > >(b)":                         "b | a | cat /dev/fd/pipe1 > /dev/null",
		strings.Repeat("(", 1000):                 "too much",
		"f() { f; }; f":                           strings.Repeat("f | ", 7) + "f",
	} {
		if diff := cmp.Diff(want, strings.Join(read(script), " | ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", script, diff)
		}
	}
}

func TestCommandNameDropsPathAndVersion(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"/usr/bin/python3.12": "python", "node": "node", "base64": "base64", "bzip2": "bzip2", `C:\x\git.exe`: "git", "bash5": "bash", "7z": "7z",
	} {
		if got := shell.CommandName(command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestAbsResolvesPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dir, home, name, want string }{
		{"/w", "/h", "a/../b", "/w/b"},
		{"/w", "/h", "/x//y", "/x/y"},
		{"/w", "/h", "~/x", "/h/x"},
		{"/w", "", "~/x", "/~/~/x"},
		{"/w", "/h", "~you/x", "/~/~you/x"},
		{"", "/h", "x", ""},
		{`C:\w`, "", `x\y`, "c:/w/x/y"},
		{"/w", "", `D:\x`, "d:/x"},
	} {
		if got := shell.Abs(c.dir, c.home, c.name); got != c.want {
			t.Errorf("Abs(%q, %q, %q) = %q, want %q", c.dir, c.home, c.name, got, c.want)
		}
	}
}

func TestUnwrapRemovesPrefixes(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"timeout -k 5 60 go test": "go test", "env -u A B=c go test": "go test", "npx -p x jest": "jest", "npm exec -- jest": "jest",
		"uv run --with x pytest": "pytest", "coverage run -m pytest": "pytest", "/usr/bin/nice -n 5 make": "make", "sudo": "",
		"docker exec app pytest": "pytest", "docker exec -it -e A=b app pytest -q": "pytest -q", "docker run --rm -v a:/b x go test": "go test",
		"docker compose run app pytest": "pytest", "docker compose -f x.yml exec -T app npm test": "npm test", "docker-compose exec app jest": "jest",
		"podman run x go test": "go test", "docker ps": "no", "docker compose up": "no", "docker": "no", "docker --context x container exec a jest": "jest",
		"kubectl -n x exec pod -c y -- pytest": "pytest", "nix develop -c go test ./...": "go test ./...", "nix develop .#x --command make": "make",
		"nix build": "no", "nix develop": "", "doppler run -- npm test": "npm test", "doppler run -p x -c dev -- jest": "jest",
		"op run --env-file=x -- jest": "jest", "uv --directory x run pytest": "pytest", "ssh -p 22 host go test": "go test",
		"command jest": "jest", "command -v jest": "no", "npm test": "no", "npm": "no", "go test": "no", "": "no",
	} {
		rest, ok := shell.Unwrap(strings.Fields(command))
		got := strings.Join(rest, " ")
		if !ok && got != command {
			t.Errorf("%s: changed to %s", command, got)
		}
		if !ok {
			got = "no"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	if rest, ok := shell.Unwrap([]string{"timeout", "", "go", "test"}); !ok || len(rest) != 2 {
		t.Errorf("after an unknown word: %q", rest)
	}
}

// Constant returns the text of words that are known before the script runs.
func TestConstantReturnsKnownText(t *testing.T) {
	t.Parallel()
	list, ok := shell.Parse(`a 'b c' "d e" f\ g h"i"'j' $k "l$m" $(n) ''`)
	if !ok || len(list) != 1 {
		t.Fatalf("%v, %v", list, ok)
	}
	var got []string
	for _, w := range list[0].Cmd.(*syntax.CallExpr).Args {
		got = append(got, shell.Constant(w))
	}
	if diff := cmp.Diff([]string{"a", "b c", "d e", "f g", "hij", "", "", "", ""}, got); diff != "" {
		t.Error(diff)
	}
	for _, script := range []string{"a $(", strings.Repeat("(", 1000)} {
		if _, ok := shell.Parse(script); ok {
			t.Errorf("%.20s was read", script)
		}
	}
}
