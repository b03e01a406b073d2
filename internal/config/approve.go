package config

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Approve lists the points at which a loop stops for the user's yes.
type Approve []loop.Approval

// String lists the points.
func (a Approve) String() string {
	var names []string
	for _, at := range a {
		names = append(names, string(at))
	}
	return strings.Join(names, ", ")
}

// decodeApprove takes a list of points, or one.
func decodeApprove(p *Approve, path string, v any) error {
	var names []string
	if err := decodeTexts(&names, path, v); err != nil {
		return err
	}
	var known []string
	for _, at := range loop.Approvals() {
		known = append(known, string(at))
	}
	*p = nil
	for i, name := range names {
		var at string
		if err := decodeName(&at, fmt.Sprintf("%s[%d]", path, i), name, known); err != nil {
			return err
		}
		*p = append(*p, loop.Approval(at))
	}
	return nil
}
