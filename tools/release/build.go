package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// file is a file of a package, by its path below the folder that all is installed in:
// bin/pawl, share/man/man1/pawl.1.
type file struct {
	name string
	mode int64
	data []byte
}

// programs returns the programs to build, by their folders below cmd.
func programs() []string { return []string{"pawl", "pawl-hook"} }

// goEnvironment pins what the environment may change of a build.
func goEnvironment(p platform) []string {
	return []string{
		"GOOS=" + p.os, "GOARCH=" + p.arch, "CGO_ENABLED=0",
		"GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off",
	}
}

// build builds the programs for a platform into dir.
func (s source) build(ctx context.Context, p platform, dir string) error {
	args := []string{"build", "-buildvcs=true", "-trimpath", "-ldflags=-s -w", "-o", dir + string(filepath.Separator)}
	for _, name := range programs() {
		args = append(args, "./cmd/"+name)
	}
	_, err := output(ctx, s.dir, goEnvironment(p), "go", args...)
	return err
}

// built reads the programs that build wrote, and the version that they say.
func built(p platform, dir string) (files []file, info *buildinfo.BuildInfo, err error) {
	for _, name := range programs() {
		where := filepath.Join(dir, name+p.exe())
		data, err := os.ReadFile(where)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file{"bin/" + name + p.exe(), 0o755, data})
	}
	info, err = buildinfo.ReadFile(filepath.Join(dir, programs()[0]+p.exe()))
	return files, info, err
}

// manuals are the manual pages and the shell completions, as a program that runs here
// writes them.
func manuals(ctx context.Context, pawl, work string) ([]file, error) {
	dir := filepath.Join(work, "man")
	home := filepath.Join(work, "home")
	for _, d := range []string{dir, home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	env := []string{"HOME=" + home, "PAWL_HOME=" + filepath.Join(home, "pawl")}
	if _, err := output(ctx, work, env, pawl, "help", "--man", dir); err != nil {
		return nil, err
	}
	pages, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, page := range pages {
		data, err := os.ReadFile(filepath.Join(dir, page.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"share/man/man1/" + page.Name(), 0o644, data})
	}
	for shell, name := range map[string]string{
		"bash": "share/bash-completion/completions/pawl",
		"zsh":  "share/zsh/site-functions/_pawl",
		"fish": "share/fish/vendor_completions.d/pawl.fish",
	} {
		script, err := output(ctx, work, env, pawl, "completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, []byte(script)})
	}
	return files, nil
}

// licenceName matches the files in which a module says what may be done with it.
var licenceName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)
})

// docs is where papers are installed.
const docs = "share/doc/pawl/"

// licences are Pawl's own licence and those of all that is linked into its programs for
// a platform: of each module, and of each of its folders that has its own, and Go's.
func (s source) licences(ctx context.Context, p platform) ([]file, error) {
	root, err := output(ctx, s.dir, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	list, err := output(ctx, s.dir, goEnvironment(p), "go", "list", "-deps", "-f",
		`{{with .Module}}{{if not .Main}}{{.Path}}{{"\t"}}{{.Dir}}{{"\t"}}{{$.Dir}}{{end}}{{end}}`, "./cmd/...")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile(filepath.Join(s.dir, "LICENSE"))
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{docs + "LICENSE": own}
	root = strings.TrimSpace(root)
	list += "go\t" + root + "\t" + root + "\n"
	for line := range strings.Lines(list) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			continue
		}
		if err := collect(found, fields[0], fields[1], fields[2]); err != nil {
			return nil, err
		}
	}
	var files []file
	for name, data := range found {
		files = append(files, file{name, 0o644, data})
	}
	return files, nil
}

// collect finds the licences of a package in its folder and those above it, up to the
// one of its module, which must have one.
func collect(found map[string][]byte, module, top, dir string) error {
	any := false
	for {
		below, err := filepath.Rel(top, dir)
		if err != nil {
			return err
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !licenceName().MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			found[docs+"licenses/"+path.Join(module, filepath.ToSlash(below), e.Name())] = data
			any = true
		}
		if below == "." {
			break
		}
		dir = filepath.Dir(dir)
	}
	if !any {
		return fmt.Errorf("no licence is found of %s in %s", module, top)
	}
	return nil
}
