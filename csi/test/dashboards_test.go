package test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/freeport"
)

// Every panel of the chart's dashboards has data when Prometheus scrapes a gateway under load, and one that knows native
// histograms gets those. PGW_DRAW names a folder for
// pictures of them, which takes two more minutes of load.
func TestTheDashboardsShowALoadedGateway(t *testing.T) {
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("skipped:", err)
	}
	onTheGateway(t, func(t *testing.T, r *rig) {
		v := &volume{r: r, name: "pvc-seen"}
		r.until("the volume", v.create)
		v.context[attributes.PVCName], v.context[attributes.PVCNamespace] = "seen", "team"
		r.until("staging", v.stage)
		r.until("publishing", func(ctx context.Context) error { return v.publish(ctx, "pod", false) })
		url, native := r.prometheus("prometheus"), r.prometheus("native", "--enable-feature=native-histograms")
		ask := func(arguments ...string) error {
			command := exec.Command(python(), append([]string{"../../charts/tools/ask.py"}, arguments...)...)
			command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
			if text, err := command.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, text)
			}
			return nil
		}
		if _, err := r.node.NodeUnstageVolume(t.Context(), &csi.NodeUnstageVolumeRequest{}); err == nil { // a panel shows what failed
			t.Error("nothing is unstaged")
		}
		stop := r.load(v.target("pod"))
		r.until("data for every panel", func(context.Context) error { return ask("check", url, unseen()) })
		r.until("native histograms", func(context.Context) error {
			return ask("has", native, "histogram_quantile(0.99, sum by (op) (rate(posix_gateway_request_duration_seconds[20s]))) > 0")
		})
		if folder := os.Getenv("PGW_DRAW"); folder != "" {
			time.Sleep(2 * time.Minute)
			if err := ask("draw", url, folder, "120"); err != nil {
				t.Error(err)
			}
		}
		stop()
		v.finish(t)
		r.nothingLeft()
	})
}

// unseen is a pattern of the queries that this machine has no data for: the data cache has none of what its own workers
// store, and fusectl tells what waits in the kernel.
func unseen() string {
	if entries, err := os.ReadDir("/sys/fs/fuse/connections"); err != nil || len(entries) == 0 {
		return "data_cache|kernel_waiting"
	}
	return "data_cache"
}

func python() string {
	if program := os.Getenv("PGW_PYTHON"); program != "" {
		return program
	}
	return "python3"
}

// prometheus scrapes the rig's processes, and ends with it.
func (r *rig) prometheus(name string, options ...string) (url string) {
	r.t.Helper()
	config := fmt.Sprintf(`global: {scrape_interval: 1s}
scrape_configs:
  - job_name: posix-gateway
    static_configs:
      - {targets: [%q], labels: {cluster: here, node: node-1, endpoint: gateway-http}}
      - {targets: [%q], labels: {cluster: here, node: node-1, endpoint: csi-http}}
      - {targets: [%q], labels: {cluster: here, node: node-1, endpoint: keeper-http}}
`, r.httpOf["gateway"], r.http, r.httpOf["keeper"])
	file, address := filepath.Join(r.dir, name+".yml"), freeport.Address(r.t)
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		r.t.Fatal(err)
	}
	options = append(options, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(r.dir, name), "--web.listen-address="+address,
		"--log.level=error")
	command := exec.Command("prometheus", options...)
	command.Stderr, command.SysProcAttr = os.Stderr, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.processes[name] = command
	return "http://" + address
}

// load writes, reads, lists and removes files until it is stopped. When nothing goes on for a minute, the log has the stacks of
// the gateway's threads.
func (r *rig) load(folder string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	data := strings.Repeat("0123456789abcdef", 64<<10/16)
	gateway := r.processes["gateway"].Process
	stuck := time.AfterFunc(time.Minute, func() {
		r.t.Error("no program has done a round for a minute")
		_ = gateway.Signal(syscall.SIGQUIT)
	})
	for worker := range 3 {
		workers.Go(func() {
			for round := 0; ctx.Err() == nil; round++ {
				stuck.Reset(time.Minute)
				path := filepath.Join(folder, fmt.Sprintf("file-%d-%d", worker, round%8))
				if round >= 8 {
					_ = os.Remove(path)
				}
				if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
					r.t.Error(err)
					return
				}
				for range 20 {
					_, _ = os.ReadFile(path)
					_, _ = os.ReadDir(folder)
					_, _ = os.Stat(path + "-missing")
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	return func() { cancel(); workers.Wait(); stuck.Stop() }
}
