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

// The flags, without their dashes.
const (
	flagMaxIterations = "max-iterations"
	flagPromise       = "completion-promise"
	flagGate          = "gate"
	flagReview        = "review"
	flagVerify        = "verify"
	flagMaxDuration   = "max-duration"
	flagEvidence      = "evidence"
	flagApprove       = "approve"
	flagKind          = "kind"
	flagEvery         = "every"
	flagTries         = "tries"
	flagIsolate       = "isolate"
	flagHandover      = "handover"
	flagCommit        = "commit"
	flagUnattended    = "unattended"
	flagHelp          = "help"

	flags = flagMaxIterations + " " + flagPromise + " " + flagGate + " " + flagReview + " " + flagVerify + " " + flagMaxDuration + " " +
		flagEvidence + " " + flagApprove + " " + flagKind + " " + flagEvery + " " + flagTries + " " + flagIsolate + " " + flagHandover + " " + flagCommit + " " + flagUnattended + " " + flagHelp
)

// ParseArgs reads arguments as a user typed them behind a slash command. They
// went through no shell, so nothing is expanded: $, (, * and backslashes are
// text, white space within the prompt stays as typed.
//
//   - The prompt is all that is not a flag, in its order. Quotes around the whole of
//     it come off (so does the backslash before " \ $ or a backtick within "…");
//     quotes within it stay. What counts as a quotation, words says: an
//     apostrophe does not.
//   - A flag is a word outside quotations that begins with -- and a letter,
//     wherever it stands: --flag VALUE or --flag=VALUE, VALUE quoted if it has
//     blanks. If it is given twice, the last one counts. One that is not known is
//     an error and never prompt text; so is a known one with other dashes
//     (-max-iterations).
//   - A lone -- before the prompt ends the flags: what follows is the prompt. Later
//     it is a dash, and flags behind it count, for a limit must not get lost in prose.
//
// Errors are for people: they say what is wrong in the plugin's words.
func ParseArgs(raw string) (Args, error) {
	p := argParser{words: words{text: raw, known: isKnown}}
	for !p.args.Help {
		word, ok := p.words.next(!p.begun)
		if !ok {
			break
		}
		text := raw[word.at:word.end]
		if text == "--" && !p.begun {
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
	words  words
	args   Args
	prompt strings.Builder // what was typed, less the flags, up to from
	from   int
	begun  bool // the prompt has
}

// cut leaves a flag out of the prompt, with the white space before it.
func (p *argParser) cut(flag span) {
	p.prompt.WriteString(strings.TrimRightFunc(p.words.text[p.from:flag.at], unicode.IsSpace))
	p.from = flag.end
}

func (p *argParser) word(word span, text string) error {
	name, value, given := strings.Cut(text, "=")
	if !looksLikeFlag(text) {
		if bare := strings.TrimLeft(name, "-–—"); bare != name && strings.Contains(bare, "-") && isKnown("--"+bare) {
			return unknown(name, bare)
		}
		p.begun = true
		return nil
	}
	name = name[2:]
	if name == flagHelp {
		p.args.Help = true
		return nil
	}
	if !isKnown("--" + name) {
		return unknown("--"+name, nearest(name))
	}
	if lone := p.lone(name); lone != nil {
		switch {
		case name == flagIsolate && (value == "true" || value == "false"):
			*lone = value == "true"
		case given:
			return failure.New(failure.Usage, "", "--%s takes no value", name)
		default:
			*lone = true
		}
		p.cut(word)
		return nil
	}
	if !given {
		next, _ := p.words.next(true)
		value = p.words.text[next.at:next.end]
		if looksLikeFlag(value) {
			value = "" // an error, then
		}
	}
	p.cut(span{word.at, p.words.at})
	return p.set(name, value)
}

// lone is where a flag is kept that stands alone, nil if it has a value.
func (p *argParser) lone(name string) *bool {
	switch name {
	case flagCommit:
		return &p.args.Commit
	case flagUnattended:
		return &p.args.Unattended
	case flagHandover:
		return &p.args.Handover
	case flagIsolate:
		p.args.Isolate = new(bool)
		return p.args.Isolate
	}
	return nil
}

// set takes the value of a flag, still in its quotes.
func (p *argParser) set(name, value string) error {
	typed := value
	value, quote := unquote(typed)
	if quote == '"' && strings.Count(strings.NewReplacer(`\\`, "", `\"`, "").Replace(typed), `"`)%2 == 1 {
		return failure.New(failure.Usage, `write \" for a quote within quotes, or put '…' around it`,
			"--%s: cannot tell where the quotation ends after %q", name, plan.OneLine(value, 60))
	}
	value = strings.TrimSpace(value)
	if value == "" {
		what := map[string]string{
			flagMaxIterations: "number", flagTries: "number", flagPromise: "text", flagKind: "kind",
			flagMaxDuration: "duration", flagEvery: "duration", flagEvidence: "level", flagApprove: "point", flagReview: "text",
		}[name]
		if what == "" {
			what = "command"
		}
		return failure.New(failure.Usage, "", "--%s requires a %s argument", name, what)
	}
	switch name {
	case flagMaxIterations:
		n, ok := number(value)
		if !ok {
			return failure.New(failure.Usage, "0 means unlimited", "--%s must be a positive integer or 0, got: %s", name, plan.OneLine(value, 40))
		}
		p.args.MaxIterations, p.args.MaxGiven = n, true
	case flagTries:
		n, ok := number(value)
		if !ok || n == 0 {
			return failure.New(failure.Usage, "", "--%s must be a positive integer, got: %s", name, plan.OneLine(value, 40))
		}
		p.args.Tries = n
	case flagMaxDuration, flagEvery:
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return failure.New(failure.Usage, "", "--%s must be a duration such as 90s, 10m or 8h, got: %s", name, plan.OneLine(value, 40))
		}
		*map[string]*time.Duration{flagMaxDuration: &p.args.MaxDuration, flagEvery: &p.args.Every}[name] = d
	case flagKind:
		p.args.Kind = value
	case flagEvidence:
		p.args.Evidence = value
	case flagApprove:
		p.args.Approve = append(p.args.Approve, value)
	case flagPromise:
		p.args.Promise = value
	case flagGate:
		p.args.Gates = append(p.args.Gates, value)
	case flagReview:
		p.args.Reviews = append(p.args.Reviews, value)
	case flagVerify:
		p.args.Verify = value
	}
	return nil
}

func looksLikeFlag(word string) bool {
	rest, dashes := strings.CutPrefix(word, "--")
	first, _ := utf8.DecodeRuneInString(rest)
	return dashes && unicode.IsLetter(first)
}

// isKnown tells whether a word is one of the flags, with its value or without.
func isKnown(word string) bool {
	name, dashes := strings.CutPrefix(word, "--")
	name, _, _ = strings.Cut(name, "=")
	return dashes && slices.Contains(strings.Fields(flags), name)
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

// nearest is the flag that was probably meant: what was written is a part of it
// or differs little; "" if there is none.
func nearest(written string) string {
	written = strings.ToLower(strings.ReplaceAll(written, "_", "-"))
	best, least := "", min(len(written), 4)
	for flag := range strings.FieldsSeq(flags) {
		d := distance(written, flag)
		if len(written) > 2 && strings.Contains(flag, written) {
			d = 1
		}
		if d < least {
			best, least = flag, d
		}
	}
	return best
}

// distance is how many bytes must be put in, taken out or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(diagonal+1, row[j]+1, replaced)
		}
	}
	return row[len(b)]
}
