// Package guard decides whether a tool call of an agent may run.
//
// Calls are read as structure, never searched as text. core/shell tells which
// commands a script would run, and each is compared with the rules: a word about
// a push in a commit message is not a push. Paths are cleaned lexically; whoever
// calls Judge says where links lead (Rules.Resolve).
//
// What cannot be told (the environment's variables, what commands print) is
// allowed, and named in the verdict for the journal: a guard is not a sandbox; package
// confine is. Only where it carries a rule's own words is
// the answer Ask, which a loop without a user takes as Deny. Deny wins over
// Ask, Ask over Allow.
package guard

import (
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// Decision is the answer to a call.
type Decision string

// The answers, from weak to strong.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Rules say what holds for one loop. All paths are absolute; on Windows either
// slash will do.
type Rules struct {
	Root              string   // the work tree
	StateDir          string   // Pawl's own files; "" = none
	Home              string   // what ~ and $HOME stand for; "" = somewhere outside the root
	Protected         []string // paths or globs (*, ?, [a-z], ** for any folders) of protected files
	Plans             []string // paths of which an edit may change the done marks, and no more: plans
	ProtectedBranches []string // names or globs (release/*)
	Branch            string   // the branch that the root is on, as far as Head does not tell
	WritableFolders   []string // folders outside the root that may be written: temporary ones
	SharedFolders     []string // folders outside the root in which only new files may be made, and those of the agent's changed
	Scope             []string // globs, relative to the root, of what the task may edit; none = all of the root

	// The settings' own. Deny wins over all; Ask wins over Allow. Allow lifts a
	// rule of that id, or what the rules say of that command or path, and Ask
	// makes a question of it; neither is about RuleState.
	Allow, Deny, Ask []Pattern

	HasPawlTools bool // Pawl's own tools are mounted: reasons may name them

	// Resolve follows the symbolic links of an absolute path whose end need not
	// exist; nil = paths are taken as they are written.
	ResolveLinks func(path string) string
	// There reports whether there is something at an absolute path: a glob stands for what
	// is there. nil = nobody knows, and all of it may be.
	Exists func(path string) bool
	// Head is the branch that the work tree of a folder is on, "" = none or not known;
	// nil = the root is on Branch, and of others nothing is known. A command before
	// this one may have switched.
	BranchOf func(dir string) string
	// Seen reports whether the agent knows what the file at an absolute path holds:
	// it was shown it in this context (Known), or it is not there. nil = nobody saw
	// the whole of the context, and RuleUnread rests.
	KnowsContent func(path string) bool
	// Past tells what the agent made before. Without it nothing was.
	History History
}

// Verdict is the answer to one call.
type Verdict struct {
	Decision Decision `json:"verdict"`
	Rule     string   `json:"rule,omitempty"`    // id of the rule; "" if allowed
	Reason   string   `json:"reason,omitempty"`  // for the agent: why, and what to do instead
	Unknown  string   `json:"unknown,omitempty"` // what of an allowed call could not be read, for the journal
	Touched  []string `json:"-"`                 // absolute paths that the call may show or write, and globs of them, as far as they can be told
}

// Check answers a call.
func Check(c toolcall.Call, r Rules) Verdict {
	j := newChecker(c, r)
	j.checkCall(c)
	if j.verdict.Decision != Allow {
		j.verdict.Unknown = ""
	}
	return j.verdict
}

func newChecker(c toolcall.Call, r Rules) *checker {
	j := &checker{rules: r, dir: c.Dir, verdict: Verdict{Decision: Allow}}
	if j.dir == "" {
		j.dir = r.Root
	}
	return j
}

// call judges a call by its kind.
func (j *checker) checkCall(c toolcall.Call) {
	switch {
	case c.Kind == toolcall.Write, c.Kind == toolcall.Edit:
		j.checkFileTool(c)
	case c.Kind == toolcall.Read, c.Kind == toolcall.Search:
		j.checkReadTool(c)
	case c.Command != "": // of whatever tool
		shell.Read(c.Command, j.shellOptions(), j)
	case c.Kind != toolcall.List:
		for _, text := range c.Texts {
			j.touchNamed(text)
		}
	}
}

func (j *checker) shellOptions() shell.Options {
	o := shell.Options{Dir: j.dir, Home: j.rules.Home, Root: j.rules.Root, Vars: map[string]string{"HOME": "~"}}
	if j.rules.StateDir != "" {
		o.Vars["PAWL_HOME"] = j.rules.StateDir
	}
	if temp := j.rules.WritableFolders; len(temp) > 0 {
		o.Temp = temp[0]
	}
	return o
}

// check collects the answer to one call while its commands are told in order,
// with what they change on the way. It is the shell's host.
type checker struct {
	rules            Rules
	dir              string            // where the command under way runs; "" = cannot be told
	switchedBranches map[string]string // branches that the command itself switches to, by work tree; "" = cannot be told
	isTemporaryTree  bool              // git's work tree is a temporary one, none of the loop's
	isLifted         bool              // by a pattern that allows what is under way, or asks about it
	links            map[string]string // symbolic links that the command makes itself
	onlyMarks        bool              // the edit under way changes done marks only
	isFileTool       bool              // it is an editing tool's, which is to know what it changes
	earlier          *agentWork        // what earlier calls made, read when it is asked for
	recordTo         *agentWork        // of an earlier call that is read again: where to note what it makes; nil = it is judged
	verdict          Verdict
}

var decisionStrength = map[Decision]int{Allow: 0, Ask: 1, Deny: 2}

// rule notes what a rule says, as far as the settings let it.
func (j *checker) applyRule(d Decision, id, what string) { j.applyRuleWith(d, id, what, j.instead(id)) }

// advise is rule, with advice of its own.
func (j *checker) applyRuleWith(d Decision, id, what, instead string) {
	switch {
	case hasRule(j.rules.Deny, id):
		d = Deny
	case id == RuleState:
	case hasRule(j.rules.Ask, id):
		d = Ask
	case j.isLifted || hasRule(j.rules.Allow, id):
		return
	}
	j.strengthen(d, id, what+": "+instead)
}

func (j *checker) strengthen(d Decision, id, reason string) {
	if decisionStrength[d] > decisionStrength[j.verdict.Decision] {
		j.verdict.Decision, j.verdict.Rule, j.verdict.Reason = d, id, reason
	}
}

func (j *checker) deny(id, what string) { j.applyRule(Deny, id, what) }

func (j *checker) ask(what string) { j.applyRule(Ask, RuleUnreadable, what) }

// custom notes what a pattern of the settings says.
func (j *checker) applyPattern(d Decision, p Pattern) {
	if d == Deny {
		j.strengthen(d, RuleCustom, "the settings deny "+clip(p.text)+": find another way, or say with <blocked>reason</blocked> why there is none")
		return
	}
	j.strengthen(d, RuleCustom, "the settings want to be asked about "+clip(p.text)+": leave it to the user, and say what you would have done")
}

// unknown notes what could not be read and carries no rule's words.
func (j *checker) noteUnknown(what string) {
	if j.verdict.Unknown == "" && j.verdict.Decision == Allow {
		j.verdict.Unknown = clip(what)
	}
}

// clip makes a piece of a command fit for a reason.
func clip(s string) string { return plan.OneLine(s, 80) }
