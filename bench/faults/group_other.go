//go:build !unix

package faults

import "os/exec"

func ownGroup(*exec.Cmd) {}
