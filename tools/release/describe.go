package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"text/template"
)

// named is an archive, as what downloads it has to know it.
type named struct {
	platform
	Name, URL, Sum string
}

// System returns the output of `uname -s` and `uname -m`, for the script.
func (n named) System() string {
	return map[string]string{
		"linux/amd64": "Linux-x86_64", "linux/arm64": "Linux-aarch64",
		"darwin/amd64": "Darwin-x86_64", "darwin/arm64": "Darwin-arm64",
	}[n.String()]
}

// CPU is Homebrew's name of its processor.
func (n named) CPU() string {
	if n.arch == "amd64" {
		return "intel"
	}
	return "arm"
}

// archives are those for some systems.
func (r *set) archives(sums map[string]string, systems ...string) []named {
	var all []named
	for _, p := range r.products {
		if slices.Contains(systems, p.os) {
			name := r.archive(p.platform)
			all = append(all, named{p.platform, name, r.from() + "/" + name, sums[name]})
		}
	}
	return all
}

// from is the folder that the files of the release will be in.
func (r *set) from() string { return page + "/releases/download/v" + r.version }

// manifest is one for Scoop.
func (r *set) manifest(archives []named) ([]byte, error) {
	type download struct {
		URL    string `json:"url"`
		Hash   string `json:"hash"`
		Folder string `json:"extract_dir"`
	}
	m := struct {
		Version      string              `json:"version"`
		Description  string              `json:"description"`
		Homepage     string              `json:"homepage"`
		License      string              `json:"license"`
		Depends      string              `json:"depends"`
		Architecture map[string]download `json:"architecture"`
		Bin          []string            `json:"bin"`
	}{
		Version: r.version, Description: summary, Homepage: page, License: "MIT", Depends: "git",
		Architecture: map[string]download{},
	}
	for _, a := range archives {
		cpu := map[string]string{"amd64": "64bit", "arm64": "arm64"}[a.arch]
		m.Architecture[cpu] = download{a.URL, a.Sum, r.base(a.platform)}
	}
	for _, name := range programs() {
		m.Bin = append(m.Bin, `bin\`+name+".exe")
	}
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

// feature is one for development containers, as a URL names it: it runs the install
// script, which knows the archives.
func (r *set) feature(script []byte, values map[string]any) ([]byte, error) {
	about, err := fill("devcontainer-feature.json", values)
	if err != nil {
		return nil, err
	}
	install, err := fill("devcontainer-install.sh", values)
	if err != nil {
		return nil, err
	}
	return archiveTar([]file{
		{"devcontainer-feature.json", 0o644, about}, {"install.sh", 0o755, install}, {"install-pawl.sh", 0o755, script},
	}, r.time)
}

func fill(name string, values any) ([]byte, error) {
	text, err := templates.ReadFile("templates/" + name)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, values)
	return b.Bytes(), err
}
