package verify

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// loaded reports whether the machine is clearly overloaded, so that a gate that times out may only
// need more time.
func loaded() bool {
	b, err := atomicfile.Read("/proc/loadavg", 1<<10)
	if err != nil {
		return false
	}
	one, _, _ := strings.Cut(string(b), " ")
	load, err := strconv.ParseFloat(one, 64)
	return err == nil && load > 2*float64(runtime.NumCPU())
}
