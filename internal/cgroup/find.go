package cgroup

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Finder finds containers' groups by the container's id, whichever cgroup driver the engine uses:
// docker/<id> (cgroupfs) or system.slice/docker-<id>.scope (systemd), or the same names below another parent.
type Finder struct {
	tree    string
	parents []string
	learned bool
}

// NewFinder returns a finder for a version's groups.
func NewFinder(version Version) *Finder {
	return &Finder{tree: version.tree(), parents: []string{"docker", "system.slice"}}
}

// Find returns the path of a container's group relative to the tree, or "" while there is none.
func (f *Finder) Find(id string) string {
	for _, parent := range f.parents {
		for _, name := range groupNames(id) {
			path := filepath.Join(parent, name)
			if exists(filepath.Join(f.tree, path)) {
				f.learned = true
				return path
			}
		}
	}
	if f.learned { // an engine has one parent for all its containers: no second walk is needed
		return ""
	}
	path := f.walk(id)
	if path != "" {
		f.parents = append(f.parents, filepath.Dir(path))
		f.learned = true
	}
	return path
}

// walk searches the complete tree for the group.
func (f *Finder) walk(id string) (found string) {
	names := groupNames(id)
	_ = fs.WalkDir(os.DirFS(f.tree), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil { // groups are created and removed during the walk
			return fs.SkipDir
		}
		if entry.IsDir() && (entry.Name() == names[0] || entry.Name() == names[1]) {
			found = path
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func groupNames(id string) [2]string { return [2]string{id, "docker-" + id + ".scope"} }
