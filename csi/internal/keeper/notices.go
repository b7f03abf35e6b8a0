package keeper

import (
	"encoding/binary"
	"errors"
	"os"
	"time"

	"posixgateway.io/csi/internal/keeperapi"
)

// noticeHeaderBytes is the size of struct fuse_out_header: length, code, and an id that is 0 in a notice.
const noticeHeaderBytes = 16

// notify has notices, one behind the other, of the session's server written to the kernel, and returns the errno of the last
// one. The kernel may wait for a lock whose holder waits for an answer of that server, and a thread that waits so cannot be
// killed: it is one of a process that holds nothing but this connection, see notifier. Nothing is locked meanwhile.
//
// device is that of the mount the server serves; "" is any. A session may have been made anew since.
func (k *Keeper) notify(id, device string, notices []byte) (errno int, err error) {
	list, err := split(notices)
	if err != nil {
		return 0, err
	}
	s := k.find(id)
	if s == nil || (device != "" && device != s.device) {
		return 0, noSession(id)
	}
	s.noticing.Add(1)
	defer s.noticing.Add(-1)
	errno, err = s.notifier.write(k.notifiers, s.fuse, list)
	if errors.Is(err, os.ErrClosed) { // the session ended meanwhile
		return 0, noSession(id)
	}
	if err != nil {
		return 0, failed(err)
	}
	return errno, nil
}

// endNotices waits until no notice of a session is being written. One that does not end waits, as somebody else does, for a
// server that is gone, and would keep the connection open: that is aborted.
func (k *Keeper) endNotices(s *session) error {
	const pause = 10 * time.Millisecond
	for deadline := time.Now().Add(k.patience); s.noticing.Load() > 0; time.Sleep(pause) {
		if time.Now().After(deadline) {
			return k.abort(s)
		}
	}
	return nil
}

// split returns the notices, or says what is wrong with one of them.
func split(notices []byte) (list [][]byte, err error) {
	if len(notices) < noticeHeaderBytes || len(notices) > keeperapi.MaxNoticeBytes {
		return nil, keeperapi.Errorf(keeperapi.Invalid,
			"the notifications have %d bytes: give %d to %d", len(notices), noticeHeaderBytes, keeperapi.MaxNoticeBytes)
	}
	for left := notices; len(left) > 0; {
		if len(left) < noticeHeaderBytes {
			return nil, keeperapi.Errorf(keeperapi.Invalid, "%d bytes remain after a notification: too few for another one", len(left))
		}
		length := int(binary.NativeEndian.Uint32(left))
		if length < noticeHeaderBytes || length > len(left) {
			return nil, keeperapi.Errorf(keeperapi.Invalid, "a notification claims %d bytes, but %d remain", length, len(left))
		}
		if request := binary.NativeEndian.Uint64(left[8:]); request != 0 {
			return nil, keeperapi.Errorf(keeperapi.Invalid, "this is the response to request %d: only notifications are accepted", request)
		}
		list, left = append(list, left[:length]), left[length:]
	}
	return list, nil
}
