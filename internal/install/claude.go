package install

import "slices"

// StopBlockCap is the variable that limits how often in a row a Stop hook may send the client back
// to work without a tool call in between; "0" means no limit. Only the settings of a project, of a
// user there, or of the user can set it, not a plugin.
const StopBlockCap = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"

// LiftCapCommand is the command that lifts the cap for a user in a repository.
const LiftCapCommand = "pawl install claude --scope local --only-cap --yes"

// Timeouts of hooks, in seconds. Gates may run for long at Stop, and the hook limits itself. The
// client's default for SessionEnd is 1.5 s.
const (
	stopTimeout = 3600
	wakeTimeout = 8 * 86400 // longer than any usage limit of the client's vendor: a week
	endTimeout  = 20
	// The gates run once before a loop starts.
	startTimeout = 720
)

// ClaudeHooks returns the entries in Claude Code's settings that connect Pawl to its sessions. They
// call the program with the arguments at each event. At the end of a turn, a second hook gets
// --wake. It waits in the background for long gates and for the end of a usage limit, and wakes the
// session.
func ClaudeHooks(command string, args []string) Entries {
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
	return Entries{Events: Events{
		on("SessionStart", call),
		on("SessionEnd", with(endTimeout)),
		on("UserPromptSubmit", call),
		on("UserPromptExpansion", with(startTimeout)),
		{"PreToolUse", []Group{{Matcher: "*", Hooks: []Hook{with(startTimeout)}}}}, // a loop that a prompt asked for starts before its first tool call
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

// WithBlockingGuard returns the entries with a guard that fails closed: no tool runs if the hook is
// missing, crashes, times out or cannot decide. It is for the settings of one repository, on
// request: in the user's settings it would block every session.
func (w Entries) WithBlockingGuard() Entries {
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
