package keeper

import (
	"encoding/binary"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"posixgateway.io/csi/internal/keeperapi"
)

// noticeHeaderBytes is the size of struct fuse_out_header: length, code, and an id that is 0 in a notice.
const noticeHeaderBytes = 16

// notify writes a notice of the session's server to the kernel. The kernel may wait for a lock whose holder waits for an
// answer of that server, and a thread that waits so cannot be killed: here it does not keep the server from ending and the
// next one from answering. Nothing is locked meanwhile.
func (k *Keeper) notify(id string, notice []byte) (errno int, err error) {
	if err := checkNotice(notice); err != nil {
		return 0, err
	}
	s := k.find(id)
	if s == nil {
		return 0, noSession(id)
	}
	_, err = s.fuse.Write(notice)
	if errors.Is(err, os.ErrClosed) {
		return 0, noSession(id)
	}
	if refusal, ok := errors.AsType[unix.Errno](err); ok {
		return int(refusal), nil
	}
	return 0, err
}

func checkNotice(notice []byte) error {
	if len(notice) < noticeHeaderBytes || len(notice) > keeperapi.MaxNoticeBytes {
		return keeperapi.Errorf(keeperapi.Invalid,
			"the notice has %d bytes: give %d to %d", len(notice), noticeHeaderBytes, keeperapi.MaxNoticeBytes)
	}
	if length := binary.NativeEndian.Uint32(notice); int(length) != len(notice) {
		return keeperapi.Errorf(keeperapi.Invalid, "the notice says it has %d bytes and has %d", length, len(notice))
	}
	if request := binary.NativeEndian.Uint64(notice[8:]); request != 0 {
		return keeperapi.Errorf(keeperapi.Invalid, "this is the answer to request %d: only notices are taken", request)
	}
	return nil
}
