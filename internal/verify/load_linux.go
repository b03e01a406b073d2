package verify

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// loaded reports whether the machine has clearly more to do than it can: then a
// time-out is no word about the gate.
func loaded() bool {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return false
	}
	one, _, _ := strings.Cut(string(b), " ")
	load, err := strconv.ParseFloat(one, 64)
	return err == nil && load > 2*float64(runtime.NumCPU())
}
