package metrics

import (
	"context"
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestWhatIsDeclaredIsExportedAndDocumented(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	m.Repaired("dead session")
	_, err := m.Intercept(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: "/csi.v1.Node/NodeStageVolume"}, func(context.Context, any) (any, error) {
		return nil, status.Error(codes.NotFound, "")
	})
	if status.Code(err) != codes.NotFound {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil || len(families) != len(Declarations) {
		t.Fatal(families, err)
	}
	exported := map[string]string{}
	for _, family := range families {
		exported[family.GetName()] = family.GetHelp()
	}
	for _, d := range Declarations {
		if exported[d.Name] != d.Help {
			t.Errorf("%s is declared and not exported", d.Name)
		}
	}
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil || string(page) != Markdown() {
		t.Fatal("csi/docs/metrics.md is not what is declared: run csi/generate.sh", err)
	}
}
