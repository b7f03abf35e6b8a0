package attributes

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestWhatUsersWriteIsUnderstood(t *testing.T) {
	cases := []struct {
		name    string
		given   map[string]string
		flags   []string
		options map[string]string
		ro      bool
	}{
		{name: "a path alone is enough", options: map[string]string{}},
		{name: "attributes become options", given: map[string]string{"consistency": "ttl", "metadataTtl": "30s", "bufferSize": "64M", "umask": "022"},
			options: map[string]string{"consistency": "ttl", "metadata_ttl": "30s", "buffer_size": "64M", "umask": "022"}},
		{name: "times to live of paths are passed on as they are", given: map[string]string{"metadataTtlOf": "/a=1h:/a/day=7=0"},
			options: map[string]string{"metadata_ttl_of": "/a=1h:/a/day=7=0"}},
		{name: "so they are among mount options", flags: []string{"ro,metadata_ttl_of=/a=1h:/b=0"}, options: map[string]string{"metadata_ttl_of": "/a=1h:/b=0"}, ro: true},
		{name: "mount options of the volume and of its attributes mean the same", given: map[string]string{MountOptions: "uid=1000,passthrough"},
			flags:   []string{"gid=1000,allow_other,rw", "default_permissions=off"},
			options: map[string]string{"uid": "1000", "gid": "1000", "passthrough": "on", "default_permissions": "off"}},
		{name: "the words of mount are taken", flags: []string{"defaults,rw,_netdev,nofail,x-systemd.automount,nosuid,nodev,noexec,noatime"},
			options: map[string]string{"exec": "off", "access_time": "noatime"}},
		{name: "times of access are said in two words", flags: []string{"noatime", "nodiratime"}, options: map[string]string{"access_time": "noatime"}},
		{name: "nodiratime goes with relatime", flags: []string{"relatime,nodiratime"}, options: map[string]string{"access_time": "nodiratime"}},
		{name: "bypass true is auto", given: map[string]string{Bypass: "true"}, flags: []string{"bypass=auto"}, options: map[string]string{"bypass": "auto"}},
		{name: "bypass false is off", given: map[string]string{Bypass: "false"}, options: map[string]string{"bypass": "off"}},
		{name: "ro among mount options makes it read-only", flags: []string{"ro"}, options: map[string]string{}, ro: true},
		{name: "ro among mount options may say off", flags: []string{"ro=off"}, options: map[string]string{}},
		{name: "or on", flags: []string{"ro=on"}, options: map[string]string{}, ro: true},
		{name: "readOnly makes it read-only", given: map[string]string{ReadOnly: "true"}, options: map[string]string{}, ro: true},
		{name: "readOnly false does not", given: map[string]string{ReadOnly: "false"}, options: map[string]string{}},
		{name: "what Kubernetes adds is no option", given: map[string]string{"csi.storage.k8s.io/pod.name": "p", "storage.kubernetes.io/csiProvisionerIdentity": "x"},
			options: map[string]string{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			given := map[string]string{AlluxioPath: "/data/Größe 1"}
			maps.Copy(given, c.given)
			volume, err := Parse(given, c.flags, nil)
			if err != nil {
				t.Fatal(err)
			}
			if volume.AlluxioPath != "/data/Größe 1" || !maps.Equal(volume.Options, c.options) || volume.ReadOnly != c.ro {
				t.Fatalf("got %+v", volume)
			}
		})
	}
}

func TestMountFlagsAreWhatDiffersFromSafeOnes(t *testing.T) {
	volume, err := Parse(map[string]string{AlluxioPath: "/"}, []string{"noexec,noatime,sync"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := volume.MountFlags(); !slices.Equal(got, []string{"sync", "noexec", "noatime"}) {
		t.Fatal(got)
	}
	safe, err := Parse(map[string]string{AlluxioPath: "/"}, []string{"nosuid,nodev,exec,relatime"}, nil)
	if err != nil || len(safe.MountFlags()) != 0 {
		t.Fatal(safe, err)
	}
}

func TestNumbersOfUsersHaveThirtyTwoBits(t *testing.T) {
	for _, id := range []string{"0", "1000680000", "2147483648", "4294967294"} {
		volume, err := Parse(map[string]string{AlluxioPath: "/a", "uid": id, "gid": id}, nil, nil)
		if err != nil || volume.Options["uid"] != id {
			t.Error(id, err)
		}
		if err := SetGroup(&Volume{Options: map[string]string{}}, id); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{"", "-1", "+1", "4294967295", "4294967296", "0x10", "1e3", "1_000", "wheel", " 1"} {
		if _, err := Parse(map[string]string{AlluxioPath: "/a", "gid": id}, nil, nil); err == nil {
			t.Errorf("%q was taken", id)
		}
		if err := SetGroup(&Volume{Options: map[string]string{}}, id); err == nil {
			t.Errorf("%q was taken as a pod's group", id)
		}
	}
}

func TestMastersMayHaveAddressesOfIPv6(t *testing.T) {
	for _, masters := range []string{"[::1]:19998", "a:1,[2001:db8::7]:19998", "10.0.0.1:19998"} {
		if _, err := Parse(map[string]string{AlluxioPath: "/a", Masters: masters}, nil, nil); err != nil {
			t.Error(err)
		}
	}
	for _, masters := range []string{"::1:19998", "[::1]", "[::1]:", "[::1]:0", "a:65536", "[10.0.0.1]:1", "[fe80::1%eth0]:1", "[::1:1", "a:+1", "[a]:1", "a", ":1", "a:1,"} {
		if _, err := Parse(map[string]string{AlluxioPath: "/a", Masters: masters}, nil, nil); err == nil {
			t.Errorf("%q was taken", masters)
		}
	}
}

func TestLabelsComeFromTheClaim(t *testing.T) {
	volume, err := Parse(map[string]string{AlluxioPath: "/", PVCName: "claim", PVCNamespace: "team", PVName: "pvc-1"}, nil, nil)
	if err != nil || !maps.Equal(volume.Labels, map[string]string{"pvc": "claim", "namespace": "team", "pv": "pvc-1"}) {
		t.Fatal(volume, err)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	cases := []struct {
		given map[string]string
		flags []string
		says  string
	}{
		{given: map[string]string{}, says: "alluxioPath is missing"},
		{given: map[string]string{AlluxioPath: "/a", "consistency": "strict"}, says: "one of close-to-open, ttl, immutable"},
		{given: map[string]string{AlluxioPath: "/a", "Consistency": "ttl"}, says: "not known"},
		{given: map[string]string{AlluxioPath: "/a", "metadataTtlOf": "/=1h"}, says: "PATH=TIME"},
		{given: map[string]string{AlluxioPath: "/a", "metadataTtlOf": "/a=1h:/a=0"}, says: "PATH=TIME"},
		{given: map[string]string{AlluxioPath: "/a", "metadataTtlOf": "/a/../b=1h"}, says: "PATH=TIME"},
		{given: map[string]string{AlluxioPath: "/a", "metadataTtlOf": "/a"}, says: "PATH=TIME"},
		{given: map[string]string{AlluxioPath: "/a", OnDelete: "delete"}, says: "not known"},
		{given: map[string]string{AlluxioPath: "/a"}, flags: []string{"kernel_cache"}, says: "consistency=immutable"},
		{given: map[string]string{AlluxioPath: "/a"}, flags: []string{"attr_timeout=60"}, says: "metadata_ttl"},
		{given: map[string]string{AlluxioPath: "/a"}, flags: []string{"nosuchthing"}, says: "not known"},
		{given: map[string]string{AlluxioPath: "/a", "uid": "1"}, flags: []string{"uid=2"}, says: "twice"},
		{given: map[string]string{AlluxioPath: "/a"}, flags: []string{"noatime,strictatime"}, says: "twice"},
		{given: map[string]string{AlluxioPath: "/a", JavaOptions: "-Xmx4g"}, says: "values of the chart"},
		{given: map[string]string{AlluxioPath: "/a", JavaOptions: "-Dalluxio.user.metadata.cache.max.size=1"}, says: "cacheEntries"},
		{given: map[string]string{AlluxioPath: "/a", JavaOptions: "-Dalluxio.user.client.cache.enabled=true"}, says: "workers"},
		{given: map[string]string{AlluxioPath: "/a", "alluxio.master.hostname": "evil"}, says: "alluxio-site.properties"},
	}
	for _, c := range cases {
		if _, err := Parse(c.given, c.flags, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v %v: got %v, want something about %q", c.given, c.flags, err, c.says)
		}
	}
}

func TestJavaOptionsOfAlluxiosOwnDriverBecomeProperties(t *testing.T) {
	volume, err := Parse(map[string]string{AlluxioPath: "/a", JavaOptions: "-Dalluxio.user.rpc.retry.max.duration=1min  -Dalluxio.user.block.size.bytes.default=1GB"}, nil, nil)
	if err != nil || !maps.Equal(volume.Properties, map[string]string{"alluxio.user.rpc.retry.max.duration": "1min", "alluxio.user.block.size.bytes.default": "1GB"}) {
		t.Fatal(volume, err)
	}
}

func TestSecretsAreUsedAndNotKept(t *testing.T) {
	secret := map[string]string{SecretUser: "alice", "alluxio.security.login.impersonation.username": "bob"}
	volume, err := Parse(map[string]string{AlluxioPath: "/a", "alluxio.user.file.readtype.default": "CACHE"}, nil, secret)
	if err != nil || volume.User != "alice" || volume.Properties["alluxio.security.login.impersonation.username"] != "bob" {
		t.Fatal(volume, err)
	}
	plain := volume.WithoutSecrets()
	if plain.User != "" || len(plain.Properties) != 1 || !plain.HasSecrets || len(volume.Properties) != 2 {
		t.Fatal(plain, volume)
	}
	for _, bad := range []map[string]string{{"password": "hunter2"}, {SecretUser: ""}, {SecretUser: "a\nhunter2"}, {"alluxio.security.login.x": "hunter2\x00"}} {
		if _, err := Parse(map[string]string{AlluxioPath: "/a"}, nil, bad); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: got %v", bad, err)
		}
	}
}

// Hostile texts, each tried wherever a user can put one.
func hostileTexts() []string {
	return []string{
		"..", "/..", "/../etc", "/a/../../etc", "/a/./b", "/a//b", "/a/", "a/b", "-o", "--takeover=/x", ",suid,dev", "x,suid,dev", "a\nb", "a\rb", "\x00",
		"/a\x00b", "/a\nb", "/a\tb", "/\u202egnp.exe", "/a\u200bb", "/\ufeffa", "/a\u0085b", "/\xff\xfe", "$(reboot)", "`reboot`", "; reboot", "| sh", "&& sh",
		"%s%n", "${pv.name", "'; drop table", strings.Repeat("A", 10<<10), "/" + strings.Repeat("a", 10<<10), "/" + strings.Repeat("a/", 5000) + "b",
		"/" + strings.Repeat("n", 256), "/ a", "/a /b", "on\n", "on ", " on", "ON", "1e9", "-1", "0x10", "٣", "1٠", "９９", "1 2", "K", "1KK", "99999999999999999999",
	}
}

func TestTwoHundredHostileThingsAreRefused(t *testing.T) {
	tried := 0
	mustRefuse := func(where string, err error) {
		t.Helper()
		tried++
		if err == nil {
			t.Errorf("%.200q was accepted", where)
		} else if len(err.Error()) > 1500 || strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%.200q: the answer repeats too much or breaks the log: %q", where, err)
		}
	}
	for _, text := range hostileTexts() {
		for _, d := range Declarations {
			if d.Controller || d.Name == AlluxioPath || d.Name == JavaOptions && strings.TrimSpace(text) == "" {
				continue
			}
			_, err := Parse(map[string]string{AlluxioPath: "/a", d.Name: text}, nil, nil)
			mustRefuse(d.Name+"="+text, err)
		}
		_, err := Parse(map[string]string{AlluxioPath: "/a", text: "on"}, nil, nil)
		mustRefuse("the attribute "+text, err)
		_, err = Parse(map[string]string{AlluxioPath: "/a"}, []string{text}, nil)
		mustRefuse("the mount option "+text, err)
		_, err = Parse(map[string]string{AlluxioPath: "/a"}, []string{"uid=" + text}, nil)
		mustRefuse("the mount option uid="+text, err)
		if !strings.HasPrefix(text, "/") || !IsPath(text) {
			_, err = Parse(map[string]string{AlluxioPath: text}, nil, nil)
			mustRefuse("alluxioPath="+text, err)
		}
	}
	if tried < 200 {
		t.Fatalf("only %d were tried", tried)
	}
	for _, path := range []string{"/..", "/../etc", "/a/../../etc", "/a/./b", "/a//b", "/a/", "/a\nb", "/\u202egnp.exe", "/a\u200bb", "/ a", "/a /b"} {
		if IsPath(path) {
			t.Errorf("path %q was accepted", path)
		}
	}
}

func TestWhereProvisionedVolumesLie(t *testing.T) {
	cases := []struct {
		name     string
		given    map[string]string
		path     string
		onDelete string
		says     string
	}{
		{name: "each has its own folder", path: "/kubernetes/pvc-1", onDelete: Delete},
		{name: "a pattern of the claim", given: map[string]string{PathPattern: "${pvc.namespace}/${pvc.name}", PVCNamespace: "team", PVCName: "claim"},
			path: "/kubernetes/team/claim", onDelete: Retain},
		{name: "what is said about deletion counts", given: map[string]string{PathPattern: "shared", OnDelete: Archive}, path: "/kubernetes/shared", onDelete: Archive},
		{name: "labels", given: map[string]string{BasePath: "/b", PathPattern: "${pvc.labels.app.kubernetes.io/name}-${pv.name}", PVCLabels + "app.kubernetes.io/name": "web"},
			path: "/b/web-pvc-1", onDelete: Delete},
		{name: "a base path of the root", given: map[string]string{BasePath: "/"}, path: "/pvc-1", onDelete: Delete},
		{name: "a label that climbs", given: map[string]string{PathPattern: "${pvc.labels.x}/y", PVCLabels + "x": ".."}, says: "a single path component"},
		{name: "a label with a slash", given: map[string]string{PathPattern: "${pvc.labels.x}", PVCLabels + "x": "a/b"}, says: "a single path component"},
		{name: "a label that is missing", given: map[string]string{PathPattern: "${pvc.labels.x}"}, says: "has no such value"},
		{name: "an unknown variable", given: map[string]string{PathPattern: "${node}"}, says: "allowed are"},
		{name: "an open variable", given: map[string]string{PathPattern: "${pv.name"}, says: "close every"},
		{name: "a pattern that climbs", given: map[string]string{PathPattern: "../${pv.name}"}, says: "without . and .."},
		{name: "an empty pattern is none", given: map[string]string{PathPattern: ""}, path: "/kubernetes/pvc-1", onDelete: Delete},
		{name: "one folder for all", given: map[string]string{AlluxioPath: "/a"}, says: "share one folder"},
		{name: "an unknown parameter", given: map[string]string{"basepath": "/b"}, says: "not known"},
		{name: "an attribute that is wrong", given: map[string]string{"uid": "root"}, says: "allowed is a number from 0"},
		{name: "an unknown way to delete", given: map[string]string{OnDelete: "shred"}, says: "delete, retain, archive"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			made, err := ParseClass("pvc-1", "/kubernetes", c.given, nil)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("got %v, want something about %q", err, c.says)
				}
				return
			}
			if err != nil || made.Path != c.path || made.OnDelete != c.onDelete || made.Attributes[AlluxioPath] != c.path {
				t.Fatalf("got %+v, %v", made, err)
			}
		})
	}
}

func TestTheDocumentationIsTheTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/attributes.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != Markdown() {
		t.Fatal("csi/docs/attributes.md is not what the table says: run csi/generate.sh")
	}
	for _, d := range Declarations {
		if !strings.Contains(string(page), fmt.Sprintf("| `%s` |", d.Name)) || d.Doc == "" || d.check == nil {
			t.Errorf("%s is not declared whole", d.Name)
		}
	}
}
