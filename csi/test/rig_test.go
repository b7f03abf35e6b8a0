package test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"posixgateway.io/csi/internal/attributes"
	"posixgateway.io/csi/internal/controlpb"
	"posixgateway.io/csi/internal/freeport"
	"posixgateway.io/csi/internal/fusetest"
	"posixgateway.io/csi/internal/gateway"
	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/mountinfo"
)

// patience is far more than any step takes on a loaded machine.
const patience = 120 * time.Second

// basePath holds what the driver provisions.
const basePath = "/posix-gateway-csi-test"

// places names the files of one rig.
type places struct{ dir string }

func (p places) keeperSocket() string  { return filepath.Join(p.dir, "keeper.sock") }
func (p places) gatewayDir() string    { return filepath.Join(p.dir, "control") }
func (p places) gatewaySocket() string { return filepath.Join(p.gatewayDir(), "control.sock") }
func (p places) driverSocket() string  { return filepath.Join(p.dir, "csi.sock") }
func (p places) kubelet() string       { return filepath.Join(p.dir, "kubelet") }
func (p places) state() string         { return filepath.Join(p.dir, "state") }
func (p places) alluxio() string       { return filepath.Join(p.dir, "alluxio") }
func (p places) spool() string         { return filepath.Join(p.dir, "spool") }
func (p places) logFile() string       { return filepath.Join(p.dir, "log") }

// rig is a keeper, a gateway and a driver, and what is needed to talk to them.
type rig struct {
	places
	t         testing.TB
	real      string // the program of the real gateway; empty: the stand-in
	user      int    // of the gateway
	processes map[string]*exec.Cmd
	log       *os.File          // what they say
	http      string            // of the driver
	httpOf    map[string]string // of keeper and real gateway
	conn      *grpc.ClientConn
	node      csi.NodeClient
	control   csi.ControllerClient
	keeper    *keeperapi.Client
	gateway   controlpb.ControlClient
}

// onEachGateway runs a test with the stand-in and, where there is one and an Alluxio, with the real gateway.
func onEachGateway(t *testing.T, run func(t *testing.T, r *rig)) {
	fusetest.RequireFuse(t)
	t.Run("stand-in", func(t *testing.T) { run(t, newRig(t, "")) })
	t.Run("gateway", func(t *testing.T) {
		program, lacking := realProgram()
		if lacking != "" {
			t.Skip("skipped:", lacking)
		}
		run(t, newRig(t, program))
	})
}

// onTheGateway runs a test that says nothing about the stand-in.
func onTheGateway(t *testing.T, run func(t *testing.T, r *rig)) {
	fusetest.RequireFuse(t)
	program, lacking := realProgram()
	if lacking != "" {
		t.Skip("skipped:", lacking)
	}
	run(t, newRig(t, program))
}

// realProgram finds the gateway, or says what is lacking to use it.
func realProgram() (program, lacking string) {
	program = os.Getenv("PGW_GATEWAY")
	if program == "" {
		program = "../../bin/posix-gateway"
	}
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Sprintf("no gateway is built (make build), nor named by PGW_GATEWAY: %v", err)
	}
	if os.Getenv("PGW_ALLUXIO") == "" {
		return "", "PGW_ALLUXIO does not name an Alluxio master (host:port)"
	}
	return program, ""
}

func newRig(t *testing.T, program string) *rig { return newRigAs(t, program, 0) }

// newRigAs has a gateway that runs as user.
func newRigAs(t *testing.T, program string, user int) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "csi") // short: sockets have paths of at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the gateway, of another user, finds its folders there
		t.Fatal(err)
	}
	r := &rig{places: places{dir: dir}, t: t, real: program, user: user, processes: map[string]*exec.Cmd{}, http: freeport.Address(t)}
	r.httpOf = map[string]string{"keeper": freeport.Address(t), "gateway": freeport.Address(t)}
	t.Cleanup(r.tearDown)
	for _, folder := range []string{r.kubelet(), r.alluxio(), r.gatewayDir(), r.spool()} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{r.gatewayDir(), r.spool()} { // where the gateway makes its socket and its files
		if err := os.Chown(folder, user, user); err != nil {
			t.Fatal(err)
		}
	}
	if r.log, err = os.OpenFile(r.logFile(), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600); err != nil {
		t.Fatal(err)
	}
	r.keeper = &keeperapi.Client{Socket: r.keeperSocket()}
	if r.gateway, r.conn, err = gateway.Dial(r.gatewaySocket()); err != nil {
		t.Fatal(err)
	}
	gatewayConn := r.conn
	t.Cleanup(func() { _ = gatewayConn.Close() })
	r.conn, err = grpc.NewClient("unix://"+r.driverSocket(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority("localhost"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.conn.Close() })
	r.node, r.control = csi.NewNodeClient(r.conn), csi.NewControllerClient(r.conn)
	for _, role := range []string{"keeper", "gateway", "driver"} {
		r.start(role)
	}
	return r
}

// launch runs a process.
func (r *rig) launch(role string) {
	r.t.Helper()
	command := exec.Command("/proc/self/exe", r.dir, r.http, r.httpOf["keeper"], strconv.Itoa(r.user))
	if role == "gateway" && r.real != "" {
		command = r.realGateway()
	}
	// Built to find data races, it would sleep for a second at its end.
	command.Env = append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0")
	command.Stdout, command.Stderr = r.log, r.log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if role == "gateway" && r.user != 0 {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(r.user), Gid: uint32(r.user)}
	}
	if err := command.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.processes[role] = command
}

// start runs a process and waits until it answers.
func (r *rig) start(role string) {
	r.t.Helper()
	r.launch(role)
	command := r.processes[role]
	r.until(role+" to answer", func(ctx context.Context) error {
		switch role {
		case "keeper":
			_, err := r.keeper.Info(ctx)
			return err
		case "gateway":
			info, err := r.gateway.Info(ctx, &controlpb.InfoRequest{}, grpc.WaitForReady(true))
			if err == nil && (!info.GetReady() || r.real == "" && info.GetPid() != int64(command.Process.Pid)) {
				err = fmt.Errorf("not ready")
			}
			return err
		}
		probe, err := csi.NewIdentityClient(r.conn).Probe(ctx, &csi.ProbeRequest{}, grpc.WaitForReady(true))
		if err == nil && !probe.GetReady().GetValue() {
			err = fmt.Errorf("not ready")
		}
		return err
	})
}

func (r *rig) realGateway() *exec.Cmd {
	host, port, err := net.SplitHostPort(os.Getenv("PGW_ALLUXIO"))
	if err != nil {
		r.t.Fatal("PGW_ALLUXIO:", err)
	}
	site := filepath.Join(r.dir, "alluxio-site.properties")
	text := fmt.Sprintf("alluxio.master.hostname=%s\nalluxio.master.rpc.port=%s\n", host, port)
	if err := os.WriteFile(site, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return exec.Command(r.real, "serve", "--socket", r.gatewaySocket(), "--keeper", r.keeperSocket(), "--http", r.httpOf["gateway"],
		"--spool", r.spool(), "--site-properties", site)
}

// kill ends a process as a power cut would.
func (r *rig) kill(role string) {
	process := r.processes[role]
	_ = process.Process.Signal(syscall.SIGCONT)
	_ = process.Process.Kill()
	_ = process.Wait()
	delete(r.processes, role)
}

// tearDown leaves no process, no mount, no file.
func (r *rig) tearDown() {
	for _, role := range []string{"prometheus", "native", "driver", "gateway", "keeper"} {
		if r.processes[role] != nil {
			r.kill(role)
		}
	}
	for _, mount := range r.mounts() {
		if err := syscall.Unmount(mount.MountPoint, syscall.MNT_DETACH); err != nil {
			r.t.Error("left mounted:", mount.MountPoint, err)
		}
	}
	if r.t.Failed() {
		r.sayLog()
	}
	_ = r.log.Close()
	if err := os.RemoveAll(r.dir); err != nil {
		r.t.Error(err)
	}
}

// sayLog shows the end of what the processes said.
func (r *rig) sayLog() {
	const most = 64 << 10
	size, err := r.log.Seek(0, io.SeekEnd)
	if err != nil {
		r.t.Error(err)
		return
	}
	text, _ := io.ReadAll(io.NewSectionReader(r.log, max(0, size-most), most))
	r.t.Logf("the processes said:\n%s", text)
}

// mounts are those below the rig's folder.
func (r *rig) mounts() mountinfo.Table {
	table, err := mountinfo.Read()
	if err != nil {
		r.t.Error(err)
	}
	var below mountinfo.Table
	for _, mount := range table {
		if strings.HasPrefix(mount.MountPoint, r.dir+"/") {
			below = append(below, mount)
		}
	}
	return below
}

// until repeats a question until it has an answer.
func (r *rig) until(what string, ask func(context.Context) error) {
	r.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		err := ask(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("waited %v for %s: %v", patience, what, err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// volume is one volume with the paths kubelet would use. What is not said is as most volumes are.
type volume struct {
	r          *rig
	name       string
	id         string
	context    map[string]string
	parameters map[string]string // of its StorageClass
	mode       csi.VolumeCapability_AccessMode_Mode
	group      string
	secrets    map[string]string
}

func (v *volume) staging() string {
	return filepath.Join(v.r.kubelet(), "plugins", v.name, "globalmount")
}

func (v *volume) target(pod string) string {
	return filepath.Join(v.r.kubelet(), "pods", pod, "volumes", v.name, "mount")
}

func (v *volume) capability() *csi.VolumeCapability {
	mode := v.mode
	if mode == csi.VolumeCapability_AccessMode_UNKNOWN {
		mode = csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
	}
	return &csi.VolumeCapability{
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: mode},
		AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{VolumeMountGroup: v.group}},
	}
}

func (v *volume) create(ctx context.Context) error {
	parameters := map[string]string{attributes.OnDelete: attributes.Delete}
	maps.Copy(parameters, v.parameters)
	answer, err := v.r.control.CreateVolume(ctx, &csi.CreateVolumeRequest{
		Name: v.name, VolumeCapabilities: []*csi.VolumeCapability{v.capability()}, Parameters: parameters,
	})
	v.id, v.context = answer.GetVolume().GetVolumeId(), answer.GetVolume().GetVolumeContext()
	return err
}

func (v *volume) stage(ctx context.Context) error {
	_, err := v.r.node.NodeStageVolume(ctx, &csi.NodeStageVolumeRequest{
		VolumeId: v.id, StagingTargetPath: v.staging(), VolumeCapability: v.capability(), VolumeContext: v.context, Secrets: v.secrets,
	})
	return err
}

func (v *volume) publish(ctx context.Context, pod string, readOnly bool) error {
	_, err := v.r.node.NodePublishVolume(ctx, &csi.NodePublishVolumeRequest{
		VolumeId: v.id, StagingTargetPath: v.staging(), TargetPath: v.target(pod), VolumeCapability: v.capability(),
		VolumeContext: v.context, Readonly: readOnly, Secrets: v.secrets,
	})
	return err
}

func (v *volume) unpublish(ctx context.Context, pod string) error {
	_, err := v.r.node.NodeUnpublishVolume(ctx, &csi.NodeUnpublishVolumeRequest{VolumeId: v.id, TargetPath: v.target(pod)})
	return err
}

func (v *volume) unstage(ctx context.Context) error {
	_, err := v.r.node.NodeUnstageVolume(ctx, &csi.NodeUnstageVolumeRequest{VolumeId: v.id, StagingTargetPath: v.staging()})
	return err
}

func (v *volume) remove(ctx context.Context) error {
	_, err := v.r.control.DeleteVolume(ctx, &csi.DeleteVolumeRequest{VolumeId: v.id})
	return err
}

// read proves that the mount works; the real gateway's volume is empty, so there only the look-up is answered.
func (v *volume) read(path string) error {
	result := make(chan error, 1)
	go func() {
		if v.r.real == "" {
			result <- fusetest.Read(path)
			return
		}
		_, err := os.ReadDir(path) // opening a directory always asks the gateway; a name may be known to be missing
		result <- err
	}()
	select {
	case err := <-result:
		return err
	case <-time.After(patience):
		return fmt.Errorf("reading %s hangs", path)
	}
}

// nothingLeft checks that no volume has left a trace.
func (r *rig) nothingLeft() {
	r.t.Helper()
	if mounts := r.mounts(); len(mounts) > 0 {
		r.t.Errorf("mounts are left: %+v", mounts)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if sessions, err := r.keeper.List(ctx); err != nil || len(sessions) > 0 {
		r.t.Errorf("the keeper has sessions left: %+v, %v", sessions, err)
	}
	if list, err := r.gateway.List(ctx, &controlpb.ListRequest{}, grpc.WaitForReady(true)); err != nil || len(list.GetVolumes()) > 0 {
		r.t.Errorf("the gateway has volumes left: %v, %v", list, err)
	}
	for _, pattern := range []string{r.state() + "/*/*", r.alluxio() + basePath + "/*", r.kubelet() + "/pods/*/volumes/*/mount"} {
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			r.t.Errorf("files are left: %v", left)
		}
	}
}

// goroutines of the driver, as its metrics say.
func (r *rig) goroutines() int {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+r.http+"/metrics", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(io.LimitReader(response.Body, 1<<20)); lines.Scan(); {
		if text, found := strings.CutPrefix(lines.Text(), "go_goroutines "); found {
			count, err := strconv.Atoi(text)
			if err != nil {
				r.t.Fatal(err)
			}
			return count
		}
	}
	r.t.Fatal("no go_goroutines among the metrics")
	return 0
}

// openFiles of a process.
func (r *rig) openFiles(role string) int {
	r.t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.processes[role].Process.Pid))
	if err != nil {
		r.t.Fatal(err)
	}
	return len(entries)
}
