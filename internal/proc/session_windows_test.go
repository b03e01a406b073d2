package proc_test

import "os/exec"

func ownSession(*exec.Cmd) {}
