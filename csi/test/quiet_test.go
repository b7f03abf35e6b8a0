package test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// quietTime is the time since a moment, without that in which some task of the machine waited for a processor or a disk, by the
// kernel's own figures. So no load, of whomever, makes it longer. Where the kernel does not count, it is the time that went by.
func quietTime() func() time.Duration {
	began, before := time.Now(), waited()
	return func() time.Duration { return time.Since(began) - (waited() - before) }
}

func waited() (total time.Duration) {
	for _, resource := range []string{"cpu", "io"} {
		text, _ := os.ReadFile("/proc/pressure/" + resource)
		some, _, _ := strings.Cut(string(text), "\n")
		_, count, _ := strings.Cut(some, "total=")
		if micros, err := strconv.ParseInt(count, 10, 64); err == nil {
			total += time.Duration(micros) * time.Microsecond
		}
	}
	return total
}

// withQuietTimeout ends after so much quietTime, and in any case after patience.
func withQuietTimeout(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(parent, patience)
	quiet := quietTime()
	go func() {
		look := time.NewTicker(20 * time.Millisecond)
		defer look.Stop()
		for quiet() < limit {
			select {
			case <-look.C:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	return ctx, cancel
}
