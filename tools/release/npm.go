package main

import (
	"embed"
	"encoding/json"
	"strings"
)

//go:embed templates
var templates embed.FS

// npmPackage is what a package.json says.
type npmPackage struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  npmRepository     `json:"repository"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

type npmRepository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

func (r *set) npm(name, description string) npmPackage {
	return npmPackage{
		Name: name, Version: r.version, Description: description, License: "MIT",
		Homepage: page, Repository: npmRepository{"git", "git+" + page + ".git"},
	}
}

// nodeOS and nodeCPU are Node's names of a platform.
func nodeOS(p platform) string {
	if p.os == "windows" {
		return "win32"
	}
	return p.os
}

func nodeCPU(p platform) string {
	if p.arch == "amd64" {
		return "x64"
	}
	return p.arch
}

// npmPlatform is the name of the package with the programs for a platform; the launcher
// knows it.
func npmPlatform(p platform) string { return "@pawl-dev/" + nodeOS(p) + "-" + nodeCPU(p) }

// npmTarball is a package's file, named as npm pack does.
func npmTarball(name, version string) string {
	return strings.NewReplacer("@", "", "/", "-").Replace(name) + "-" + version + ".tgz"
}

// npmProgram is the package with the programs for one platform, without manuals.
func (r *set) npmProgram(p product) ([]byte, error) {
	about := r.npm(npmPlatform(p.platform), "Pawl for "+p.String()+": install the package pawl instead")
	about.OS, about.CPU = []string{nodeOS(p.platform)}, []string{nodeCPU(p.platform)}
	files := []file{}
	for _, f := range p.files {
		if f.mode == 0o755 {
			files = append(files, f)
		} else if name, ok := strings.CutPrefix(f.name, docs); ok {
			files = append(files, file{name, f.mode, f.data})
		}
	}
	return r.npmPack(about, files)
}

// npmLauncher is the package that people install: it depends on the one for each
// platform, of which npm installs the one that fits, and starts its programs.
func (r *set) npmLauncher() ([]byte, error) {
	about := r.npm("pawl", summary)
	about.Engines = map[string]string{"node": ">=16"}
	about.Bin, about.Optional = map[string]string{}, map[string]string{}
	for _, p := range platforms() {
		about.Optional[npmPlatform(p)] = r.version
	}
	var files []file
	for _, name := range programs() {
		about.Bin[name] = "bin/" + name + ".js"
		files = append(files, file{about.Bin[name], 0o755, []byte("#!/usr/bin/env node\nrequire(\"../launch.js\")(\"" + name + "\");\n")})
	}
	for _, name := range []string{"launch.js", "README.md"} {
		data, err := templates.ReadFile("templates/" + name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, data})
	}
	for _, f := range r.products[0].files {
		if f.name == docs+"LICENSE" {
			files = append(files, file{"LICENSE", 0o644, f.data})
		}
	}
	return r.npmPack(about, files)
}

func (r *set) npmPack(about npmPackage, files []file) ([]byte, error) {
	data, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return nil, err
	}
	files = append([]file{{"package.json", 0o644, append(data, '\n')}}, files...)
	return archiveTar(below("package", files), r.time)
}
