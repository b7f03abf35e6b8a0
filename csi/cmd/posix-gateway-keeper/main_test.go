package main

import (
	"flag"
	"strings"
	"testing"

	"posixgateway.io/csi/internal/keeper"
)

func TestTheExamplesOfTheHelpAreCommandLines(t *testing.T) {
	examples := 0
	for line := range strings.Lines(usage) {
		if words := strings.Fields(line); strings.HasPrefix(line, "  posix-gateway-keeper ") {
			examples++
			flags := commandLine(&keeper.Config{})
			flags.Init("keeper", flag.ContinueOnError)
			if err := flags.Parse(words[1:]); err != nil || flags.NArg() > 0 {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if examples < 2 {
		t.Errorf("the help has %d examples", examples)
	}
}
