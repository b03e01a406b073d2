package install

import "slices"

// StopBlockCap is the variable that bounds how often in a row a Stop hook may send
// the client back to work without a tool call between; "0" lifts it. Only the
// settings of a project, of a user there, or of the user can set it, not a
// plugin.
const StopBlockCap = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"

// LiftCap is the command that lifts the cap for a user in a repository.
const LiftCap = "pawl install claude --scope local --only-cap --yes"

// Time limits of hooks, in seconds. A gate may take its time at Stop: the hook
// bounds itself. Without one of its own, SessionEnd is cut after 1.5 s.
const (
	stopTimeout = 3600
	wakeTimeout = 8 * 86400 // longer than any usage limit of the client's vendor: a week
	endTimeout  = 20
	// The gates run once before a loop begins, on the tree as it is.
	beginTimeout = 720
)

// ClaudeHooks is what Claude Code's settings are to hold so that Pawl takes part in
// its sessions: the program is called with the arguments at each event. A second
// hook where a turn ends, with --wake after them, waits in the background for
// gates that take long and for the end of a usage limit, and wakes the session.
func ClaudeHooks(command string, args []string) Wanted {
	args = append([]string{}, args...)
	call := Hook{Type: "command", Command: command, Args: args}
	with := func(seconds int) Hook {
		h := call
		h.Timeout = seconds
		return h
	}
	wake := with(wakeTimeout)
	wake.Args = append(slices.Clone(args), "--wake")
	wake.AsyncRewake = true
	on := func(name string, hooks ...Hook) Event {
		return Event{name, []Group{{Hooks: hooks}}}
	}
	return Wanted{Events: Events{
		on("SessionStart", call),
		on("SessionEnd", with(endTimeout)),
		on("UserPromptSubmit", call),
		on("UserPromptExpansion", with(beginTimeout)),
		{"PreToolUse", []Group{{Matcher: "*", Hooks: []Hook{with(beginTimeout)}}}}, // a loop that was asked for in a prompt begins before its first tool call
		on("PostToolUse", call),
		on("PostToolUseFailure", call),
		on("PermissionRequest", call),
		on("Notification", call),
		on("PreCompact", call),
		on("Stop", with(stopTimeout), wake),
		on("StopFailure", call, wake),
		on("SubagentStop", call),
	}}
}

// GuardBlocks is the same with a guard that fails closed: no tool runs where its
// hook is missing, dies, takes too long or cannot judge. It is for the settings of one repository,
// on request: in those of the user it would stop every session.
func (w Wanted) GuardBlocks() Wanted {
	events := slices.Clone(w.Events)
	for i, e := range events {
		if e.Name != "PreToolUse" {
			continue
		}
		groups := slices.Clone(e.Groups)
		for g := range groups {
			groups[g].Hooks = slices.Clone(groups[g].Hooks)
			for h := range groups[g].Hooks {
				groups[g].Hooks[h].OnFailure = "block"
				groups[g].Hooks[h].Args = append(slices.Clone(groups[g].Hooks[h].Args), "--closed")
			}
		}
		events[i].Groups = groups
	}
	w.Events = events
	return w
}
