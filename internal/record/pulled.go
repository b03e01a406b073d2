package record

// Pulled is what came of a merge that the agent asked for, where the user lets
// Pawl open pull requests.
type Pulled struct {
	URL     string `json:"url,omitempty"`     // of the pull request
	Problem string `json:"problem,omitempty"` // why there is none
}

// Words say it, "" for nothing.
func (p Pulled) Words() string {
	switch {
	case p.URL != "":
		return "opened: " + p.URL
	case p.Problem != "":
		return "no pull request was opened: " + p.Problem
	}
	return ""
}

// Remote is where a pull request may go, as it was when the loop began: an agent that
// points it elsewhere since is refused.
type Remote struct {
	Name string `json:"name,omitempty"`
	Sum  string `json:"sum"` // of its addresses, which may hold a password
	// Settings are the sums of git's settings that lead a push, by their names.
	Settings map[string]string `json:"settings,omitempty"`
}
