package main

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the format of the package asks for it
	"fmt"
	"path"
	"strings"

	"github.com/google/rpmpack"
)

// maintainer is whom packages name.
const maintainer = "pawl-dev <pawl-dev@users.noreply.github.com>"

// description is what packages say at length.
const description = `You give it a plan. Pawl gives the agent one task at a time, runs your tests on
each "done", and commits what passes.`

// debVersion is a version as dpkg and rpm order them: 1.0.0~rc.1 is before 1.0.0.
func debVersion(v string) string { return strings.ReplaceAll(v, "-", "~") }

func rpmArch(p platform) string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.arch]
}

// installed are the files of a package of the system: below usr, manual pages packed.
func installed(p product) ([]file, error) {
	files := below("usr", p.files)
	for i, f := range files {
		if path.Dir(f.name) != "usr/share/man/man1" {
			continue
		}
		data, err := packed(f.data)
		if err != nil {
			return nil, err
		}
		files[i] = file{f.name + ".gz", f.mode, data}
	}
	return files, nil
}

// deb is a package for Debian: an ar archive of its format's version, of what dpkg wants
// to know, and of the files.
func (r *set) deb(p product) ([]byte, error) {
	files, err := installed(p)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		if f.name == "usr/"+docs+"LICENSE" {
			files[i].name = "usr/" + docs + "copyright"
		}
	}
	var sums strings.Builder
	size := 0
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.name) //nolint:gosec // as above
		size += len(f.data)
	}
	control := fmt.Sprintf(`Package: pawl
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Depends: git
Recommends: bubblewrap
Section: devel
Priority: optional
Homepage: %s
Description: %s
 %s
`, debVersion(r.version), p.arch, maintainer, (size+1023)/1024, page, summary, strings.ReplaceAll(description, "\n", "\n "))
	meta, err := archiveTar([]file{{"control", 0o644, []byte(control)}, {"md5sums", 0o644, []byte(sums.String())}}, r.time)
	if err != nil {
		return nil, err
	}
	data, err := archiveTar(files, r.time)
	if err != nil {
		return nil, err
	}
	b := bytes.NewBufferString("!<arch>\n")
	for _, f := range []file{
		{"debian-binary", 0o644, []byte("2.0\n")},
		{"control.tar.gz", 0o644, meta},
		{"data.tar.gz", 0o644, data},
	} {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, r.time.Unix(), 0, 0, 0o100000|f.mode, len(f.data))
		b.Write(f.data)
		if len(f.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes(), nil
}

// rpm is a package for Fedora and its like.
func (r *set) rpm(p product) ([]byte, error) {
	files, err := installed(p)
	if err != nil {
		return nil, err
	}
	git, err := rpmpack.NewRelation("git")
	if err != nil {
		return nil, err
	}
	bubblewrap, err := rpmpack.NewRelation("bubblewrap")
	if err != nil {
		return nil, err
	}
	pkg, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
		Name: "pawl", Version: debVersion(r.version), Release: "1", Arch: rpmArch(p.platform), OS: "linux",
		Summary: summary, Description: description, Licence: "MIT", URL: page, Packager: maintainer, Group: "Development/Tools",
		BuildTime: r.time, BuildHost: "localhost", Compressor: "gzip",
		Requires: rpmpack.Relations{git}, Recommends: rpmpack.Relations{bubblewrap},
	})
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		kind := rpmpack.GenericFile
		switch {
		case strings.HasPrefix(f.name, "usr/"+docs+"licenses/"), f.name == "usr/"+docs+"LICENSE":
			kind = rpmpack.LicenceFile
		case strings.HasPrefix(f.name, "usr/share/man/"):
			kind = rpmpack.DocFile
		}
		pkg.AddFile(rpmpack.RPMFile{
			Name: "/" + f.name, Body: f.data, Mode: uint(0o100000 | f.mode), Type: kind,
			Owner: "root", Group: "root", MTime: uint32(r.time.Unix()),
		})
	}
	var b bytes.Buffer
	if err := pkg.Write(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
