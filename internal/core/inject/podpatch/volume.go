package podpatch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// defaultMode is the mode that an API server writes into a volume that has none.
const defaultMode = 0o644

// spareName is what names are made of that a pod has not taken. The name of a volume
// has 63 characters at most.
const (
	spareName    = "-tabard"
	maxSpareBase = 63 - len(spareName) - len("-999999")
)

// settleVolumes gives those volumes another name that the pod has others under.
func (p *Plan) settleVolumes(pod Pod) {
	for i := range p.Volumes {
		volume := &p.Volumes[i]
		before := volume.Name
		if volume.Reserved || len(volume.Sources) == 0 || !volume.settle(pod.volumes, p.windows) {
			continue
		}
		for k := range p.Mounts {
			if p.Mounts[k].Volume == before {
				p.Mounts[k].Volume = volume.Name
			}
		}
	}
}

// settle finds a name that none of the volumes has that bring anything else, and says
// whether that is another one.
func (v *Volume) settle(volumes raw.Value, windows bool) (renamed bool) {
	for c := volumes.Walk(); c.Next(); {
		if c.Value().Get("name").Is(v.Name) && !v.fits(c.Value(), windows) {
			renamed = true
		}
	}
	if !renamed {
		return false
	}
	base := v.Name[:min(len(v.Name), maxSpareBase)] + spareName
	foreign := map[string]bool{v.Name: true}
	for c := volumes.Walk(); c.Next(); {
		if name := c.Value().Get("name").Text(); strings.HasPrefix(name, base) && !v.fits(c.Value(), windows) {
			foreign[name] = true
		}
	}
	v.former, v.Name = v.Name, base
	for k := 2; foreign[v.Name]; k++ {
		v.Name = base + "-" + strconv.Itoa(k)
	}
	return true
}

// fits says that a volume of a pod brings all that this one is to bring.
func (v *Volume) fits(present raw.Value, windows bool) bool {
	return !slices.ContainsFunc(v.Sources, func(s Source) bool { return !s.isIn(present, cleanPath(s.Path, windows), windows) })
}

// among looks for the volume among those of a pod. If it is there, stale is the
// place of the one that must be replaced, -1 for none.
func (v *Volume) among(volumes raw.Value) (stale int, there bool) {
	stale = -1
	index := 0
	for c := volumes.Walk(); c.Next(); index++ {
		switch {
		case !c.Value().Get("name").Is(v.Name):
		case !v.Reserved || v.is(c.Value()):
			return -1, true
		case stale < 0:
			stale = index
		}
	}
	return stale, stale >= 0
}

// is says that a volume of a pod is the plan's, possibly with what an API server
// has filled in since.
func (v *Volume) is(present raw.Value) bool {
	if isText(present, v.appendTo(nil)) {
		return true
	}
	defaulted := *v
	defaulted.Mode = defaultMode
	return v.Mode == 0 && isText(present, defaulted.appendTo(nil))
}

// isText says that a value of a pod is what a text says.
func isText(present raw.Value, text []byte) bool {
	want, err := raw.Parse(text)
	return err == nil && present.Equal(want)
}

// appendTo writes the volume as the API has it.
func (v *Volume) appendTo(text []byte) []byte {
	text = appendString(append(text, `{"name":`...), v.Name)
	switch {
	case len(v.Sources) == 0:
		return append(text, `,"emptyDir":{}}`...)
	case !slices.ContainsFunc(v.Sources, func(s Source) bool { return s.Field == "" }):
		text = v.appendMode(append(text, `,"downwardAPI":{`...))
		text = append(text, `"items":`...)
		for i, source := range v.Sources {
			text = source.appendItem(append(text, "[,"[min(i, 1)]))
		}
	default:
		text = v.appendMode(append(text, `,"projected":{`...))
		text = append(text, `"sources":`...)
		for i, source := range v.Sources {
			text = source.appendTo(append(text, "[,"[min(i, 1)]))
		}
	}
	return append(text, `]}}`...)
}

func (v *Volume) appendMode(text []byte) []byte {
	if v.Mode == 0 {
		return text
	}
	text = strconv.AppendInt(append(text, `"defaultMode":`...), int64(v.Mode), 10)
	return append(text, ',')
}

// appendTo writes the source as a projected volume has it.
func (s Source) appendTo(text []byte) []byte {
	switch {
	case s.Field != "":
		text = s.appendItem(append(text, `{"downwardAPI":{"items":[`...))
		return append(text, `]}}`...)
	case s.ConfigMap != "":
		text = appendString(append(text, `{"configMap":{"name":`...), s.ConfigMap)
		text = appendString(append(text, `,"items":[{"key":`...), s.Key)
		text = appendString(append(text, `,"path":`...), s.Path)
		return append(text, `}]}}`...)
	case s.TrustBundle != "":
		text = appendString(append(text, `{"clusterTrustBundle":{"name":`...), s.TrustBundle)
		text = appendString(append(text, `,"path":`...), s.Path)
		return append(text, `}}`...)
	}
	text = appendString(append(text, `{"serviceAccountToken":{"audience":`...), s.Audience)
	text = strconv.AppendInt(append(text, `,"expirationSeconds":`...), s.Seconds, 10)
	text = appendString(append(text, `,"path":`...), s.Path)
	return append(text, `}}`...)
}

// appendItem writes a field as the downward API has it.
func (s Source) appendItem(text []byte) []byte {
	text = appendString(append(text, `{"fieldRef":{"fieldPath":`...), s.Field)
	text = appendString(append(text, `},"path":`...), s.Path)
	return append(text, '}')
}
