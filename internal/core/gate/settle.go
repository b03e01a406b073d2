package gate

// maxTries bounds how often a gate that could not tell is run, the first time
// included.
const maxTries = 3

// Again reports whether a gate must run once more on the same tree before its
// result can be used, after the tries until now: when it could not tell, and
// once when it is red and declared flaky. A command that does not exist
// (126, 127) is not looked for again.
func Again(g Gate, tries []Result) bool {
	if len(tries) == 0 {
		return true
	}
	last := tries[len(tries)-1]
	switch {
	case last.Status == Unknown && last.TimedOut:
		return len(tries) < 2
	case last.Status == Unknown:
		return len(tries) < maxTries && last.ExitCode != 126 && last.ExitCode != 127
	case last.Status == Fail:
		return g.Flaky && len(tries) == 1
	}
	return false
}

// Settle makes one result of all tries on a tree. Busy says that the machine
// was loaded while the last one ran: a second time-out is a fail only on a
// machine that had the time.
func Settle(tries []Result, busy bool) Result {
	last := tries[len(tries)-1]
	timeouts := 0
	for _, r := range tries {
		if r.TimedOut {
			timeouts++
		}
		last.Flaky = last.Flaky || last.Status == Pass && r.Status == Fail
	}
	if last.TimedOut && timeouts > 1 && !busy {
		last.Status = Fail
	}
	return last
}
