package orphans

import (
	"testing"

	"posixgateway.io/csi/internal/fusetest"
)

func TestMain(m *testing.M) { fusetest.Main(m) }
