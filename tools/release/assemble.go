package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// product is what is installed on a platform.
type product struct {
	platform
	info  *buildinfo.BuildInfo
	files []file // by name
}

// set is a whole release, before it is packed.
type set struct {
	version  string // without the v
	time     time.Time
	products []product
}

// page is where a release can be read of, and its files are found below.
const page = "https://github.com/pawl-dev/pawl"

// summary is what packages say of themselves.
const summary = "runs a coding agent in a loop until your tests show that the work is done"

// assemble builds for each platform, and for this one, whose program writes the manuals.
func assemble(ctx context.Context, s source, targets []platform, work string) (*set, error) {
	folder := func(p platform) string { return filepath.Join(work, p.os+"-"+p.arch) }
	here := platform{runtime.GOOS, runtime.GOARCH}
	if err := s.build(ctx, here, folder(here)); err != nil {
		return nil, err
	}
	pages, err := manuals(ctx, filepath.Join(folder(here), "pawl"+here.exe()), work)
	if err != nil {
		return nil, err
	}
	r := &set{time: s.time}
	for _, p := range targets {
		if p != here {
			if err := s.build(ctx, p, folder(p)); err != nil {
				return nil, err
			}
		}
		files, info, err := built(p, folder(p))
		if err != nil {
			return nil, err
		}
		papers, err := s.licences(ctx, p)
		if err != nil {
			return nil, err
		}
		files = append(files, papers...)
		if p.os != "windows" {
			files = append(files, pages...)
		}
		slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
		r.version = strings.TrimPrefix(info.Main.Version, "v")
		if s.tag != "" && s.tag != info.Main.Version {
			return nil, fmt.Errorf("what was built from the tag %s says that it is %s: the tag is not a version of the module, or its commit has a higher one", s.tag, info.Main.Version)
		}
		r.products = append(r.products, product{p, info, files})
	}
	return r, nil
}

// base is how the files for a platform are named, without what their names end in.
func (r *set) base(p platform) string { return "pawl_" + r.version + "_" + p.os + "_" + p.arch }

// archive is the name of the archive for a platform.
func (r *set) archive(p platform) string {
	if p.os == "windows" {
		return r.base(p) + ".zip"
	}
	return r.base(p) + ".tar.gz"
}

// write writes all files of the release to dir, and last of all their checksums.
func (r *set) write(dir string, bases map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	sums := map[string]string{}
	put := func(name string, data []byte, err error) error {
		if err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(data))
		return os.WriteFile(filepath.Join(dir, name), data, 0o644)
	}
	for _, p := range r.products {
		if err := r.pack(p, bases[p.arch], put); err != nil {
			return err
		}
	}
	if err := r.describe(sums, put); err != nil {
		return err
	}
	var lines []string
	for name, sum := range sums {
		lines = append(lines, sum+"  "+name+"\n")
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}

// putFile takes a file of the release, or what kept it from being made.
type putFile func(name string, data []byte, err error) error

// pack makes the packages for one platform.
func (r *set) pack(p product, base string, put putFile) error {
	pack := archiveTar
	if p.os == "windows" {
		pack = archiveZip
	}
	data, err := pack(below(r.base(p.platform), p.files), r.time)
	if err := put(r.archive(p.platform), data, err); err != nil {
		return err
	}
	data, err = r.bill(p)
	if err := put(r.base(p.platform)+".cdx.json", data, err); err != nil {
		return err
	}
	data, err = r.npmProgram(p)
	if err := put(npmTarball(npmPlatform(p.platform), r.version), data, err); err != nil {
		return err
	}
	if p.os != "linux" {
		return nil
	}
	data, err = r.deb(p)
	if err := put(r.base(p.platform)+".deb", data, err); err != nil {
		return err
	}
	data, err = r.rpm(p)
	if err := put(r.base(p.platform)+".rpm", data, err); err != nil {
		return err
	}
	if base == "" {
		fmt.Printf("no container image for %s: -base %s=FILE names a root file system to make it from\n", p.platform, p.arch)
		return nil
	}
	data, err = r.image(p, base)
	return put(r.base(p.platform)+".oci.tar", data, err)
}

// describe makes what names the archives: the script, the formula, the manifest, the
// feature, and the package of npm. Those without an archive to name are left out.
func (r *set) describe(sums map[string]string, put putFile) error {
	data, err := r.npmLauncher()
	if err := put(npmTarball("pawl", r.version), data, err); err != nil {
		return err
	}
	if windows := r.archives(sums, "windows"); len(windows) > 0 {
		data, err := r.manifest(windows)
		if err := put("pawl.json", data, err); err != nil {
			return err
		}
	}
	values := map[string]any{
		"Version": r.version, "Page": page, "From": r.from(),
		"MacOS": r.archives(sums, "darwin"), "Linux": r.archives(sums, "linux"), "Unix": r.archives(sums, "darwin", "linux"),
	}
	data, err = fill("pawl.rb", values)
	if err := put("pawl.rb", data, err); err != nil {
		return err
	}
	script, err := fill("install.sh", values)
	if err := put("install.sh", script, err); err != nil {
		return err
	}
	data, err = r.feature(script, values)
	return put("devcontainer-feature-pawl.tgz", data, err)
}
