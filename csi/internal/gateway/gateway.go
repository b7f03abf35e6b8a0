// Package gateway reaches the gateway's control API.
package gateway

import (
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"posixgateway.io/csi/internal/controlpb"
)

// DefaultSocket is where a gateway listens unless told otherwise.
const DefaultSocket = "/run/posix-gateway/control.sock"

// Dial makes a client that connects when it is used, and again after the gateway was replaced. Close it after use.
func Dial(socket string) (controlpb.ControlClient, *grpc.ClientConn, error) {
	// The authority is fixed because gRPC for Java refuses a socket's path in its place.
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority("localhost"))
	if err != nil {
		return nil, nil, fmt.Errorf("gateway at %s: %w", socket, err)
	}
	return controlpb.NewControlClient(conn), conn, nil
}
