package command

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// The test runs itself as a program.
const runAsProgram = "TOLLBOOTH_TEST_RUN_AS_PROGRAM"

const usage = "Usage: program [options]\n\nOptions:\n"

func TestMain(m *testing.M) {
	if os.Getenv(runAsProgram) == "" {
		os.Exit(m.Run())
	}
	Main("program", parse, run)
}

func parse(arguments []string, help io.Writer) (string, error) {
	flags := flag.NewFlagSet("program", flag.ContinueOnError)
	fault := flags.String("fault", "", "whose fault ends the program")
	err := Parse(flags, usage, arguments, help)
	return *fault, err
}

func run(ctx context.Context, fault string) error {
	switch fault {
	case "machine":
		return errors.New("the disk is full")
	case "caller":
		return UsageError{errors.New("the file is wrong")}
	}
	err := syscall.Kill(os.Getpid(), syscall.SIGTERM)
	<-ctx.Done()
	return err
}

func TestAProgramEndsWithACodeAndAtMostOneLine(t *testing.T) {
	for arguments, want := range map[string]struct {
		code     int
		out, err string
	}{
		"":                {0, "", ""},
		"--help":          {0, usage + "  -fault string\n    \twhose fault ends the program\n", ""},
		"--fault machine": {exitFailed, "", "program: the disk is full\n"},
		"--fault caller":  {exitUsage, "", "program: the file is wrong\n"},
		"--rate 10":       {exitUsage, "", "program: flag provided but not defined: -rate\n"},
		"surplus":         {exitUsage, "", `program: unexpected argument "surplus"; see --help` + "\n"},
	} {
		program := exec.Command(os.Args[0], strings.Fields(arguments)...)
		program.Env = append(os.Environ(), runAsProgram+"=1")
		var out, err strings.Builder
		program.Stdout, program.Stderr = &out, &err
		var exit *exec.ExitError
		if err := program.Run(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if code := program.ProcessState.ExitCode(); code != want.code || out.String() != want.out || err.String() != want.err {
			t.Errorf("%q: exit code %d, %q, %q", arguments, code, out.String(), err.String())
		}
	}
}
