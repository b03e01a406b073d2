package mcpserver

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type noArgs struct{}

// completeArgs are the arguments of complete_task.
type completeArgs struct {
	ID                string `json:"id,omitempty" jsonschema:"id of the task; leave it out for the one at work"`
	Summary           string `json:"summary" jsonschema:"what was done and what was not, in a few plain sentences"`
	Status            string `json:"status" jsonschema:"success: all of it is done and the gates pass. partial: some of it is. blocked: it cannot be done as asked"`
	Evidence          string `json:"evidence,omitempty" jsonschema:"what shows it: the test that failed before and passes now, the command to run"`
	NoBehaviourChange bool   `json:"no_behaviour_change,omitempty" jsonschema:"true if nothing that a test could see has changed, as after a refactoring"`
}

type blockedArgs struct {
	ID     string `json:"id,omitempty" jsonschema:"id of the task; leave it out for the one at work"`
	Reason string `json:"reason" jsonschema:"why it cannot be done as asked, and what would help"`
}

type questionArgs struct {
	Question string   `json:"question" jsonschema:"the question, with what the user must know to answer it"`
	Choices  []string `json:"choices,omitempty" jsonschema:"answers that you suggest"`
	Proposed string   `json:"proposed,omitempty" jsonschema:"what you would do without an answer"`
}

type mergeArgs struct {
	Summary string `json:"summary" jsonschema:"what is to be merged, and what the user should look at first"`
}

type testChangeArgs struct {
	Files []string `json:"files" jsonschema:"test files, relative to the project"`
	Why   string   `json:"why" jsonschema:"why the tests as they are contradict the task"`
}

type lessonArgs struct {
	Text string `json:"text" jsonschema:"one sentence: what was tried, what happened, what to do instead"`
}

// addTools registers the tools, in the order in which a task needs them.
func (s *Server) addTools() {
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: falsePointer()}
	writes := &mcp.ToolAnnotations{DestructiveHint: falsePointer(), OpenWorldHint: falsePointer()}
	addTool(s, &mcp.Tool{
		Name: "next_task", Annotations: reads,
		Description: "The task to work on now: its id, what is wanted, which gates check it, and what failed last. Call it when a turn starts, or when you are unsure. Pawl chooses the task; there is one at a time.",
	}, withTimeout(func(ctx context.Context, _ noArgs) (string, error) { return s.nextTask(ctx) }))
	addTool(s, &mcp.Tool{
		Name: "verify", Annotations: writes,
		Description: "Run the project's gates (tests, checks) now, on the files as they are, and get what fails: the gate, the failing tests, the first error, the end of the output. Call it before you say that something is done, and after each change that may break something. May take as long as the tests do. Asking again about unchanged files costs nothing.",
	}, func(ctx context.Context, _ noArgs) (string, error) { return s.verify(ctx) })
	addTool(s, &mcp.Tool{
		Name: "complete_task", Annotations: writes, InputSchema: completeSchema(),
		Description: "Say how a task stands, once, when you stop working on it. With status success the gates run first: if they pass, your claim is recorded and Pawl checks it itself when your turn ends, so end your turn; if not, nothing is recorded and you get what is missing. With partial or blocked, what you say is kept for the next try and for the user. Saying partial or blocked truthfully is better than claiming success.",
	}, s.completeTask)
	addTool(s, &mcp.Tool{
		Name: "report_blocked", Annotations: writes,
		Description: "Say that the task cannot be done as asked: a requirement that contradicts another, a missing key or service, a test that contradicts the task. The task is skipped with your reason and the user sees it. Then end your turn. Do not use it for something that is merely hard.",
	}, withTimeout(s.reportBlocked))
	addTool(s, &mcp.Tool{
		Name: "ask_user", Annotations: writes,
		Description: "Ask the user what only they can decide, and what cannot be found out: then end your turn. The loop waits, and the answer comes with your next prompt. Nobody may be there for hours: do first what does not depend on it, put everything into one question, and decide yourself what is yours to decide.",
	}, withTimeout(s.askUser))
	addTool(s, &mcp.Tool{
		Name: "request_test_change", Annotations: writes,
		Description: "Ask to be allowed to change tests that were there before, or other gate inputs (settings, scripts, expected outputs), because the task makes them wrong. The user decides; until then the originals count. New tests need no permission.",
	}, withTimeout(s.requestTestChange))
	addTool(s, &mcp.Tool{
		Name: "request_merge", Annotations: writes,
		Description: "Ask the user to merge or publish the work: pushing and merging are not yours to do here. Recorded and shown to them; call it at most once, when the work is done.",
	}, withTimeout(s.requestMerge))
	addTool(s, &mcp.Tool{
		Name: "add_lesson", Annotations: writes,
		Description: "Keep one sentence that a later try of this loop should know: what was tried, what happened, what to do instead. Not for progress reports.",
	}, withTimeout(s.addLesson))
	addTool(s, &mcp.Tool{
		Name: "read_messages", Annotations: reads,
		Description: "What people have said to you since this turn started. They also come with your next prompt; call it in a long turn, or before a decision that is hard to take back.",
	}, withTimeout(func(ctx context.Context, _ noArgs) (string, error) { return s.readMessages(ctx) }))
	addTool(s, &mcp.Tool{
		Name: "status", Annotations: reads,
		Description: "The loop's state: task, iteration, what is left of its limits, what the gates said last, and whether a claim of yours waits to be checked.",
	}, withTimeout(func(ctx context.Context, _ noArgs) (string, error) { return s.status(ctx) }))
}

func falsePointer() *bool { return new(bool) }

// completeSchema returns the schema of completeArgs with the possible statuses.
func completeSchema() *jsonschema.Schema {
	schema := schemaOf[completeArgs]()
	schema.Properties["status"].Enum = []any{statusSuccess, statusPartial, statusBlocked}
	return schema
}

const (
	statusSuccess = "success"
	statusPartial = "partial"
	statusBlocked = "blocked"
)
