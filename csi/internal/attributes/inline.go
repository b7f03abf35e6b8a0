package attributes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// InlinePolicy is what an administrator lets authors of pods do with inline volumes. An inline volume is written by whoever may
// write a pod, a PersistentVolume by an administrator alone, so only what can harm nobody else is allowed unless it says more.
type InlinePolicy struct {
	// Root contains the Alluxio paths that may be mounted; empty: there are no inline volumes.
	Root string
	// Allowed names attributes, Alluxio properties and keys of secrets; a trailing * stands for any rest.
	Allowed []string
}

// DefaultInlineAllowed chooses neither who the gateway is to Alluxio, nor which Alluxio, nor what the kernel checks, nor how much
// of the node's memory, disk and threads a volume may take.
var DefaultInlineAllowed = []string{
	"accessTime", "consistency", "dirsync", "exec", "metadataTtl", "metadataTtlOf", "negativeTtl", "readdirplus", ReadOnly, "sync", "umask",
}

// unaddressable are characters that Alluxio reads as something else than part of a name: a backslash is a slash to it.
const unaddressable = "\\?"

// Check refuses a list with a name that no inline volume could set, and a root that is no path.
func (p *InlinePolicy) Check() error {
	if p.Root != "" && !IsPath(p.Root) {
		return fmt.Errorf("the root of inline volumes is %.80q: give an absolute Alluxio path without . and .. in it", p.Root)
	}
	for _, name := range p.Allowed {
		if !isInlineName(name) {
			return fmt.Errorf("%.80q is no setting of a volume: give names of attributes, properties or keys of secrets from csi/docs/attributes.md", name)
		}
	}
	return nil
}

func isInlineName(name string) bool {
	isAttribute := find(func(d *Declaration) bool { return d.Name == name && !d.Controller }) != nil
	within := func(list []string) bool {
		return slices.ContainsFunc(list, func(known string) bool {
			prefix, _ := strings.CutSuffix(known, "*")
			return known == name || known != prefix && strings.HasPrefix(name, prefix) && name != prefix
		})
	}
	return isAttribute || name == SecretUser || within(properties) || within(secretProperties)
}

// Admit says why an inline volume may not be mounted; nil: it may. Call it with what Parse made of everything that the pod's author
// said, whichever way, and before anything is added to that.
func (p *InlinePolicy) Admit(v *Volume) error {
	if p.Root == "" {
		return fmt.Errorf("inline volumes are off on this node, because no Alluxio path is set for them: use a PersistentVolume, or ask the " +
			"administrator to set csiDriver.ephemeralRoot (--inline-root)")
	}
	if !IsBelow(v.AlluxioPath, p.Root) || strings.ContainsAny(v.AlluxioPath, unaddressable) {
		return fmt.Errorf("inline volumes may mount paths below %s, but not %s: use a PersistentVolume, or ask the administrator (--inline-root)",
			p.Root, v.AlluxioPath)
	}
	var refused []string
	for _, name := range v.choices() {
		if !matches(p.Allowed, name) {
			refused = append(refused, name)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	allowed := cmp.Or(strings.Join(p.Allowed, ", "), "nothing but "+AlluxioPath+" and "+ReadOnly)
	return fmt.Errorf("an inline volume may not set %s here: the administrator allows %s; use a PersistentVolume, or ask the administrator to "+
		"extend csiDriver.ephemeralAllowed (--inline-allowed)", strings.Join(refused, ", "), allowed)
}

// choices names, in order, what was said about a volume beyond its path and that it is read-only: as attributes, properties and keys
// of secrets are called.
func (v *Volume) choices() []string {
	said := map[string]bool{}
	for option := range v.Options {
		said[find(func(d *Declaration) bool { return d.Option == option }).Name] = true
	}
	for name := range v.Properties {
		said[name] = true
	}
	said[Masters], said[SecretUser] = v.Masters != "", v.User != ""
	maps.DeleteFunc(said, func(_ string, isSaid bool) bool { return !isSaid })
	return slices.Sorted(maps.Keys(said))
}
