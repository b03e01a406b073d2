package frozen

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Personal lists, as globs, the files of a user's home from which the programs
// that gates run take settings, and code of Python's that runs before any other. env
// is the gates' environment, as NAME=value; configHome is ~/.config or what stands
// for it.
func Personal(home, configHome string, env []string) []string {
	if home == "" {
		return nil
	}
	in := func(dir string, names ...string) (all []string) {
		for _, name := range names {
			all = append(all, filepath.Join(dir, filepath.FromSlash(name)))
		}
		return all
	}
	list := in(home, ".npmrc", ".yarnrc", ".yarnrc.yml", ".cargo/config.toml", ".cargo/config")
	for _, dir := range append(in(home, "Library/Application Support", "AppData/Roaming"), configHome) {
		list = append(list, filepath.Join(dir, "go", "env"))
	}
	sites := in(home, ".local/lib/python3*/site-packages", "Library/Python/3*/lib/python/site-packages", "AppData/Roaming/Python/Python3*/site-packages")
	for _, v := range env {
		switch name, value, _ := strings.Cut(v, "="); {
		case value == "" || !filepath.IsAbs(value):
		case name == "GOENV", strings.EqualFold(name, "npm_config_userconfig"):
			list = append(list, value)
		case name == "CARGO_HOME":
			list = append(list, in(value, "config.toml", "config")...)
		case name == "PYTHONUSERBASE":
			sites = append(sites, in(value, "lib/python3*/site-packages")...)
		}
	}
	for _, site := range sites {
		list = append(list, in(site, "usercustomize.py", "sitecustomize.py", "usercustomize/__init__.py", "*.pth")...)
	}
	return list
}

// Bounds of what is looked at of a user's files.
const (
	maxPersonal = 64      // files of one glob
	maxPrinted  = 1 << 20 // bytes of one file
)

// personal gives a fingerprint of each of the user's files that is there. What
// they hold is not for the log: there may be passwords in them.
func (f *Files) personal() map[string]string {
	prints := map[string]string{}
	for _, glob := range f.o.Personal {
		names, err := filepath.Glob(glob)
		if err != nil { // a home with brackets in its name
			names = []string{glob}
		}
		for _, name := range names[:min(len(names), maxPersonal)] {
			if print := fingerprint(name); print != "" {
				prints["the user's "+name] = print
			}
		}
	}
	return prints
}

// fingerprint is the size and the hash of a file; "" if it cannot be read.
func fingerprint(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := atomicfile.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(file, maxPrinted)); err != nil {
		return ""
	}
	return fmt.Sprintf("%d bytes, sha256 %.6x…", info.Size(), hash.Sum(nil))
}
