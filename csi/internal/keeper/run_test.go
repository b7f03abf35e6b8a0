package keeper

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"posixgateway.io/csi/internal/freeport"
)

// logged collects what is logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

func awaitTrue(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for: %s", what)
		}
	}
}

func TestAfterAHandoverALingeringKeeperWaitsToBeEnded(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "keeper.sock")
	start := func(log *logged) (end context.CancelFunc, ended chan error) {
		ctx, cancel := context.WithCancel(t.Context())
		ended = make(chan error, 1)
		go func() {
			ended <- Run(ctx, Config{
				Socket: socket, TakeoverSocket: socket, Linger: true, Log: slog.New(slog.NewTextHandler(log, nil)),
			})
		}()
		return cancel, ended
	}
	var oldLog, newLog logged
	endOld, oldEnded := start(&oldLog)
	awaitTrue(t, "the first keeper", func() bool { return oldLog.has("keeping sessions") })
	endNew, newEnded := start(&newLog)
	awaitTrue(t, "the handover", func() bool { return oldLog.has("waiting to be ended") })
	for _, one := range []struct {
		end   context.CancelFunc
		ended chan error
	}{{endNew, newEnded}, {endOld, oldEnded}} {
		select {
		case err := <-one.ended:
			t.Fatalf("a keeper ended by itself: %v", err)
		default:
		}
		one.end()
		if err := <-one.ended; err != nil {
			t.Errorf("a keeper that is told to end fails: %v", err)
		}
	}
}

func TestTheMetricsAreReadable(t *testing.T) {
	address := freeport.Address(t)
	stop, err := serveMetrics(t.Context(), address, New("generation"))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	get := func(path string) (status int, text string) {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	if status, text := get("/healthz"); status != http.StatusOK || text != "ok\n" {
		t.Fatal(status, text)
	}
	if status, _ := get("/other"); status != http.StatusNotFound {
		t.Fatal(status)
	}
	status, text := get("/metrics")
	if status != http.StatusOK || !strings.Contains(text, "posix_gateway_keeper_sessions 0\n") {
		t.Fatal(status, text)
	}
	if problems, err := promlint.New(strings.NewReader(text)).Lint(); err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
}
