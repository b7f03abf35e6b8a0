package attributes

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Provision is what a StorageClass says about the volumes made from it, for one claim.
type Provision struct {
	BasePath string
	// Path is that of the volume, below BasePath.
	Path          string
	OnDelete      string
	DirectoryMode uint32
	// Attributes are those of the volume, checked, with AlluxioPath.
	Attributes map[string]string
	// Volume is what they say.
	Volume *Volume
}

var variable = regexp.MustCompile(`\$\{[^}]*\}`)

// ParseClass checks the parameters of a StorageClass and works out where the volume called name lies.
func ParseClass(name, defaultBase string, given, secret map[string]string) (*Provision, error) {
	if given[AlluxioPath] != "" {
		return nil, fmt.Errorf("a StorageClass may not set %s, because all its volumes would share one folder: set %s, and %s if needed",
			AlluxioPath, BasePath, PathPattern)
	}
	provision := &Provision{BasePath: defaultBase, DirectoryMode: 0o777, Attributes: map[string]string{}}
	pattern := cmp.Or(given[PathPattern], "${pv.name}")
	for key, value := range given {
		declared := find(func(d *Declaration) bool { return d.Name == key && d.Controller })
		if strings.HasPrefix(key, PVCLabels) {
			continue // for expand
		}
		if declared == nil {
			provision.Attributes[key] = value
			continue
		}
		if !declared.check(value) {
			return nil, refusal("parameter", key, value, declared)
		}
		provision.set(key, value)
	}
	if provision.OnDelete == "" { // a folder that two volumes may share must not go with the first
		provision.OnDelete = Retain
		if strings.Contains(pattern, "${pv.name}") {
			provision.OnDelete = Delete
		}
	}
	relative, err := expand(pattern, name, given)
	if err != nil {
		return nil, err
	}
	provision.Path = strings.TrimSuffix(provision.BasePath, "/") + "/" + relative
	if !IsPath(provision.Path) {
		return nil, fmt.Errorf("the volume's path would be %.200q: %s and %s must form an absolute path without . and .. in it", provision.Path, BasePath, PathPattern)
	}
	provision.Attributes[AlluxioPath] = provision.Path
	provision.Volume, err = Parse(provision.Attributes, nil, secret)
	return provision, err
}

// set takes a parameter that has been checked.
func (p *Provision) set(key, value string) {
	switch key {
	case BasePath:
		p.BasePath = value
	case OnDelete:
		p.OnDelete = value
	case DirectoryMode:
		mode, _ := strconv.ParseUint(value, 8, 32) // octal digits, as was checked
		p.DirectoryMode = uint32(mode)
	}
}

// expand puts values for the variables of a pattern. A value is one name of a path, so no label leads out of basePath.
func expand(pattern, name string, given map[string]string) (string, error) {
	var problem error
	relative := variable.ReplaceAllStringFunc(pattern, func(reference string) string {
		value, known := lookUp(strings.Trim(reference, "${}"), name, given)
		switch {
		case !known:
			problem = fmt.Errorf("%s has %.80q: allowed are ${pv.name}, ${pvc.name}, ${pvc.namespace}, ${pvc.labels.KEY}", PathPattern, reference)
		case value == "":
			problem = fmt.Errorf("%s has %.80q, but the claim has no such value: set the label, or start the provisioner with --extra-create-metadata",
				PathPattern, reference)
		case !isComponent(value):
			problem = fmt.Errorf("%s has %.80q, which is %.80q here: it must be a single path component", PathPattern, reference, value)
		}
		return value
	})
	if problem == nil && strings.ContainsAny(relative, "${}") {
		problem = fmt.Errorf("%s %.80q is not valid: close every ${", PathPattern, pattern)
	}
	return relative, problem
}

func lookUp(reference, name string, given map[string]string) (value string, known bool) {
	switch reference {
	case "pv.name":
		return name, true
	case "pvc.name":
		return given[PVCName], true
	case "pvc.namespace":
		return given[PVCNamespace], true
	}
	label, isLabel := strings.CutPrefix(reference, "pvc.labels.")
	return given[PVCLabels+label], isLabel && label != ""
}
