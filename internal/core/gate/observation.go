package gate

// Observation is everything known about one claim: gate results, changes, and probe runs.
type Observation struct {
	Gates          []Gate   // settings of the gates that ran
	WantedEvidence Evidence // that the task asks for, "" = proven
	NoRatchet      bool     // tests that passed may disappear
	Baseline       []Result // on the tree that the task started from
	Now            []Result // on the tree that will be kept
	Runs           map[Probe]Run
	Changed        bool // the tree differs from the task's start, apart from Pawl's checkmarks
	Inputs         InputChanges
	Tests          TestChanges
	Work           WorkFacts
	Mutation       MutationFacts
	Clean          CleanCheckout
}

// InputChanges are the changes of gate inputs: of old tests, and of what else decides about gates.
type InputChanges struct {
	// Changed are gate inputs that were changed or deleted, old test files among them; also new
	// inputs that are neither work nor tests.
	Changed     []string
	NonTests    []string // those of Changed that are not tests
	OwnNonTests []string // those of NonTests that this task changed; the overlay adds them too
	Allowed     bool     // the user or the task allows all these changes
	// Requested: the task asks for all of them, although the work fails with the originals. They
	// are Allowed then.
	Requested    bool
	RemovedTests []string // old tests that no file contains now, named by their files
	// WithheldTests are test files that earlier tasks added or changed, and that are not so among
	// the originals: they may change what other tests do.
	WithheldTests  []string
	RewrittenTests []string // those of WithheldTests in which this task changes more than it adds
}

// TestChanges are the tests that the work adds or changes.
type TestChanges struct {
	New     []string // added or changed test files; the overlay adds them to the baseline tree
	NewData bool     // New includes data files, which old tests may read too
	// Added maps a gate without test IDs to the names of the added tests, if it can run these
	// alone.
	Added            map[string][]string
	InlineChanged    bool // source files that contain tests changed, so tests may have changed too
	OldInlineChanged bool // in one of these files, old tests differ, not only new ones
}

// WorkFacts are what the text of the work shows.
type WorkFacts struct {
	OnlyText       bool // nothing but documents, comments and docstrings changed
	ProgramChanged bool // a file changed that is neither test nor document, see OtherInputs
	// TooManyPrograms: more programs changed than Pawl reads, so it cannot tell which of them the tests check.
	TooManyPrograms bool
	Unfinished      []string // what the task asks for and the work has not done, each with its place
	// Signs are suspicious lines that can be neutralized, each worded to follow "because of", see
	// SignsNeutralized.
	Signs []string
}

// MutationFacts are the parts of the work that can be mutated.
type MutationFacts struct {
	Possible   bool     // the work added functions that can be mutated, see Mutants
	Functions  []string // functions that the work added or changed, with their files
	Parameters []string // added ones that the task names, with their function's place, see ZeroParameters
	Points     []string // conditions and functions that the work added, see SingleMutants
}

// CleanCheckout holds what is known about clean checkouts without a probe.
type CleanCheckout struct {
	ReproducedAtStart []string // gates whose result a clean checkout reproduced when the loop started
	// ChangedIgnoredFiles are git-ignored files added or changed since the loop started, if a clean
	// checkout disagrees with the work tree.
	ChangedIgnoredFiles []string
}
