package shell

import (
	"slices"
	"strings"
)

// wrapper describes a command that runs the command in its arguments.
type wrapper struct {
	verbs  string // the words that must follow its name: exec for npm exec
	valued string // short options that take a value as the next word
	long   string // long ones that do, blank-separated
	skip   int    // operands before the command
	script string // options whose value is a script, blank-separated
	joins  bool   // a shell reads its operands as one script
	assign bool   // NAME=value may stand before the command
	before string // short options before the verb that take a value
	groups string // words that may stand before the verb: compose for docker compose run
	after  string // options behind which alone the command stands, blank-separated
	apart  bool   // it runs in a container: its files and processes are not those here
}

var wrappers = map[string]wrapper{
	"sudo":       {valued: "ughpCDrtUTR", long: "--user --group --host --prompt --chdir --role --type", assign: true},
	"doas":       {valued: "uC"},
	"su":         {valued: "gGsw", long: "--group --shell", script: "-c --command", skip: 1},
	"runuser":    {valued: "ugGs", long: "--user --group --shell", script: "-c --command"},
	"timeout":    {valued: "sk", long: "--signal --kill-after", skip: 1},
	"gtimeout":   {valued: "sk", long: "--signal --kill-after", skip: 1},
	"nohup":      {},
	"setsid":     {},
	"exec":       {valued: "a"},
	"builtin":    {},
	"command":    {},
	"time":       {valued: "fo"},
	"nice":       {valued: "n", long: "--adjustment"},
	"ionice":     {valued: "cnp"},
	"chrt":       {skip: 1},
	"taskset":    {skip: 1},
	"stdbuf":     {valued: "ioe", long: "--input --output --error"},
	"unbuffer":   {},
	"busybox":    {},
	"toybox":     {},
	"watch":      {valued: "n", long: "--interval", joins: true},
	"flock":      {valued: "wE", long: "--timeout", script: "-c --command", skip: 1},
	"script":     {script: "-c --command"},
	"strace":     {valued: "oepsS"},
	"ltrace":     {valued: "oeps"},
	"chroot":     {skip: 1},
	"unshare":    {},
	"nsenter":    {valued: "tSG"},
	"caffeinate": {valued: "tw"},
	"sshpass":    {valued: "fdpP"},
	"ssh":        {valued: "BbcDEeFIiJLlmOoPpQRSWw", skip: 1, joins: true},
	"systemd-run": {
		valued: "pMHu", long: "--unit --property --slice --description --working-directory --setenv",
	},
	"entr":   {},
	"npx":    {valued: "pw", long: "--package --workspace", script: "-c --call"},
	"bunx":   {valued: "p", long: "--package"},
	"pnpx":   {},
	"npm":    {verbs: "exec x", valued: "p", long: "--package", script: "-c --call"},
	"pnpm":   {verbs: "exec dlx"},
	"yarn":   {verbs: "exec dlx"},
	"bundle": {verbs: "exec"},
	"uv":     {verbs: "run", valued: "p", long: "--with --python --project --directory --extra --group --package --env-file"},
	"pipx":   {verbs: "run", long: "--spec --python --pip-args --index-url"},
	"uvx":    {valued: "p", long: "--with --from --python"},
	"poetry": {verbs: "run"},
	"pdm":    {verbs: "run"},
	"pipenv": {verbs: "run"},
	"rye":    {verbs: "run"},
	"hatch":  {verbs: "run"},
	"conda":  {verbs: "run", valued: "np", long: "--name --prefix"},
	"mise":   {verbs: "exec x"},
	"direnv": {verbs: "exec", skip: 1},
	"asdf":   {verbs: "exec"},
	"pyenv":  {verbs: "exec"},
	"rbenv":  {verbs: "exec"},
	"volta":  {verbs: "run", long: "--node --npm --pnpm --yarn"},
	"fnm":    {verbs: "exec", long: "--using"},

	"cross-env": {assign: true},
	"dotenv":    {valued: "ef"},
	"chronic":   {},
	"xvfb-run":  {valued: "efnpsw", long: "--server-args --server-num"},
	"coverage":  {verbs: "run", long: "--source --omit --include --rcfile"},
	"c8":        {valued: "ronx", long: covers},
	"nyc":       {valued: "rnx", long: covers},
	"doppler":   {verbs: "run", valued: "pc", long: "--project --config --token", script: "--command"},
	"op":        {verbs: "run", long: "--env-file --account"},
	"infisical": {verbs: "run", long: "--env --path --projectId --token", script: "--command"},
	"dotenvx":   {verbs: "run", valued: "fe", long: "--env-file --env"},
	"nix":       {verbs: "develop shell", after: "-c --command"},
	"nix-shell": {script: "--run --command", after: "--run --command"},

	"docker":         container,
	"podman":         container,
	"nerdctl":        container,
	"docker-compose": container,
	"podman-compose": container,
	"kubectl":        {verbs: "exec", valued: "cn", long: "--container --namespace", before: "n", skip: 1, apart: true},
	"devcontainer":   {verbs: "exec", long: "--workspace-folder --container-id --config", apart: true},
}

// container: the first operand is the image, the container or the service.
var container = wrapper{
	verbs: "run exec", groups: "compose container", before: "fpHc", skip: 1, apart: true, valued: "aceuvwplmh",
	long: "--env --env-file --volume --mount --workdir --user --publish --name --network --entrypoint --platform --hostname " +
		"--label --add-host --cpus --memory --gpus --pull --shm-size --cap-add --security-opt --tmpfs --index " +
		"--file --project-name --project-directory --profile --context --host",
}

// detached run the command where its exit code and what it prints stay: what they
// tell is not what the command tells.
var detached = map[string]wrapper{
	"screen": {valued: "cehpsStT"},
	"tmux": {
		verbs:  "new new-session new-window neww split-window splitw respawn-pane respawn-window run run-shell popup display-popup",
		before: "LSf", valued: "ceFlnstxy",
	},
	"gdb":  {after: "--args -args"},
	"lldb": {valued: "osSOp"},

	"hyperfine":    {valued: "wmMrspcSLniN", long: "--warmup --min-runs --max-runs --runs --setup --prepare --cleanup --shell --export-json"},
	"concurrently": {valued: "ncpmils", long: "--names --prefix --prefix-colors --max-processes --success"},
}

// covers are options of tools that watch which lines a program reaches.
const covers = "--reporter --include --exclude --lines --branches --functions --statements"

// Unwrap drops a program that runs the command in its arguments, with its own
// options: go test ./... of timeout -k 5 60 go test ./.... A word that cannot be
// told is "". It is false for a program that runs none.
func Unwrap(words []string) ([]string, bool) {
	if len(words) == 0 {
		return words, false
	}
	name := Name(words[0])
	w, ok := wrappers[name]
	if name == "env" {
		w, ok = wrapper{valued: "uC", long: "--unset --chdir", assign: true}, true
	}
	args := make([]Word, len(words)-1)
	for i, word := range words[1:] {
		args[i] = Word{Text: word, Static: word != ""}
	}
	if !ok || !w.runs(name, args) {
		return words, false
	}
	return words[len(words)-len(w.command(args)):], true
}

// runs reports whether the wrapper runs a command with these arguments.
func (w wrapper) runs(name string, args []Word) bool {
	switch {
	case w.verbs != "":
		_, ok := w.behind(args)
		return ok
	case name == "command" && len(args) > 0:
		return args[0].Text != "-v" && args[0].Text != "-V" // only looks it up
	}
	return true
}

// behind is what stands behind the verb; false where there is none.
func (w wrapper) behind(args []Word) ([]Word, bool) {
	if w.verbs == "" {
		return args, true
	}
	for args = (wrapper{valued: w.before, long: w.long}).strip(args); len(args) > 0; {
		group := Listed(w.groups, args[0].Text)
		if !group {
			return args[1:], Listed(w.verbs, args[0].Text)
		}
		args = (wrapper{valued: w.before, long: w.long}).strip(args[1:])
	}
	return nil, false
}

// command is what the wrapper runs, without its verb and its own options.
func (w wrapper) command(args []Word) []Word {
	args, _ = w.behind(args)
	if w.after == "" {
		return w.strip(args)
	}
	at := slices.IndexFunc(args, func(a Word) bool { return Listed(w.after, a.Text) })
	if at < 0 {
		return nil
	}
	return args[at+1:]
}

// wrapped runs what stands in the arguments of c.
func (r *reader) wrapped(name string, c *Command) {
	args := c.Args[1:]
	switch name {
	case "env":
		r.env(c)
		return
	case "xargs":
		r.xargs(c)
		return
	case "parallel":
		r.parallel(c)
		return
	case "ssh":
		r.remote(c)
		return
	case "find", "fd", "fdfind":
		r.find(c)
		return
	case "git":
		r.git(c)
		return
	case "at", "batch":
		r.child(c, c.In, Word{Static: true})
		return
	}
	if w, ok := detached[name]; ok {
		r.detached(c, w)
		return
	}
	w, ok := wrappers[name]
	if !ok || w.apart || !w.runs(name, args) {
		return
	}
	if text, ok := w.text(args); ok {
		r.child(c, text, c.In)
		return
	}
	args = w.command(args)
	if len(args) > 0 && args[0].Text == "-c" && w.script != "" { // flock FILE -c SCRIPT
		r.child(c, Join(args[1:]), c.In)
		return
	}
	if w.joins && len(args) > 0 {
		r.child(c, Join(args), Word{Static: true})
		return
	}
	r.inner(c, args)
}

// detached runs the command of a terminal or a debugger of its own, and words that
// are scripts: tmux send-keys 'git push'.
func (r *reader) detached(c *Command, w wrapper) {
	for _, a := range c.Args[1:] {
		if strings.Contains(strings.TrimSpace(a.Text), " ") {
			r.child(c, a, Word{Static: true})
		}
	}
	r.inner(c, w.command(c.Args[1:]))
}

// remote runs a script for a shell elsewhere, in a folder of which nothing is known.
func (r *reader) remote(c *Command) {
	script := c.In
	if args := wrappers["ssh"].command(c.Args[1:]); len(args) > 0 {
		script = Join(args)
	}
	sub := r.copy()
	sub.dir = ""
	sub.script(c, script, c.In)
}

// Listed reports whether a word is in a blank-separated list.
func Listed(list, w string) bool {
	if w == "" || strings.Contains(w, " ") {
		return false
	}
	for rest := list; ; {
		at := strings.Index(rest, w)
		if at < 0 {
			return false
		}
		end := at + len(w)
		if (at == 0 || rest[at-1] == ' ') && (end == len(rest) || rest[end] == ' ') {
			return true
		}
		rest = rest[end:]
	}
}

// bundle tells short options in one word, of which the last takes a value.
func bundle(s string, last byte) bool {
	return len(s) > 2 && s[0] == '-' && s[len(s)-1] == last && letters(s[1:])
}

// text is the script that an option of a wrapper carries.
func (w wrapper) text(args []Word) (Word, bool) {
	for i, a := range args {
		name, value, joined := strings.Cut(a.Text, "=")
		switch {
		case w.script == "" || a.Text == "--":
			return Word{}, false
		case i+1 < len(args) && (Listed(w.script, a.Text) || Listed(w.script, "-c") && bundle(a.Text, 'c')):
			return args[i+1], true
		case joined && strings.HasPrefix(name, "--") && Listed(w.script, name):
			return Word{Text: value, Source: a.Source, Static: a.Static, From: a.From}, true
		}
	}
	return Word{}, false
}

// strip drops the wrapper's own options and operands.
func (w wrapper) strip(args []Word) []Word {
	skip := w.skip
	for len(args) > 0 {
		t := args[0].Text
		switch {
		case t == "--":
			args = args[1:]
			return args[min(skip, len(args)):]
		case strings.HasPrefix(t, "--"):
			if !strings.Contains(t, "=") && Listed(w.long, t) && len(args) > 1 {
				args = args[1:]
			}
		case strings.HasPrefix(t, "-") && len(t) > 1:
			// The first letter that takes a value takes the rest of its word, if any.
			if i := strings.IndexAny(t, w.valued); i == len(t)-1 && len(args) > 1 {
				args = args[1:]
			}
		case w.assign && strings.Contains(t, "="):
		case skip > 0:
			skip--
		default:
			return args
		}
		args = args[1:]
	}
	return nil
}

// env runs a command with other variables, in another folder, or from one word
// (-S).
func (r *reader) env(c *Command) {
	sub := r.copy()
	args := c.Args[1:]
	inner := *c
	for len(args) > 0 {
		t := args[0].Text
		name, value, assign := strings.Cut(t, "=")
		next := Word{Static: true}
		if len(args) > 1 {
			next = args[1]
		}
		eat := 1
		switch {
		case t == "-S" || t == "--split-string" || strings.HasPrefix(t, "-S") || name == "--split-string":
			text := Word{Text: strings.TrimPrefix(strings.TrimPrefix(t, "-S"), "--split-string="), Source: args[0].Source, Static: args[0].Static}
			if t == "-S" || t == "--split-string" {
				text, eat = next, 2
			}
			rest := args[min(eat, len(args)):]
			text.Text += " " + Quote(rest)
			sub.script(&inner, text, c.In)
			return
		case t == "-C" || t == "--chdir":
			sub.chdir([]Word{next})
			eat = 2
		case name == "--chdir":
			sub.chdir([]Word{{Text: value, Static: args[0].Static}})
		case t == "-u" || t == "--unset":
			eat = 2
		case t == "--":
		case strings.HasPrefix(t, "-"):
		case assign:
			sub.set(name, valueOf(Word{Text: value, Source: args[0].Source, Static: args[0].Static}))
			inner.Env = append(slices.Clip(inner.Env), args[0])
		default:
			sub.inner(&inner, args)
			return
		}
		args = args[min(eat, len(args)):]
	}
}

func valueOf(w Word) value { return value{list: []Word{w}} }
