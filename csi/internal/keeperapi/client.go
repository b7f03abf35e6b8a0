package keeperapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"posixgateway.io/csi/internal/trusted"
)

// Client asks the keeper at Socket. Each call has a connection of its own, so a Client may be used from many goroutines
// and survives a keeper that is replaced by its successor. Calls obey the context's deadline.
type Client struct {
	Socket string
}

// retryEvery is the pause between tries while a keeper hands over to its successor.
const retryEvery = 20 * time.Millisecond

// Info asks who the keeper is.
func (c *Client) Info(ctx context.Context) (Info, error) {
	var answer Info
	_, err := c.call(ctx, &Request{Op: OpInfo}, &answer, &answer.Status, 0)
	return answer, err
}

// Mount makes the session of request.ID with its mount; existing says that it was there already.
func (c *Client) Mount(ctx context.Context, request Request) (existing bool, err error) {
	request.Op = OpMount
	var answer Done
	_, err = c.call(ctx, &request, &answer, &answer.Status, 0)
	return answer.Existing, err
}

// Take returns duplicates of the session's /dev/fuse connection and memory, which the caller owns.
func (c *Client) Take(ctx context.Context, id string) (answer Taken, fuse, memory *os.File, err error) {
	files, err := c.call(ctx, &Request{Op: OpTake, ID: id}, &answer, &answer.Status, 2)
	if err != nil {
		return answer, nil, nil, err
	}
	return answer, files[0], files[1], nil
}

// TakeOwn is Take with a descriptor of the connection that nobody else has, and one that tells others that the caller lives;
// the caller owns them, too.
func (c *Client) TakeOwn(ctx context.Context, id string) (answer Taken, fuse, memory, clone, lock *os.File, err error) {
	files, err := c.call(ctx, &Request{Op: OpTake, ID: id, Clone: true}, &answer, &answer.Status, 4)
	if err != nil {
		return answer, nil, nil, nil, nil, err
	}
	return answer, files[0], files[1], files[2], files[3], nil
}

// Adopt gives a session to a keeper that does not hold it, by whoever serves it; existing says that it held it already. The
// descriptors stay the caller's. ID, Target, Device, ReadOnly, Takes and Data (the record) of the request count.
func (c *Client) Adopt(ctx context.Context, request Request, fuse, memory *os.File) (existing bool, err error) {
	request.Op = OpAdopt
	var answer Done
	_, err = c.call(ctx, &request, &answer, &answer.Status, 0, fuse, memory)
	return answer.Existing, err
}

// List returns the sessions, sorted by id.
func (c *Client) List(ctx context.Context) ([]Session, error) {
	var answer List
	_, err := c.call(ctx, &Request{Op: OpList}, &answer, &answer.Status, 0)
	return answer.List, err
}

// SetRecord stores what a gateway needs to serve the session again; empty data deletes it.
func (c *Client) SetRecord(ctx context.Context, id string, data []byte) error {
	var answer Record
	_, err := c.call(ctx, &Request{Op: OpRecord, ID: id, Data: &data}, &answer, &answer.Status, 0)
	return err
}

// Record reads what SetRecord stored.
func (c *Client) Record(ctx context.Context, id string) ([]byte, error) {
	var answer Record
	_, err := c.call(ctx, &Request{Op: OpRecord, ID: id}, &answer, &answer.Status, 0)
	return answer.Data, err
}

// Notify has the keeper write FUSE notices, one behind the other, to the session's connection, and returns the kernel's errno
// of the last one, 0 if it had none.
// It may take as long as the kernel waits for an answer to a request.
func (c *Client) Notify(ctx context.Context, id, device string, notices []byte) (syscall.Errno, error) {
	var answer Notified
	_, err := c.call(ctx, &Request{Op: OpNotify, ID: id, Device: device, Data: &notices}, &answer, &answer.Status, 0)
	return syscall.Errno(answer.Errno), err
}

// Unmount ends a session; existing says that there was one. Force detaches at once and aborts the connection.
func (c *Client) Unmount(ctx context.Context, id string, force bool) (existing bool, err error) {
	var answer Done
	_, err = c.call(ctx, &Request{Op: OpUnmount, ID: id, Force: force}, &answer, &answer.Status, 0)
	return answer.Existing, err
}

// call sends one request and reads one answer. Every operation may be repeated, so a keeper that goes away in the
// middle (it handed over) is asked again for as long as the context allows.
func (c *Client) call(
	ctx context.Context, request *Request, answer any, status *Status, files int, given ...*os.File,
) ([]*os.File, error) {
	for {
		claimed, err := c.once(ctx, request, answer, status, files, given)
		if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
			return claimed, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("keeper at %s: %w", c.Socket, ctx.Err())
		case <-time.After(retryEvery):
		}
	}
}

func (c *Client) once(
	ctx context.Context, request *Request, answer any, status *Status, files int, given []*os.File,
) ([]*os.File, error) {
	conn, err := Dial(ctx, c.Socket)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	*status = Status{}
	err = conn.Send(request, given...)
	if err == nil {
		err = conn.Receive(answer)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("keeper at %s: %s: %w", c.Socket, request.Op, err)
	}
	if !status.OK {
		return nil, &Error{Code: status.Code, Message: status.Message}
	}
	return conn.Claim(files)
}

// ErrAway: nobody listens at the keeper's socket.
var ErrAway = errors.New("no keeper answers")

// Dial connects to a keeper's socket.
func Dial(ctx context.Context, socket string) (*Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("%w at %s (check that posix-gateway-keeper is running): %w", ErrAway, socket, err)
	}
	if err := trusted.Peer(conn.(*net.UnixConn)); err != nil {
		return nil, errors.Join(fmt.Errorf("keeper at %s: %w", socket, err), conn.Close())
	}
	return NewConn(conn.(*net.UnixConn)), nil
}
