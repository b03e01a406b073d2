package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// WorksIn tells whether a process that runs a program of this name, like "git", has a
// folder, or one below it, as its working directory. It is true where that cannot be
// told. A process of another user is not seen.
func WorksIn(dir, program string) bool {
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
		if err != nil || filepath.Base(exeOf(pid)) != program {
			continue
		}
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		if err == nil && (cwd == real || strings.HasPrefix(cwd, real+"/")) {
			return true
		}
	}
	return false
}
