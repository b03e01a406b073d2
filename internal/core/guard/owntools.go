package guard

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// OwnTools are the names of the tools that Pawl's server has, sorted. Nobody need be
// asked about these in the middle of a loop. Others may carry the server's name: a
// repository's own .mcp.json can list a server called so.
func OwnTools() []string {
	return []string{
		"add_lesson", "ask_user", "complete_task", "next_task", "read_messages", "report_blocked", "request_merge", "request_test_change",
		"status", "verify",
	}
}

// IsOwnTool reports whether a call is of one of OwnTools, of the server that the client
// knows by this name.
func IsOwnTool(c toolcall.Call, server string) bool {
	return c.Server == server && slices.Contains(OwnTools(), c.Method)
}
