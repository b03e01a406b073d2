//go:build !linux

package proc

// OpenedFiles records which files below folders any process opens.
type OpenedFiles struct{}

// WatchOpened records nothing: only Linux supports it.
func WatchOpened([]string) *OpenedFiles { return nil }

// End returns nothing, see WatchOpened.
func (*OpenedFiles) End() []string { return nil }
