package keeper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
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

// serveMetrics offers /metrics and /healthz; stop ends it. It speaks only as much HTTP as a scraper and a probe need: Go's
// own server, with TLS and HTTP/2, would be two thirds of the keeper.
func serveMetrics(ctx context.Context, address string, keeper *Keeper, oldNames bool) (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics at %s: %w", address, err)
	}
	go func() {
		for {
			client, err := listener.Accept()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil: // no descriptor is free now
				time.Sleep(100 * time.Millisecond)
			default:
				go answerPage(client, keeper, oldNames)
			}
		}
	}()
	return func() { _ = listener.Close() }, nil
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
