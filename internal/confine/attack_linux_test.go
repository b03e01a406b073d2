package confine_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
)

// attacks returns attacks that no shell can make. They return nil if they succeed.
func attacks() map[string]func(args []string) error {
	return map[string]func([]string) error{
		// memory PID: reads the memory of a process.
		"memory": func(args []string) error {
			f, err := os.OpenFile("/proc/"+args[0]+"/mem", os.O_RDWR, 0)
			if err == nil {
				_ = f.Close()
			}
			return err
		},
		// trace PID: becomes the debugger of a process.
		"trace": func(args []string) error {
			pid, err := strconv.Atoi(args[0])
			if err != nil {
				return err
			}
			const seize = 0x4206
			if _, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, seize, uintptr(pid), 0, 0, 0, 0); errno != 0 {
				return errno
			}
			return nil
		},
		// connect NETWORK ADDRESS: opens a connection.
		"connect": func(args []string) error {
			c, err := net.DialTimeout(args[0], args[1], 3*time.Second)
			if err == nil {
				_ = c.Close()
			}
			return err
		},
		// lookup NAME: asks for the address of a name.
		"lookup": func(args []string) error {
			ips, err := net.LookupHost(args[0])
			if err == nil {
				fmt.Println(ips)
			}
			return err
		},
		// get URL: prints the status and the body of what a URL holds.
		"get": func(args []string) error {
			client := &http.Client{Timeout: 10 * time.Second}
			r, err := client.Get(args[0])
			if err != nil {
				return err
			}
			defer r.Body.Close()
			body, err := io.ReadAll(r.Body)
			fmt.Printf("%d %s\n", r.StatusCode, body)
			return err
		},
		// serve: a server on loopback and its client, as tests have them.
		"serve": func([]string) error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			defer l.Close()
			c, err := net.DialTimeout("tcp", l.Addr().String(), 3*time.Second)
			if err == nil {
				_ = c.Close()
			}
			return err
		},
	}
}
