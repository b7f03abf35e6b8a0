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
		Doc: "Alluxio path that is the root of the volume. Dynamic provisioning sets it."},
	{Name: Masters, Allowed: "host:port[,host:port...], a host of IPv6 as [::1]", Default: "from the gateway's alluxio-site.properties", check: isMasters,
		Doc: "The Alluxio masters."},
	{Name: ReadOnly, Option: "ro", Allowed: "true, false", Default: "false", check: oneOf("true", "false"),
		Doc: "Refuse writes, in the kernel and in the gateway."},
	{Name: MountOptions, Allowed: "comma-separated options of this table's second column", Default: "none", check: isText,
		Doc: "Options as for mount -o; the same as PersistentVolume.spec.mountOptions."},
	{Name: JavaOptions, Allowed: "-Dname=value of Alluxio properties allowed below", Default: "none", check: isText,
		Doc: "For volumes of Alluxio's own CSI driver. One JVM serves all volumes, so other JVM options are refused; its memory is a value of the chart."},
	asGateway("exec", "exec", "on", "Programs can be run."),
	asGateway("sync", "sync", "off", "Each write is uploaded to Alluxio before it returns; slow."),
	asGateway("dirsync", "dirsync", "off", "Shown in /proc/mounts; changes of names are always written to Alluxio at once."),
	asGateway("accessTime", AccessTimes, "relatime", "Shown in /proc/mounts; reads never update the access time."),
	asGateway("consistency", "consistency", "close-to-open", "Which changes of other clients an open sees."),
	asGateway("noOpen", "no_open", "off",
		"The kernel opens and closes files itself: for datasets of small files that are read repeatedly. Needs readOnly and consistency=immutable; excludes passthrough."),
	asGateway("metadataTtl", "metadata_ttl", "the gateway's", "How long metadata stays valid; ignored with consistency=immutable."),
	asGateway("metadataTtlOf", "metadata_ttl_of", "none",
		"metadataTtl of single paths of the volume and everything below them, for example /datasets=1h:/scratch=0; the longest matching path applies."),
	asGateway("negativeTtl", "negative_ttl", "1s",
		"How long a missing name is cached, at most metadataTtl; after that, one request per directory revalidates all its missing names."),
	{Name: "transport", Option: "transport", Allowed: "auto, devfuse, uring", Default: "auto",
		check: oneOf("auto", "devfuse", "uring"), Doc: "Transport of requests between kernel and gateway: auto is devfuse; uring is faster, and docs/architecture.md says what it means when a gateway is killed. A mount keeps its transport. libfuse is refused, because its mounts cannot outlive the gateway."},
	asGateway("writeType", "write_type", "the gateway's", "Where written files are stored: in the workers, in the under file system, or in both."),
	asGateway("replace", "replace", "rename",
		"How a changed file is stored in an object store: by a rename over the old file; or in-place, with one upload and no copy: if the node is lost during it, so is the file. See docs/semantics.md."),
	asGateway("readAhead", "read_ahead", "the gateway's", "Largest read-ahead of one stream."),
	asGateway("bufferSize", "buffer_size", "the gateway's", "Memory for read-ahead of this volume."),
	asGateway("cacheEntries", "cache_entries", "the gateway's", "Files and folders whose metadata is cached."),
	asGateway("spoolSize", "spool_size", "the gateway's", "Maximum local disk space for changed files."),
	asGateway("streamFrom", "stream_from", "0",
		"Length from which new, sequentially written files are streamed to Alluxio without local disk (0: never). A gateway that is killed loses the files it is streaming, and their writers get EIO; without this option it loses none."),
	asGateway("names", "names", "escaped",
		"How names are stored that Alluxio cannot hold, with ?, a backslash or invalid UTF-8: escaped, or refused (strict); see docs/semantics.md."),
	asGateway("linkErrno", "link_errno", "auto",
		"The errno of link, because there are no hard links. After EPERM, Python's mailbox renames; after EOPNOTSUPP, RocksDB, Flink and Pebble copy the files of a checkpoint; after EXDEV, OSTree copies, too. auto: EPERM within a directory or a Maildir, else EOPNOTSUPP."),
	asGateway("uid", "uid", "the owner in Alluxio", "Owner of all files as shown."),
	asGateway("gid", Gid, "the pod's fsGroup, else the group in Alluxio", "Group of all files as shown."),
	asGateway("umask", "umask", "none", "Permission bits removed from all files as shown."),
	asGateway("passthrough", "passthrough", "auto",
		"The kernel itself reads the block files of one-block files, on volumes that are readOnly or have consistency=immutable: for files of at least 1 MiB (auto), all (on), none (off). The gateway needs CAP_SYS_ADMIN."),
	{Name: Bypass, Option: "bypass", Allowed: "true, false, auto, on, off", Default: "false", check: oneOf("true", "false", "auto", "on", "off"),
		Doc: "Programs with the bypass library read block files of a local worker without FUSE, on volumes that are readOnly or have consistency=immutable: for files of at least 1 MiB (true, auto) or all (on). The chart's node.gateway.bypass provides socket and library; see docs/bypass.md."},
	asGateway("shortCircuit", "short_circuit", "on, or from the gateway's alluxio-site.properties",
		"Read a local worker's block files directly."),
	asGateway("prefetch", "prefetch", "on", "Read ahead in streams from remote workers."),
	asGateway("defaultPermissions", DefaultPermissions, "on", "Let the kernel check permission bits."),
	asGateway("idMap", IDMap, "on with defaultPermissions",
		"Allow id-mapped mounts (Linux 6.12), for pods with different fsGroups on one node and pods with hostUsers: false. The access log then reports users for creations only."),
	asGateway("readdirplus", "readdirplus", "on", "Listings return attributes."),
	asGateway("maxThreads", "max_threads", "the gateway's", "Threads that receive this volume's requests on devfuse."),
	asGateway("poolThreads", "pool_threads", "the gateway's", "Maximum number of requests of this volume that wait for Alluxio concurrently."),
	asGateway("bytesPerSecond", "bytes_per_second", "no limit, or the chart's",
		"Maximum bytes per second read, written and copied on one node; requests above it wait and never fail. It turns passthrough and bypass off. The chart's node.gateway.maxBytesPerSecond limits every volume."),
	asGateway("requestsPerSecond", "requests_per_second", "no limit, or the chart's",
		"Maximum requests per second on one node; requests above it wait and never fail. The chart's node.gateway.maxRequestsPerSecond limits every volume."),

	{Name: BasePath, Controller: true, Allowed: "absolute Alluxio path without . and ..", Default: "the driver's --base-path", check: IsPath,
		Doc: "Folder below which volumes are provisioned."},
	{Name: PathPattern, Controller: true, Allowed: "relative path with ${pv.name}, ${pvc.name}, ${pvc.namespace}, ${pvc.labels.KEY}", Default: "${pv.name}", check: isText,
		Doc: "Folder of a provisioned volume, below basePath."},
	{Name: OnDelete, Controller: true, Allowed: "delete, retain, archive", Default: "delete where pathPattern has ${pv.name}, else retain",
		check: oneOf(Delete, Retain, Archive), Doc: "What happens to the folder when the volume is deleted; archive renames it to archived-…"},
	{Name: DirectoryMode, Controller: true, Allowed: "octal, 000 to 777", Default: "777", check: isOctal, Doc: "Permission bits of a provisioned folder."},
}

const idWords = "number from 0 to 4294967294"

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
	"suid":          "volumes are nosuid, because a program written by one pod could become another user in the next",
	"dev":           "volumes are nodev, because a device file in one would give access to the node's device",
	"kernel_cache":  "the page cache is kept while a file's version is unchanged; for files that never change use consistency=immutable",
	"direct_io":     "not needed: pages of a changed file are dropped when it is opened",
	"attr_timeout":  "use consistency=ttl,metadata_ttl=SECONDS",
	"entry_timeout": "use consistency=ttl,metadata_ttl=SECONDS",
	"max_read":      "not needed: the kernel and the gateway negotiate the size of requests",
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
	"alluxio.user.client.cache.*":                 "not needed: Alluxio's workers and the kernel cache data; there is no third copy on disk",
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

// loginUser is the property that names the same as SecretUser.
const loginUser = "alluxio.security.login.username"

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
		"The second column is the name in `mountOptions`, where options of mount(8) are accepted, too (`noexec`, `noatime`, `_netdev` …). Anything else is refused, with an explanation in the pod's events.\n\n" +
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
		"` (the Alluxio user) and these properties; they are kept in memory only. A publish secret needs a stage secret of the same user:\n\n")
	for _, name := range secretProperties {
		fmt.Fprintf(&text, "- `%s`\n", name)
	}
	text.WriteString("\n## Replacements for options of other programs\n\n| option or property | instead |\n|---|---|\n")
	for _, table := range []map[string]string{replaced, replacedProperties} {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			fmt.Fprintf(&text, "| `%s` | %s |\n", name, table[name])
		}
	}
	return text.String()
}
