package hub

import "strings"

// Images are those of Open Cluster Management's programs, which its releases publish side by side
// in one registry with one tag.
type Images struct{ Registry, Tag string }

// operatorImage is the last part of the name of both operators' image.
const operatorImage = "/registration-operator:"

// ImagesOf are the images beside that of an operator. It says no where the operator's image is of
// another name, or is named by its digest: nothing follows from it then.
func ImagesOf(operator string) (Images, bool) {
	registry, tag, found := strings.Cut(operator, operatorImage)
	if !found || registry == "" || tag == "" || strings.Contains(tag, "@") {
		return Images{}, false
	}
	return Images{Registry: registry, Tag: tag}, true
}

// of is the image of a program; empty where the images are not known.
func (i Images) of(program string) string {
	if i.Registry == "" || i.Tag == "" {
		return ""
	}
	return i.Registry + "/" + program + ":" + i.Tag
}

// fill sets fields of a spec that name images, each to what the object says, which is not changed,
// or else to the program's. It says which stay empty.
func (i Images) fill(spec, existing map[string]any, programs map[string]string) (empty []string) {
	for field, program := range programs {
		image, _ := existing[field].(string)
		if image == "" {
			image = i.of(program)
		}
		if image == "" {
			empty = append(empty, "spec."+field)
			continue
		}
		spec[field] = image
	}
	return empty
}
