package work_test

import (
	"slices"
	"testing"

	"github.com/pawl-dev/pawl/internal/work"
)

func TestMakefileRegistersSources(t *testing.T) {
	t.Parallel()
	const was = "CC = gcc\nSRC = crc.c \\\n  csv.c\nOBJ := crc.o\ncheck: $(OBJ)\n\tsh check.sh crc.c\n%.o: %.c\n\t$(CC) $<\n"
	for name, c := range map[string]struct{ now, want string }{
		"a source and its object, and a target": {
			"CC = gcc\nSRC = crc.c \\\n  csv.c hex.c\nOBJ := crc.o hex.o\ncheck: $(OBJ)\n\ttrue\ndist:\n\ttar cf x\n",
			"CC = gcc\nSRC = crc.c \\\n  csv.c hex.c\nOBJ := crc.o hex.o\ncheck: $(OBJ)\n\tsh check.sh crc.c\n%.o: %.c\n\t$(CC) $<\n",
		},
		"a file that was there":    {"SRC = crc.c csv.c old.c\n", was},
		"one before the first":     {"SRC = hex.c crc.c csv.c\n", was},
		"one in another's place":   {"SRC = crc.c hex.c\n", was},
		"another program":          {"CC = gcc hex.c\n", was},
		"one in what a gate runs":  {"\tsh check.sh crc.c hex.c\n", was},
		"an option among the list": {"SRC = crc.c csv.c hex.c -Dassert=\n", was},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			isNew := func(file string) bool { return slices.Contains([]string{"hex.c"}, file) }
			if got := string(work.WithNewSources("lib/Makefile", []byte(was), []byte(c.now), isNew)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	const globs = "SOURCES = libs/*.java src/*.java\n"
	if got := string(work.WithNewSources("Makefile", []byte("SOURCES = src/*.java\n"), []byte(globs), func(name string) bool { return name == "libs/*.java" })); got != globs {
		t.Errorf("one before the first, to which no recipe refers: %q", got)
	}
	if got := string(work.WithNewSources("list.txt", []byte("SRC = a.c\n"), []byte("SRC = a.c b.c\n"), func(string) bool { return true })); got != "SRC = a.c\n" {
		t.Errorf("a file that is no Makefile: %q", got)
	}
}
