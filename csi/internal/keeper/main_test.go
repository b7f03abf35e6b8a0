package keeper

import (
	"testing"

	"posixgateway.io/csi/internal/fusetest"
)

func TestMain(m *testing.M) {
	MaybeHelp()
	fusetest.Main(m)
}
