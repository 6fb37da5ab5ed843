package image

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// tree is what an image has in the directory of its catalogue and above it. Later layers cover
// earlier ones.
type tree struct {
	// dir is the directory of the catalogue, without a slash at either end.
	dir  string
	root *node
}

// node is one path.
type node struct {
	mode fs.FileMode
	// layer is the last one that has it, or something in it.
	layer int
	// emptied is one more than the last layer that removed all that lower ones have in it.
	emptied  int
	children map[string]*node
	link     string
	part     part
	// why is what is wrong with a file that cannot be read.
	why error
}

func newTree(dir string) *tree {
	return &tree{dir: dir, root: &node{mode: fs.ModeDir}}
}

func unread(why string) *node { return &node{why: errors.New(why)} }

// below says whether a path is in the directory of the catalogue.
func (t *tree) below(name string) bool { return strings.HasPrefix(name, t.dir+"/") }

// concerns says whether a path is that directory, in it, or above it.
func (t *tree) concerns(name string) bool {
	return t.below(name) || strings.HasPrefix(t.dir+"/", name+"/")
}

// at is the node of a path; nil if there is none.
func (t *tree) at(name string) *node {
	at := t.root
	if name == "." || name == "" {
		return at
	}
	for part := range strings.SplitSeq(name, "/") {
		if at = at.children[part]; at == nil {
			return nil
		}
	}
	return at
}

// put puts a node at a path other than the root. It returns how many directories had to be made
// above it, and false if something there is no directory.
func (t *tree) put(n int, name string, made *node) (added int, ok bool) {
	parts := strings.Split(name, "/")
	at := t.root
	for _, part := range parts[:len(parts)-1] {
		next := at.children[part]
		if next == nil {
			next = at.add(part, &node{mode: fs.ModeDir})
			added++
		}
		if !next.mode.IsDir() {
			return added, false
		}
		next.layer = n
		at = next
	}
	last := parts[len(parts)-1]
	if there := at.children[last]; there != nil && there.mode.IsDir() && made.mode.IsDir() {
		there.layer = n
		return added, true
	}
	made.layer = n
	at.add(last, made)
	return added, true
}

func (n *node) add(name string, child *node) *node {
	if n.children == nil {
		n.children = map[string]*node{}
	}
	n.children[name] = child
	return child
}

// remove removes what layers below have at a path.
func (t *tree) remove(n int, name string) {
	parent, last := t.root, name
	if cut := strings.LastIndexByte(name, '/'); cut >= 0 {
		parent, last = t.at(name[:cut]), name[cut+1:]
	}
	if parent == nil {
		return
	}
	there := parent.children[last]
	switch {
	case there == nil:
	case there.layer < n:
		delete(parent.children, last)
	default:
		there.prune(n)
	}
}

// empty removes all that layers below have in a directory.
func (t *tree) empty(n int, name string) {
	if dir := t.at(name); dir != nil {
		dir.prune(n)
	}
}

// prune goes over a directory once in a layer, however often it is asked for.
func (n *node) prune(layer int) {
	if n.emptied == layer+1 {
		return
	}
	n.emptied = layer + 1
	for name, child := range n.children {
		if child.layer < layer {
			delete(n.children, name)
		} else {
			child.prune(layer)
		}
	}
}

// hardLink is the file that a link names, if it is in the catalogue and was there before.
func (t *tree) hardLink(to string) *node {
	name, err := inside(to)
	if err != nil || !t.below(name) {
		return unread("it is a hard link to something outside of the catalogue's directory; it was not followed")
	}
	there := t.at(name)
	if there == nil || there.mode != 0 || there.why != nil {
		return unread("it is a hard link to what is no file before it in the catalogue's directory")
	}
	return &node{part: there.part}
}

// files are those of the catalogue.
func (t *tree) files(content *file) (*files, error) {
	if err := content.flush(); err != nil {
		return nil, err
	}
	at := t.root
	for part := range strings.SplitSeq(t.dir, "/") {
		next := at.children[part]
		switch {
		case next == nil:
			return nil, fmt.Errorf("the image has no directory %q, which its label %s names; expected a catalogue that `opm generate dockerfile` made an image of", "/"+t.dir, labelConfigs)
		case !next.mode.IsDir():
			return nil, fmt.Errorf("%q, which the label %s of the image names, is no directory of its own in the image; expected one without symbolic links", "/"+t.dir, labelConfigs)
		}
		at = next
	}
	return &files{root: at, content: content}, nil
}
