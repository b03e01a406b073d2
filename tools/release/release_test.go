package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tagged is the version that the tests give to the last commit.
const tagged = "1.99.0-rc.1"

// made is the folder of a real release.
type made string

// file is the path of a file for this platform: file(".deb").
func (m made) file(suffix string) string {
	return filepath.Join(string(m), "pawl_"+tagged+"_linux_"+runtime.GOARCH+suffix)
}

// A release of the last commit is built once, for this platform, and for all where
// PAWL_RELEASE=all says so; then each package is installed and its programs started.
func TestRelease(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a release is tested on Linux, where its packages can be installed")
	}
	m := made(filepath.Join(t.TempDir(), "dist"))
	if err := buildTagged(t, string(m), "v"+tagged); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(*testing.T, made){
		"two builds are the same":                    twoBuildsAreTheSame,
		"archive starts in an empty root":            archiveStarts,
		"archive has a licence of all that is in it": archiveHasLicences,
		"deb installs":                               debInstalls,
		"rpm installs":                               rpmInstalls,
		"npm packages are run by npx":                npxRuns,
		"script installs only what it knows":         scriptInstalls,
		"image starts":                               imageStarts,
		"image works on Debian":                      imageWorksOnDebian,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, m)
		})
	}
}

// buildTagged builds a clone of this repository in which the last commit has a tag.
func buildTagged(t *testing.T, out string, what ...string) error {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "clone")
	shell(t, ".", "git clone --quiet --shared ../.. "+clone+" && git -C "+clone+" tag v"+tagged)
	args := []string{"-root", clone, "-out", out}
	if os.Getenv("PAWL_RELEASE") != "all" {
		args = append(args, "-only", "linux/"+runtime.GOARCH)
	}
	return run(t.Context(), append(args, what...))
}

// contents are the files of a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		files[e.Name()] = text(t, dir, e.Name())
	}
	return files
}

// Two builds, in two folders, of two clones, by tag and as a snapshot, are the same byte
// for byte.
func twoBuildsAreTheSame(t *testing.T, m made) {
	one := contents(t, string(m))
	again := filepath.Join(t.TempDir(), "again")
	if err := buildTagged(t, again, "-snapshot"); err != nil {
		t.Fatal(err)
	}
	two := contents(t, again)
	if len(one) != len(two) || len(one) < 9 {
		t.Errorf("%d files and %d", len(one), len(two))
	}
	for name, data := range one {
		if two[name] != data {
			t.Errorf("%s differs", name)
		}
	}
}

// starts runs the programs below root where nothing else is: they need no library, no
// shell and no file of a system.
func starts(t *testing.T, root string) {
	t.Helper()
	for _, program := range []string{"pawl version", "pawl-hook --version"} {
		out := shell(t, root, `bwrap --unshare-all --clearenv --setenv HOME / --proc /proc --ro-bind . /p -- /p/bin/`+program)
		if !strings.Contains(out, "v"+tagged+" (commit ") {
			t.Errorf("%s: %s", program, out)
		}
	}
}

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("PAWL_PROGRAMS") == "1" && program != "rpm" {
		t.Fatalf("PAWL_PROGRAMS=1, but %s is not installed", program)
	}
	t.Skipf("%s is not installed", program)
}

// unpack is the folder that the archive is unpacked to.
func (m made) unpack(t *testing.T) string {
	t.Helper()
	archive, dir := m.file(".tar.gz"), t.TempDir()
	shell(t, dir, "tar -xzf "+archive)
	return filepath.Join(dir, strings.TrimSuffix(filepath.Base(archive), ".tar.gz"))
}

func archiveStarts(t *testing.T, m made) {
	root := m.unpack(t)
	starts(t, root)
	shell(t, root, "bash -n share/bash-completion/completions/pawl")
	for _, name := range []string{"share/man/man1/pawl.1", "share/man/man1/pawl-plan-new.1", "share/zsh/site-functions/_pawl", "share/fish/vendor_completions.d/pawl.fish"} {
		if text(t, root, name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
}

func archiveHasLicences(t *testing.T, m made) {
	root := m.unpack(t)
	var bill struct {
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal([]byte(text(t, m.file(".cdx.json"))), &bill); err != nil {
		t.Fatal(err)
	}
	if len(bill.Components) < 10 {
		t.Errorf("the bill of materials has only %d parts", len(bill.Components))
	}
	for _, c := range bill.Components {
		module := c.Name
		if module == "stdlib" {
			module = "go"
		}
		if found, _ := os.ReadDir(filepath.Join(root, "share/doc/pawl/licenses", module)); len(found) == 0 {
			t.Errorf("%s is linked in, but its licence is not there", c.Name)
		}
	}
}

func debInstalls(t *testing.T, m made) {
	deb := m.file(".deb")
	needs(t, "dpkg")
	root := t.TempDir()
	// Packages that it depends on are not in an empty root.
	shell(t, root, "mkdir -p var/lib/dpkg && touch var/lib/dpkg/status && dpkg --root=. --log=/dev/null --force-depends,not-root,script-chrootless --install "+deb)
	starts(t, filepath.Join(root, "usr"))
	shell(t, root, "cd / && dpkg --root="+root+" --verify pawl && dpkg --compare-versions 1.99.0~rc.1 lt 1.99.0")
	shell(t, root, "dpkg --root=. --log=/dev/null --force-not-root,script-chrootless --purge pawl && test ! -e usr/bin/pawl && test ! -e usr/share/doc/pawl")
}

func rpmInstalls(t *testing.T, m made) {
	rpm := m.file(".rpm")
	needs(t, "rpm")
	root := t.TempDir()
	shell(t, root, "rpm --checksig --nosignature "+rpm)
	shell(t, root, `rpm --root "$PWD" --dbpath /db --nodeps --install `+rpm+` && rpm --root "$PWD" --dbpath /db --verify --nodeps pawl`)
	starts(t, filepath.Join(root, "usr"))
}

func npxRuns(t *testing.T, m made) {
	launcher := filepath.Join(string(m), npmTarball("pawl", tagged))
	program := filepath.Join(string(m), npmTarball(npmPlatform(platform{"linux", runtime.GOARCH}), tagged))
	needs(t, "npx")
	prefix, home := t.TempDir(), "HOME="+t.TempDir()
	shell(t, prefix, "npm install --offline --no-audit --no-fund --prefix . "+launcher+" "+program, home)
	if out := shell(t, prefix, "npx --offline pawl version && npx --offline pawl-hook --version", home); strings.Count(out, "v"+tagged) != 2 {
		t.Errorf("got %s", out)
	}
	if out, err := tried(t, prefix, "npx --offline pawl nonsense", home); err == nil || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("an unknown command: %v\n%s", err, out)
	}
	// As it goes where npm was told to leave out what is optional.
	shell(t, prefix, "rm -r node_modules/@pawl-dev")
	if out, err := tried(t, prefix, "npx --offline pawl version", home); err == nil || !strings.Contains(out, "is not installed") {
		t.Errorf("without programs: %v\n%s", err, out)
	}
}

// The script installs what has the right checksum, again over what is there, and nothing
// of what has another.
func scriptInstalls(t *testing.T, m made) {
	archive := m.file(".tar.gz")
	needs(t, "curl")
	good := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(archive))))
	defer good.Close()
	changed := t.TempDir()
	data := []byte(text(t, archive))
	data[len(data)/2] ^= 1
	if err := os.WriteFile(filepath.Join(changed, filepath.Base(archive)), data, 0o644); err != nil {
		t.Fatal(err)
	}
	bad := httptest.NewServer(http.FileServer(http.Dir(changed)))
	defer bad.Close()

	script, home := filepath.Join(filepath.Dir(archive), "install.sh"), t.TempDir()
	nothing := func() {
		t.Helper()
		if there, _ := os.ReadDir(home); len(there) > 0 {
			t.Errorf("%s is there", there[0].Name())
		}
	}
	if out, err := tried(t, home, "sh "+script+" --from "+bad.URL, "HOME="+home); err == nil || !strings.Contains(out, "nothing was installed") {
		t.Errorf("a changed archive: %v\n%s", err, out)
	}
	nothing()
	if out, err := tried(t, home, "sh "+script+" --from "+good.URL+"/none", "HOME="+home); err == nil || !strings.Contains(out, "cannot download") {
		t.Errorf("no archive: %v\n%s", err, out)
	}
	nothing()
	shell(t, home, "sed '$d' "+script+" | sh -s -- --from "+good.URL, "HOME="+home) // it arrived in part
	nothing()
	for range 2 {
		if out := shell(t, home, "sh "+script+" --from "+good.URL, "HOME="+home); !strings.Contains(out, "installed: pawl v"+tagged) {
			t.Errorf("got %s", out)
		}
	}
	starts(t, filepath.Join(home, ".local"))
	featureInstalls(t, filepath.Dir(archive), good.URL)
}

// The feature for development containers installs by the script, for all users.
func featureInstalls(t *testing.T, dir, from string) {
	t.Helper()
	feature, prefix := t.TempDir(), t.TempDir()
	shell(t, feature, "tar -xzf "+filepath.Join(dir, "devcontainer-feature-pawl.tgz"))
	shell(t, prefix, filepath.Join(feature, "install.sh")+" --from "+from+" --prefix "+prefix)
	starts(t, prefix)
}
