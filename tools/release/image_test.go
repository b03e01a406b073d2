package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// unpackImage builds an image on a base and unpacks its layers into a folder.
func (m made) unpackImage(t *testing.T, base string) (root string) {
	t.Helper()
	r := &set{version: tagged}
	p := product{platform: platform{"linux", runtime.GOARCH}}
	for _, name := range []string{"bin/pawl", "bin/pawl-hook"} {
		p.files = append(p.files, file{name, 0o755, []byte(text(t, m.unpack(t), name))})
	}
	image, err := r.image(p, base)
	if err != nil {
		t.Fatal(err)
	}
	root = t.TempDir()
	_, layers, _ := imageOf(t, image)
	for _, layer := range layers {
		cmd := exec.CommandContext(t.Context(), "tar", "-xz", "--no-same-owner", "-C", root)
		cmd.Stdin = bytes.NewReader(layer)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("unpack a layer: %v\n%s", err, out)
		}
	}
	return root
}

// An image on a root file system that has nothing but a name starts Pawl; git is for the
// file system to bring.
func imageStarts(t *testing.T, m made) {
	base := filepath.Join(t.TempDir(), "base.tar")
	data, err := tape([]file{{"etc/hostname", 0o644, []byte("base\n")}}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(base, data, 0o644); err != nil {
		t.Fatal(err)
	}
	root := m.unpackImage(t, base)
	if text(t, root, "etc/hostname") != "base\n" {
		t.Error("the file system below is not there")
	}
	starts(t, filepath.Join(root, "usr"))
}

// debianBase unpacks git, bubblewrap and what they depend on from Debian's packages, without
// installing anything: apt resolves them against an empty system.
const debianBase = `
mkdir -p archives/partial base
: > status
timeout 300 apt-get -q -y -o Dir::State::status="$PWD/status" -o Dir::Cache::archives="$PWD/archives" -o Debug::NoLocking=1 \
	-o APT::Install-Recommends=0 -o APT::Sandbox::User=root --download-only install base-files dash coreutils git bubblewrap
for package in archives/*.deb; do dpkg-deb -x "$package" base; done
tar -C base --owner=0 --group=0 -cf base.tar .`

// On a Debian base the image's demo verifies a task, with nothing but what is in the image.
// The packages come from Debian's archive, so it runs only with PAWL_RELEASE=all.
func imageWorksOnDebian(t *testing.T, m made) {
	if os.Getenv("PAWL_RELEASE") != "all" {
		t.Skip("PAWL_RELEASE=all downloads Debian packages")
	}
	needs(t, "apt-get")
	needs(t, "bwrap")
	dir := t.TempDir()
	shell(t, dir, debianBase)
	root := m.unpackImage(t, filepath.Join(dir, "base.tar"))
	inside := `timeout 120 bwrap --unshare-all --die-with-parent --clearenv --setenv PATH /usr/bin:/bin --setenv HOME /tmp/home \
	--ro-bind . / --proc /proc --dev /dev --tmpfs /tmp --dir /tmp/home --chdir /tmp/home -- `
	for command, want := range map[string]string{
		"pawl version":    "v" + tagged + " (commit ",
		"git --version":   "git version 2.",
		"bwrap --version": "bubblewrap 0.",
		"pawl demo":       "ended VERIFIED",
	} {
		if out := shell(t, root, inside+command); !strings.Contains(out, want) {
			t.Errorf("%s does not say %q:\n%s", command, want, out)
		}
	}
}
