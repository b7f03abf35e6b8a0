package attributes

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func defaultPolicy() *InlinePolicy {
	return &InlinePolicy{Root: "/inline", Allowed: DefaultInlineAllowed}
}

func TestAnInlineVolumeSaysNothingThatHarmsOthers(t *testing.T) {
	cases := []struct {
		name   string
		given  map[string]string
		secret map[string]string
		says   string
	}{
		{name: "an Alluxio user", secret: map[string]string{SecretUser: "root"}, says: SecretUser},
		{name: "a user to impersonate", secret: map[string]string{"alluxio.security.login.impersonation.username": "hdfs"}, says: "impersonation"},
		{name: "another login", secret: map[string]string{"alluxio.security.login.username": "root"}, says: "login.username"},
		{name: "masters of its own", given: map[string]string{Masters: "evil:19998"}, says: Masters},
		{name: "no check of permissions", given: map[string]string{"defaultPermissions": "off"}, says: "defaultPermissions"},
		{name: "no check of permissions as a mount option", given: map[string]string{MountOptions: "default_permissions=off"}, says: "defaultPermissions"},
		{name: "the bypass", given: map[string]string{Bypass: "true"}, says: Bypass},
		{name: "the bypass as a mount option", given: map[string]string{MountOptions: "ro,bypass=on"}, says: Bypass},
		{name: "another owner", given: map[string]string{"uid": "1000"}, says: "uid"},
		{name: "another group", given: map[string]string{MountOptions: "gid=0"}, says: "gid"},
		{name: "memory", given: map[string]string{"bufferSize": "1T"}, says: "bufferSize"},
		{name: "memory for metadata", given: map[string]string{"cacheEntries": "100000000"}, says: "cacheEntries"},
		{name: "disk", given: map[string]string{"spoolSize": "10T"}, says: "spoolSize"},
		{name: "threads", given: map[string]string{"maxThreads": "1024", "poolThreads": "4096"}, says: "maxThreads, poolThreads"},
		{name: "a share of the rates", given: map[string]string{"bytesPerSecond": "1T", "requestsPerSecond": "1000000"}, says: "bytesPerSecond, requestsPerSecond"},
		{name: "a transport", given: map[string]string{"transport": "uring"}, says: "transport"},
		{name: "passthrough", given: map[string]string{"passthrough": "on"}, says: "passthrough"},
		{name: "a property", given: map[string]string{"alluxio.user.rpc.retry.max.duration": "1d"}, says: "alluxio.user.rpc.retry.max.duration"},
		{name: "a property among Java options", given: map[string]string{JavaOptions: "-Dalluxio.user.network.x=1"}, says: "alluxio.user.network.x"},
		{name: "another path", given: map[string]string{AlluxioPath: "/other"}, says: "below /inline"},
		{name: "a path that only begins like the root", given: map[string]string{AlluxioPath: "/inline2"}, says: "below /inline"},
		{name: "a path that Alluxio takes apart at backslashes", given: map[string]string{AlluxioPath: `/inline/x\..\..\secret`}, says: "below /inline"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			given := map[string]string{AlluxioPath: "/inline/a", Ephemeral: "true"}
			for key, value := range c.given {
				given[key] = value
			}
			volume, err := Parse(given, nil, c.secret)
			if err == nil {
				err = defaultPolicy().Admit(volume)
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "PersistentVolume") {
				t.Fatalf("got %v, want something about %q and what to do", err, c.says)
			}
		})
	}
}

// Whatever is declared in the time to come is refused too until somebody has thought about it.
func TestEveryAttributeIsEitherOnTheListOrRefused(t *testing.T) {
	harmless := []string{AlluxioPath, ReadOnly, MountOptions, JavaOptions}
	for _, d := range Declarations {
		if d.Controller || slices.Contains(harmless, d.Name) || slices.Contains(DefaultInlineAllowed, d.Name) {
			continue
		}
		volume := &Volume{AlluxioPath: "/inline/a", Options: map[string]string{}}
		if d.Option == "" {
			volume.Masters = "a:1"
		} else {
			volume.Options[d.Option] = "x"
		}
		if err := defaultPolicy().Admit(volume); err == nil || !strings.Contains(err.Error(), d.Name) {
			t.Errorf("%s: got %v", d.Name, err)
		}
	}
}

func TestWhatTheAdministratorAllowsIsTaken(t *testing.T) {
	volume, err := Parse(map[string]string{AlluxioPath: "/inline", Ephemeral: "true", MountOptions: "ro,noexec", "consistency": "immutable",
		"alluxio.user.network.x": "1", Bypass: "true"}, nil, map[string]string{SecretUser: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	policy := &InlinePolicy{Root: "/inline", Allowed: append(slices.Clone(DefaultInlineAllowed), Bypass, "alluxio.user.network.*", SecretUser)}
	if err := policy.Check(); err != nil {
		t.Fatal(err)
	}
	if err := policy.Admit(volume); err != nil {
		t.Fatal(err)
	}
	if err := (&InlinePolicy{Allowed: policy.Allowed}).Admit(volume); err == nil || !strings.Contains(err.Error(), "ephemeralRoot") {
		t.Fatal(err)
	}
}

func TestListsOfTheAdministratorAreChecked(t *testing.T) {
	for _, bad := range []string{"bufersize", "*", "", "alluxio.*", "alluxio.security.*", "onDelete", "alluxio.user.file.readtype.default2"} {
		if err := (&InlinePolicy{Root: "/a", Allowed: []string{bad}}).Check(); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	for _, good := range []string{"bufferSize", SecretUser, "alluxio.security.login.*", "alluxio.user.network.x", "alluxio.user.file.readtype.default"} {
		if err := (&InlinePolicy{Root: "/a", Allowed: []string{good}}).Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnInlineVolumeBearsItsPodsNamespaceAndNoOther(t *testing.T) {
	volume, err := Parse(map[string]string{
		AlluxioPath: "/inline", Ephemeral: "true", podNamespace: "mine", PVCName: "claim", PVCNamespace: "yours", PVName: "pv",
	}, nil, nil)
	if err != nil || len(volume.Labels) != 1 || volume.Labels["namespace"] != "mine" {
		t.Fatal(volume, err)
	}
}

func TestStrictNamesHaveNoPathThatAlluxioReadsOtherwise(t *testing.T) {
	for _, path := range []string{`/team/x\..\..\secret`, "/team?x"} {
		_, err := Parse(map[string]string{AlluxioPath: path, "names": "strict"}, nil, nil)
		if err == nil || !strings.Contains(err.Error(), "names=strict") {
			t.Errorf("%q: got %v", path, err)
		}
		if _, err := Parse(map[string]string{AlluxioPath: path}, nil, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestTheChartAllowsWhatTheDriverDoes(t *testing.T) {
	values, err := os.ReadFile("../../../charts/posix-gateway/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if line := "  ephemeralAllowed: [" + strings.Join(DefaultInlineAllowed, ", ") + "]\n"; !strings.Contains(string(values), line) {
		t.Fatalf("the chart's values lack %q", line)
	}
}
