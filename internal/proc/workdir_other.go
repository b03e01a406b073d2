//go:build !linux

package proc

// HasProcessIn reports whether a process of this program, such as "git", has dir or a
// folder below it as its working directory. It returns true if that is unknown. Processes
// of other users are not seen.
func HasProcessIn(string, string) bool { return true }
