package record

// Tracker says which issues a loop works on, and how they are reached.
type Tracker struct {
	Name    string  `json:"name"`              // of the tracker
	Command string  `json:"command,omitempty"` // the user's program; "": one of Pawl's
	From    string  `json:"from"`              // what the user named
	Label   string  `json:"label,omitempty"`   // issues are claimed by it; "": by assignee
	Issues  []Issue `json:"issues"`
}

// Issue is an issue and the tasks of the plan that stand for it.
type Issue struct {
	ID    string   `json:"id"`
	Key   string   `json:"key"`
	Title string   `json:"title"`
	URL   string   `json:"url,omitempty"`
	Tasks []string `json:"tasks"`
}
