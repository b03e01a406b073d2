package gate

// Work that removes old tests has no evidence until a user approves it, even if the remaining tests
// pass. Package verify finds such tests (removedtests.go).

// removesTests reports whether old tests were removed without approval.
func (o Observation) removesTests() bool { return len(o.Inputs.RemovedTests) > 0 && !o.NoRatchet }

// OnlyTestsRemoved reports whether old tests were removed, and the gates pass with the originals.
func (o Observation) OnlyTestsRemoved() bool {
	return len(o.Inputs.RemovedTests) > 0 && !o.originalsFail()
}
