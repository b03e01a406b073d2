package shell

import (
	"slices"
	"strings"
)

// wrapper describes a command that runs the command in its arguments.
type wrapper struct {
	verbs             string // one of these words must follow its name: exec for npm exec
	valueLetters      string // short options that take a value as the next word
	valueOptions      string // long options that take a value, blank-separated
	skippedOperands   int    // number of operands before the command
	scriptOptions     string // options whose value is a script, blank-separated
	joinsOperands     bool   // its operands form one script for a shell
	allowsAssignments bool   // NAME=value may precede the command
	lettersBeforeVerb string // short options before the verb that take a value
	verbGroups        string // words that may precede the verb: compose for docker compose run
	commandOptions    string // the command follows one of these options only, blank-separated
	inContainer       bool   // the command runs in a container, with other files and processes
}

var wrappers = map[string]wrapper{
	"sudo":       {valueLetters: "ughpCDrtUTR", valueOptions: "--user --group --host --prompt --chdir --role --type", allowsAssignments: true},
	"doas":       {valueLetters: "uC"},
	"su":         {valueLetters: "gGsw", valueOptions: "--group --shell", scriptOptions: "-c --command", skippedOperands: 1},
	"runuser":    {valueLetters: "ugGs", valueOptions: "--user --group --shell", scriptOptions: "-c --command"},
	"timeout":    {valueLetters: "sk", valueOptions: "--signal --kill-after", skippedOperands: 1},
	"gtimeout":   {valueLetters: "sk", valueOptions: "--signal --kill-after", skippedOperands: 1},
	"env":        {valueLetters: "uC", valueOptions: "--unset --chdir", allowsAssignments: true},
	"nohup":      {},
	"setsid":     {},
	"exec":       {valueLetters: "a"},
	"builtin":    {},
	"command":    {},
	"time":       {valueLetters: "fo"},
	"nice":       {valueLetters: "n", valueOptions: "--adjustment"},
	"ionice":     {valueLetters: "cnp"},
	"chrt":       {skippedOperands: 1},
	"taskset":    {skippedOperands: 1},
	"stdbuf":     {valueLetters: "ioe", valueOptions: "--input --output --error"},
	"unbuffer":   {},
	"busybox":    {},
	"toybox":     {},
	"watch":      {valueLetters: "n", valueOptions: "--interval", joinsOperands: true},
	"flock":      {valueLetters: "wE", valueOptions: "--timeout", scriptOptions: "-c --command", skippedOperands: 1},
	"script":     {scriptOptions: "-c --command"},
	"strace":     {valueLetters: "oepsS"},
	"ltrace":     {valueLetters: "oeps"},
	"chroot":     {skippedOperands: 1},
	"unshare":    {},
	"nsenter":    {valueLetters: "tSG"},
	"caffeinate": {valueLetters: "tw"},
	"sshpass":    {valueLetters: "fdpP"},
	"ssh":        {valueLetters: "BbcDEeFIiJLlmOoPpQRSWw", skippedOperands: 1, joinsOperands: true},
	"systemd-run": {
		valueLetters: "pMHu", valueOptions: "--unit --property --slice --description --working-directory --setenv",
	},
	"entr":   {},
	"npx":    {valueLetters: "pw", valueOptions: "--package --workspace", scriptOptions: "-c --call"},
	"bunx":   {valueLetters: "p", valueOptions: "--package"},
	"pnpx":   {},
	"npm":    {verbs: "exec x", valueLetters: "p", valueOptions: "--package", scriptOptions: "-c --call"},
	"pnpm":   {verbs: "exec dlx"},
	"yarn":   {verbs: "exec dlx"},
	"bundle": {verbs: "exec"},
	"uv":     {verbs: "run", valueLetters: "p", valueOptions: "--with --python --project --directory --extra --group --package --env-file"},
	"pipx":   {verbs: "run", valueOptions: "--spec --python --pip-args --index-url"},
	"uvx":    {valueLetters: "p", valueOptions: "--with --from --python"},
	"poetry": {verbs: "run"},
	"pdm":    {verbs: "run"},
	"pipenv": {verbs: "run"},
	"rye":    {verbs: "run"},
	"hatch":  {verbs: "run"},
	"conda":  {verbs: "run", valueLetters: "np", valueOptions: "--name --prefix"},
	"mise":   {verbs: "exec x"},
	"direnv": {verbs: "exec", skippedOperands: 1},
	"asdf":   {verbs: "exec"},
	"pyenv":  {verbs: "exec"},
	"rbenv":  {verbs: "exec"},
	"volta":  {verbs: "run", valueOptions: "--node --npm --pnpm --yarn"},
	"fnm":    {verbs: "exec", valueOptions: "--using"},

	"cross-env": {allowsAssignments: true},
	"dotenv":    {valueLetters: "ef"},
	"chronic":   {},
	"xvfb-run":  {valueLetters: "efnpsw", valueOptions: "--server-args --server-num"},
	"coverage":  {verbs: "run", valueOptions: "--source --omit --include --rcfile"},
	"c8":        {valueLetters: "ronx", valueOptions: coverageOptions},
	"nyc":       {valueLetters: "rnx", valueOptions: coverageOptions},
	"doppler":   {verbs: "run", valueLetters: "pc", valueOptions: "--project --config --token", scriptOptions: "--command"},
	"op":        {verbs: "run", valueOptions: "--env-file --account"},
	"infisical": {verbs: "run", valueOptions: "--env --path --projectId --token", scriptOptions: "--command"},
	"dotenvx":   {verbs: "run", valueLetters: "fe", valueOptions: "--env-file --env"},
	"nix":       {verbs: "develop shell", commandOptions: "-c --command"},
	"nix-shell": {scriptOptions: "--run --command", commandOptions: "--run --command"},

	"docker":         containerWrapper,
	"podman":         containerWrapper,
	"nerdctl":        containerWrapper,
	"docker-compose": containerWrapper,
	"podman-compose": containerWrapper,
	"kubectl":        {verbs: "exec", valueLetters: "cn", valueOptions: "--container --namespace", lettersBeforeVerb: "n", skippedOperands: 1, inContainer: true},
	"devcontainer":   {verbs: "exec", valueOptions: "--workspace-folder --container-id --config", inContainer: true},
}

// containerWrapper describes docker and the like. Their first operand is the image, the container
// or the service.
var containerWrapper = wrapper{
	verbs: "run exec", verbGroups: "compose container", lettersBeforeVerb: "fpHc", skippedOperands: 1, inContainer: true, valueLetters: "aceuvwplmh",
	valueOptions: "--env --env-file --volume --mount --workdir --user --publish --name --network --entrypoint --platform --hostname " +
		"--label --add-host --cpus --memory --gpus --pull --shm-size --cap-add --security-opt --tmpfs --index " +
		"--file --project-name --project-directory --profile --context --host",
}

// detachedWrappers run a command whose exit code and output they do not pass on.
var detachedWrappers = map[string]wrapper{
	"screen": {valueLetters: "cehpsStT"},
	"tmux": {
		verbs:             "new new-session new-window neww split-window splitw respawn-pane respawn-window run run-shell popup display-popup",
		lettersBeforeVerb: "LSf", valueLetters: "ceFlnstxy",
	},
	"gdb":  {commandOptions: "--args -args"},
	"lldb": {valueLetters: "osSOp"},

	"hyperfine":    {valueLetters: "wmMrspcSLniN", valueOptions: "--warmup --min-runs --max-runs --runs --setup --prepare --cleanup --shell --export-json"},
	"concurrently": {valueLetters: "ncpmils", valueOptions: "--names --prefix --prefix-colors --max-processes --success"},
}

// coverageOptions are options of tools that measure test coverage.
const coverageOptions = "--reporter --include --exclude --lines --branches --functions --statements"

// Unwrap removes a program that runs the command in its arguments, with its options: it returns go
// test ./... for timeout -k 5 60 go test ./.... An unknown word is "". It returns false for other
// programs.
func Unwrap(words []string) ([]string, bool) {
	if len(words) == 0 {
		return words, false
	}
	name := CommandName(words[0])
	w, ok := wrappers[name]
	args := make([]Word, len(words)-1)
	for i, word := range words[1:] {
		args[i] = Word{Text: word, Static: word != ""}
	}
	if !ok || !w.runsCommand(name, args) {
		return words, false
	}
	return words[len(words)-len(w.innerCommand(args)):], true
}

// IsContainerTool reports whether a program runs commands in a container. Read does not walk these.
func IsContainerTool(name string) bool { return wrappers[name].inContainer }

// runsCommand reports whether the wrapper runs a command with these arguments.
func (w wrapper) runsCommand(name string, args []Word) bool {
	switch {
	case w.verbs != "":
		_, ok := w.afterVerb(args)
		return ok
	case name == "command" && len(args) > 0:
		return args[0].Text != "-v" && args[0].Text != "-V" // command -v only finds a command
	}
	return true
}

// afterVerb returns the arguments after the verb, and false if there is no verb.
func (w wrapper) afterVerb(args []Word) ([]Word, bool) {
	if w.verbs == "" {
		return args, true
	}
	for args = (wrapper{valueLetters: w.lettersBeforeVerb, valueOptions: w.valueOptions}).stripOptions(args); len(args) > 0; {
		group := InList(w.verbGroups, args[0].Text)
		if !group {
			return args[1:], InList(w.verbs, args[0].Text)
		}
		args = (wrapper{valueLetters: w.lettersBeforeVerb, valueOptions: w.valueOptions}).stripOptions(args[1:])
	}
	return nil, false
}

// innerCommand returns the command that the wrapper runs, without the wrapper's verb and options.
func (w wrapper) innerCommand(args []Word) []Word {
	args, _ = w.afterVerb(args)
	if w.commandOptions == "" {
		return w.stripOptions(args)
	}
	at := slices.IndexFunc(args, func(a Word) bool { return InList(w.commandOptions, a.Text) })
	if at < 0 {
		return nil
	}
	return args[at+1:]
}

// runWrapped runs the command in the arguments of c.
func (r *reader) runWrapped(name string, c *Command) {
	args := c.Args[1:]
	switch name {
	case "env":
		r.runEnv(c)
		return
	case "xargs":
		r.runXargs(c)
		return
	case "parallel":
		r.runParallel(c)
		return
	case "ssh":
		r.runSSH(c)
		return
	case "find", "fd", "fdfind":
		r.runFind(c)
		return
	case "git":
		r.runGit(c)
		return
	case "at", "batch":
		r.runChildScript(c, c.In, Word{Static: true})
		return
	}
	if w, ok := detachedWrappers[name]; ok {
		r.runDetached(c, w)
		return
	}
	w, ok := wrappers[name]
	if !ok || w.inContainer || !w.runsCommand(name, args) {
		return
	}
	if text, ok := w.scriptText(args); ok {
		r.runChildScript(c, text, c.In)
		return
	}
	args = w.innerCommand(args)
	if len(args) > 0 && args[0].Text == "-c" && w.scriptOptions != "" { // flock FILE -c SCRIPT
		r.runChildScript(c, Join(args[1:]), c.In)
		return
	}
	if w.joinsOperands && len(args) > 0 {
		r.runChildScript(c, Join(args), Word{Static: true})
		return
	}
	r.runInner(c, args)
}

// runDetached runs the command of a new terminal or a debugger. It also runs words that look like
// scripts: tmux send-keys 'git push'.
func (r *reader) runDetached(c *Command, w wrapper) {
	for _, a := range c.Args[1:] {
		if strings.Contains(strings.TrimSpace(a.Text), " ") {
			r.runChildScript(c, a, Word{Static: true})
		}
	}
	r.runInner(c, w.innerCommand(c.Args[1:]))
}

// runSSH runs a script on another machine, in an unknown folder.
func (r *reader) runSSH(c *Command) {
	script := c.In
	if args := wrappers["ssh"].innerCommand(c.Args[1:]); len(args) > 0 {
		script = Join(args)
	}
	sub := r.copy()
	sub.dir = ""
	sub.runScript(c, script, c.In)
}

// InList reports whether a blank-separated list contains a word.
func InList(list, w string) bool {
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

// isBundle reports whether a word bundles short options and ends with the letter last, which takes
// a value.
func isBundle(s string, last byte) bool {
	return len(s) > 2 && s[0] == '-' && s[len(s)-1] == last && areOptionLetters(s[1:])
}

// scriptText returns the script that an option of a wrapper contains, and false if there is none.
func (w wrapper) scriptText(args []Word) (Word, bool) {
	for i, a := range args {
		name, value, joined := strings.Cut(a.Text, "=")
		switch {
		case w.scriptOptions == "" || a.Text == "--":
			return Word{}, false
		case i+1 < len(args) && (InList(w.scriptOptions, a.Text) || InList(w.scriptOptions, "-c") && isBundle(a.Text, 'c')):
			return args[i+1], true
		case joined && strings.HasPrefix(name, "--") && InList(w.scriptOptions, name):
			return a.Part(value), true
		}
	}
	return Word{}, false
}

// stripOptions returns the arguments after the wrapper's own options and operands.
func (w wrapper) stripOptions(args []Word) []Word {
	skip := w.skippedOperands
	for len(args) > 0 {
		t := args[0].Text
		switch {
		case t == "--":
			args = args[1:]
			return args[min(skip, len(args)):]
		case strings.HasPrefix(t, "--"):
			if !strings.Contains(t, "=") && InList(w.valueOptions, t) && len(args) > 1 {
				args = args[1:]
			}
		case strings.HasPrefix(t, "-") && len(t) > 1:
			// The first letter that takes a value takes the rest of its word, if any.
			if i := strings.IndexAny(t, w.valueLetters); i == len(t)-1 && len(args) > 1 {
				args = args[1:]
			}
		case w.allowsAssignments && strings.Contains(t, "="):
		case skip > 0:
			skip--
		default:
			return args
		}
		args = args[1:]
	}
	return nil
}

// runEnv runs the command of env: with other variables, in another folder, or from one word (-S).
func (r *reader) runEnv(c *Command) {
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
			text.Text += " " + quoteWords(rest)
			sub.runScript(&inner, text, c.In)
			return
		case t == "-C" || t == "--chdir":
			sub.changeDir([]Word{next})
			eat = 2
		case name == "--chdir":
			sub.changeDir([]Word{{Text: value, Static: args[0].Static}})
		case t == "-u" || t == "--unset":
			eat = 2
		case t == "--":
		case strings.HasPrefix(t, "-"):
		case assign:
			sub.setVariable(name, wordValue(Word{Text: value, Source: args[0].Source, Static: args[0].Static}))
			inner.Env = append(slices.Clip(inner.Env), args[0])
		default:
			sub.runInner(&inner, args)
			return
		}
		args = args[min(eat, len(args)):]
	}
}

// wordValue returns a value of one word.
func wordValue(w Word) value { return value{words: []Word{w}} }
