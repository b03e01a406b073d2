package record

// Remote is where a pull request may go, as it was when the loop began. A push elsewhere
// is refused.
type Remote struct {
	Name string `json:"name,omitempty"`
	Sum  string `json:"sum"` // checksum of its addresses, which may contain a password
	// Settings are the checksums of git's settings that decide where a push goes, by
	// their names.
	Settings map[string]string `json:"settings,omitempty"`
}
