package keeper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const metricsText = `# HELP posix_gateway_keeper_sessions FUSE sessions the keeper holds.
# TYPE posix_gateway_keeper_sessions gauge
posix_gateway_keeper_sessions %d
# HELP posix_gateway_keeper_attaches How often gateways attached to the sessions held now.
# TYPE posix_gateway_keeper_attaches gauge
posix_gateway_keeper_attaches %d
`

// oldMetricsText has metrics by the names they had before, for --old-metric-names.
const oldMetricsText = `# HELP posix_gateway_keeper_takes How often gateways attached to the sessions held now.
# TYPE posix_gateway_keeper_takes gauge
posix_gateway_keeper_takes %d
`

// pageTime is how long a client may take, and pageBytes how much it may ask with.
const (
	pageTime  = 5 * time.Second
	pageBytes = 16 << 10
)

// pages offers /metrics and /healthz. It speaks only as much HTTP as a scraper and a probe need: Go's own server, with TLS and
// HTTP/2, would be two thirds of the keeper.
type pages struct {
	address  string
	oldNames bool
	log      *slog.Logger
	listener net.Listener // nil while another process has the address
}

// openPages listens, if there is an address: before a keeper takes sessions, so that one that cannot do so leaves them to its
// predecessor. Where the address is in use, which may be by that one, the pages are served later.
func openPages(ctx context.Context, config Config) (*pages, error) {
	p := &pages{address: config.MetricsAddress, oldNames: config.OldMetricNames, log: config.Log}
	if p.address == "" {
		return p, nil
	}
	err := p.listen(ctx)
	if errors.Is(err, unix.EADDRINUSE) {
		p.log.Warn("metrics are not served until the address is free", "error", err)
		err = nil
	}
	return p, err
}

func (p *pages) listen(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.address)
	if err != nil {
		return fmt.Errorf("metrics at %s: %w", p.address, err)
	}
	p.listener = listener
	return nil
}

// serve answers until the context ends, for which the address is waited for if need be.
func (p *pages) serve(ctx context.Context, keeper *Keeper) {
	for p.listener == nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
		_ = p.listen(ctx) // which was reported
	}
	listener := p.listener
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	for {
		client, err := listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // no descriptor is free now
			time.Sleep(100 * time.Millisecond)
		default:
			go answerPage(client, keeper, p.oldNames)
		}
	}
}

// close is for pages that were never served.
func (p *pages) close() {
	if p.listener != nil {
		_ = p.listener.Close()
	}
}

// answerPage answers one request and hangs up.
func answerPage(client net.Conn, keeper *Keeper, oldNames bool) {
	defer func() { _ = client.Close() }()
	_ = client.SetDeadline(time.Now().Add(pageTime))
	request, path := bufio.NewReader(io.LimitReader(client, pageBytes)), ""
	for first := true; ; first = false {
		line, err := request.ReadString('\n')
		if err != nil {
			return
		}
		if words := strings.Fields(line); first && len(words) == 3 && words[0] == "GET" {
			path, _, _ = strings.Cut(words[1], "?")
		}
		if strings.TrimRight(line, "\r\n") == "" {
			break
		}
	}
	status, body := "404 Not Found", "GET /metrics or /healthz\n"
	switch path {
	case "/metrics":
		sessions, takes := keeper.Sessions()
		status, body = "200 OK", fmt.Sprintf(metricsText, sessions, takes)
		if oldNames {
			body += fmt.Sprintf(oldMetricsText, takes)
		}
	case "/healthz":
		status, body = "200 OK", "ok\n"
	}
	_, _ = fmt.Fprintf(client, "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, len(body), body)
}
