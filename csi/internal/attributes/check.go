package attributes

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPathBytes  = 4096
	maxValueBytes = 4096
	maxID         = 1<<32 - 2
)

var (
	octalPattern  = regexp.MustCompile(`^0?[0-7]{3}$`)
	hostPattern   = regexp.MustCompile(`^[A-Za-z0-9._-]{1,253}$`)
	portPattern   = regexp.MustCompile(`^[0-9]{1,5}$`)
	propertyName  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,255}$`)
	propertyValue = regexp.MustCompile(`^[A-Za-z0-9._:/,@=+-]{0,512}$`)
)

func isOctal(value string) bool { return octalPattern.MatchString(value) }

// isID accepts the number of a user or a group: all of 32 bits but the last, which means none.
func isID(value string) bool {
	id, err := strconv.ParseUint(value, 10, 32)
	return err == nil && id <= maxID && !strings.HasPrefix(value, "+")
}

// ID reads the number of a user or a group.
func ID(value string) (uint32, error) {
	if !isID(value) {
		return 0, fmt.Errorf("%.80q is not a %s", value, idWords)
	}
	id, err := strconv.ParseUint(value, 10, 32)
	return uint32(id), err
}

func isMasters(value string) bool {
	masters := strings.Split(value, ",")
	return len(masters) <= 16 && !slices.ContainsFunc(masters, func(master string) bool { return !isMaster(master) })
}

// isMaster accepts host:port, where the host may be an address of IPv6 in brackets.
func isMaster(value string) bool {
	colon := strings.LastIndex(value, ":")
	if colon < 0 {
		return false
	}
	host, port := value[:colon], value[colon+1:]
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || !portPattern.MatchString(port) {
		return false
	}
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed && strings.HasSuffix(inner, "]") {
		address, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return err == nil && address.Is6() && address.Zone() == ""
	}
	return hostPattern.MatchString(host)
}

func oneOf(values ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(values, value) }
}

// isText is for values that are taken apart and checked in parts later.
func isText(value string) bool {
	return len(value) <= maxValueBytes && utf8.ValidString(value) && isPrintable(value)
}

// isPrintable refuses control characters and what a log or a terminal would not show: line breaks, direction marks,
// joiners.
func isPrintable(value string) bool {
	return !strings.ContainsFunc(value, func(c rune) bool { return !unicode.IsPrint(c) })
}

// IsPath accepts absolute paths that mean what they look like.
func IsPath(value string) bool {
	if value == "/" {
		return true
	}
	if len(value) > maxPathBytes || !utf8.ValidString(value) || !isPrintable(value) || !strings.HasPrefix(value, "/") {
		return false
	}
	for component := range strings.SplitSeq(value[1:], "/") {
		if !isComponent(component) {
			return false
		}
	}
	return true
}

// isComponent accepts one name in a path.
func isComponent(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 && !strings.Contains(name, "/") &&
		utf8.ValidString(name) && isPrintable(name) && strings.TrimSpace(name) == name
}

// IsBelow says whether path is root or lies below it; both must have passed as paths.
func IsBelow(path, root string) bool {
	return root == "/" || path == root || strings.HasPrefix(path, root+"/")
}
