package e2e_test

import (
	"regexp"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// A server that the real client's agent left running is ended before a gate uses it.
func TestSessionServerAnswersNoGate(t *testing.T) {
	agenttest.Needs(t, "python3")
	const serve = "import http.server, os\n" +
		"server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n" +
		"open('port.txt', 'w').write(str(server.server_port))\n" +
		"if os.fork() == 0:\n    os.setsid()\n    os.closerange(0, 3)\n    server.serve_forever()\n"
	const ask = "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:' + open('port.txt').read())\n"
	ended := regexp.MustCompile(`servers that the agent left running, ended before its work is checked: \S*python3 `)
	s := sessionsWith(t, map[string]string{"port.txt": "1", "../serve.py": serve, "../ask.py": ask}, installSettings)
	s.playAnswers(startLoopCall("'answer the port' --evidence unproven --gate 'python3 "+s.home+"/ask.py'", messagesapi.Bash("python3 "+s.home+"/serve.py"), done, done)...)
	p := s.print("loop")
	log := s.pawl("log", ".").out
	if got := s.now(); got.Outcome == "verified" || !ended.MatchString(log) {
		t.Errorf("%+v\n%s\n%s\n%s", got, log, p, s.conversation())
	}
}
