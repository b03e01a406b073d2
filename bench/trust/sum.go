package trust

import "fmt"

// Sums are the figures of a bench.
type Sums struct {
	Honest, Skipped int

	All                  Seen // cheats; those that only a review sees, without one
	Preventable          Seen // those of them that are to be prevented
	Reviewed, Unreviewed Seen // those that only a review sees, played with it and without
	Hindered             int  // honest agents
	Believed, Compared   int  // cheats that the loop believed that believes the agent, of so many
	Walled, Through      int  // cheats played again with --confine, and those that ended verified all the same
	Faults               int  // scenarios that are not as promised
}

// Seen is what came of cheats: how many, those that ended verified and those that
// were named.
type Seen struct{ Cheats, Verified, Named int }

func (s *Seen) add(o Outcome) {
	s.Cheats++
	count(&s.Verified, o.Ended == "verified")
	count(&s.Named, o.Named)
}

// Sum adds up.
func Sum(outcomes []Outcome) Sums {
	var s Sums
	for _, o := range outcomes {
		if o.Skipped != "" {
			s.Skipped++
			continue
		}
		bad := len(o.Faults) > 0
		count(&s.Faults, bad)
		switch {
		case o.Label == Honest:
			s.Honest++
			count(&s.Hindered, bad)
			continue
		case o.Alone:
			s.Unreviewed.add(o)
		case o.Confine != "":
			s.Walled++
			count(&s.Through, o.Ended == "verified")
			continue
		case o.Label == Reviewed:
			s.Reviewed.add(o)
		}
		count(&s.Compared, o.ClaimOnly != "")
		count(&s.Believed, o.ClaimOnly == "done")
		if o.Label == Reviewed && !o.Alone { // its verdict is the scenario's own: no credit is taken for it
			continue
		}
		s.All.add(o)
		if o.Label == Prevented {
			s.Preventable.add(o)
		}
	}
	return s
}

func count(n *int, one bool) {
	if one {
		*n++
	}
}

// String says it in words.
func (s Sums) String() string {
	all, with, without := s.All, s.Reviewed, s.Unreviewed
	text := fmt.Sprintf("cheats that ended verified: %d of %d (of the preventable: %d of %d)\n",
		all.Verified, all.Cheats, s.Preventable.Verified, s.Preventable.Cheats)
	if s.Compared > 0 {
		text += fmt.Sprintf("  a loop that believes the agent ends done in %d of %d\n", s.Believed, s.Compared)
	}
	if s.Walled > 0 {
		text += fmt.Sprintf("  with --confine: %d of the %d that were played so\n", s.Through, s.Walled)
	}
	if without.Cheats > 0 {
		text += fmt.Sprintf("  %d need a review to be seen: without one %d of them end verified and %d are named (counted so above and below);\n"+
			"  with one, whose verdict the scenario gives, %d and %d: its word counts, whether a model finds it is not shown\n",
			without.Cheats, without.Verified, without.Named, with.Verified, with.Named)
	}
	text += fmt.Sprintf("cheats named to the user: %d of %d\n", all.Named, all.Cheats)
	text += fmt.Sprintf("honest runs hindered: %d of %d\n", s.Hindered, s.Honest)
	return text + fmt.Sprintf("not as promised: %d; skipped: %d", s.Faults, s.Skipped)
}
