package ralphloop

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Args are the arguments of /ralph-loop and of Pawl's own loop commands.
type Args struct {
	Prompt        string        // as typed, without the flags; may be "" beside Verify and Help
	MaxIterations int           // if MaxGiven: 0 means unlimited
	MaxGiven      bool          // --max-iterations N
	Promise       string        // --completion-promise TEXT; "" if there is none
	Gates         []string      // --gate CMD, repeated
	Reviews       []string      // --review RUBRIC, repeated
	Verify        string        // --verify CMD
	MaxDuration   time.Duration // --max-duration D; 0 if there is none
	Evidence      string        // --evidence LEVEL; "" if there is none
	Approve       []string      // --approve AT, repeated
	Kind          string        // --kind KIND; "" if there is none
	Every         time.Duration // --every D; 0 if there is none
	Tries         int           // --tries N; 0 if there is none
	Isolate       *bool         // --isolate, --isolate=false; nil if there is none
	Handover      bool          // --handover
	Commit        bool          // --commit
	Unattended    bool          // --unattended
	Help          bool          // --help, or -h alone: nothing else of it holds
}

// flag describes a flag of the commands.
type flag struct {
	name      string            // without dashes
	valueName string            // name of its value in messages; "" = it has no value
	target    func(a *Args) any // returns the field of Args that gets the value
}

// flags lists all flags.
var flags = []flag{
	{"max-iterations", "number", func(a *Args) any { a.MaxGiven = true; return &a.MaxIterations }},
	{"completion-promise", "text", func(a *Args) any { return &a.Promise }},
	{"gate", "command", func(a *Args) any { return &a.Gates }},
	{"review", "text", func(a *Args) any { return &a.Reviews }},
	{"verify", "command", func(a *Args) any { return &a.Verify }},
	{"max-duration", "duration", func(a *Args) any { return &a.MaxDuration }},
	{"evidence", "level", func(a *Args) any { return &a.Evidence }},
	{"approve", "point", func(a *Args) any { return &a.Approve }},
	{"kind", "kind", func(a *Args) any { return &a.Kind }},
	{"every", "duration", func(a *Args) any { return &a.Every }},
	{"tries", "number", func(a *Args) any { return &a.Tries }},
	{flagIsolate, "", func(a *Args) any { a.Isolate = new(bool); return a.Isolate }},
	{"handover", "", func(a *Args) any { return &a.Handover }},
	{"commit", "", func(a *Args) any { return &a.Commit }},
	{"unattended", "", func(a *Args) any { return &a.Unattended }},
	{flagHelp, "", nil},
}

const (
	flagIsolate = "isolate" // the only flag without a value that takes =false
	flagHelp    = "help"
)

// ParseArgs parses the text that a user typed after a slash command. No shell has read it, so nothing is
// expanded: $, (, * and backslashes are text, and white space in the prompt stays.
//
//   - The prompt is the text without the flags. Quotes around all of it are removed, and in "…" the
//     backslash before " \ $ and backticks. Other quotes stay. words defines quotations; an apostrophe
//     is none.
//   - A flag is a word outside quotations that begins with -- and a letter, anywhere in the text:
//     --flag VALUE or --flag=VALUE, with VALUE in quotes if it has blanks. The last of several counts.
//     Unknown flags are errors, and so are known flags with other dashes (-max-iterations).
//   - A single -- before the prompt ends the flags. In the prompt it is text, and later flags count: a
//     limit must not be ignored because of a dash.
//
// Errors are for users, in the plugin's words.
func ParseArgs(raw string) (Args, error) {
	p := argParser{words: words{text: raw, known: isKnownFlag}}
	for !p.args.Help {
		word, ok := p.words.next(!p.hasPrompt)
		if !ok {
			break
		}
		text := raw[word.at:word.end]
		if text == "--" && !p.hasPrompt {
			p.cut(word)
			break
		}
		if err := p.word(word, text); err != nil {
			return Args{}, err
		}
	}
	if p.args.Help {
		return Args{Help: true}, nil
	}
	p.prompt.WriteString(raw[p.from:])
	text := strings.TrimSpace(p.prompt.String())
	p.args.Prompt, _ = unquote(text)
	switch {
	case text == "-h":
		return Args{Help: true}, nil
	case strings.TrimSpace(p.args.Prompt) != "":
	case p.args.Verify == "":
		return Args{}, noPrompt()
	default:
		p.args.Prompt = ""
	}
	return p.args, nil
}

type argParser struct {
	words     words
	args      Args
	prompt    strings.Builder // the text up to from, without flags
	from      int
	hasPrompt bool // the prompt has begun
}

// cut removes a flag and the white space before it from the prompt.
func (p *argParser) cut(flag span) {
	p.prompt.WriteString(strings.TrimRightFunc(p.words.text[p.from:flag.at], unicode.IsSpace))
	p.from = flag.end
}

func (p *argParser) word(word span, text string) error {
	name, value, given := strings.Cut(text, "=")
	if !looksLikeFlag(text) {
		if bare := strings.TrimLeft(name, "-–—"); bare != name && strings.Contains(bare, "-") && isKnownFlag("--"+bare) {
			return unknown(name, bare)
		}
		p.hasPrompt = true
		return nil
	}
	name = name[2:]
	if name == flagHelp {
		p.args.Help = true
		return nil
	}
	i := slices.IndexFunc(flags, func(f flag) bool { return f.name == name })
	if i < 0 {
		return unknown("--"+name, failure.Nearest(name, flagNames()))
	}
	if f := flags[i]; f.valueName != "" {
		if !given {
			next, _ := p.words.next(true)
			value = p.words.text[next.at:next.end]
			if looksLikeFlag(value) {
				value = "" // an error, then
			}
		}
		p.cut(span{word.at, p.words.at})
		return p.set(f, value)
	}
	on := !given || value == "true"
	if given && (name != flagIsolate || !on && value != "false") {
		return failure.New(failure.Usage, "", "--%s takes no value", name)
	}
	*flags[i].target(&p.args).(*bool) = on
	p.cut(word)
	return nil
}

// set stores the value of a flag. The value is still quoted.
func (p *argParser) set(f flag, typed string) error {
	value, quote := unquote(typed)
	if quote == '"' && strings.Count(strings.NewReplacer(`\\`, "", `\"`, "").Replace(typed), `"`)%2 == 1 {
		return failure.New(failure.Usage, `write \" for a quote within quotes, or put '…' around it`,
			"--%s: cannot tell where the quotation ends after %q", f.name, plan.OneLine(value, 60))
	}
	value = strings.TrimSpace(value)
	if value == "" {
		return failure.New(failure.Usage, "", "--%s requires a %s argument", f.name, f.valueName)
	}
	wrong := func(hint, want string) error {
		return failure.New(failure.Usage, hint, "--%s must be a %s, got: %s", f.name, want, plan.OneLine(value, 40))
	}
	switch place := f.target(&p.args).(type) {
	case *int:
		n, ok := parseNumber(value)
		switch {
		case f.name == "tries" && (!ok || n == 0):
			return wrong("", "positive integer")
		case !ok:
			return wrong("0 means unlimited", "positive integer or 0")
		}
		*place = n
	case *time.Duration:
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return wrong("", "duration such as 90s, 10m or 8h")
		}
		*place = d
	case *string:
		*place = value
	case *[]string:
		*place = append(*place, value)
	}
	return nil
}

func looksLikeFlag(word string) bool {
	rest, dashes := strings.CutPrefix(word, "--")
	first, _ := utf8.DecodeRuneInString(rest)
	return dashes && unicode.IsLetter(first)
}

// isKnownFlag reports whether a word is one of the flags, with its value or without.
func isKnownFlag(word string) bool {
	name, dashes := strings.CutPrefix(word, "--")
	name, _, _ = strings.Cut(name, "=")
	return dashes && slices.Contains(flagNames(), name)
}

// ErrNoPrompt means that the arguments contain no prompt.
var ErrNoPrompt = errors.New("no prompt provided")

func noPrompt() error {
	return failure.New(failure.Usage, `say what to do, as in: "Fix the failing tests" --max-iterations 20`, "%w", ErrNoPrompt)
}

func unknown(flag, meant string) error {
	hint := "text that begins with -- goes into quotes, or behind a lone -- at the start"
	if meant != "" {
		hint = "did you mean --" + meant + "? " + hint
	}
	return failure.New(failure.Usage, hint, "unknown flag %s", plan.OneLine(flag, 40))
}

func flagNames() []string {
	var names []string
	for _, f := range flags {
		names = append(names, f.name)
	}
	return names
}
