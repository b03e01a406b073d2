package cli

import (
	"runtime"

	"github.com/pawl-dev/pawl/internal/autostart"
	"github.com/pawl-dev/pawl/internal/failure"
)

// serviceName is the operand of install and uninstall for the service that resumes background loops.
const serviceName = "service"

// installService lets the system run `pawl resume --after-restart` when the user logs in.
func (a *app) installService(dryRun bool) error {
	s, err := a.service()
	if err != nil {
		return err
	}
	if dryRun {
		a.print(s.Text)
		a.printAside(true, "this would be %s\n", a.displayPath(s.Path))
		return nil
	}
	result, err := s.Install()
	if err != nil {
		return err
	}
	name := a.displayPath(s.Path)
	if result == autostart.Already {
		a.printf("%s already exists\n", name)
		return nil
	}
	a.printf("background loops are resumed when you log in after a restart\n  %s runs pawl resume --after-restart, with the PATH of now\n", name)
	if s.Link != "" {
		a.printf("  loginctl enable-linger runs it at boot, before you log in\n")
	}
	return nil
}

// uninstallService removes that service.
func (a *app) uninstallService(dryRun bool) error {
	s, err := a.service()
	if err != nil {
		return err
	}
	name := a.displayPath(s.Path)
	if dryRun {
		a.printf("%s would be removed\n", name)
		return nil
	}
	result, err := s.Uninstall()
	switch {
	case err != nil:
		return err
	case result == autostart.Already:
		a.printf("there is no %s\n", name)
	default:
		a.printf("%s is removed: after a restart, background loops wait for pawl resume\n", name)
	}
	return nil
}

func (a *app) service() (autostart.Service, error) {
	program, err := ownPath()
	if err != nil {
		return autostart.Service{}, err
	}
	if a.env.Home == "" {
		return autostart.Service{}, failure.New(failure.Usage, "set HOME", "there is no home folder for a service")
	}
	return autostart.New(runtime.GOOS, autostart.Command{
		Program: program, Home: a.env.Home, ConfigHome: a.env.ConfigHome, Path: a.env.Variable("PATH"), PawlHome: a.env.PawlHome,
	})
}
