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

// Options holds the folders and the environment that Gather examines.
type Options struct {
	Dir, Root string // the current folder and the project's root, absolute
	PawlHome  string // the folder with the loops

	// ClientConfig is the folder with the user's settings of the client, "" if there is none.
	ClientConfig string
	Vars         []string // the environment, as NAME=value
	Version      string   // this program's version, as `pawl version` prints it after the name
	// PluginVersion returns the version of the plugin that this Pawl would install with the
	// given hook. It may be nil.
	PluginVersion func(command string, args []string) (string, error)
	RunHooks      bool // also run Stop hooks of other tools
}

// probeTimeout is the time limit for a program to print its version, and for Pawl's hook to
// answer.
const probeTimeout = 5 * time.Second

// maxFileBytes is the maximum size of a settings file, in bytes.
const maxFileBytes = 8 << 20

// Gather collects the facts. If it cannot find out a fact, the reason becomes a fact.
func Gather(ctx context.Context, o Options) Facts {
	f := Facts{system: runtime.GOOS, now: time.Now(), dir: o.Dir, root: o.Root, pawl: o.Version, vars: map[string]string{}}
	for _, kv := range o.Vars {
		name, value, _ := strings.Cut(kv, "=")
		if f.system == "windows" {
			name = strings.ToUpper(name) // Windows has Path for PATH
		}
		f.vars[name] = value
	}
	f.client = probeProgram(ctx, f.vars["PATH"], "claude")
	f.login = agent.ErrLoginUnknown
	if f.client.path != "" {
		f.login = claude.Agent{Command: f.client.path}.CheckLogin(ctx, agent.Options{Dir: o.Root})
	}
	f.git = probeProgram(ctx, f.vars["PATH"], "git")
	f.files = readFiles(f, o)
	f.plugins = readPlugins(f, o)
	for _, s := range f.files {
		for _, e := range s.settings.hooks {
			f.hooks = append(f.hooks, hook{entry: e, scope: s.scope})
		}
	}
	for i, p := range f.plugins {
		if !p.enabled || p.dirMissing {
			continue
		}
		of := pluginHooks(p)
		f.hooks = append(f.hooks, of...)
		f.plugins[i].wantVersion = wantedVersion(f, o, of)
	}
	p := prober{Facts: f, runOthers: o.RunHooks, versions: map[string]string{}, onDefaultPath: map[string]bool{}}
	for i := range f.hooks {
		f.hooks[i].argv = f.hooks[i].splitWords(f.root, f.vars)
		p.probe(ctx, &f.hooks[i])
	}
	f.loops, f.loopsErr = readLoops(f, o)
	f.home = readHome(o.PawlHome)
	f.sandboxes = confine.Detect(ctx)
	f.gates = configuredGates(o.Root)
	f.missingDeps = missingDependencies(o.Root, f.gates)
	return f
}

// probeProgram finds a program on a PATH and gets its version.
func probeProgram(ctx context.Context, path, name string) program {
	var p program
	if p.path = lookPath(path, name); p.path == "" {
		return p
	}
	p.version, p.problem = versionOf(ctx, p.path, "--version")
	return p
}

// versionOf runs a program and returns the first line that it prints, or the problem.
func versionOf(ctx context.Context, program string, args ...string) (version, problem string) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	out, err := &proc.Head{MaxBytes: maxOutputBytes}, &proc.Head{MaxBytes: maxOutputBytes}
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

// readFiles reads the client's settings files, the weakest first. It omits files that do not
// exist.
func readFiles(f Facts, o Options) []settingsFile {
	var files []settingsFile
	read := func(scope, path string) {
		s := settingsFile{scope: scope, path: path}
		data, err := atomicfile.Read(path, maxFileBytes)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if s.fault = err; err == nil {
			s.settings, s.fault = parseSettings(data)
		}
		files = append(files, s)
	}
	if dir := o.ClientConfig; dir != "" {
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

// managedDirs returns the folders in which administrators put settings for all users.
func managedDirs(system string) []string {
	switch system {
	case "darwin":
		return []string{"/Library/Application Support/ClaudeCode"}
	case "windows":
		return []string{`C:\ProgramData\ClaudeCode`, `C:\Program Files\ClaudeCode`}
	}
	return []string{"/etc/claude-code"}
}

// readLoops returns the loops of the project that have not ended.
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
			continue // pawl log --verify reports damaged journals
		}
		found := loop{id: l.Loop.ID, state: l.Summary.State, session: memory.Bound.Session}
		if _, found.held, err = l.Loop.Holder(); err != nil {
			continue // it is unknown whether a process holds the loop
		}
		found.clientRuns = memory.Bound.Client != 0 && proc.RSS(memory.Bound.Client) > 0
		found.silence = f.now.Sub(lastActivity(l.Loop.Dir))
		loops = append(loops, found)
	}
	return loops, nil
}

// lastActivity returns the time at which a loop's files were last changed.
func lastActivity(dir string) time.Time {
	var last time.Time
	for _, name := range []string{"journal.jsonl", record.StartedCallsFile, record.ToolCallsFile, record.RunnerCallsFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// ownerErrors returns an error for each part of Pawl's folder that other users own or can write.
func ownerErrors(home string) (found []error) {
	if err := store.CheckOwners(home, filepath.Join(home, "loops"), filepath.Join(home, "trust.json")); err != nil {
		found = append(found, err)
	}
	loops, _ := store.Open(home).Loops() // another check reports that the loops cannot be read
	for _, l := range loops {
		if err := store.CheckOwners(l.Dir, filepath.Join(l.Dir, "spec.json")); err != nil {
			found = append(found, err)
		}
	}
	return found
}

// readHome checks whether Pawl's folder is writable. If it does not exist yet, it checks the
// nearest existing parent folder.
func readHome(path string) home {
	h := home{path: path, ownerErrs: ownerErrors(path)}
	path, h.fault = store.CheckWritable(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		mounts, _ := atomicfile.Read("/proc/self/mountinfo", maxFileBytes) // Linux only; unknown on other systems
		h.fileSystem = fileSystemAt(string(mounts), real)
	}
	return h
}
