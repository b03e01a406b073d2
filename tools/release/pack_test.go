package main

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// pretended is a release for all platforms whose programs are a few words.
func pretended(t *testing.T) (dir string) {
	t.Helper()
	r := &set{version: "1.2.3-rc.1", time: time.Unix(1_700_000_000, 0).UTC()}
	for _, p := range platforms() {
		r.products = append(r.products, product{
			p, &buildinfo.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "example.org/pawl", Version: "v1.2.3-rc.1"}},
			[]file{
				{"bin/pawl" + p.exe(), 0o755, []byte("pawl of " + p.String())},
				{docs + "LICENSE", 0o644, []byte("free")},
				{"share/man/man1/pawl.1", 0o644, []byte("manual")},
			},
		})
	}
	dir = filepath.Join(t.TempDir(), "dist")
	base := filepath.Join(t.TempDir(), "base.tar")
	data, err := tape([]file{{"etc/os-release", 0o644, []byte("ID=none\n")}}, r.time)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(base, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.write(dir, map[string]string{"arm64": base}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEveryPlatformHasItsFiles(t *testing.T) {
	t.Parallel()
	dir := pretended(t)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, strings.Replace(e.Name(), "1.2.3-rc.1", "V", 1))
	}
	want := `SHA256SUMS devcontainer-feature-pawl.tgz install.sh pawl-V.tgz
pawl-dev-darwin-arm64-V.tgz pawl-dev-darwin-x64-V.tgz pawl-dev-linux-arm64-V.tgz
pawl-dev-linux-x64-V.tgz pawl-dev-win32-arm64-V.tgz pawl-dev-win32-x64-V.tgz
pawl.json pawl.rb
pawl_V_darwin_amd64.cdx.json pawl_V_darwin_amd64.tar.gz
pawl_V_darwin_arm64.cdx.json pawl_V_darwin_arm64.tar.gz
pawl_V_linux_amd64.cdx.json pawl_V_linux_amd64.deb pawl_V_linux_amd64.rpm pawl_V_linux_amd64.tar.gz
pawl_V_linux_arm64.cdx.json pawl_V_linux_arm64.deb pawl_V_linux_arm64.oci.tar pawl_V_linux_arm64.rpm pawl_V_linux_arm64.tar.gz
pawl_V_windows_amd64.cdx.json pawl_V_windows_amd64.zip
pawl_V_windows_arm64.cdx.json pawl_V_windows_arm64.zip`
	if g, w := strings.Join(got, " "), strings.Join(strings.Fields(want), " "); g != w {
		t.Errorf("got:\n%s\nwant:\n%s", strings.ReplaceAll(g, " ", "\n"), strings.ReplaceAll(w, " ", "\n"))
	}
	shell(t, dir, "sha256sum --check --quiet --strict SHA256SUMS")
}

// What names an archive names each that it is for, with the sum that it has.
func TestWhatNamesArchivesKnowsTheirSums(t *testing.T) {
	t.Parallel()
	dir := pretended(t)
	sums := map[string]string{}
	for line := range strings.Lines(text(t, dir, "SHA256SUMS")) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		sums[name] = sum
	}
	for name, systems := range map[string]string{"install.sh": "linux darwin", "pawl.rb": "linux darwin", "pawl.json": "windows"} {
		for _, p := range platforms() {
			r := set{version: "1.2.3-rc.1"}
			archive := r.archive(p)
			has := strings.Contains(text(t, dir, name), archive) && strings.Contains(text(t, dir, name), sums[archive])
			if want := strings.Contains(systems, p.os); has != want {
				t.Errorf("%s has %s and its sum: %v, want %v", name, archive, has, want)
			}
		}
	}
	var manifest struct {
		Architecture map[string]struct {
			Folder string `json:"extract_dir"`
		}
	}
	if err := json.Unmarshal([]byte(text(t, dir, "pawl.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	if got := manifest.Architecture["64bit"].Folder; got != "pawl_1.2.3-rc.1_windows_amd64" {
		t.Errorf("the manifest for Windows unpacks %q", got)
	}
}

func TestScriptsAreWellFormed(t *testing.T) {
	t.Parallel()
	dir := pretended(t)
	shell(t, dir, "sh -n install.sh")
	feature := t.TempDir()
	shell(t, feature, "tar -xzf "+filepath.Join(dir, "devcontainer-feature-pawl.tgz")+" && sh -n install.sh && sh -n install-pawl.sh")
	var about struct{ ID, Version, Name string }
	if err := json.Unmarshal([]byte(text(t, feature, "devcontainer-feature.json")), &about); err != nil {
		t.Fatal(err)
	}
	if about.ID != "pawl" || about.Version != "1.2.3-rc.1" || about.Name == "" {
		t.Errorf("the feature says of itself: %+v", about)
	}
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("the formula's syntax is checked by ruby, which is not installed")
	}
	shell(t, dir, "ruby -wc pawl.rb")
}

// Each blob of an image has the size that is said of it, and all are led to.
func TestImageIsALayout(t *testing.T) {
	t.Parallel()
	files, layers, c := imageOf(t, []byte(text(t, pretended(t), "pawl_1.2.3-rc.1_linux_arm64.oci.tar")))
	if len(layers) != 2 || len(c.RootFS.DiffIDs) != 2 || c.Architecture != "arm64" || len(files) != 6 {
		t.Errorf("%d layers, config %+v, %d files", len(layers), c, len(files))
	}
}

// imageOf reads an image: its files, its layers from the lowest on, and what it says of
// itself.
func imageOf(t *testing.T, image []byte) (files map[string][]byte, layers [][]byte, c imageConfig) {
	t.Helper()
	files = unpacked(t, image)
	blob := func(d descriptor) []byte {
		data := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if len(data) != d.Size {
			t.Fatalf("%s has %d bytes, want %d", d.Digest, len(data), d.Size)
		}
		return data
	}
	read := func(data []byte, into any) {
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
	var top index
	read(files["index.json"], &top)
	var m manifestOfImage
	read(blob(top.Manifests[0]), &m)
	read(blob(m.Config), &c)
	for _, l := range m.Layers {
		layers = append(layers, blob(l))
	}
	return files, layers, c
}

// unpacked are the files of a tar archive.
func unpacked(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	r := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := r.Next()
		if err != nil {
			return files
		}
		if h.Typeflag == tar.TypeReg {
			var b bytes.Buffer
			if _, err := b.ReadFrom(r); err != nil {
				t.Fatal(err)
			}
			files[h.Name] = b.Bytes()
		}
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                              "want either a tag or -snapshot",
		"-snapshot v1.2.3":              "want either a tag or -snapshot",
		"main":                          "main is no version such as v1.2.3",
		"-snapshot -only plan9/amd64":   `no release is made for "plan9/amd64"`,
		"-root . -out testdata v99.0.0": "refs/tags/v99.0.0",
	} {
		o, err := parse(strings.Fields(args))
		if err == nil {
			o.out = filepath.Join(t.TempDir(), "dist")
			err = release(t.Context(), o)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", args, err, want)
		}
	}
}

func text(t *testing.T, elements ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// shell runs a script in dir and returns what it printed; it must succeed.
func shell(t *testing.T, dir, script string, env ...string) string {
	t.Helper()
	out, err := tried(t, dir, script, env...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return out
}

func tried(t *testing.T, dir, script string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
