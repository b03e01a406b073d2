//go:build !linux

package proc

// HasProcessIn reports whether a process of this program, such as "git", has dir or a folder below
// it as its working directory. It returns true if that is unknown. It does not see processes of
// other users.
func HasProcessIn(string, string) bool { return true }
