package attributes

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// gatewayTable is what the gateway's declarations of options say: name, kind, bounds or words, and in words what is allowed.
//
//go:embed options.tsv
var gatewayTable string

// gatewayOptions are the options of the gateway by name: a volume is refused here for what would be refused there.
var gatewayOptions = parseOptions(gatewayTable)

// gatewayOption is one option as the gateway declares it.
type gatewayOption struct {
	kind string
	// words are those of a one-of; bounds the numbers of all other kinds: the least, the most and, by path, the most paths.
	words   []string
	bounds  []int64
	allowed string
}

var (
	byteUnits   = map[string]int64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
	secondUnits = map[string]int64{"": 1000, "MS": 1, "S": 1000, "M": 60_000, "H": 3_600_000}
)

func parseOptions(table string) map[string]gatewayOption {
	options := map[string]gatewayOption{}
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 4 {
			panic(fmt.Sprintf("the gateway's table of options has the line %q: run make docs", line))
		}
		option := gatewayOption{kind: columns[1], allowed: columns[3]}
		option.parseBounds(strings.Fields(columns[2]))
		options[columns[0]] = option
	}
	return options
}

func (o *gatewayOption) parseBounds(fields []string) {
	base := 10
	numbers := 2
	switch o.kind {
	case "one-of":
		o.words = fields
		return
	case "text":
		numbers = 0
	case "octal":
		base = 8
	case "seconds-by-path":
		numbers = 3
	case "number", "bytes", "seconds":
	default:
		panic("the gateway declares an option of the kind " + o.kind + ", which is not known here")
	}
	for _, field := range fields {
		number, err := strconv.ParseInt(field, base, 64)
		if err != nil {
			panic(err)
		}
		o.bounds = append(o.bounds, number)
	}
	if len(o.bounds) != numbers {
		panic(fmt.Sprintf("an option of the kind %s has the bounds %v", o.kind, fields))
	}
}

// allows says whether the gateway takes a value. Of its two ways to write a unit, with a blank before it and without, it is the second.
func (o *gatewayOption) allows(value string) bool {
	switch o.kind {
	case "one-of":
		return slices.Contains(o.words, value)
	case "number":
		return o.isWithin(value, 10, 18)
	case "octal":
		return o.isWithin(value, 8, 5)
	case "bytes":
		bytes, ok := scaled(value, byteUnits)
		return ok && bytes >= o.bounds[0] && bytes <= o.bounds[1]
	case "seconds":
		return isTime(value, o.bounds)
	case "seconds-by-path":
		return o.areTimesByPath(value)
	default:
		return isText(value)
	}
}

func (o *gatewayOption) isWithin(value string, base, maxDigits int) bool {
	if len(value) > maxDigits || !isDigits(value) {
		return false
	}
	number, err := strconv.ParseInt(value, base, 64)
	return err == nil && number >= o.bounds[0] && number <= o.bounds[1]
}

func isDigits(value string) bool {
	return value != "" && strings.Trim(value, "0123456789") == ""
}

func isTime(value string, bounds []int64) bool {
	millis, ok := scaled(value, secondUnits)
	return ok && millis >= bounds[0]*1000 && millis <= bounds[1]*1000
}

// scaled reads a number with a unit.
func scaled(value string, units map[string]int64) (int64, bool) {
	digits := strings.TrimRight(value, "KMGTSHkmgtsh")
	unit, isUnit := units[strings.ToUpper(value[len(digits):])]
	if !isUnit || len(digits) > 15 || !isDigits(digits) {
		return 0, false
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || number > math.MaxInt64/unit {
		return 0, false
	}
	return number * unit, true
}

// maxNames is how many names the gateway takes in a path of such an option.
const maxNames = 100

// areTimesByPath accepts /a=1h:/a/b=0.
func (o *gatewayOption) areTimesByPath(value string) bool {
	seen := map[string]bool{}
	for part := range strings.SplitSeq(value, ":") {
		at := max(0, strings.LastIndex(part, "="))
		path, ttl := part[:at], strings.TrimPrefix(part[at:], "=")
		if path == "/" || !IsPath(path) || strings.Count(path, "/") > maxNames || !isTime(ttl, o.bounds) || seen[path] {
			return false
		}
		seen[path] = true
	}
	return int64(len(seen)) <= o.bounds[2] && len(value) <= maxValueBytes
}

// asGateway declares an attribute that is an option of the gateway, and allows what that allows.
func asGateway(name, option, byDefault, doc string) Declaration {
	declared, known := gatewayOptions[option]
	if !known {
		panic("the gateway declares no option " + option)
	}
	return Declaration{Name: name, Option: option, Allowed: declared.allowed, Default: byDefault, Doc: doc, check: declared.allows}
}
