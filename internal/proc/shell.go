package proc

import "runtime"

// commandName passes the command to cmd.exe, which does not understand Go's quoting of arguments.
const commandName = "PAWL_COMMAND"

// Shell returns how the system's shell runs a command, and what is added to the environment.
func Shell(text string) (argv, env []string) {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/d", "/c", "%" + commandName + "%"}, []string{commandName + "=" + text}
	}
	return []string{"sh", "-c", text}, nil
}
