package record

// ToolCallsFile is the name of the file in a loop's folder that holds what ran
// in the session that the loop lives in, one ToolCall a line.
const ToolCallsFile = "tools.jsonl"

// ContinueFile is the name of the file in a loop's folder that holds the prompt
// for a turn that ended without a claim, written ahead.
const ContinueFile = "continue.md"

// ToolCall is a tool call that ran in a person's session, as much of it as is
// needed to tell the agent's changes from the person's.
type ToolCall struct {
	Tool    string `json:"tool,omitempty"`    // the client's name for it
	Path    string `json:"path,omitempty"`    // that it wrote to, absolute
	Command string `json:"command,omitempty"` // that it ran, its beginning
	// Theirs makes the line a mark: the calls from byte From of the file up to
	// here ran in a turn that the person's own prompt began. They are theirs.
	Theirs bool  `json:"theirs,omitempty"`
	From   int64 `json:"from,omitempty"`
}
