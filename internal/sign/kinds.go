package sign

// Kind is what a sign is about. Why says why a reviewer would want to see it.
type Kind string

// The kinds of signs.
const (
	Suppression  Kind = "suppression"
	TestQuestion Kind = "test question"
	Caller       Kind = "caller"
	CIQuestion   Kind = "ci question"
	Exit         Kind = "exit"
	ExitHook     Kind = "exit hook"
	Patch        Kind = "patch"
	ReadsTests   Kind = "reads tests"
	Equality     Kind = "equality"
	DroppedError Kind = "dropped error"
	Hidden       Kind = "hidden name"
	Date         Kind = "date"
	Place        Kind = "place"
	OtherProgram Kind = "other program"
	Shadow       Kind = "shadow"
	Gone         Kind = "gone"
	LessChecked  Kind = "less checked"
	Answers      Kind = "answers"
	Stub         Kind = "stub"
	Unused       Kind = "unused"
	HollowTest   Kind = "hollow test"
	Product      Kind = "product"
	Data         Kind = "data"
	InAnyCase    Kind = "in any case"
	Unread       Kind = "unread"
	Wait         Kind = "wait"
	Untested     Kind = "untested"
	Double       Kind = "double"
	Means        Kind = "means"
)

// Why is the reason in one sentence, without a full stop.
func (k Kind) Why() string {
	switch k {
	case Suppression:
		return "a check that is told to look away finds nothing"
	case TestQuestion, Caller:
		return "a program that knows that it is tested can answer the tests and nobody else"
	case CIQuestion:
		return "what works in CI alone works for nobody else"
	case Exit, ExitHook:
		return "a process that ends itself, or decides its status at the end, ends before a test can fail"
	case Patch:
		return "a program that changes assertions, runners or clocks changes what the tests say and not what it does"
	case ReadsTests:
		return "a program that reads what is expected need not work it out"
	case Equality:
		return "what is equal to everything passes each comparison"
	case DroppedError:
		return "an error that nobody hears of is not fixed"
	case Hidden:
		return "a name put together from parts is found by no search and no check"
	case Date:
		return "what depends on the day holds today only"
	case Place:
		return "what depends on one place of one machine holds there only"
	case OtherProgram:
		return "another program may not be there, and what it does is not this work"
	case Shadow:
		return "a file with the name of a module or command that others use takes its place"
	case Gone:
		return "whoever used it cannot any more"
	case LessChecked:
		return "what a checker does not read it does not check"
	case Answers:
		return "a table of what tests ask for answers nobody else"
	case Stub:
		return "a function that makes nothing of what it is given is not written yet"
	case Unused:
		return "what only tests call changes nothing of what the program does"
	case Unread:
		return "what nothing reads does nothing: what it was added for may not be there"
	case Wait:
		return "what waits for a time is right only where that is long enough"
	case Product:
		return "what is made from other files is made anew, and then the change is gone"
	case Data:
		return "a gate that reads it may ask for something else now"
	case InAnyCase:
		return "what tests cannot fail for they do not show"
	case Untested:
		return "whether it is right only a reader can tell"
	case Double:
		return "what stands in the tests is not what the program does"
	case Means:
		return "work without the means for what was asked may only say that it does it"
	case HollowTest:
		return "an assertion that may not be reached checks nothing"
	}
	return ""
}
