// Package metrics declares what the driver exports; csi/docs/metrics.md is generated from it.
package metrics

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// Declaration is one metric.
type Declaration struct {
	Name, Kind, Help string
	Labels           []string
}

// The metrics, in the order of their documentation.
var (
	operationSeconds = Declaration{"posix_gateway_csi_operation_seconds", "histogram", "Duration of CSI requests by method and gRPC code.", []string{"method", "code"}}
	volumes          = Declaration{"posix_gateway_csi_volumes", "gauge", "Volumes on this node that the driver has recorded.", nil}
	published        = Declaration{"posix_gateway_csi_published_targets", "gauge", "Targets on this node at which volumes are published.", nil}
	repairs          = Declaration{"posix_gateway_csi_repairs_total", "counter", "Dead or incomplete mounts that were repaired, by kind.", []string{"found"}}
	forced           = Declaration{"posix_gateway_csi_forced_unmounts_total", "counter", "Forced unmounts of volumes whose gateway did not respond in time.", nil}
	statsTimeouts    = Declaration{"posix_gateway_csi_stats_timeouts_total", "counter", "Volume statistics returned from memory because the gateway was too slow.", nil}
)

// Declarations lists all metrics.
var Declarations = []Declaration{operationSeconds, volumes, published, repairs, forced, statsTimeouts}

// Metrics are the collectors of one driver.
type Metrics struct {
	operations    *prometheus.HistogramVec
	Volumes       prometheus.Gauge
	Published     prometheus.Gauge
	repairs       *prometheus.CounterVec
	Forced        prometheus.Counter
	StatsTimeouts prometheus.Counter
}

// New registers the metrics.
func New(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		operations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: operationSeconds.Name, Help: operationSeconds.Help, Buckets: []float64{.005, .02, .1, .5, 2, 10, 60, 120},
		}, operationSeconds.Labels),
		Volumes:       gauge(volumes),
		Published:     gauge(published),
		repairs:       prometheus.NewCounterVec(prometheus.CounterOpts{Name: repairs.Name, Help: repairs.Help}, repairs.Labels),
		Forced:        counter(forced),
		StatsTimeouts: counter(statsTimeouts),
	}
	registry.MustRegister(m.operations, m.Volumes, m.Published, m.repairs, m.Forced, m.StatsTimeouts)
	return m
}

func gauge(d Declaration) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: d.Name, Help: d.Help})
}

func counter(d Declaration) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: d.Name, Help: d.Help})
}

// Repaired counts one repair; found is one of a few fixed words.
func (m *Metrics) Repaired(found string) { m.repairs.WithLabelValues(found).Inc() }

// Intercept measures a call.
func (m *Metrics) Intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	begin := time.Now()
	answer, err := handler(ctx, request)
	m.operations.WithLabelValues(path.Base(info.FullMethod), status.Code(err).String()).Observe(time.Since(begin).Seconds())
	return answer, err
}

// Markdown is the text of csi/docs/metrics.md.
func Markdown() string {
	var text strings.Builder
	text.WriteString("<!-- Generated from csi/internal/metrics/metrics.go by `make csi-generate`. -->\n# Metrics of the CSI driver\n\n" +
		"`/metrics` on the address given by `--http`, beside those of Go and the process.\n\n| name | kind | labels | meaning |\n|---|---|---|---|\n")
	for _, d := range Declarations {
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", d.Name, d.Kind, strings.Join(d.Labels, ", "), d.Help)
	}
	return text.String()
}
