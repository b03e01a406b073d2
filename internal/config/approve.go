package config

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Approve lists the points at which a loop stops until the user approves.
type Approve []loop.Approval

// String returns the names of the points, separated by commas.
func (a Approve) String() string {
	var names []string
	for _, at := range a {
		names = append(names, string(at))
	}
	return strings.Join(names, ", ")
}

// decode reads a list of points, or a single one.
func (a *Approve) decode(path string, v any, _ map[string]int) error {
	var names []string
	if err := decodeTexts(&names, path, v); err != nil {
		return err
	}
	var known []string
	for _, at := range loop.Approvals() {
		known = append(known, string(at))
	}
	*a = nil
	for i, name := range names {
		var at string
		if err := decodeName(&at, fmt.Sprintf("%s[%d]", path, i), name, known); err != nil {
			return err
		}
		*a = append(*a, loop.Approval(at))
	}
	return nil
}
