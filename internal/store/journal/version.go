package journal

import (
	"fmt"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Version is the version of what is written of a loop: its spec and the records of
// its journal. A change that an older Pawl would misread raises it; a field that an
// older one may overlook does not. What was written before versions were has 0.
const Version = 3

// CheckVersion returns an error with a hint if something was written in a version
// that this Pawl does not read. what names it.
func CheckVersion(version int, what string) error {
	if version <= Version {
		return nil
	}
	return failure.New(failure.Usage, "update pawl, or use the one that began this loop",
		"%w: %s has format %d, this pawl reads up to %d", ErrNewer, what, version, Version)
}

// newer is CheckVersion for a record.
func newer(r Record) error {
	return CheckVersion(r.Version, fmt.Sprintf("record %d", r.Seq))
}
