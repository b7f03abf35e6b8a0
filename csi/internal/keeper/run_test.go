package keeper

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/freeport"
	"posixgateway.io/csi/internal/orphans"
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
	awaitTrue(t, "the first keeper", func() bool { return oldLog.has("holding sessions") })
	endNew, newEnded := start(&newLog)
	awaitTrue(t, "the handover", func() bool { return oldLog.has("waiting for a signal to exit") })
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

func TestAKeeperThatHoldsNothingLeavesNoFiles(t *testing.T) {
	folder := t.TempDir()
	socket := filepath.Join(folder, "keeper.sock")
	var log logged
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, Config{Socket: socket, Log: slog.New(slog.NewTextHandler(&log, nil))}) }()
	awaitTrue(t, "the keeper", func() bool { return log.has("holding sessions") })
	lock, err := orphans.Lock(socket, "session", 0) // as a session had one that has ended
	if err != nil {
		t.Fatal(err)
	}
	_ = lock.Close()
	if err := orphans.Save(socket, nil); err != nil {
		t.Fatal(err)
	}
	end()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Fatalf("left: %v, %v", left, err)
	}
}

// What it does not understand of the list, such as records of a later version, it keeps beside its own.
func TestAListOfSessionsThatIsDamagedIsKept(t *testing.T) {
	const damaged = `[{"id":"a","device":{"major":0}},`
	folder := t.TempDir()
	socket := filepath.Join(folder, "keeper.sock")
	if err := os.WriteFile(socket+".sessions", []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	var log logged
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, Config{Socket: socket, Log: slog.New(slog.NewTextHandler(&log, nil))}) }()
	awaitTrue(t, "the keeper", func() bool { return log.has("holding sessions") })
	end()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(socket + ".sessions-*")
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if text, err := os.ReadFile(kept[0]); err != nil || string(text) != damaged {
		t.Fatalf("%s: %q, %v", kept[0], text, err)
	}
	if !log.has("list=" + kept[0]) {
		t.Fatal("it is not reported")
	}
	if records, err := orphans.Load(socket); err != nil || len(records) > 0 {
		t.Fatal(records, err)
	}
}

func TestAKeeperKeepsTheRecordsOfWhatAnEarlierOneLeft(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "keeper.sock")
	keeper := New("generation")
	server, err := NewServer(keeper, socket, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := orphans.Save(socket, []orphans.Record{{ID: "left", Device: "0:1"}}); err != nil {
		t.Fatal(err)
	}
	keeper.left = map[string]orphans.Record{"left": {ID: "left", Device: "0:1"}}
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := server.Serve(ctx); err != nil {
		t.Fatal(err)
	}
	if left, err := orphans.Load(socket); err != nil || len(left) != 1 {
		t.Fatal(left, err)
	}
}

// pagesOf serves the pages of a keeper without sessions.
func pagesOf(t *testing.T, oldNames bool) (get func(path string) (status int, text string)) {
	t.Helper()
	address := freeport.Address(t)
	pages, err := openPages(t.Context(), Config{MetricsAddress: address, OldMetricNames: oldNames, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	go pages.serve(t.Context(), New("generation"))
	return func(path string) (status int, text string) {
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
}

func TestARenamedMetricHasItsEarlierNameOnlyWhereThatIsWanted(t *testing.T) {
	for _, oldNames := range []bool{false, true} {
		_, text := pagesOf(t, oldNames)("/metrics")
		if !strings.Contains(text, "posix_gateway_keeper_attaches 0\n") {
			t.Errorf("the new name is missing: %s", text)
		}
		if strings.Contains(text, "posix_gateway_keeper_takes 0\n") != oldNames {
			t.Errorf("with oldNames=%t: %s", oldNames, text)
		}
	}
}

func TestTheMetricsAreReadable(t *testing.T) {
	get := pagesOf(t, false)
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

func TestASuccessorThatCannotServeItsMetricsTakesNothing(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "keeper.sock")
	old := newTestServer(t, (&fakeSystem{}).keeper(), socket)
	var log logged
	err := Run(t.Context(), Config{
		Socket: socket, TakeoverSocket: socket, MetricsAddress: "127.0.0.1:none", Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:none") || old.server.finished() {
		t.Fatal("the predecessor's sessions are lost:", err)
	}
	if _, err := old.client.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The address may be its predecessor's, which ends only when the sessions are taken.
func TestASuccessorServesItsMetricsOnceTheAddressIsFree(t *testing.T) {
	socket, address := filepath.Join(t.TempDir(), "keeper.sock"), freeport.Address(t)
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	old := newTestServer(t, (&fakeSystem{}).keeper(), socket)
	var log logged
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{Socket: socket, TakeoverSocket: socket, MetricsAddress: address, Log: slog.New(slog.NewTextHandler(&log, nil))})
	}()
	awaitTrue(t, "the successor", func() bool { return log.has("holding sessions") || len(ended) > 0 })
	mustEnd(t, old)
	if !log.has("metrics are not served until the address is free") {
		t.Error("it is not reported")
	}
	_ = taken.Close()
	awaitTrue(t, "the metrics", func() bool {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/healthz", nil)
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK
	})
	end()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// It ends for nothing that passes: sessions that no gateway serves would end with it.
func TestAKeeperWithoutAFreeDescriptorServesOnWhenThereIsOne(t *testing.T) {
	socket, log := filepath.Join(t.TempDir(), "k.sock"), &logged{}
	server, err := NewServer((&fakeSystem{}).keeper(), socket, nil, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, server)
	client, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(client) }()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limited := func(descriptors uint64) {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: descriptors, Max: limit.Max}); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() { limited(limit.Cur) })
	limited(3)
	if err := unix.Connect(client, &unix.SockaddrUnix{Name: socket}); err != nil { // for which the client needs no other one
		t.Fatal(err)
	}
	awaitTrue(t, "the keeper finds none", func() bool { return log.has("too many open files") || len(s.ended) > 0 })
	limited(limit.Cur)
	if _, err := s.client.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
}
