package test

import (
	"path/filepath"
	"testing"

	"github.com/kubernetes-csi/csi-test/v5/pkg/sanity"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"posixgateway.io/csi/internal/fusetest"
)

// TestSanity runs once in a process, as Ginkgo wants: with the real gateway where it can, else with the stand-in.
func TestSanity(t *testing.T) {
	fusetest.RequireFuse(t)
	program, lacking := realProgram()
	t.Logf("with the stand-in: %t %s", program == "", lacking)
	r := newRig(t, program)
	config := sanity.NewTestConfig()
	config.Address = "unix://" + r.driverSocket()
	config.DialOptions = []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority("localhost")}
	config.ControllerDialOptions = config.DialOptions
	config.TargetPath = filepath.Join(r.kubelet(), "target")
	config.StagingPath = filepath.Join(r.kubelet(), "staging")
	config.IdempotentCount = 3
	sanity.Test(t, config)
	r.nothingLeft()
}
