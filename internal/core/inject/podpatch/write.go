package podpatch

import (
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// writer writes one patch.
type writer struct {
	document
	plan              *Plan
	variables, mounts additions
}

// Write is the patch that gives a pod what it lacks, nil for nothing. The
// containers are those that Examine found by the same plan. Its operations are in
// the order of the pod's fields: metadata, volumes, security context, then container
// by container. An audit log shows them as they are.
func (p *Plan) Write(pod Pod, containers []Container) []byte {
	w := writer{plan: p}
	w.entries(pod, "labels", pod.Labels, p.Labels)
	w.entries(pod, "annotations", pod.Annotations, p.Annotations)
	w.volumes(pod)
	w.fsGroup(pod)
	w.encode()
	w.containers(containers)
	return w.finished()
}

// entries sets labels or annotations.
func (w *writer) entries(pod Pod, field string, present raw.Value, entries []Entry) {
	if len(entries) == 0 {
		return
	}
	if pod.Metadata.Empty() && w.text == nil { // the first operation makes it
		w.add("/metadata")
		w.text = append(w.text, `{}`...)
		w.end()
	}
	if !present.Empty() {
		for _, entry := range entries {
			if !present.Get(entry.Name).Is(entry.Value) {
				w.add("/metadata/", field, "/", escape(entry.Name))
				w.text = appendString(w.text, entry.Value)
				w.end()
			}
		}
		return
	}
	w.add("/metadata/", field)
	for i, entry := range entries {
		w.text = append(w.text, "{,"[min(i, 1)])
		w.text = appendString(w.text, entry.Name)
		w.text = appendString(append(w.text, ':'), entry.Value)
	}
	w.text = append(w.text, '}')
	w.end()
}

// escape writes a name as one part of a path. RFC 6901, section 3.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// volumes puts those that are missing before the pod's, or after them, and
// replaces those that are not as they must be.
func (w *writer) volumes(pod Pod) {
	none, added := pod.volumes.Empty(), 0
	for i := range w.plan.Volumes {
		volume := &w.plan.Volumes[i]
		stale, there := volume.among(pod.volumes)
		switch {
		case there && stale < 0:
			continue
		case there:
			w.begin("replace")
			w.text = strconv.AppendInt(append(w.text, "/spec/volumes/"...), int64(stale+added), 10)
			w.value()
		case !none && volume.Reserved:
			w.add("/spec/volumes/-")
		case !none:
			w.add("/spec/volumes/", strconv.Itoa(added))
			added++
		case added == 0:
			w.add("/spec/volumes")
			w.text = append(w.text, '[')
			added++
		default:
			w.text = append(w.text, ',')
		}
		w.text = volume.appendTo(w.text)
		if !none {
			w.end()
		}
	}
	if none && added > 0 {
		w.text = append(w.text, ']')
		w.end()
	}
}

func (w *writer) fsGroup(pod Pod) {
	if w.plan.FSGroup == 0 || pod.Windows || !pod.securityContext.Get("fsGroup").Empty() {
		return
	}
	if pod.securityContext.Empty() {
		w.add("/spec/securityContext")
		w.text = append(w.text, `{"fsGroup":`...)
		w.text = append(strconv.AppendInt(w.text, w.plan.FSGroup, 10), '}')
	} else {
		w.add("/spec/securityContext/fsGroup")
		w.text = strconv.AppendInt(w.text, w.plan.FSGroup, 10)
	}
	w.end()
}
