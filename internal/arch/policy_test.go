package arch

// imports says, for each folder under internal/ and cmd/, which other folders
// under internal/ it may import. "core/*" stands for everything below core,
// "*" for everything. Rings go from the inside out; a new folder needs a line.
// Tests, and packages for tests (named …test), may import what they like; only
// tests may import the latter.
const imports = `
	# Ring 0: pure. Decides, and touches nothing.
	core/*         < core/* figure

	# Leaves: no knowledge of loops.
	regex          <
	failure        <
	redact         <
	figure         <
	dirwatch       < atomicfile
	workfile       < atomicfile
	atomicfile     < failure
	environment    <
	session/place  < environment
	version        <
	lesson         < atomicfile failure

	# Ring 1: values and bytes.
	planfile       < core/* failure atomicfile workfile
	prompt         < core/*
	source         <
	mutant         < source
	canary         <
	sign           < source
	testdiff       < source
	work           <
	testreport     < core/* testreport/* atomicfile
	testreport/*   < core/shell
	foreign/*      < core/* failure foreign/frontmatter foreign/freshness
	agent          < core/* redact
	deps           < core/gate atomicfile
	tracker        < core/* failure planfile proc

	# Ring 2: one outside thing each.
	proc           < failure
	git            < core/* failure proc atomicfile dirwatch git/indexfile workfile
	git/indexfile  < atomicfile
	rawlog         < redact
	store store/*  < core/* failure atomicfile redact store/*
	agent/claude/codec < core/* atomicfile
	agent/claude   < core/* agent agent/claude/codec testreport proc failure atomicfile rawlog redact
	agent/command  < core/* agent proc failure rawlog redact
	agent/scripted < core/* agent proc failure atomicfile

	record         < core/* atomicfile store store/*
	session        < atomicfile session/place
	statefile      < core/* atomicfile failure figure foreign/* record session/place

	# Ring 3: services.
	notify         < core/* atomicfile environment failure figure proc
	telemetry      < core/* failure
	config         < confine core/* environment store planfile failure atomicfile figure
	install        < failure atomicfile
	autostart      < failure atomicfile
	plugins        <
	plugin         < install plugins proc failure atomicfile
	doctor         < agent agent/claude atomicfile config confine core/gate core/plan deps failure figure install proc record session/place store
	confine        < core/guard atomicfile environment failure proc redact
	protected      < core/gate atomicfile git testreport workfile
	checkout       < atomicfile confine core/gate deps environment git proc testreport workfile
	verify         < canary checkout core/* deps environment git mutant proc rawlog sign testdiff testreport testreport/testrun work workfile failure atomicfile redact
	review         < core/* agent git prompt atomicfile
	planner        < core/* agent prompt
	retention      < git record store
	attribution    < core/* agent atomicfile git proc protected record store
	workplan       < core/* atomicfile attribution git planfile record statefile store workfile
	runner         < core/* agent agent/claude agent/command agent/scripted atomicfile attribution config dirwatch failure protected git planfile proc prompt record redact review statefile store store/* testreport verify workplan
	launch         < atomicfile checkout confine deps core/* agent agent/claude agent/command agent/scripted config environment failure foreign/ralphloop foreign/verifyactive protected git lesson notify planfile proc prompt record redact review runner session session/place statefile store store/* tracker verify work workfile workplan

	# The hook: stdin to core to stdout. What starts at every event is the front
	# alone; the daemon has the rest ready.
	hook           < core/* agent/claude/codec testreport proc environment failure figure foreign/ralphloop foreign/verifyactive front notify record redact session session/place statefile store store/*
	front          < environment session/place
	daemon         < environment front hook proc redact session/place
	cmd/pawl-hook  < environment front

	# Ring 4: surfaces. They show what they are handed and reach for nothing. What there is
	# to see of a loop is read by loopinfo; audit and restore do what a user asks of its past.
	term           < core/* failure redact figure
	clihelp        < core/* failure term
	narrate        < core/* figure record store store/* verify
	report         < core/* failure record redact figure narrate
	page           < core/* figure narrate record report
	watch          < core/* figure narrate record report
	loopinfo       < atomicfile core/* environment failure figure git launch narrate notify page proc record report store store/* term verify watch
	audit          < core/* failure git narrate proc runner store store/* verify loopinfo
	restore        < core/* failure git launch runner store store/* term loopinfo
	mcpserver      < core/* agent environment failure figure launch loopinfo planfile record redact session store store/* verify
	demo           < *
	cli            < *
	cmd/pawl       < cli

	# The rules themselves, and the tests of the tool from outside.
	arch e2e       <
	bench/trust    < agent agent/scripted proc
	bench/faults   <
`

// forAll are folders that each other folder may import, as it may import the
// standard packages that they stand for.
const forAll = `regex`

// pure lists the standard packages that core may import: nothing that reads a
// file, a clock, the environment or chance, and nothing that starts a goroutine.
// (time is there for its values; reading the clock is caught by name, below.)
const pure = `
	bytes cmp crypto/sha256 encoding/base32 encoding/binary encoding/hex encoding/json errors fmt
	hash hash/fnv iter maps math math/bits path regexp slices sort strconv strings
	time unicode unicode/utf16 unicode/utf8
`

// modules says who may import which package of another module. A path that ends
// in "/..." stands for the packages below it too.
const modules = `
	mvdan.cc/sh/v3/...                    < core/shell doctor testreport testreport/testrun
	charm.land/...                        < watch
	github.com/alecthomas/kong            < cli clihelp
	github.com/bmatcuk/doublestar/v4      < config protected verify work
	github.com/charmbracelet/x/ansi       < term watch
	github.com/goccy/go-yaml/...          < config
	github.com/gofrs/flock                < config daemon lesson notify session store
	github.com/google/jsonschema-go/...   < mcpserver term
	github.com/modelcontextprotocol/go-sdk/... < mcpserver
	github.com/pelletier/go-toml/v2/...   < config deps work
	github.com/rogpeppe/go-internal/diff  < install
	github.com/rogpeppe/go-internal/txtar < agent/scripted bench/faults bench/trust demo
	github.com/tailscale/hujson           < doctor install planfile
	github.com/yuin/goldmark/...          < planfile
	github.com/landlock-lsm/go-landlock/... < confine
	golang.org/x/sys/...                  < atomicfile bench/faults confine dirwatch proc
	golang.org/x/term                     < term cli
`

// linked is all that cmd/pawl-hook links beside the standard library: these and no
// others, directly or not. What another module's package imports in turn is its
// own affair, up to the budget.
const linked = `
	environment front session/place
`

// unlinked are standard packages that none of those may import: each costs the
// hook's start more than it is worth there, or has no business in a hook.
const unlinked = `
	net net/* database/* text/template* html/* os/user os/signal log log/* expvar plugin testing testing/*
	crypto/rand crypto/tls crypto/x509* math/big encoding/xml encoding/gob encoding/asn1 compress/* archive/*
	go/* runtime/pprof runtime/trace text/scanner mime mime/* embed
`

// calls says who may use which name of a standard package; everybody else may
// not. A name that ends in "*" stands for all that begin so.
const calls = `
	os.Getenv os.LookupEnv os.ExpandEnv   < environment cmd/*
	os.Setenv os.Unsetenv os.Clearenv     <
	os.Chdir                              <
	os.Exit log.Fatal*                    < cmd/*
	fmt.Print fmt.Printf fmt.Println      < cmd/*

	# What lies in a work tree is an agent's to make: a pipe is waited for without
	# end, a link leads to gigabytes. So files are read by atomicfile.Read and Open;
	# bare only where no agent writes: Pawl's own state, /proc, and what a user names
	# to a command, which may be a pipe of theirs.
	os.ReadFile ioutil.*                  < proc session session/place store hook bench/faults bench/trust
	os.Open                               < atomicfile proc confine store/journal cli rawlog bench/faults
`

// clientWords are Claude Code's: names of its tools, and fields of what its hooks and its
// transcript say; and the folders that may know them: its adapter, the agent that plays
// its part, and what tries its hooks. All others see a toolcall.Call, or an event.
const (
	clientWords = `hook_event_name transcript_path tool_use_id stop_hook_active hookSpecificOutput isSidechain turnOrigin isApiErrorMessage
		Bash PowerShell Edit MultiEdit NotebookEdit NotebookRead Grep Glob WebFetch WebSearch TodoWrite ToolSearch StructuredOutput`
	clientFolders = `doctor agent/claude agent/claude/codec agent/scripted bench bench/trust`
)

// inCore are names that core may not use though it may import their package.
const inCore = `time.Now time.Since time.Until time.Sleep time.After time.AfterFunc time.NewTimer time.NewTicker time.Tick`

// meaningless are package names that say nothing about what is inside.
const meaningless = `util utils common helper helpers type types model models manager service base misc shared lib`

// constant are the functions whose result may be kept in a package variable:
// what they return is not changed by using it. regexp.MustCompile is not one: see
// package regex.
const constant = `errors.New fmt.Errorf regex.New strings.NewReplacer template.Must sync.OnceValue sync.OnceValues reflect.TypeFor`

// Sizes. A longer file or function usually does two things.
const (
	maxFileLines     = 400
	maxFunctionLines = 60
	maxParameters    = 4 // beside a context; more of them want an Options struct
)
