package attributes

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// harmlessFlags are what a volume may be mounted with besides nosuid and nodev.
var harmlessFlags = []string{"noexec", "sync", "dirsync", "noatime", "nodiratime", "strictatime"}

// isOdd is said of what would break a log, or look like something else there. What follows repeats no check of the package: one that is
// wrong there would be wrong here.
func isOdd(c rune) bool { return !unicode.IsPrint(c) || c == unicode.ReplacementChar }

func isPlainPath(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.ContainsFunc(path, isOdd) {
		return false
	}
	return path == "/" || !slices.ContainsFunc(strings.Split(path[1:], "/"), func(name string) bool {
		return name == "" || name == "." || name == ".." || strings.TrimSpace(name) != name
	})
}

// checkHarmless fails for a volume that holds what no table declares, or text that could mean something else further on.
func checkHarmless(t *testing.T, v *Volume, said any) {
	t.Helper()
	if !isPlainPath(v.AlluxioPath) {
		t.Fatalf("%q became the path %q", said, v.AlluxioPath)
	}
	for option, value := range v.Options {
		declared := find(func(d *Declaration) bool { return d.Option == option && option != "" && !d.Controller })
		isBypass := option == "bypass" && slices.Contains([]string{"auto", "off"}, value)
		if declared == nil || !isBypass && !declared.check(value) || strings.ContainsAny(value, ",\n\x00 ") && option != "metadata_ttl_of" {
			t.Fatalf("%q became the option %q=%q", said, option, value)
		}
	}
	for name, value := range v.Properties {
		if strings.ContainsFunc(name, unicode.IsControl) || !matches(properties, name) && !matches(secretProperties, name) || strings.ContainsFunc(value, unicode.IsControl) {
			t.Fatalf("%q became the property %q=%q", said, name, value)
		}
	}
	for _, flag := range v.MountFlags() {
		if !slices.Contains(harmlessFlags, flag) {
			t.Fatalf("%q is mounted with %q", said, flag)
		}
	}
	if v.Masters != "" && !isMasters(v.Masters) || strings.ContainsFunc(v.User, isOdd) {
		t.Fatalf("%q became masters %q, user %q", said, v.Masters, v.User)
	}
	for _, label := range v.Labels {
		if strings.ContainsFunc(label, isOdd) {
			t.Fatalf("%q became the label %q", said, label)
		}
	}
}

// checkHarmlessInline fails for what an inline volume got past the default policy although it chooses more than that allows.
func checkHarmlessInline(t *testing.T, v *Volume, said any) {
	t.Helper()
	if defaultPolicy().Admit(v) != nil {
		return
	}
	if v.AlluxioPath != "/inline" && !strings.HasPrefix(v.AlluxioPath, "/inline/") || strings.ContainsAny(v.AlluxioPath, `\?`) || v.Masters != "" || v.User != "" || len(v.Properties) > 0 {
		t.Fatalf("%q was admitted as %+v", said, v)
	}
	for option := range v.Options {
		if name := find(func(d *Declaration) bool { return d.Option == option }).Name; !slices.Contains(DefaultInlineAllowed, name) {
			t.Fatalf("%q was admitted with %s", said, name)
		}
	}
}

func checkAnswer(t *testing.T, err error, said any) {
	t.Helper()
	if text := err.Error(); len(text) > 1500 || strings.ContainsFunc(text, unicode.IsControl) {
		t.Fatalf("%.200q: the answer repeats too much or breaks the log: %q", said, text)
	}
}

// hostile makes up what somebody who writes a volume could say, from the words that mean something somewhere.
type hostile struct{ *rand.Rand }

func pick[T any](h hostile, from []T) T { return from[h.IntN(len(from))] }

func (h hostile) key() string {
	d := pick(h, Declarations)
	switch h.IntN(8) {
	case 0:
		return pick(h, hostileTexts())
	case 1:
		return pick(h, []string{Ephemeral, PVCName, PVCNamespace, PVName, podNamespace, PVCLabels + "x", "csi.storage.k8s.io/serviceAccount.tokens", "storage.kubernetes.io/x"})
	case 2:
		return pick(h, append(slices.Clone(properties), append(secretProperties, SecretUser, "alluxio.user.client.cache.enabled", "alluxio.fuse.mount.options")...)) +
			pick(h, []string{"", "x", ".x", "\n"})
	case 3:
		return strings.ToUpper(d.Name)
	case 4:
		return GroupAccess
	}
	return d.Name
}

func (h hostile) value() string {
	switch h.IntN(6) {
	case 0:
		return h.option()
	case 1:
		return "-D" + h.key() + "=" + h.value()
	case 2:
		return pick(h, hostileTexts()) + pick(h, hostileTexts())
	case 3:
		return strconv.FormatUint(h.Uint64()>>h.IntN(64), 10) + pick(h, []string{"", "K", "T", "s", "h", ":1", "-"})
	case 4:
		return pick(h, []string{"on", "off", "true", "false", "auto", "immutable", "ttl", "MUST_CACHE", "devfuse", "strict", "022", "0"})
	}
	return h.path()
}

func (h hostile) path() string {
	return "/inline" + pick(h, []string{"", "/", "/..", "/../other", `\..\secret`, "/a", "2", "/a?b", "/\u202ea", "//a"})
}

// option is name=value, ... as mount(8) has it.
func (h hostile) option() string {
	var items []string
	for range 1 + h.IntN(3) {
		name := pick(h, Declarations).Option
		switch h.IntN(4) {
		case 0:
			name = pick(h, slices.Sorted(maps.Keys(words)))
		case 1:
			name = pick(h, []string{"suid", "dev", "allow_other", "fd=3", "rootmode=40000", "user_id=0", "group_access=write", "x-mount.mkdir", "remount", "bind", "context=x"})
		}
		items = append(items, name+pick(h, []string{"", "=", "=on", "=off", "=0", "=" + pick(h, hostileTexts())}))
	}
	return strings.Join(items, ",")
}

func (h hostile) some(most int) map[string]string {
	said := map[string]string{}
	for range h.IntN(most + 1) {
		said[h.key()] = h.value()
	}
	return said
}

func TestAThousandHostileVolumesAreRefusedOrHarmless(t *testing.T) {
	seed := uint64(20_261_126)
	if text := os.Getenv("PGW_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	h := hostile{rand.New(rand.NewPCG(seed, 0))}
	accepted, admitted := 0, 0
	for i := range 1000 {
		given, secret := h.some(4), h.some(i%3%2*2)
		if _, said := given[AlluxioPath]; !said {
			given[AlluxioPath] = "/inline/a"
		}
		if i%4 == 1 {
			given[AlluxioPath] = h.path()
		}
		var flags []string
		if i%2 == 0 {
			flags = []string{h.option()}
		}
		said := []any{"PGW_SEED", seed, i, given, flags, secret}
		volume, err := Parse(given, flags, secret)
		if err != nil {
			checkAnswer(t, err, said)
			continue
		}
		accepted++
		checkHarmless(t, volume, said)
		checkHarmlessInline(t, volume, said)
		if err := defaultPolicy().Admit(volume); err == nil {
			admitted++
		} else {
			checkAnswer(t, err, said)
		}
	}
	if accepted < 20 || admitted < 5 {
		t.Fatalf("%d were accepted and %d admitted inline: the words miss the tables", accepted, admitted)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range hostileTexts() {
		f.Add(AlluxioPath, text, "ro", SecretUser, "alice")
		f.Add(MountOptions, text, text, text, text)
	}
	for _, d := range Declarations {
		f.Add(d.Name, "on", d.Option+"=1", "alluxio.security.login.x", "y")
	}
	f.Add("alluxio.user.network.x\n", "1", "", "alluxio.security.login.x\n", "y")
	f.Add(JavaOptions, "-Dalluxio.user.network.x=1 -Xmx1g", "rw,noatime", "", "")
	f.Fuzz(func(t *testing.T, key, value, flags, secretKey, secretValue string) {
		given := map[string]string{AlluxioPath: "/inline/a"}
		given[key] = value
		said := []string{key, value, flags, secretKey, secretValue}
		volume, err := Parse(given, []string{flags}, map[string]string{secretKey: secretValue})
		if err != nil {
			checkAnswer(t, err, said)
			return
		}
		checkHarmless(t, volume, said)
		checkHarmlessInline(t, volume, said)
	})
}

func FuzzParseClass(f *testing.F) {
	for _, text := range hostileTexts() {
		f.Add("pvc-1", PathPattern, text, "web")
		f.Add(text, BasePath, "/b", text)
	}
	f.Add("pvc-1", PathPattern, "${pvc.namespace}/${pvc.labels.app}", "..")
	f.Fuzz(func(t *testing.T, name, key, value, label string) {
		given := map[string]string{PVCNamespace: label, PVCName: "claim", PVCLabels + "app": label}
		given[key] = value
		class, err := ParseClass(name, "/kubernetes", given, nil)
		if err != nil {
			checkAnswer(t, err, given)
			return
		}
		if !IsPath(class.Path) || !IsBelow(class.Path, class.BasePath) || class.Path == class.BasePath || class.DirectoryMode > 0o777 {
			t.Fatalf("%q became %+v", given, class)
		}
		checkHarmless(t, class.Volume, given)
	})
}
