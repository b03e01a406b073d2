package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// HasProcessIn reports whether a process of this program, such as "git", has dir or a folder below
// it as its working directory. It returns true if that is unknown. It does not see processes of
// other users.
func HasProcessIn(dir, program string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true
	}
	names, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil || filepath.Base(executablePath(pid)) != program {
			continue
		}
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		if err == nil && (cwd == real || strings.HasPrefix(cwd, real+"/")) {
			return true
		}
	}
	return false
}
