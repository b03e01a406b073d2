// Package guard judges one tool call of an agent before it runs: may it?
//
// Calls are read as structure, never searched as text. A shell command is
// parsed, and the simple commands in it are found through lists, subshells,
// functions, `bash -c`, env, xargs, sudo and their like; a word about a push in
// a commit message is no push. Paths are cleaned lexically only: whoever calls
// Judge resolves symbolic links first.
//
// What cannot be resolved (variables, substitutions, scripts) is allowed, for a
// guard is a railing and not a wall; confinement is the wall. Only where the
// unresolved carries a rule's own words is the answer Ask, which a loop without
// a person takes as Deny. Deny wins over Ask, Ask over Allow. Reading is
// allowed.
package guard

import "strings"

// Decision is the answer to a call.
type Decision string

// The answers, from weak to strong.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// The rules' ids.
const (
	RulePush        = "push"        // sends commits elsewhere
	RuleMerge       = "merge"       // changes a protected branch
	RuleHistory     = "history"     // rewrites or removes commits, refs, reflogs
	RuleDestructive = "destructive" // throws away work that is not committed
	RuleOutside     = "outside"     // writes outside the work tree
	RuleState       = "state"       // touches Pawl's own state or its controls
	RuleGitDir      = "git-dir"     // writes into .git behind git's back
	RuleProtected   = "protected"   // changes what judges the work
	RuleUnreadable  = "unreadable"  // cannot be read, and looks like one of the others
)

// Call is one tool call as the agent's client describes it.
type Call struct {
	Tool  string         // the client's name for it: Bash, Write, Edit …
	Input map[string]any // as the client gave it: command, file_path, notebook_path
	Dir   string         // current directory, absolute; "" = the root
}

// Rules say what holds for one loop. All paths are absolute; on Windows either
// slash will do.
type Rules struct {
	Root              string   // the work tree
	StateDir          string   // Pawl's own files; "" = none
	Home              string   // what ~ and $HOME stand for; "" = somewhere outside the root
	Protected         []string // paths or globs (*, ?, [a-z], ** for any folders) of what judges
	ProtectedBranches []string // names or globs (release/*)
	Branch            string   // the branch that is checked out
	AllowWriteOutside []string // folders outside the root that may be written: temporary ones
}

// Verdict is the answer to one call.
type Verdict struct {
	Decision Decision `json:"verdict"`
	Rule     string   `json:"rule,omitempty"`   // id of the rule; "" if allowed
	Reason   string   `json:"reason,omitempty"` // for the agent: why, and what to do instead
}

// Judge answers a call.
func Judge(c Call, r Rules) Verdict {
	j := &judge{rules: r, cwd: c.Dir, branch: r.Branch, verdict: Verdict{Decision: Allow}}
	if j.cwd == "" {
		j.cwd = r.Root
	}
	switch c.Tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		j.fileTool(c)
	default:
		// Shell tools have many names; the command is what counts.
		if command, ok := c.Input["command"].(string); ok {
			j.script(command)
		}
	}
	return j.verdict
}

// judge collects the answer to one call while its commands are walked in
// order, with what they change on the way.
type judge struct {
	rules   Rules
	cwd     string // "" once it cannot be told
	branch  string // "" once it cannot be told
	depth   int    // of scripts within scripts
	verdict Verdict
}

var strength = map[Decision]int{Allow: 0, Ask: 1, Deny: 2}

func (j *judge) rule(d Decision, id, reason string) {
	if strength[d] > strength[j.verdict.Decision] {
		j.verdict = Verdict{Decision: d, Rule: id, Reason: reason}
	}
}

func (j *judge) deny(id, what string) {
	j.rule(Deny, id, what+": "+instead[id])
}

func (j *judge) ask(what string) {
	j.rule(Ask, RuleUnreadable, what+": "+instead[RuleUnreadable])
}

// instead tells the agent what to do in place of what was denied.
var instead = map[string]string{
	RulePush:        "nothing leaves this machine from inside the loop. Leave the work in the tree; Pawl commits it after its gates pass, and the person publishes it",
	RuleMerge:       "protected branches are the person's to change. Stay on the current branch; Pawl commits for you after its gates pass",
	RuleHistory:     "history only moves forward here. Make a new change instead (git revert undoes a commit); Pawl squashes and commits for you after its gates pass",
	RuleDestructive: "it would throw away work that is not committed. Undo single files by editing them or with git restore FILE; Pawl can restore whole states",
	RuleOutside:     "write inside the work tree, or in a temporary folder",
	RuleState:       "Pawl keeps its own records and controls. Work on the task; end with the promise when it is true, or say that you are blocked",
	RuleGitDir:      "change the repository through git commands; Pawl commits for you after its gates pass",
	RuleProtected:   "it is part of what judges this work. Make the work pass it as it is; if it is wrong, say so with <blocked>reason</blocked>",
	RuleUnreadable:  "it cannot be told what this would run, and it looks like something the loop forbids. Write the command out plainly, one step at a time",
}

// clip makes a piece of a command fit for a reason.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "")
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}
