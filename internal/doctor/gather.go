package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/claude"
	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// Options say where to look.
type Options struct {
	Dir, Root string   // the current folder, and the project's, absolute
	Home      string   // the user's home folder, "" if there is none
	PawlHome  string   // where loops live
	Vars      []string // the environment
	Version   string   // of this program, as `pawl version` prints it behind the name
	// PluginVersion is the version of the plugin that this Pawl would install with
	// that hook; nil if there is none.
	PluginVersion func(command string, args []string) (string, error)
	RunHooks      bool // run other people's Stop hooks too
}

// probeTimeout is how long a program may take to say its version, and a hook of
// Pawl's to say nothing.
const probeTimeout = 5 * time.Second

// maxFile bounds what is read of a settings file.
const maxFile = 8 << 20

// Gather asks the machine. What it cannot find out is part of the facts.
func Gather(ctx context.Context, o Options) Facts {
	f := Facts{system: runtime.GOOS, now: time.Now(), dir: o.Dir, root: o.Root, pawl: o.Version, vars: map[string]string{}}
	for _, kv := range o.Vars {
		name, value, _ := strings.Cut(kv, "=")
		if f.system == "windows" {
			name = strings.ToUpper(name) // Path
		}
		f.vars[name] = value
	}
	f.client = ask(ctx, f.vars["PATH"], "claude")
	f.login = agent.ErrLoginUnknown
	if f.client.path != "" {
		f.login = claude.Agent{Command: f.client.path}.CheckLogin(ctx, agent.Options{Dir: o.Root})
	}
	f.git = ask(ctx, f.vars["PATH"], "git")
	f.files = readFiles(f, o)
	f.plugins = readPlugins(f, o)
	f.hooks = f.settingsHooks()
	for i, p := range f.plugins {
		if !p.enabled || p.gone {
			continue
		}
		of := pluginHooks(p)
		f.hooks = append(f.hooks, of...)
		f.plugins[i].want = wanted(f, o, of)
	}
	p := prober{Facts: f, runOthers: o.RunHooks, versions: map[string]string{}, everywhere: map[string]bool{}}
	for i := range f.hooks {
		f.hooks[i].argv = f.hooks[i].words(f.root, f.vars)
		p.probe(ctx, &f.hooks[i])
	}
	f.loops, f.loopsErr = readLoops(f, o)
	f.home = readHome(o.PawlHome)
	f.sandboxes = confine.Ask(ctx)
	f.lacking = lacking(o.Root)
	return f
}

// ask finds a program and asks it for its version.
func ask(ctx context.Context, path, name string) program {
	var p program
	if p.path = find(path, name); p.path == "" {
		return p
	}
	p.version, p.problem = versionOf(ctx, p.path, "--version")
	return p
}

// versionOf is the first line that a program prints, or why there is none.
func versionOf(ctx context.Context, program string, args ...string) (version, problem string) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	out, err := &proc.Head{Most: maxHead}, &proc.Head{Most: maxHead}
	e := proc.Run(ctx, proc.Spec{Argv: append([]string{program}, args...), Stdout: out, Stderr: err, Grace: time.Second})
	switch {
	case e.Err != nil:
		return "", e.Err.Error()
	case e.Cancelled:
		return "", "no answer in " + probeTimeout.String()
	case e.Code != 0:
		return "", strings.TrimSpace(fmt.Sprintf("exit code %d %s", e.Code, firstLine(err)))
	}
	return firstLine(out), ""
}

// readFiles reads the client's settings files, the weakest first. Files that are
// not there are left out.
func readFiles(f Facts, o Options) []file {
	var files []file
	read := func(scope, path string) {
		s := file{scope: scope, path: path}
		data, err := atomicfile.Read(path, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if s.fault = err; err == nil {
			s.settings, s.fault = parse(data)
		}
		files = append(files, s)
	}
	if dir := configDir(f, o); dir != "" {
		read(user, filepath.Join(dir, "settings.json"))
	}
	read(project, filepath.Join(o.Root, ".claude", "settings.json"))
	read(local, filepath.Join(o.Root, ".claude", "settings.local.json"))
	for _, dir := range managedDirs(f.system) {
		read(managed, filepath.Join(dir, "managed-settings.json"))
		more, _ := filepath.Glob(filepath.Join(dir, "managed-settings.d", "*.json"))
		for _, path := range more {
			read(managed, path)
		}
	}
	return files
}

// configDir is the client's folder of the user, "" if there is no home.
func configDir(f Facts, o Options) string {
	switch {
	case f.vars["CLAUDE_CONFIG_DIR"] != "":
		return f.vars["CLAUDE_CONFIG_DIR"]
	case o.Home == "":
		return ""
	}
	return filepath.Join(o.Home, ".claude")
}

// managedDirs are where those who manage a machine put settings for all.
func managedDirs(system string) []string {
	switch system {
	case "darwin":
		return []string{"/Library/Application Support/ClaudeCode"}
	case "windows":
		return []string{`C:\ProgramData\ClaudeCode`, `C:\Program Files\ClaudeCode`}
	}
	return []string{"/etc/claude-code"}
}

// settingsHooks are the hooks of all files that the client loads.
func (f Facts) settingsHooks() []hook {
	var hooks []hook
	for _, s := range f.files {
		for _, e := range s.settings.hooks {
			hooks = append(hooks, hook{entry: e, scope: s.scope})
		}
	}
	return hooks
}

// readLoops finds the loops of the project that have not ended.
func readLoops(f Facts, o Options) ([]loop, error) {
	listed, err := record.List(store.Open(o.PawlHome))
	if err != nil {
		return nil, err
	}
	var loops []loop
	for _, l := range listed {
		if l.Summary.Root != o.Root || l.Summary.State == "ended" {
			continue
		}
		memory, _, err := record.Load(l.Loop)
		if err != nil {
			continue // a damaged journal is what pawl log --verify is for
		}
		found := loop{id: l.Loop.ID, state: l.Summary.State, session: memory.Bound.Session}
		if _, found.held, err = l.Loop.Holder(); err != nil {
			continue // neither can be told
		}
		found.client = memory.Bound.Client != 0 && proc.RSS(memory.Bound.Client) > 0
		found.quiet = f.now.Sub(lastSign(l.Loop.Dir))
		loops = append(loops, found)
	}
	return loops, nil
}

// lastSign is when a loop's session was last heard of.
func lastSign(dir string) time.Time {
	var last time.Time
	for _, name := range []string{"journal.jsonl", record.StartedCallsFile, record.ToolCallsFile, record.RunnerCallsFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// openTo finds what in Pawl's folder others own, or may write to.
func openTo(home string) (found []error) {
	if err := store.CheckOwners(home, filepath.Join(home, "loops"), filepath.Join(home, "trust.json")); err != nil {
		found = append(found, err)
	}
	loops, _ := store.Open(home).Loops() // that they cannot be read is another finding
	for _, l := range loops {
		if err := store.CheckOwners(l.Dir, filepath.Join(l.Dir, "spec.json")); err != nil {
			found = append(found, err)
		}
	}
	return found
}

// readHome tries whether a file can be made in Pawl's folder; where that is not
// there yet, in the nearest one above it that is.
func readHome(path string) home {
	h := home{path: path, open: openTo(path)}
	path, h.fault = store.CheckWritable(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		mounts, _ := atomicfile.Read("/proc/self/mountinfo", maxFile) // Linux only; elsewhere the kind is not known
		h.kind = kindAt(string(mounts), real)
	}
	return h
}
