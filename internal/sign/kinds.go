package sign

// Kind is the kind of a sign.
type Kind string

// The kinds of signs, each with why a reviewer would want to see it.
const (
	Suppression      Kind = "suppression"   // a suppressed check finds nothing
	TestDetection    Kind = "test question" // a program that knows that it is tested can answer the tests and nobody else
	Caller           Kind = "caller"        // a program that knows that it is tested can answer the tests and nobody else
	CIDetection      Kind = "ci question"   // code that works only in CI fails for users
	Exit             Kind = "exit"          // a process that ends itself, or decides its status at the end, ends before a test can fail
	ExitHook         Kind = "exit hook"     // a process that ends itself, or decides its status at the end, ends before a test can fail
	Patch            Kind = "patch"         // a program that changes assertions, runners or clocks changes what the tests say and not what it does
	ReadsTests       Kind = "reads tests"   // a program that reads the expected values need not compute them
	Equality         Kind = "equality"      // a value that is equal to everything passes every comparison
	DroppedError     Kind = "dropped error" // a hidden error is not fixed
	HiddenName       Kind = "hidden name"   // a name built from parts is not found by searches and checks
	Date             Kind = "date"          // code that depends on the date may fail tomorrow
	OtherProgram     Kind = "other program" // another program may be missing, and its result is not this work
	Shadow           Kind = "shadow"        // a file with the name of a module or command replaces it for others
	RemovedExport    Kind = "gone"          // code that uses the removed name breaks
	Answers          Kind = "answers"       // a table of test inputs works for no other input
	Stub             Kind = "stub"          // a function that ignores its arguments may be unfinished
	Unused           Kind = "unused"        // code that only tests call does not change the program
	HollowTest       Kind = "hollow test"   // an assertion that may not be reached checks nothing
	GeneratedFile    Kind = "product"       // the next build of a generated file loses the change
	Data             Kind = "data"          // a gate that reads the data may check something else now
	AlwaysPasses     Kind = "in any case"   // tests that cannot fail prove nothing
	Unread           Kind = "unread"        // a value that nothing reads has no effect: the feature may be missing
	Wait             Kind = "wait"          // a fixed wait fails where it is too short
	Untested         Kind = "untested"      // only a reviewer can tell whether it is right
	TestDouble       Kind = "double"        // a copy in the tests is tested instead of the program
	HalfDone         Kind = "half done"     // the task names others beside it
	MissingMechanism Kind = "means"         // work without the mechanism that the task needs may not do it
)
