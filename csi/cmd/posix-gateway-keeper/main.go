// Command posix-gateway-keeper holds FUSE sessions so that a gateway may end and another go on serving them.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"posixgateway.io/csi/internal/keeper"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/version"
)

func main() {
	keeper.MaybeHelp()
	config := keeper.Config{Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	flag.StringVar(&config.Socket, "socket", keeperapi.DefaultSocket, "Unix `socket` to listen at")
	flag.StringVar(&config.TakeoverSocket, "takeover", "", "take the sessions of the keeper at this `socket`, if there is one; may be the same as --socket")
	flag.StringVar(&config.MetricsAddress, "metrics", "", "`host:port` of /metrics and /healthz; empty: none")
	flag.BoolVar(&config.OldMetricNames, "old-metric-names", false, "also offer renamed metrics by their earlier names")
	flag.Func("client-uid", "`uid` of a gateway that may take sessions, besides root and the keeper's own user; may be repeated", func(text string) error {
		uid, err := strconv.ParseUint(text, 10, 32)
		config.ClientUIDs = append(config.ClientUIDs, uint32(uid))
		return err
	})
	flag.BoolVar(&config.Linger, "linger", false, "after a handover wait for a signal instead of ending: for process managers that would start this keeper again")
	showVersion := flag.Bool("version", false, "print the version and end")
	flag.Parse()
	if *showVersion {
		fmt.Println(version.Version)
		return
	}
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "posix-gateway-keeper: %q is not an option; see --help\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := keeper.Run(ctx, config)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "posix-gateway-keeper:", err)
		os.Exit(1)
	}
}
