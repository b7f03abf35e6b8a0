// Package attributes is the one place that knows what may be said about a volume: in a PersistentVolume's
// volumeAttributes and mountOptions, in a StorageClass's parameters, in an inline volume, and in secrets. Nothing that is
// not declared here reaches the gateway. It imports nothing of this module.
package attributes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Declaration is one volume attribute.
type Declaration struct {
	// Name is the attribute; Option is what it is called among mount options and to the gateway ("" where it is none).
	Name, Option string
	// Allowed says in words which values check accepts; Default what holds when it is absent.
	Allowed, Default string
	// Controller: counts in a StorageClass only.
	Controller bool
	Doc        string
	check      func(value string) bool
}

// Names of attributes that are more than options of the gateway.
const (
	AlluxioPath   = "alluxioPath"
	Masters       = "masters"
	ReadOnly      = "readOnly"
	MountOptions  = "mountOptions"
	JavaOptions   = "javaOptions"
	BasePath      = "basePath"
	PathPattern   = "pathPattern"
	OnDelete      = "onDelete"
	DirectoryMode = "directoryMode"
	Bypass        = "bypass"
)

// AccessTimes is the option that says which reads count as accesses.
const AccessTimes = "access_time"

// IDMap is the option by which mounts can show other owners than the file system has.
const IDMap = "id_map"

// DefaultPermissions is an option that the mount itself has too.
const DefaultPermissions = "default_permissions"

// Gid is the option that says which group all files are shown with; GroupAccess, which no attribute sets, what that group may do.
const (
	Gid         = "gid"
	GroupAccess = "group_access"
)

// Values of OnDelete.
const (
	Retain  = "retain"
	Delete  = "delete"
	Archive = "archive"
)

// Declarations is the table from which validation and csi/docs/attributes.md are made.
var Declarations = []Declaration{
	{Name: AlluxioPath, Allowed: "absolute Alluxio path without . and ..", Default: "required", check: IsPath,
		Doc: "Folder in Alluxio that becomes the root of the volume. Dynamic provisioning sets it."},
	{Name: Masters, Allowed: "host:port[,host:port...], a host of IPv6 as [::1]", Default: "as alluxio-site.properties of the gateway says", check: isMasters,
		Doc: "The Alluxio masters."},
	{Name: ReadOnly, Option: "ro", Allowed: "true, false", Default: "false", check: oneOf("true", "false"),
		Doc: "Refuse writes, in the kernel and in the gateway."},
	{Name: MountOptions, Allowed: "comma-separated options of this table's second column", Default: "none", check: isText,
		Doc: "Options in the form of mount -o; the same as PersistentVolume.spec.mountOptions."},
	{Name: JavaOptions, Allowed: "-Dname=value of Alluxio properties allowed below", Default: "none", check: isText,
		Doc: "For volumes written for Alluxio's own CSI driver. One JVM serves all volumes, so other JVM options are refused; its memory is a value of the chart."},
	{Name: "exec", Option: "exec", Allowed: onOffWords, Default: "on", check: oneOf("on", "off"), Doc: "Programs can be run."},
	{Name: "sync", Option: "sync", Allowed: onOffWords, Default: "off", check: oneOf("on", "off"), Doc: "Each write ends in Alluxio, which is slow."},
	{Name: "dirsync", Option: "dirsync", Allowed: onOffWords, Default: "off", check: oneOf("on", "off"), Doc: "Shown in /proc/mounts; names are always in Alluxio at once."},
	{Name: "accessTime", Option: AccessTimes, Allowed: "relatime, noatime, nodiratime, strictatime", Default: "relatime",
		check: oneOf("relatime", "noatime", "nodiratime", "strictatime"), Doc: "Shown in /proc/mounts; reading moves no time of a file."},
	{Name: "consistency", Option: "consistency", Allowed: "close-to-open, ttl, immutable", Default: "close-to-open",
		check: oneOf("close-to-open", "ttl", "immutable"), Doc: "How fresh what is read must be."},
	{Name: "noOpen", Option: "no_open", Allowed: onOffWords, Default: "off", check: oneOf("on", "off"),
		Doc: "The kernel opens and closes files by itself: for datasets of small files that are read again and again. Needs readOnly and consistency=immutable; no file is passed through."},
	{Name: "metadataTtl", Option: "metadata_ttl", Allowed: "seconds, or a number with s, m, h", Default: "the gateway's", check: isDuration,
		Doc: "How long metadata is valid; means nothing with consistency=immutable."},
	{Name: "metadataTtlOf", Option: "metadata_ttl_of", Allowed: "up to 64 of PATH=TTL, separated by colons", Default: "none", check: isTTLsByPath,
		Doc: "metadataTtl of some paths of the volume and all that is below them, as /datasets=1h:/scratch=0; the longest path counts."},
	{Name: "negativeTtl", Option: "negative_ttl", Allowed: "seconds, or a number with s, m, h", Default: "1s", check: isDuration,
		Doc: "How long a name is known to be missing, metadataTtl at most; then one request checks whether its directory changed."},
	{Name: "transport", Option: "transport", Allowed: "auto, devfuse, uring", Default: "auto",
		check: oneOf("auto", "devfuse", "uring"), Doc: "How requests travel between kernel and gateway: auto is devfuse; with uring they take the kernel's faster way, see docs/architecture.md for what that means when a gateway is killed. Stays as it was for the life of a mount. libfuse cannot outlive its gateway and is refused here."},
	{Name: "writeType", Option: "write_type", Allowed: "MUST_CACHE, CACHE_THROUGH, THROUGH, ASYNC_THROUGH", Default: "the gateway's",
		check: oneOf("MUST_CACHE", "CACHE_THROUGH", "THROUGH", "ASYNC_THROUGH"), Doc: "Where Alluxio puts what is written."},
	{Name: "readAhead", Option: "read_ahead", Allowed: sizeWords, Default: "the gateway's", check: isSize,
		Doc: "Largest read-ahead of one stream."},
	{Name: "bufferSize", Option: "buffer_size", Allowed: sizeWords, Default: "the gateway's", check: isSize,
		Doc: "Memory for this volume's data on the way."},
	{Name: "cacheEntries", Option: "cache_entries", Allowed: "number", Default: "the gateway's", check: isNumber,
		Doc: "Files and folders whose metadata is cached."},
	{Name: "spoolSize", Option: "spool_size", Allowed: sizeWords, Default: "the gateway's", check: isSize,
		Doc: "Local disk for files being written."},
	{Name: "streamFrom", Option: "stream_from", Allowed: sizeWords + "; 0: never", Default: "0", check: isSize,
		Doc: "New files that are written in sequence go straight to Alluxio from this length on, without local disk. A gateway that is killed loses those it is streaming, and their writers get EIO; without this, it loses none."},
	{Name: "names", Option: "names", Allowed: "escaped, strict", Default: "escaped", check: oneOf("escaped", "strict"),
		Doc: "Names that Alluxio cannot hold, with ? or a backslash or no UTF-8, are stored escaped, or refused (strict); see docs/semantics.md."},
	{Name: "linkErrno", Option: "link_errno", Allowed: "auto, EOPNOTSUPP, EXDEV, EPERM", Default: "auto", check: oneOf("auto", "EOPNOTSUPP", "EXDEV", "EPERM"),
		Doc: "What link answers, as there are no hard links. On EPERM, Python's mailbox renames; on EOPNOTSUPP, RocksDB, Flink and Pebble copy the files of a checkpoint; on EXDEV, OSTree copies, too. auto: EPERM within a directory or a Maildir, else EOPNOTSUPP."},
	{Name: "uid", Option: "uid", Allowed: idWords, Default: "the owner in Alluxio", check: isID, Doc: "Owner shown for all files."},
	{Name: "gid", Option: Gid, Allowed: idWords, Default: "the pod's fsGroup, else the group in Alluxio", check: isID, Doc: "Group shown for all files."},
	{Name: "umask", Option: "umask", Allowed: "octal, 000 to 777", Default: "none", check: isOctal, Doc: "Permission bits hidden from all files."},
	{Name: "passthrough", Option: "passthrough", Allowed: "auto, on, off", Default: "auto", check: oneOf("auto", "on", "off"),
		Doc: "The kernel reads block files of one-block files by itself, of volumes that are readOnly or have consistency=immutable: from 1 MiB on (auto), all, none. The gateway needs CAP_SYS_ADMIN."},
	{Name: Bypass, Option: "bypass", Allowed: "true, false, auto, on, off", Default: "false", check: oneOf("true", "false", "auto", "on", "off"),
		Doc: "Pods whose programs have the bypass library read block files of a local worker without FUSE, of volumes that are readOnly or have consistency=immutable: files from 1 MiB on (true, auto), all (on). The chart's node.gateway.bypass makes socket and library; see docs/bypass.md."},
	{Name: "shortCircuit", Option: "short_circuit", Allowed: onOffWords, Default: "on, or as alluxio-site.properties of the gateway says", check: oneOf("on", "off"),
		Doc: "Read a local worker's block files directly."},
	{Name: "prefetch", Option: "prefetch", Allowed: onOffWords, Default: "on", check: oneOf("on", "off"), Doc: "Streams from remote workers read ahead."},
	{Name: "defaultPermissions", Option: DefaultPermissions, Allowed: onOffWords, Default: "on", check: oneOf("on", "off"),
		Doc: "Let the kernel check permission bits."},
	{Name: "idMap", Option: IDMap, Allowed: onOffWords, Default: "on with defaultPermissions", check: oneOf("on", "off"),
		Doc: "Pods of several fsGroups on one node, and pods with hostUsers: false, by id-mapped mounts, from Linux 6.12 on. The access log then names users of creations only."},
	{Name: "readdirplus", Option: "readdirplus", Allowed: onOffWords, Default: "on", check: oneOf("on", "off"), Doc: "Listings bring attributes with them."},
	{Name: "maxThreads", Option: "max_threads", Allowed: "number", Default: "the gateway's", check: isNumber, Doc: "Threads that receive this volume's requests on devfuse."},
	{Name: "poolThreads", Option: "pool_threads", Allowed: "number", Default: "the gateway's", check: isNumber, Doc: "Most requests of this volume that wait for Alluxio at the same time."},
	{Name: "bytesPerSecond", Option: "bytes_per_second", Allowed: sizeWords + "; at least 1M", Default: "no limit, or the chart's", check: isRate,
		Doc: "Most that is read, written and copied on one node in a second; what comes sooner waits and never fails. Files are then neither passed through nor bypassed. The chart's node.gateway.maxBytesPerSecond is a ceiling of every volume."},
	{Name: "requestsPerSecond", Option: "requests_per_second", Allowed: "number, at least 1", Default: "no limit, or the chart's", check: isPositive,
		Doc: "Most requests on one node in a second; what comes sooner waits and never fails. The chart's node.gateway.maxRequestsPerSecond is a ceiling of every volume."},

	{Name: BasePath, Controller: true, Allowed: "absolute Alluxio path without . and ..", Default: "the driver's --base-path", check: IsPath,
		Doc: "Folder below which provisioned volumes lie."},
	{Name: PathPattern, Controller: true, Allowed: "relative path with ${pv.name}, ${pvc.name}, ${pvc.namespace}, ${pvc.labels.KEY}", Default: "${pv.name}", check: isText,
		Doc: "Folder of a provisioned volume, below basePath."},
	{Name: OnDelete, Controller: true, Allowed: "delete, retain, archive", Default: "delete where pathPattern has ${pv.name}, else retain",
		check: oneOf(Delete, Retain, Archive), Doc: "What happens to the folder with the volume; archive renames it to archived-…"},
	{Name: DirectoryMode, Controller: true, Allowed: "octal, 000 to 777", Default: "777", check: isOctal, Doc: "Permission bits of a provisioned folder."},
}

const (
	sizeWords  = "bytes, or a number with K, M, G, T (1024-based)"
	onOffWords = "on, off"
	idWords    = "number from 0 to 4294967294"
)

// togetherWith says what two words about times of access mean when they are given together, as mount(8) takes them: noatime spares
// directories as well, and nodiratime goes with relatime.
var togetherWith = map[string]string{
	"noatime nodiratime": "noatime", "nodiratime noatime": "noatime",
	"relatime nodiratime": "nodiratime", "nodiratime relatime": "nodiratime",
}

// words are other ways to write a mount option, as mount(8) has them.
var words = map[string]string{
	"noexec": "exec=off", "async": "sync=off",
	"atime": "access_time=relatime", "diratime": "access_time=relatime", "relatime": "access_time=relatime",
	"noatime": "access_time=noatime", "nodiratime": "access_time=nodiratime", "strictatime": "access_time=strictatime",
}

// ignored are words of mount(8) that mean nothing of a volume, or what holds anyway.
var ignored = []string{
	"rw", "allow_other", "nosuid", "nodev", "defaults", "_netdev", "nofail", "auto", "noauto", "user", "users", "nouser", "owner", "group",
	"comment", "silent", "loud", "nolazytime", "noiversion", "nomand", "x-*", "X-*",
}

// replaced answers options of other FUSE programs.
var replaced = map[string]string{
	"suid":          "volumes are nosuid, since who writes into one from a pod could become another user in the next",
	"dev":           "volumes are nodev, since a device in one would be the node's",
	"kernel_cache":  "the page cache is kept while a file's version is unchanged; for files that never change use consistency=immutable",
	"direct_io":     "not needed: pages of a changed file are dropped when it is opened",
	"attr_timeout":  "use consistency=ttl,metadata_ttl=SECONDS",
	"entry_timeout": "use consistency=ttl,metadata_ttl=SECONDS",
	"max_read":      "not needed: the kernel and the gateway agree on the size of requests",
}

// replacedProperties answers settings of AlluxioFuse and of the client that are attributes here; a trailing * stands for
// any rest.
var replacedProperties = map[string]string{
	"alluxio.fuse.auth.policy.class":              "use uid, gid and umask",
	"alluxio.fuse.cached.paths.max":               "use cacheEntries",
	"alluxio.fuse.jnifuse.libfuse.version":        "use transport",
	"alluxio.fuse.mount.alluxio.path":             "use alluxioPath",
	"alluxio.fuse.mount.options":                  "use mountOptions",
	"alluxio.user.file.writetype.default":         "use writeType",
	"alluxio.user.client.cache.*":                 "not needed: data are cached by Alluxio's workers and by the kernel, never a third time on disk",
	"alluxio.user.metadata.cache.enabled":         "metadata is always cached; see consistency",
	"alluxio.user.metadata.cache.expiration.time": "use metadataTtl",
	"alluxio.user.metadata.cache.max.size":        "use cacheEntries",
	"alluxio.user.short.circuit.enabled":          "use shortCircuit",
}

// properties are the Alluxio client properties a volume may set; a trailing * stands for any rest.
var properties = []string{
	"alluxio.user.block.size.bytes.default",
	"alluxio.user.file.metadata.sync.interval",
	"alluxio.user.file.readtype.default",
	"alluxio.user.file.replication.*",
	"alluxio.user.network.*",
	"alluxio.user.rpc.retry.*",
	"alluxio.user.streaming.*",
	"alluxio.user.ufs.block.read.*",
}

// secretProperties may be set by a secret besides the user.
var secretProperties = []string{"alluxio.security.login.*"}

// SecretUser is the key of a secret that names the Alluxio user.
const SecretUser = "alluxioUser"

func matches(list []string, name string) bool {
	return slices.ContainsFunc(list, func(allowed string) bool {
		prefix, open := strings.CutSuffix(allowed, "*")
		return name == allowed || open && strings.HasPrefix(name, prefix) && len(name) > len(prefix)
	})
}

// insteadOf says what replaced a property; empty: nothing did.
func insteadOf(name string) string {
	for replacedName, instead := range replacedProperties {
		if matches([]string{replacedName}, name) {
			return instead
		}
	}
	return ""
}

func find(match func(*Declaration) bool) *Declaration {
	for i := range Declarations {
		if match(&Declarations[i]) {
			return &Declarations[i]
		}
	}
	return nil
}

// Markdown is the text of csi/docs/attributes.md.
func Markdown() string {
	var text strings.Builder
	text.WriteString("<!-- Generated from csi/internal/attributes/table.go by `make csi-generate`. -->\n# Volume attributes\n\n" +
		"For `volumeAttributes` of a PersistentVolume or an inline volume and `parameters` of a StorageClass. " +
		"The second column is the name in `mountOptions`, where the words of mount(8) are taken, too (`noexec`, `noatime`, `_netdev` …). " +
		"Anything else is refused, with a sentence in the pod's events.\n\n" +
		"| attribute | mount option | allowed | default | meaning |\n|---|---|---|---|---|\n")
	for _, only := range []bool{false, true} {
		if only {
			text.WriteString("\n## In a StorageClass only\n\n| parameter | mount option | allowed | default | meaning |\n|---|---|---|---|---|\n")
		}
		for _, d := range Declarations {
			if d.Controller == only {
				option := ""
				if d.Option != "" {
					option = "`" + d.Option + "`"
				}
				fmt.Fprintf(&text, "| `%s` | %s | %s | %s | %s |\n", d.Name, option, d.Allowed, d.Default, d.Doc)
			}
		}
	}
	text.WriteString("\n## In an inline volume\n\nInline volumes must lie below csiDriver.ephemeralRoot, and may set what csiDriver.ephemeralAllowed names. By default:\n\n")
	for _, name := range DefaultInlineAllowed {
		fmt.Fprintf(&text, "- `%s`\n", name)
	}
	text.WriteString("\n## Alluxio properties\n\nAttributes with these names go to the Alluxio client of the volume:\n\n")
	for _, name := range properties {
		fmt.Fprintf(&text, "- `%s`\n", name)
	}
	text.WriteString("\n## Secrets\n\n`nodeStageSecretRef`, `nodePublishSecretRef` and the provisioner's secret may have `" + SecretUser +
		"` (the Alluxio user) and these properties; they are kept in memory only:\n\n")
	for _, name := range secretProperties {
		fmt.Fprintf(&text, "- `%s`\n", name)
	}
	text.WriteString("\n## What replaced options of other programs\n\n| option or property | instead |\n|---|---|\n")
	for _, table := range []map[string]string{replaced, replacedProperties} {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			fmt.Fprintf(&text, "| `%s` | %s |\n", name, table[name])
		}
	}
	return text.String()
}
