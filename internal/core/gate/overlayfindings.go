package gate

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// overlayFindings are about new tests on the baseline tree.
func overlayFindings() []finding {
	return []finding{{
		fact: "new tests fail on the tree before the work", evidence: Proven, remedy: "-",
		holds: func(w assessment, v *Verdict) bool {
			if len(w.overlay.failed) == 0 {
				return false
			}
			v.Proving, v.Reason = w.overlay.failed, "fails without this work and passes with it: "+plan.Few(w.overlay.failed, 4)
			if w.overlay.buildFailed {
				v.Labels = append(v.Labels, "overlay: build failure")
			}
			return true
		},
	}, {
		fact: "what failed before passed once, and failed when repeated", evidence: EvidenceUnknown,
		remedy: "fix the flaky test, or set `flaky = true` on its gate",
		holds: func(_ assessment, v *Verdict) bool {
			v.Reason = "flaky, so it proves nothing: " + plan.Few(v.Flaky, 4)
			return len(v.Flaky) > 0
		},
	}, {
		fact: "new tests fail when the work's functions are broken", evidence: Proven, remedy: "-",
		holds: func(w assessment, v *Verdict) bool {
			names := w.killingTests()
			if len(names) > 0 {
				v.Proving, v.Reason = names, "passes with this work, and fails when its functions are broken: "+plan.Few(names, 4)
			}
			return len(names) > 0
		},
	}, {
		fact: "what failed before passes, and its gate could not be repeated on the tree before the work", evidence: EvidenceUnknown,
		remedy: "fix the isolated checkout (`pawl doctor`)",
		holds: func(w assessment, v *Verdict) bool {
			v.Reason = "whether it failed before this work is unknown, because the gates gave no clear result there a second time: " + plan.Few(w.unrepeated, 4)
			return len(w.unrepeated) > 0
		},
	}, {
		fact: "Pawl could not find out whether new tests fail without the work", evidence: EvidenceUnknown,
		remedy: "fix the isolated checkout (`pawl doctor`)",
		holds: func(w assessment, v *Verdict) bool {
			if w.overlay.unknown {
				v.Reason = "whether the new tests fail without this work is unknown: " + w.probeProblem(Control, Overlay)
				v.Labels = append(v.Labels, "overlay: unknown")
			}
			return w.overlay.unknown
		},
	}, {
		fact: "tests inside source files changed, and no test fails when the work's functions are broken", evidence: EvidenceUnknown,
		remedy: "a test in a file of its own",
		holds: func(w assessment, v *Verdict) bool {
			if !w.Tests.InlineChanged || w.Inputs.Allowed {
				return false
			}
			v.Reason = "tests inside source files were changed: unknown what they prove"
			if broken := w.Runs[Mutants].Results; len(broken) > 0 && !slices.ContainsFunc(broken, func(r Result) bool { return r.Status != Pass }) {
				v.Reason = w.survivedReason(nil)
			}
			v.Labels = append(v.Labels, "tests in source files")
			return true
		},
	}}
}
