package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"posixgateway.io/csi/internal/keeperapi"
	"posixgateway.io/csi/internal/orphans"
	"posixgateway.io/csi/internal/version"
)

// sendPatience bounds how long a client that does not read may hold a session's lock.
const sendPatience = 10 * time.Second

// acceptPause is how long a client waits at least that could not be accepted.
const acceptPause = 100 * time.Millisecond

// Server answers clients of one keeper on one socket.
type Server struct {
	keeper *Keeper
	log    *slog.Logger
	// clientUIDs may look, take, record and end by force; to mount, unmount and hand over needs root or the keeper's own user.
	clientUIDs []uint32
	socket     string

	mu sync.Mutex
	// listener is guarded by mu; a failed handover may replace it.
	listener *net.UnixListener
	// bound tells the socket file we made from one that a successor put in its place; guarded by mu.
	bound os.FileInfo
	// conns is guarded by mu.
	conns map[*keeperapi.Conn]struct{}
	// handedOver is closed when a successor has everything.
	handedOver chan struct{}
}

// NewServer listens at socket by putting its socket file over whatever is there in one step: a client never finds none.
func NewServer(keeper *Keeper, socket string, clientUIDs []uint32, log *slog.Logger) (*Server, error) {
	s := &Server{
		keeper: keeper, log: log, clientUIDs: clientUIDs, socket: socket,
		conns: map[*keeperapi.Conn]struct{}{}, handedOver: make(chan struct{}),
	}
	return s, s.bind()
}

// bind makes the listener and its socket file anew.
func (s *Server) bind() error {
	temporary := fmt.Sprintf("%s.%d", s.socket, os.Getpid())
	_ = os.Remove(temporary) // of a predecessor with our process id
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listen at %s: %w (check that the folder exists and the path is shorter than 100 bytes)", s.socket, err)
	}
	listener.SetUnlinkOnClose(false)
	mode := os.FileMode(0o600)
	if len(s.clientUIDs) > 0 {
		mode = 0o666 // who connects is checked by the peer's credentials
	}
	if err := errors.Join(os.Chmod(temporary, mode), os.Rename(temporary, s.socket)); err != nil {
		return errors.Join(fmt.Errorf("listen at %s: %w", s.socket, err), listener.Close(), os.Remove(temporary))
	}
	bound, err := os.Lstat(s.socket)
	if err != nil {
		return errors.Join(fmt.Errorf("listen at %s: %w", s.socket, err), listener.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener, s.bound = listener, bound
	return nil
}

// Serve answers until the context ends (nil) or a successor has taken over (nil). It returns when every client is gone.
func (s *Server) Serve(ctx context.Context) error {
	var clients sync.WaitGroup
	defer clients.Wait()
	defer s.hangUp()
	stop := context.AfterFunc(ctx, func() {
		s.tidy()
		s.hangUp()
	})
	defer stop()
	for {
		s.mu.Lock()
		listener := s.listener
		s.mu.Unlock()
		socket, err := listener.AcceptUnix()
		if err != nil {
			if ctx.Err() != nil || s.finished() {
				return nil
			}
			if s.rebound(listener) {
				continue
			}
			if errors.Is(err, net.ErrClosed) {
				return fmt.Errorf("accept at %s: %w", s.socket, err)
			}
			s.log.Warn("a client cannot be accepted; retrying", "error", err) // such as for want of descriptors: no session ends for that
			time.Sleep(acceptPause)
			continue
		}
		conn := keeperapi.NewConn(socket)
		s.mu.Lock()
		s.conns[conn] = struct{}{}
		s.mu.Unlock()
		clients.Go(func() { s.serveConn(conn) })
	}
}

func (s *Server) finished() bool {
	select {
	case <-s.handedOver:
		return true
	default:
		return false
	}
}

// rebound says whether bind has put another listener in the place of old.
func (s *Server) rebound(old *net.UnixListener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listener != old
}

// tidy removes the files beside the socket, and the socket's own, at a planned end of a keeper that holds nothing. It comes before
// the listener is closed: as long as somebody listens, no other keeper puts its socket there, but a successor under the gate.
func (s *Server) tidy() {
	if !s.keeper.gate.TryRLock() {
		return // a handover is in flight: the files are the successor's, or the sessions stay here
	}
	defer s.keeper.gate.RUnlock()
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	if s.finished() || len(s.keeper.sessions) > 0 || len(s.keeper.left) > 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if there, err := os.Lstat(s.socket); err != nil || !os.SameFile(there, s.bound) {
		return
	}
	orphans.Discard(s.socket)
	if err := os.Remove(s.socket); err != nil {
		s.log.Warn("cannot remove the socket", "socket", s.socket, "error", err)
	}
}

// hangUp ends the listener and all connections. The socket file stays: a successor's may be in its place.
func (s *Server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.listener.Close()
	for conn := range s.conns {
		_ = conn.UnixConn.Close() // its goroutine cleans up
	}
}

func (s *Server) serveConn(conn *keeperapi.Conn) {
	defer func() {
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
		_ = conn.Close()
	}()
	peer, err := conn.Peer()
	if err != nil {
		s.log.Warn("a client sent no credentials", "error", err)
		return
	}
	if refusal := s.admit(peer.Uid, &keeperapi.Request{Op: keeperapi.OpInfo}); refusal != nil { // before anything is read: descriptors would come with it
		_ = conn.SetWriteDeadline(time.Now().Add(sendPatience))
		_ = s.refuse(conn, refusal)
		return
	}
	for {
		request := &keeperapi.Request{}
		err := conn.Receive(request)
		refusal, refused := errors.AsType[*keeperapi.Error](err)
		if err != nil && !refused {
			return // the client left
		}
		_ = conn.SetWriteDeadline(time.Now().Add(sendPatience))
		if refused {
			_ = s.refuse(conn, refusal)
			return // what follows on this connection cannot be told apart
		}
		if refusal := s.admit(peer.Uid, request); refusal != nil {
			err = s.refuse(conn, refusal)
		} else {
			err = s.dispatch(conn, request)
		}
		if err != nil {
			s.log.Warn("response not delivered", "op", request.Op, "id", request.ID, "error", err)
			return
		}
		if s.finished() {
			s.hangUp()
			return
		}
	}
}

// admit checks a peer's right to an operation. A gateway may end a session at once, whose calls it cannot even answer with an error: it
// could as well take it and let them wait, and here it has no other means to free them.
func (s *Server) admit(uid uint32, request *keeperapi.Request) error {
	if uid == 0 || int(uid) == os.Getuid() {
		return nil
	}
	if !slices.Contains(s.clientUIDs, uid) {
		return keeperapi.Errorf(keeperapi.Invalid, "user %d may not use this keeper: start it with --client-uid %d", uid, uid)
	}
	switch request.Op {
	case keeperapi.OpInfo, keeperapi.OpTake, keeperapi.OpAdopt, keeperapi.OpRecord, keeperapi.OpNotify, keeperapi.OpList:
		return nil
	case keeperapi.OpUnmount:
		if request.Force {
			return nil
		}
	}
	return keeperapi.Errorf(keeperapi.Invalid, "user %d may not %s: only root and the keeper's own user may", uid, request.Op)
}

func (s *Server) refuse(conn *keeperapi.Conn, err error) error {
	refusal, ok := errors.AsType[*keeperapi.Error](err)
	if !ok {
		refusal = keeperapi.Errorf(keeperapi.Failed, "%v", err)
	}
	return conn.Send(keeperapi.Status{Code: refusal.Code, Message: refusal.Message})
}

// dispatch carries out one request and answers it; the error says that the answer did not get out.
func (s *Server) dispatch(conn *keeperapi.Conn, request *keeperapi.Request) error {
	switch request.Op {
	case keeperapi.OpHandover:
		return s.handOver(conn)
	case keeperapi.OpNotify:
		return s.notify(conn, request)
	case keeperapi.OpInfo: // not under the gate: a keeper that does not answer counts as gone
		if s.finished() {
			return io.EOF
		}
		answer, _ := s.answer(request)
		return conn.Send(answer)
	}
	s.keeper.gate.RLock()
	defer s.keeper.gate.RUnlock()
	if s.finished() {
		return io.EOF // the client asks again and finds the successor
	}
	if request.Op == keeperapi.OpTake {
		defer s.keeper.ids.Lock(request.ID)()
		answer, files, err := s.keeper.take(request.ID)
		if err != nil {
			return s.refuse(conn, err)
		}
		answer.OK = true
		if request.Clone {
			own := s.ownFiles(request.ID, pidOf(conn), files[0], &answer)
			defer keeperapi.CloseAll(own) // they are the client's alone from here on
			files = append(files, own...)
		} else if err := orphans.Unlock(s.socket, request.ID); err != nil {
			s.log.Warn("a session that is served may be reported as unserved", "id", request.ID, "error", err)
		}
		s.log.Info("taken", "id", request.ID, "takes", answer.Takes+1)
		return conn.Send(answer, files...)
	}
	if request.Op == keeperapi.OpAdopt {
		return s.adopt(conn, request)
	}
	answer, err := s.answer(request)
	if err != nil {
		s.log.Warn("refused", "op", request.Op, "id", request.ID, "error", err)
		return s.refuse(conn, err)
	}
	return conn.Send(answer)
}

// pidOf is the process of a client, 0 where it is not to be seen from here.
func pidOf(conn *keeperapi.Conn) int {
	peer, err := conn.Peer()
	if err != nil {
		return 0
	}
	return int(peer.Pid)
}

// ownFiles makes what a gateway is given besides, as far as the kernel does.
func (s *Server) ownFiles(id string, pid int, connection *os.File, answer *keeperapi.Taken) (files []*os.File) {
	clone, err := s.keeper.system.cloneFuse(connection)
	if err == nil {
		files, answer.With = append(files, clone), append(answer.With, keeperapi.WithClone)
	} else {
		s.log.Warn("cannot give the gateway a descriptor of its own", "id", id, "error", err)
	}
	lock, err := orphans.Lock(s.socket, id, pid)
	if err == nil {
		files, answer.With = append(files, lock), append(answer.With, keeperapi.WithLock)
	} else { // nor may it see the lock that an earlier gateway had, and take the session for unserved
		s.log.Warn("the next keeper cannot detect whether this session is served", "id", id, "error", errors.Join(err, orphans.Unlock(s.socket, id)))
	}
	return files
}

// adopt is for a gateway that serves a session of a keeper which is gone.
func (s *Server) adopt(conn *keeperapi.Conn, request *keeperapi.Request) error {
	files, err := conn.Claim(2)
	if err != nil {
		return s.refuse(conn, err)
	}
	existing, err := s.keeper.adopt(request, files)
	if err != nil {
		s.log.Warn("refused", "op", request.Op, "id", request.ID, "error", err)
		return s.refuse(conn, err)
	}
	s.log.Info("adopted", "id", request.ID, "target", request.Target, "existing", existing)
	return conn.Send(keeperapi.Done{Status: keeperapi.Status{OK: true}, Existing: existing})
}

// notify is not under the gate: it may wait for the next server, which needs the gate to come.
func (s *Server) notify(conn *keeperapi.Conn, request *keeperapi.Request) error {
	if request.Data == nil {
		return s.refuse(conn, keeperapi.Errorf(keeperapi.Invalid, "notify needs data: the notifications in base64"))
	}
	if s.finished() {
		return io.EOF // as in dispatch
	}
	errno, err := s.keeper.notify(request.ID, request.Device, *request.Data)
	if err != nil && s.finished() {
		return io.EOF
	}
	if err != nil {
		return s.refuse(conn, err)
	}
	_ = conn.SetWriteDeadline(time.Now().Add(sendPatience)) // it may have waited longer than that
	return conn.Send(keeperapi.Notified{Status: keeperapi.Status{OK: true}, Errno: errno})
}

// answer carries out the requests that come without descriptors.
func (s *Server) answer(request *keeperapi.Request) (any, error) {
	ok := keeperapi.Status{OK: true}
	switch request.Op {
	case keeperapi.OpInfo:
		sessions, _ := s.keeper.Sessions()
		return keeperapi.Info{
			Status: ok, Version: version.Version, PID: os.Getpid(), Sessions: sessions, Generation: s.keeper.generation,
		}, nil
	case keeperapi.OpMount:
		existing, err := s.keeper.mount(request)
		s.log.Info("mount", "id", request.ID, "target", request.Target, "existing", existing, "done", err == nil)
		return keeperapi.Done{Status: ok, Existing: existing}, err
	case keeperapi.OpUnmount:
		existing, err := s.keeper.unmount(request.ID, request.Force)
		s.log.Info("unmount", "id", request.ID, "force", request.Force, "existing", existing, "done", err == nil)
		return keeperapi.Done{Status: ok, Existing: existing}, err
	case keeperapi.OpRecord:
		data, err := s.keeper.record(request.ID, request.Data)
		return keeperapi.Record{Status: ok, Data: data}, err
	case keeperapi.OpList:
		list, err := s.keeper.list()
		return keeperapi.List{Status: ok, List: list}, err
	}
	return nil, keeperapi.Errorf(keeperapi.Invalid,
		"op %.40q is not known: use info, mount, take, adopt, record, notify, list, unmount or handover", request.Op)
}
