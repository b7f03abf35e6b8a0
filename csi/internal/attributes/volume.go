package attributes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Volume is what the attributes of a volume say, checked.
type Volume struct {
	AlluxioPath string
	Masters     string
	User        string
	ReadOnly    bool
	// Options as the gateway names them; Properties of the Alluxio client; Labels of metrics and logs.
	Options    map[string]string
	Properties map[string]string
	Labels     map[string]string
	// HasSecrets: User or Properties come from a secret and must not be stored.
	HasSecrets bool
}

// Keys that Kubernetes adds by itself.
const (
	Ephemeral    = "csi.storage.k8s.io/ephemeral"
	PVCName      = "csi.storage.k8s.io/pvc/name"
	PVCNamespace = "csi.storage.k8s.io/pvc/namespace"
	PVName       = "csi.storage.k8s.io/pv/name"
	podNamespace = "csi.storage.k8s.io/pod.namespace"
	// PVCLabels prefixes the labels of a claim, which the driver's own provisioner adds.
	PVCLabels = "posixgateway.io/pvc-label/"
)

var labelOf = map[string]string{PVCName: "pvc", PVCNamespace: "namespace", PVName: "pv"}

// fromKubernetes says whether a key is none of the user's.
func fromKubernetes(key string) bool {
	return strings.HasPrefix(key, "csi.storage.k8s.io/") || strings.HasPrefix(key, "storage.kubernetes.io/") ||
		strings.HasPrefix(key, PVCLabels)
}

// Parse checks what is said about a volume: its attributes, the mount options of its PersistentVolume, and a secret.
// The error is a sentence for the user; it never repeats a secret.
func Parse(given map[string]string, mountFlags []string, secret map[string]string) (*Volume, error) {
	volume := &Volume{Options: map[string]string{}, Properties: map[string]string{}, Labels: map[string]string{}}
	for key, value := range given {
		if err := volume.set(key, value); err != nil {
			return nil, err
		}
	}
	for _, flags := range mountFlags {
		if err := volume.setMountOptions(flags); err != nil {
			return nil, err
		}
	}
	if volume.AlluxioPath == "" {
		return nil, fmt.Errorf("the volume attribute %s is missing: set it to the Alluxio path to mount, for example /datasets", AlluxioPath)
	}
	if volume.Options["names"] == "strict" && strings.ContainsAny(volume.AlluxioPath, unaddressable) {
		return nil, fmt.Errorf("%s %.200q has a backslash or a question mark, which Alluxio cannot store: name another folder, or leave names=strict out",
			AlluxioPath, volume.AlluxioPath)
	}
	if given[Ephemeral] == "true" { // there is no claim, whatever the pod's author wrote
		volume.Labels = map[string]string{}
		volume.setLabel("namespace", given[podNamespace])
	}
	return volume, volume.setSecret(secret)
}

func (v *Volume) set(key, value string) error {
	if fromKubernetes(key) {
		v.setLabel(labelOf[key], value)
		return nil
	}
	if strings.HasPrefix(key, "alluxio.") {
		return v.setProperty(key, value)
	}
	declared := find(func(d *Declaration) bool { return d.Name == key && !d.Controller })
	if declared == nil {
		return fmt.Errorf("the volume attribute %.80q is not known: see csi/docs/attributes.md for valid ones, and check upper and lower case", key)
	}
	if !declared.check(value) {
		return refusal("volume attribute", key, value, declared)
	}
	switch key {
	case AlluxioPath:
		v.AlluxioPath = value
	case Masters:
		v.Masters = value
	case MountOptions:
		return v.setMountOptions(value)
	case JavaOptions:
		return v.setJavaOptions(value)
	default:
		return v.setOption(declared, value)
	}
	return nil
}

func (v *Volume) setLabel(label, value string) {
	if label != "" && isText(value) {
		v.Labels[label] = value
	}
}

func refusal(what, key, value string, declared *Declaration) error {
	return fmt.Errorf("the %s %s is %.80q: allowed is %s", what, key, value, declared.Allowed)
}

// setOption takes one value of a declared option; the same option said twice must say the same.
func (v *Volume) setOption(declared *Declaration, value string) error {
	if declared.Name == ReadOnly {
		v.ReadOnly = v.ReadOnly || value == "true"
		return nil
	}
	if declared.Name == Bypass {
		value = bypassOption(value)
	}
	before, twice := v.Options[declared.Option]
	if together := togetherWith[before+" "+value]; declared.Option == AccessTimes && together != "" {
		before, value = together, together
	}
	if twice && before != value {
		return fmt.Errorf("%s is given twice, as %q and %q: give it once", declared.Option, before, value)
	}
	v.Options[declared.Option] = value
	return nil
}

// bypassOption is what the gateway calls a value of this attribute.
func bypassOption(value string) string {
	switch value {
	case "true":
		return "auto"
	case "false":
		return "off"
	default:
		return value
	}
}

// setMountOptions takes "name=value,name,...".
func (v *Volume) setMountOptions(text string) error {
	if !isText(text) {
		return fmt.Errorf("mount options %.80q: give at most %d printable characters", text, maxValueBytes)
	}
	for item := range strings.SplitSeq(text, ",") {
		word, _, _ := strings.Cut(item, "=")
		if word == "" || matches(ignored, word) {
			continue
		}
		if err := v.setMountOption(item); err != nil {
			return err
		}
	}
	return nil
}

// setMountOption takes "name=value" or the name of a switch.
func (v *Volume) setMountOption(item string) error {
	if meant, isWord := words[item]; isWord {
		item = meant
	}
	name, value, hasValue := strings.Cut(item, "=")
	if instead := replaced[name]; instead != "" {
		return fmt.Errorf("the mount option %s is not supported: %s", name, instead)
	}
	declared := find(func(d *Declaration) bool { return d.Option == name && name != "" })
	if declared == nil {
		return fmt.Errorf("the mount option %.80q is not known: see csi/docs/attributes.md for valid ones", name)
	}
	if !hasValue { // a switch is on by its name alone
		value = "on"
	}
	if meant, isSwitch := map[string]string{"on": "true", "off": "false"}[value]; isSwitch && declared.Name == ReadOnly {
		value = meant
	}
	if !declared.check(value) {
		return refusal("mount option", name, value, declared)
	}
	return v.setOption(declared, value)
}

func (v *Volume) setJavaOptions(text string) error {
	for option := range strings.FieldsSeq(text) {
		definition, isProperty := strings.CutPrefix(option, "-D")
		name, value, hasValue := strings.Cut(definition, "=")
		if !isProperty || !hasValue {
			return fmt.Errorf("the Java option %.80q is refused: one JVM serves all volumes, so its options are values of the chart; "+
				"only -Dalluxio.user.…=value may be given for a volume", option)
		}
		if err := v.setProperty(name, value); err != nil {
			return err
		}
	}
	return nil
}

func (v *Volume) setProperty(name, value string) error {
	if !propertyName.MatchString(name) {
		return fmt.Errorf("%.80q is not a name of an Alluxio property: give letters, digits and . _ -", name)
	}
	if instead := insteadOf(name); instead != "" {
		return fmt.Errorf("the Alluxio property %s cannot be set for a volume: %s", name, instead)
	}
	if !matches(properties, name) {
		return fmt.Errorf("the Alluxio property %.80q may not be set for a volume: allowed are those in csi/docs/attributes.md; set others in the "+
			"gateway's alluxio-site.properties", name)
	}
	if !propertyValue.MatchString(value) {
		return fmt.Errorf("the Alluxio property %s is %.80q: give at most 512 letters, digits and . _ : / , @ = + -", name, value)
	}
	v.Properties[name] = value
	return nil
}

func (v *Volume) setSecret(secret map[string]string) error {
	for key, value := range secret {
		switch {
		case key == SecretUser:
			if value == "" || len(value) > 255 || !isText(value) {
				return fmt.Errorf("the secret's %s is not a user name: give 1 to 255 printable characters", SecretUser)
			}
			v.User = value
		case propertyName.MatchString(key) && matches(secretProperties, key):
			if len(value) > maxValueBytes || !isText(value) {
				return fmt.Errorf("the secret's %s is not printable: give printable text", key)
			}
			v.Properties[key] = value
		default:
			return fmt.Errorf("the secret has the key %.80q: allowed are %s and %s", key, SecretUser, strings.Join(secretProperties, ", "))
		}
		v.HasSecrets = true
	}
	return nil
}

// WithoutSecrets is what may be written to disk.
func (v *Volume) WithoutSecrets() *Volume {
	plain := *v
	if !v.HasSecrets {
		return &plain
	}
	plain.User = ""
	plain.Properties = maps.Clone(v.Properties)
	maps.DeleteFunc(plain.Properties, func(name, _ string) bool { return matches(secretProperties, name) })
	return &plain
}

// LacksSecrets says that the volume had secrets, and that this is what is left of it on disk: it must not be mounted as somebody else.
func (v *Volume) LacksSecrets() bool {
	if !v.HasSecrets || v.User != "" {
		return false
	}
	for name := range v.Properties {
		if matches(secretProperties, name) {
			return false
		}
	}
	return true
}

// Identity says whom the gateway is to be in Alluxio, by what the secret names; "" without one. It is a secret itself.
func (v *Volume) Identity() string {
	if !v.HasSecrets {
		return ""
	}
	named := maps.Clone(v.Properties)
	maps.DeleteFunc(named, func(name, _ string) bool { return !matches(secretProperties, name) })
	if v.User != "" { // the gateway prefers it
		named[loginUser] = v.User
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(named)) {
		text.WriteString(name + "=" + named[name] + "\n")
	}
	return text.String()
}

// MountFlags are what the keeper is to mount with besides nosuid, nodev.
func (v *Volume) MountFlags() []string {
	var flags []string
	for _, name := range []string{"sync", "dirsync"} {
		if v.Options[name] == "on" {
			flags = append(flags, name)
		}
	}
	if v.Options["exec"] == "off" {
		flags = append(flags, "noexec")
	}
	if times := v.Options["access_time"]; times != "" && times != "relatime" {
		flags = append(flags, times)
	}
	return flags
}

// GatewayOptions are what the gateway is given: the options that were said, and what pods need that nobody has to say.
func (v *Volume) GatewayOptions() map[string]string {
	options := maps.Clone(v.Options)
	if options[IDMap] == "" && options[DefaultPermissions] != "off" {
		options[IDMap] = "on"
	}
	return options
}

// SetGroup makes group the group of all files, as a pod's fsGroup asks, unless the volume's attributes name one. As the kubelet's own
// change of a volume's files would leave them, the group may read them, write them unless the volume is read-only, and enter the
// directories; nothing is changed in Alluxio.
func SetGroup(v *Volume, group string) error {
	if !isID(group) {
		return fmt.Errorf("the volume mount group %.80q is not a %s: correct the pod's fsGroup", group, idWords)
	}
	if v.Options[Gid] != "" {
		return nil
	}
	v.Options[Gid], v.Options[GroupAccess] = group, "write"
	if v.ReadOnly {
		v.Options[GroupAccess] = "read"
	}
	return nil
}

// PodGroup is the group that a pod asked for by its fsGroup; empty: none did, or the volume's attributes name one.
func (v *Volume) PodGroup() string {
	if v.Options[GroupAccess] == "" {
		return ""
	}
	return v.Options[Gid]
}

// SameButGroup says whether two volumes have the same options, whatever group they are shown with.
func (v *Volume) SameButGroup(other *Volume) bool {
	return maps.Equal(v.withoutGroup(), other.withoutGroup())
}

func (v *Volume) withoutGroup() map[string]string {
	options := maps.Clone(v.Options)
	delete(options, Gid)
	delete(options, GroupAccess)
	return options
}

// WithGroupOf is the volume with the group that other's pod asked for, which must be one.
func (v *Volume) WithGroupOf(other *Volume) *Volume {
	changed := *v
	changed.Options = v.withoutGroup()
	changed.Options[Gid], changed.Options[GroupAccess] = other.Options[Gid], other.Options[GroupAccess]
	return &changed
}
