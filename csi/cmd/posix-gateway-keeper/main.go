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

const usage = `Usage: posix-gateway-keeper [FLAG...]

Holds FUSE sessions, so that mounts outlive the gateway that serves them.

Examples:
  posix-gateway-keeper --socket=/run/posix-gateway/keeper.sock --client-uid=64321
  posix-gateway-keeper --takeover=/run/posix-gateway/keeper.sock --metrics=:9402

Flags:
`

func main() {
	keeper.MaybeHelp()
	config := keeper.Config{Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	flags := commandLine(&config)
	showVersion := flags.Bool("version", false, "print the version and exit")
	_ = flags.Parse(os.Args[1:]) // it exits itself
	if *showVersion {
		fmt.Println(version.Version)
		return
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "posix-gateway-keeper: %q is not an option; see --help\n", flags.Arg(0))
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

func commandLine(config *keeper.Config) *flag.FlagSet {
	flags := flag.NewFlagSet("posix-gateway-keeper", flag.ExitOnError)
	flags.StringVar(&config.Socket, "socket", keeperapi.DefaultSocket, "Unix `socket` to listen at")
	flags.StringVar(&config.TakeoverSocket, "takeover", "", "take over the sessions of the keeper at this `socket`, if there is one; may equal --socket")
	flags.StringVar(&config.MetricsAddress, "metrics", "", "`host:port` of /metrics and /healthz; empty: none")
	flags.BoolVar(&config.OldMetricNames, "old-metric-names", false, "also export renamed metrics under their earlier names")
	flags.Func("client-uid", "`uid` of a gateway that may take sessions, besides root and the keeper's own user; repeatable", func(text string) error {
		uid, err := strconv.ParseUint(text, 10, 32)
		config.ClientUIDs = append(config.ClientUIDs, uint32(uid))
		return err
	})
	flags.BoolVar(&config.Linger, "linger", false, "after a handover, wait for a signal instead of exiting: for process managers that would restart this keeper")
	flags.Usage = func() {
		_, _ = fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	return flags
}
