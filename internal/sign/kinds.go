package sign

// Kind is what a sign is about.
type Kind string

// The kinds of signs, each with why a reviewer would want to see it.
const (
	Suppression      Kind = "suppression"   // a check that is told to look away finds nothing
	TestDetection    Kind = "test question" // a program that knows that it is tested can answer the tests and nobody else
	Caller           Kind = "caller"        // a program that knows that it is tested can answer the tests and nobody else
	CIDetection      Kind = "ci question"   // what works in CI alone works for nobody else
	Exit             Kind = "exit"          // a process that ends itself, or decides its status at the end, ends before a test can fail
	ExitHook         Kind = "exit hook"     // a process that ends itself, or decides its status at the end, ends before a test can fail
	Patch            Kind = "patch"         // a program that changes assertions, runners or clocks changes what the tests say and not what it does
	ReadsTests       Kind = "reads tests"   // a program that reads what is expected need not work it out
	Equality         Kind = "equality"      // what is equal to everything passes each comparison
	DroppedError     Kind = "dropped error" // an error that nobody hears of is not fixed
	HiddenName       Kind = "hidden name"   // a name put together from parts is found by no search and no check
	Date             Kind = "date"          // what depends on the day holds today only
	MachinePath      Kind = "place"         // what depends on one place of one machine holds there only
	OtherProgram     Kind = "other program" // another program may not be there, and what it does is not this work
	Shadow           Kind = "shadow"        // a file with the name of a module or command that others use takes its place
	RemovedExport    Kind = "gone"          // whoever used it cannot any more
	LessChecked      Kind = "less checked"  // what a checker does not read it does not check
	Answers          Kind = "answers"       // a table of what tests ask for answers nobody else
	Stub             Kind = "stub"          // a function that makes nothing of what it is given is not written yet
	Unused           Kind = "unused"        // what only tests call changes nothing of what the program does
	HollowTest       Kind = "hollow test"   // an assertion that may not be reached checks nothing
	GeneratedFile    Kind = "product"       // what is made from other files is made anew, and then the change is gone
	Data             Kind = "data"          // a gate that reads it may ask for something else now
	AlwaysPasses     Kind = "in any case"   // what tests cannot fail for they do not show
	Unread           Kind = "unread"        // what nothing reads does nothing: what it was added for may not be there
	Wait             Kind = "wait"          // what waits for a time is right only where that is long enough
	Untested         Kind = "untested"      // whether it is right only a reader can tell
	TestDouble       Kind = "double"        // what stands in the tests is not what the program does
	MissingMechanism Kind = "means"         // work without the means for what was asked may only say that it does it
)
