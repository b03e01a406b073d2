package session

import "time"

// BeginRequest is the input of `pawl session begin`.
type BeginRequest struct {
	Session    string    `json:"session"`
	Started    time.Time `json:"started,omitzero"` // when the session began, if known
	PromptID   string    `json:"prompt_id,omitempty"`
	Client     int       `json:"client,omitempty"`
	Dir        string    `json:"dir"`                // current folder of the session
	Root       string    `json:"root"`               // its project folder
	Command    string    `json:"command,omitempty"`  // loop, verify, ralph-loop
	Args       string    `json:"args,omitempty"`     // as typed: no shell has changed them
	Adopt      string    `json:"adopt,omitempty"`    // path of another tool's file, absolute or relative to Root
	Format     string    `json:"format,omitempty"`   // its statefile.Format
	ByAgent    bool      `json:"by_agent,omitempty"` // the session's agent may have written that file
	Unattended bool      `json:"unattended,omitempty"`
	Responder  string    `json:"responder,omitempty"`
}

// BeginResult is the output of `pawl session begin`.
type BeginResult struct {
	Loop    string `json:"loop,omitempty"`
	Message string `json:"message,omitempty"` // for the user
	Context string `json:"context,omitempty"` // for the agent
	Error   string `json:"error,omitempty"`
	Hint    string `json:"hint,omitempty"`
}
