package driver

import (
	"fmt"
	"net/url"
	"strings"

	"posixgateway.io/csi/internal/attributes"
)

// provisioned is all that a DeleteVolume has to go by, so it travels in the volume's id:
// alluxio:///base/path?base=/base&masters=host:port&name=pvc-1&onDelete=delete
type provisioned struct {
	name     string
	masters  string
	basePath string
	path     string
	onDelete string
}

func (p *provisioned) id() string {
	query := url.Values{"base": {p.basePath}, "name": {p.name}, "onDelete": {p.onDelete}}
	if p.masters != "" {
		query.Set("masters", p.masters)
	}
	return (&url.URL{Scheme: "alluxio", Path: p.path, RawQuery: query.Encode()}).String()
}

// parseID reads the id of a provisioned volume; an id of another form is nobody's.
func parseID(id string) (*provisioned, error) {
	location, err := url.Parse(id)
	if err != nil || location.Scheme != "alluxio" || location.Host != "" {
		return nil, fmt.Errorf("volume %.200q was not provisioned by this driver: delete it by hand, or with its own driver", id)
	}
	query := location.Query()
	p := &provisioned{
		name: query.Get("name"), masters: query.Get("masters"), basePath: query.Get("base"), path: location.Path, onDelete: query.Get("onDelete"),
	}
	intact := attributes.IsPath(p.path) && attributes.IsPath(p.basePath) && p.path != p.basePath && attributes.IsBelow(p.path, p.basePath)
	_, err = attributes.ParseClass(p.name, p.basePath, map[string]string{attributes.OnDelete: p.onDelete}, nil)
	if !intact || err != nil || p.id() != id {
		return nil, fmt.Errorf("volume %.200q has a damaged id: set its PersistentVolume's volumeHandle to the id that it was provisioned with", id)
	}
	if p.masters != "" {
		if _, err := attributes.Parse(map[string]string{attributes.AlluxioPath: p.path, attributes.Masters: p.masters}, nil, nil); err != nil {
			return nil, fmt.Errorf("volume %.200q has a damaged id: %w: set its PersistentVolume's volumeHandle to the id that it was provisioned with", id, err)
		}
	}
	return p, nil
}

// mark is what the volume's folder carries from its creation on; empty for folders that stay, which volumes may share. An id alone
// proves nothing: whoever writes a PersistentVolume writes it.
func (p *provisioned) mark() string {
	if p.onDelete == attributes.Retain {
		return ""
	}
	return p.id()
}

// archivePath is where an archived volume's folder goes: beside it, named by the volume so that it is never taken.
func (p *provisioned) archivePath() string {
	folder, last := p.path[:strings.LastIndex(p.path, "/")], p.path[strings.LastIndex(p.path, "/")+1:]
	if last == p.name {
		return folder + "/archived-" + last
	}
	return folder + "/archived-" + last + "-" + p.name
}
