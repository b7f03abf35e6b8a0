// Package freeport finds addresses on which programs under test can listen.
package freeport

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
)

// Below what kernels give to connections that name no port, so that none of those takes it before the program does.
const first, count = 12000, 8000

// next differs between test programs that run at the same time.
var next atomic.Uint32

func init() { next.Store(uint32(os.Getpid()) * 97) }

// Address is one of 127.0.0.1 on which nobody listens, and that this function gives nobody else in this process soon.
func Address(t testing.TB) string {
	t.Helper()
	var last error
	for range count {
		address := fmt.Sprintf("127.0.0.1:%d", first+next.Add(1)%count)
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		if err == nil {
			_ = listener.Close()
			return address
		}
		last = err
	}
	t.Fatalf("no port from %d to %d is free: %v", first, first+count-1, last)
	return ""
}
