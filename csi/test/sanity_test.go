package test

import (
	"path/filepath"
	"testing"

	"github.com/kubernetes-csi/csi-test/v5/pkg/sanity"
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
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
	config.TargetPath = filepath.Join(r.kubelet(), "target")
	config.StagingPath = filepath.Join(r.kubelet(), "staging")
	config.IdempotentCount = 3
	// The suite's own way to connect waits a minute in vain where the connection is ready before it first looks.
	suite := sanity.GinkgoTest(&config)
	connection, err := grpc.NewClient("unix://"+r.driverSocket(),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority("localhost"))
	if err != nil {
		t.Fatal(err)
	}
	suite.Conn = connection
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "CSI Driver Test Suite")
	suite.Finalize()
	r.nothingLeft()
}
