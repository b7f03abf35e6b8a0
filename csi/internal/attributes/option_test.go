package attributes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The numbers stand here once more: a table that lost one would allow anything.
func TestAVolumeIsRefusedForWhatTheGatewayWouldRefuse(t *testing.T) {
	cases := []struct {
		attribute       string
		allowed, others []string
		says            string
	}{
		{"bytesPerSecond", []string{"1M", "1m", "1048576", "1024K", "2G", "1T", "1099511627776"},
			[]string{"0", "0M", "1048575", "1023K", "-1M", "", "M", "1025G", "2T", "1099511627777", "999999999999999T", "1P", "1 M", "1MS"}, "from 1M to 1T"},
		{"requestsPerSecond", []string{"1", "007", "10000000"}, []string{"0", "000", "1M", "10000001", "999999999999999999", "9999999999999999999"}, "from 1 to 10000000"},
		{"cacheEntries", []string{"1000", "100000000"}, []string{"999", "100000001", "1K"}, "from 1000 to 100000000"},
		{"maxThreads", []string{"0", "1024"}, []string{"1025"}, "from 0 to 1024"},
		{"poolThreads", []string{"0", "4096"}, []string{"4097"}, "from 0 to 4096"},
		{"readAhead", []string{"0", "1G"}, []string{"1025M"}, "from 0 to 1G"},
		{"bufferSize", []string{"1M", "1T"}, []string{"1023K", "1025G"}, "from 1M to 1T"},
		{"spoolSize", []string{"1M", "1024T"}, []string{"0", "1025T"}, "from 1M to 1024T"},
		{"streamFrom", []string{"0", "1024T"}, []string{"1025T"}, "from 0 to 1024T"},
		{"metadataTtl", []string{"0", "5", "5s", "500ms", "5M", "86400", "24h"}, []string{"86401", "25h", "1d", "s", "5 s", "1.5s"}, "from 0s to 86400s"},
		{"negativeTtl", []string{"0", "86400s"}, []string{"86401s"}, "from 0s to 86400s"},
		{"metadataTtlOf", []string{"/a=24h:/b=0", manyTimes(64), strings.Repeat("/a", 100) + "=1"},
			[]string{"/a=25h", "/=1h", "/a=1h:/a=0", manyTimes(65), strings.Repeat("/a", 101) + "=1"}, "each TIME a time from 0s to 86400s"},
		{"umask", []string{"0", "22", "022", "7777"}, []string{"8", "10000", "00022x", "000022"}, "from 0 to 7777"},
		{"gid", []string{"0", "4294967294"}, []string{"4294967295", "-1"}, "from 0 to 4294967294"},
		{"readdirplus", []string{"on", "auto", "off"}, []string{"", "ON", "true"}, "one of on, auto, off"},
		{"exec", []string{"on", "off"}, []string{"auto"}, "on or off"},
	}
	for _, c := range cases {
		for _, value := range c.allowed {
			if _, err := Parse(map[string]string{AlluxioPath: "/a", c.attribute: value}, nil, nil); err != nil {
				t.Errorf("%s=%q: %v", c.attribute, value, err)
			}
		}
		for _, value := range c.others {
			if _, err := Parse(map[string]string{AlluxioPath: "/a", c.attribute: value}, nil, nil); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s=%q: got %v, want something about %q", c.attribute, value, err, c.says)
			}
		}
	}
}

// manyTimes are so many paths with times.
func manyTimes(count int) string {
	times := make([]string, count)
	for i := range times {
		times[i] = fmt.Sprintf("/d%d=1", i)
	}
	return strings.Join(times, ":")
}

// What a volume may say in fewer words, or in more, becomes one of the gateway's.
func TestOwnWordsBecomeTheGateways(t *testing.T) {
	for option, values := range map[string][]string{"transport": {"auto", "devfuse", "uring"}, "bypass": {"true", "false", "auto", "on", "off"}} {
		declared := find(func(d *Declaration) bool { return d.Option == option })
		for _, value := range values {
			if said := bypassOption(value); !declared.check(value) || !slices.Contains(gatewayOptions[option].words, said) {
				t.Errorf("%s=%s becomes %s, which the gateway does not know", option, value, said)
			}
		}
	}
}

func TestEveryOptionOfATableIsTheGateways(t *testing.T) {
	for _, d := range Declarations {
		if _, known := gatewayOptions[d.Option]; d.Option != "" && !known {
			t.Errorf("%s sets %s, which the gateway does not declare", d.Name, d.Option)
		}
	}
	if _, known := gatewayOptions[GroupAccess]; !known {
		t.Error("the gateway does not declare " + GroupAccess)
	}
}

func TestATableThatIsNotUnderstoodIsNotRunWith(t *testing.T) {
	panics := func(what string, f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s was taken", what)
			}
		}()
		f()
	}
	for _, table := range []string{"a\tcolour\t1 2\tred\n", "a\tnumber\t1\tmore than 1\n", "a\tnumber\t1 x\ta number\n", "a\tbytes\t1 2\n", "a\tseconds-by-path\t0 1\ttimes\n"} {
		panics(table, func() { parseOptions(table) })
	}
	panics("an option that nobody declares", func() { asGateway("a", "undeclared", "", "") })
	if known := parseOptions("# a comment\na\ttext\t\tany text\nb\tone-of\tc d\tone of c, d\n"); len(known) != 2 || !slices.Equal(known["b"].words, []string{"c", "d"}) {
		t.Error(known)
	}
}
