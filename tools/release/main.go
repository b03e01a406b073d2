// Command release builds what a release of Pawl consists of, from a commit of its
// repository and not from the files around it:
//
//	release -root ../.. -out ../../dist v1.2.3
//	release -root ../.. -out ../../dist -only linux/amd64 -snapshot
//
// It needs git and Go, and no network once the modules are in Go's cache. It publishes
// nothing. docs/how-to/release.md tells what to do with what it makes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// options are what the command line asks for.
type options struct {
	root, out string
	tag       string // "" for a snapshot of HEAD
	targets   []platform
	bases     map[string]string // file systems to put images on, by GOARCH
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	return release(ctx, o)
}

func parse(args []string) (options, error) {
	o := options{bases: map[string]string{}}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&o.root, "root", ".", "folder of the repository")
	flags.StringVar(&o.out, "out", "dist", "folder to write to; it must be empty, or not there")
	only := flags.String("only", "", "platforms to build for, such as linux/amd64,darwin/arm64; default: all")
	snapshot := flags.Bool("snapshot", false, "build the last commit instead of a tag")
	flags.Func("base", "ARCH=FILE: a root file system as a tar archive, to make a container image from; repeatable", func(v string) error {
		arch, file, ok := strings.Cut(v, "=")
		if !ok {
			return errors.New("want ARCH=FILE, such as amd64=base.tar")
		}
		o.bases[arch] = file
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.tag = flags.Arg(0)
	if flags.NArg() > 1 || *snapshot == (o.tag != "") {
		return o, errors.New("want either a tag or -snapshot")
	}
	if o.tag != "" && !isVersion(o.tag) {
		return o, fmt.Errorf("%s is no version such as v1.2.3", o.tag)
	}
	var err error
	o.targets, err = platformsOf(*only)
	return o, err
}

// release makes everything. Its clone lies outside of the repository, whose tests would
// take it for a part of it; SHA256SUMS is written last, so that with it all is there.
func release(ctx context.Context, o options) error {
	if there, _ := os.ReadDir(o.out); len(there) > 0 {
		return fmt.Errorf("%s is not empty: remove it first", o.out)
	}
	work, err := os.MkdirTemp("", "pawl-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	s, err := checkOut(ctx, o.root, o.tag, filepath.Join(work, "source"))
	if err != nil {
		return err
	}
	r, err := assemble(ctx, s, o.targets, work)
	if err != nil {
		return err
	}
	if err := r.write(o.out, o.bases); err != nil {
		return err
	}
	fmt.Printf("%s: Pawl %s, commit %.12s\n", o.out, r.version, s.commit)
	return nil
}
