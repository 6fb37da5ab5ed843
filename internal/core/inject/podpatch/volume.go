package podpatch

import (
	"slices"
	"strconv"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// defaultMode is the mode that an API server writes into a volume that has none.
const defaultMode = 0o644

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
