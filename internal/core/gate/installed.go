package gate

// maybeInstalled are the gates to run without the sources: where new tests pass on
// the tree of before, that may be the code of the work tree, which an editable install
// leads to.
func (o Observation) maybeInstalled() []string {
	if !o.Linked || len(o.NewTests) == 0 || !o.answered(Overlay) {
		return nil
	}
	if l := o.overlay(); len(l.failed) > 0 || l.unknown {
		return nil
	}
	return kept(o.usable(), func(name string) bool {
		over := o.answer(Overlay, name)
		return over.Status == Pass && (len(over.Tests) > 0 || over.Passed > 0)
	})
}

// runsInstalledCode: no gate that runs tests misses the sources.
func (o Observation) runsInstalledCode() bool {
	gates := o.maybeInstalled()
	for _, name := range gates {
		over, without := o.answer(Overlay, name), o.answer(WithoutSources, name)
		if without.Status != Pass || without.Passed < over.Passed || !showsAll([]Result{without}, []Result{over}) {
			return false
		}
	}
	return len(gates) > 0
}
