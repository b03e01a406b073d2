// Package guard decides whether a tool call of an agent may run.
//
// The guard parses commands; it does not search their text. Package core/shell lists the commands
// that a script would run, and the guard compares each with its rules. So the words "git push" in
// a commit message do not count as a push. Paths are cleaned as text. The caller of Check resolves
// symbolic links (Rules.ResolveLinks).
//
// Some parts of a command are unknown before it runs: environment variables, the output of
// commands. The guard allows these and names them in the verdict, for the journal. It is not a
// sandbox; package confine is. If an unknown part contains words of a rule, the guard answers Ask.
// A loop without a user treats Ask as Deny. Deny overrides Ask, and Ask overrides Allow.
package guard

import (
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// Decision is the guard's answer to a call.
type Decision string

// The decisions, from weakest to strongest.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Rules holds the rules of one loop. All paths are absolute. On Windows, paths may use either
// slash.
type Rules struct {
	Root              string   // the work tree
	StateDir          string   // the folder of Pawl's own files; "" = none
	Home              string   // what ~ and $HOME stand for; "" = unknown: a place outside the root
	Protected         []string // paths or globs (*, ?, [a-z], ** for any folders) of protected files
	Plans             []string // paths of plans: an edit may change their done marks only
	ProtectedBranches []string // names or globs (release/*)
	Branch            string   // the branch of the root, if BranchOf is nil
	WritableFolders   []string // folders outside the root that may be written: temporary folders
	SharedFolders     []string // folders outside the root in which the agent may create files, and change those that it created
	Scope             []string // globs, relative to the root, of the files that the task may edit; none = all of the root

	// The patterns of the settings. Deny overrides Ask, and Ask overrides Allow.
	// Allow lifts the rule of that id, or all rules for that command or path. Ask
	// turns their denial into a question. Neither applies to RuleState.
	Allow, Deny, Ask []Pattern

	HasPawlTools bool // the agent has Pawl's own tools: reasons may name them

	// ResolveLinks resolves the symbolic links of an absolute path. The end of the path need not
	// exist. If it is nil, paths are taken as written.
	ResolveLinks func(path string) string
	// Exists reports whether an absolute path exists. A glob stands for files that exist. If it is
	// nil, every path may exist.
	Exists func(path string) bool
	// BranchOf returns the branch of the work tree that a folder is in, "" if it has none or it is
	// unknown. An earlier command may have switched branches. If it is nil, the root is on Branch,
	// and the branches of other work trees are unknown.
	BranchOf func(dir string) string
	// KnowsContent reports whether the agent knows the content of the file at an absolute path:
	// the file was shown in this context (ShownFiles), or it does not exist. If it is nil, the
	// context is not fully known, and RuleUnread does not apply.
	KnowsContent func(path string) bool
	// History describes what the agent made earlier. Its zero value means nothing.
	History History
}

// Verdict is the answer to one call.
type Verdict struct {
	Decision Decision `json:"verdict"`
	Rule     string   `json:"rule,omitempty"`    // id of the rule; "" if allowed
	Reason   string   `json:"reason,omitempty"`  // for the agent: why, and what to do instead
	Unknown  string   `json:"unknown,omitempty"` // the part of an allowed call that is unknown, for the journal
	Touched  []string `json:"-"`                 // absolute paths and globs of the files that the call may show or write, as far as known
}

// Check decides whether a call may run.
func Check(c toolcall.Call, r Rules) Verdict {
	j := newChecker(c, r)
	j.checkCall(c)
	if j.verdict.Decision != Allow {
		j.verdict.Unknown = ""
	}
	return j.verdict
}

func newChecker(c toolcall.Call, r Rules) *checker {
	j := &checker{rules: r, dir: c.Dir, links: map[string]string{}, switchedBranches: map[string]string{}, verdict: Verdict{Decision: Allow}}
	if j.dir == "" {
		j.dir = r.Root
	}
	return j
}

// checkCall checks a call by its kind.
func (j *checker) checkCall(c toolcall.Call) {
	switch {
	case c.Kind == toolcall.Write, c.Kind == toolcall.Edit:
		j.checkFileTool(c)
	case c.Kind == toolcall.Read, c.Kind == toolcall.Search:
		j.checkReadTool(c)
	case c.Command != "": // of any tool
		shell.Read(c.Command, j.shellOptions(), j)
	case c.Kind != toolcall.List:
		for _, text := range c.Texts {
			j.touchNamed(text)
		}
	}
}

// shellOptions returns the folders and variables that are known to the shell of this call.
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

// checker collects the verdict on one call. It implements shell.Host: it receives the commands of
// the call in order, and follows their side effects (folder, branch, links).
type checker struct {
	rules            Rules
	dir              string            // where the current command runs; "" = unknown
	switchedBranches map[string]string // branches that the call itself switches to, by work tree; "" = unknown
	isTemporaryTree  bool              // git's work tree is in a temporary folder, outside the loop's
	isLifted         bool              // a pattern of Allow or Ask matches the current command or path
	links            map[string]string // symbolic links that the call makes, with their targets
	onlyMarks        bool              // the current edit changes done marks only
	isFileTool       bool              // the call is of an editing tool: the agent must have read the file
	earlier          *agentWork        // what earlier calls made; nil = not collected yet
	recordTo         *agentWork        // where to record what an earlier call made; nil = this is the call to check
	verdict          Verdict
}

var decisionStrength = map[Decision]int{Allow: 0, Ask: 1, Deny: 2}

// applyRule applies the decision of a rule, with the advice of that rule.
func (j *checker) applyRule(d Decision, id, what string) {
	j.applyRuleWith(d, id, what, j.adviceFor(id))
}

// applyRuleWith applies the decision of a rule, with this advice. The settings may change or lift
// the decision.
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

// strengthen replaces the verdict if this decision is stronger.
func (j *checker) strengthen(d Decision, id, reason string) {
	if decisionStrength[d] > decisionStrength[j.verdict.Decision] {
		j.verdict.Decision, j.verdict.Rule, j.verdict.Reason = d, id, reason
	}
}

// deny applies a rule that denies.
func (j *checker) deny(id, what string) { j.applyRule(Deny, id, what) }

// ask asks about a part that is unknown and contains words of a rule.
func (j *checker) ask(what string) { j.applyRule(Ask, RuleUnreadable, what) }

// applyPattern applies the decision of a pattern of the settings.
func (j *checker) applyPattern(d Decision, p Pattern) {
	if d == Deny {
		j.strengthen(d, RuleCustom, "the settings deny "+clip(p.text)+": find another way, or explain with <blocked>reason</blocked> why there is none")
		return
	}
	j.strengthen(d, RuleCustom, "the settings require approval for "+clip(p.text)+": leave it to the user, and say what you wanted to do")
}

// noteUnknown records the first unknown part of an allowed call.
func (j *checker) noteUnknown(what string) {
	if j.verdict.Unknown == "" && j.verdict.Decision == Allow {
		j.verdict.Unknown = clip(what)
	}
}

// clip shortens a part of a command to one line of a reason.
func clip(s string) string { return plan.OneLine(s, 80) }
