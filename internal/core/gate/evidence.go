package gate

// Satisfies tells whether evidence of this level is enough where wanted is
// wanted: discriminating satisfies review and consistent, review satisfies
// consistent, and everything satisfies unknown.
func (e Evidence) Satisfies(wanted Evidence) bool { return e.strength() >= wanted.strength() }

func (e Evidence) strength() int {
	switch e {
	case Discriminating:
		return 3
	case Review:
		return 2
	case Consistent:
		return 1
	case NoEvidence:
		return 0
	}
	return 0
}
