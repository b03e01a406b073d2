package guard

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// OwnTools returns the names of the tools of Pawl's MCP server, sorted. They need no approval
// during a loop. A repository's .mcp.json may define another server of the same name, with other
// tools.
func OwnTools() []string {
	return []string{
		"add_lesson", "ask_user", "complete_task", "next_task", "read_messages", "report_blocked", "request_merge", "request_test_change",
		"status", "verify",
	}
}

// IsOwnTool reports whether a call is of one of OwnTools, on the server that the client knows by
// this name.
func IsOwnTool(c toolcall.Call, server string) bool {
	return c.Server == server && slices.Contains(OwnTools(), c.Method)
}
