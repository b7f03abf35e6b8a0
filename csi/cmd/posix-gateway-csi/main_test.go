package main

import (
	"strings"
	"testing"
)

func TestTheExamplesOfTheHelpAreCommandLines(t *testing.T) {
	examples := 0
	for line := range strings.Lines(usage) {
		if words := strings.Fields(line); strings.HasPrefix(line, "  posix-gateway-csi ") {
			examples++
			if _, _, err := parse(words[1:]); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if examples < 2 {
		t.Errorf("the help has %d examples", examples)
	}
}
